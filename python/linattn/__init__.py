"""linattn: liblinattn for Python, numpy in and out. Start with docs/python.md, or:

    import linattn
    r = linattn.recipe("setting1")
    model, sampler = linattn.Model(**r.model_options()), linattn.Sampler(**r.sampler_options())
    objective = linattn.Objective.sampled(model, sampler, r.prompts)
    optimizer = linattn.Optimizer(model, **r.optimizer_options("adam"))
    trainer = linattn.Trainer(objective, optimizer, model.init_parameters(seed=1))
    trainer.run(2000)
    print(objective.value(trainer.parameters(), draw=2000))

Arrays are float64 and C-contiguous (linattn.arrays); failures are exceptions (linattn.errors)."""
from . import _cdef
from .about import blas_info, build_info, kernel_available, version
from .baseline import baseline_predict, theory_compare, theory_one_layer
from .callbacks import STOP
from .diagnostics import Diagnostics, attention_concentration, smoothness_fit
from .enums import *  # noqa: F401,F403: one class for each enumeration of the library
from .errors import (Degenerate, FileError, FormatError, InvalidArgument, LinattnError, Mismatch, NonFinite, NotConverged,
                     OutOfMemory, SizeOverflow, Stopped, SystemRefusal, Unsupported, VersionError, last_message, status_name)
from .model import Model
from .objective import Objective
from .optimizer import Optimizer, Update
from .prompt import Prompt
from .recipe import Recipe, recipe, recipes
from .sampler import Batch, Sampler
from .spectrum import matrix_precondition, matrix_spectrum, robust_condition, spectra_compare, spectrum_density
from .statistics import (line_bootstrap, line_fit, normal_quantile, sample_bootstrap, sample_histogram, sample_interval,
                         sample_median, sample_moments, sample_normal_plot, sample_normality, sample_quantiles, sample_tail,
                         samples_compare, series_bootstrap, series_rate, share_interval, student_quantile)
from .structs import (Comparison, Concentration, Condition, DerivativeReport, Extremes, GradientError, Heterogeneity, Histogram,
                      Interval, Line, Moments, Normality, NormalPlot, PromptCondition, Smoothness, SpectraDistance, Spectrum, StepRecord, Tail,
                      Tensor, TheoryDistance)
from .trainer import RECORD, Trainer

__version__ = ".".join(map(str, _cdef.VERSION))
