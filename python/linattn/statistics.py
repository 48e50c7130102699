"""What a sample says, and how sure it is: functions of linattn/statistics.h. Formulas and when not to use them: docs/statistics.md.

sample: (count,), float64, finite. Results are frozen dataclasses with the fields of the library's structs;
help(linattn.Moments) and so on tell what each field is. Where there are resamples, `seed` chooses the draws and
progress(fraction) is called now and then."""
import numpy

from . import arrays, enums, structs
from ._library import ffi, lib
from .callbacks import progress_callback
from .errors import check
from .structs import Comparison, Histogram, Interval, Line, Moments, Normality, NormalPlot, Tail

_DEFAULT = object()


def _sample(values, name="sample"):
    return arrays.read(values, name, ("count", ))


def _pair(x, y):
    x = _sample(x, "x")
    return x, arrays.read(y, "y", x.shape)


def _resampling(resamples, seed, progress):
    """The options; resamples None: NULL. A progress callback is there in any case, for the sake of Ctrl-C."""
    if resamples is None:
        return ffi.NULL
    given = {} if resamples is _DEFAULT else dict(resamples=resamples)
    return structs.options("linattn_resampling_options", dict(given, seed=seed, progress=progress_callback(progress)))


def _filled(kind, function, *arguments, **extra):
    """The result of a function whose last argument is a result struct."""
    out = structs.new(kind._struct)
    check(function(*arguments, out))
    return structs.result(kind, out, **extra)


# ---- A straight line -------------------------------------------------------------------------------------------------------------
def line_fit(x, y):
    """The least-squares Line y = a + b x through points x, y: (count,) each."""
    x, y = _pair(x, y)
    return _filled(Line, lib.linattn_line_fit, arrays.address(x), arrays.address(y), x.size)


def series_rate(series, high, low):
    """How fast a series (count,) falls: the Line of ln(series) against its index, from the first number <= high to the last one
    before it falls below low; -slope is the rate of linear convergence."""
    series = _sample(series, "series")
    return _filled(Line, lib.linattn_series_rate, arrays.address(series), series.size, arrays.real(high, "high"),
                   arrays.real(low, "low"))


# ---- Order -----------------------------------------------------------------------------------------------------------------------
def sample_median(sample, rule="mean"):
    """The median. rule: MedianRule, for even counts the lower of the two middle values or their mean."""
    sample, out = _sample(sample), ffi.new("double *")
    check(lib.linattn_sample_median(arrays.address(sample), sample.size, enums.number(enums.MedianRule, rule, "rule"), out))
    return out[0]


def sample_quantiles(sample, probabilities, out=None):
    """Quantiles (quantiles,) at probabilities (quantiles,), by linear interpolation (type 7, as numpy's)."""
    sample, probabilities = _sample(sample), arrays.read(probabilities, "probabilities", ("quantiles", ))
    quantiles = arrays.write(out, "out", probabilities.shape, sample, probabilities)
    check(
        lib.linattn_sample_quantiles(arrays.address(sample), sample.size, arrays.address(probabilities), probabilities.size,
                                     arrays.address(quantiles)))
    return quantiles


def sample_histogram(sample, bins, low=float("nan"), high=float("nan")):
    """A Histogram with counts (bins,), uint64, and edges (bins + 1,). low and high both NaN: the range of the sample."""
    sample, size = _sample(sample), arrays.count(bins, "bins")
    if not 1 <= size <= lib.LINATTN_MAX_BINS:
        raise ValueError(f"bins is {size}; allowed: 1 to {lib.LINATTN_MAX_BINS}")
    counts, edges = numpy.empty(size, numpy.uint64), arrays.write(None, "edges", (size + 1, ))
    return _filled(Histogram,
                   lib.linattn_sample_histogram,
                   arrays.address(sample),
                   sample.size,
                   arrays.real(low, "low"),
                   arrays.real(high, "high"),
                   size,
                   arrays.address(counts, "uint64_t[]"),
                   arrays.address(edges),
                   counts=counts,
                   edges=edges)


# ---- Distribution functions ------------------------------------------------------------------------------------------------------
def normal_quantile(p):
    """The x of which a standard normal stays below with probability p."""
    out = ffi.new("double *")
    check(lib.linattn_normal_quantile(arrays.real(p, "p"), out))
    return out[0]


def student_quantile(p, freedom):
    """The x of which Student's t of `freedom` degrees of freedom stays below with probability p."""
    out = ffi.new("double *")
    check(lib.linattn_student_quantile(arrays.real(p, "p"), arrays.real(freedom, "freedom"), out))
    return out[0]


# ---- Moments and intervals -------------------------------------------------------------------------------------------------------
def sample_moments(sample, resamples=None, seed=0, progress=None):
    """The Moments of a sample; with resamples, bootstrap standard errors too (otherwise they are NaN)."""
    sample, options = _sample(sample), _resampling(resamples, seed, progress)
    return _filled(Moments, lib.linattn_sample_moments, arrays.address(sample), sample.size, options)


def sample_interval(sample, level=0.95):
    """Student's Interval of the mean."""
    sample = _sample(sample)
    return _filled(Interval, lib.linattn_sample_interval, arrays.address(sample), sample.size, arrays.real(level, "level"))


def share_interval(successes, trials, level=0.95):
    """Wilson's Interval of a share."""
    return _filled(Interval, lib.linattn_share_interval, arrays.count(successes, "successes"), arrays.count(trials, "trials"),
                   arrays.real(level, "level"))


def sample_bootstrap(sample, location="mean", level=0.95, resamples=_DEFAULT, seed=0, progress=None):
    """The bootstrap's BCa Interval for independent numbers. location: Location, mean or median."""
    sample, options = _sample(sample), _resampling(resamples, seed, progress)
    return _filled(Interval, lib.linattn_sample_bootstrap, arrays.address(sample), sample.size,
                   enums.number(enums.Location, location, "location"), arrays.real(level, "level"), options)


def series_bootstrap(series, block, level=0.95, resamples=_DEFAULT, seed=0, progress=None):
    """The moving-block bootstrap's Interval of the mean of a series (count,) whose neighbours depend on each other."""
    series, options = _sample(series, "series"), _resampling(resamples, seed, progress)
    return _filled(Interval, lib.linattn_series_bootstrap, arrays.address(series), series.size, arrays.count(block, "block"),
                   arrays.real(level, "level"), options)


def line_bootstrap(x, y, block, level=0.95, resamples=_DEFAULT, seed=0, progress=None):
    """The same for the line through points x, y (count,): (intercept, slope), an Interval each."""
    (x, y), options = _pair(x, y), _resampling(resamples, seed, progress)
    intercept, slope = structs.new("linattn_interval"), structs.new("linattn_interval")
    check(
        lib.linattn_line_bootstrap(arrays.address(x), arrays.address(y), x.size, arrays.count(block, "block"),
                                   arrays.real(level, "level"), options, intercept, slope))
    return structs.result(Interval, intercept), structs.result(Interval, slope)


# ---- Against the normal distribution, two samples --------------------------------------------------------------------------------
def sample_normal_plot(sample):
    """The NormalPlot of a sample, with quantiles (count,) to plot on x and ordered (count,) on y."""
    sample = _sample(sample)
    quantiles, ordered = (arrays.write(None, name, sample.shape) for name in ("quantiles", "ordered"))
    return _filled(NormalPlot,
                   lib.linattn_sample_normal_plot,
                   arrays.address(sample),
                   sample.size,
                   arrays.address(quantiles),
                   arrays.address(ordered),
                   quantiles=quantiles,
                   ordered=ordered)


def sample_normality(sample, resamples=None, seed=0, progress=None):
    """The Normality of a sample; with resamples, the p-values by simulation too (otherwise they are NaN)."""
    sample, options = _sample(sample), _resampling(resamples, seed, progress)
    return _filled(Normality, lib.linattn_sample_normality, arrays.address(sample), sample.size, options)


def samples_compare(a, b, resamples=None, seed=0, progress=None):
    """The Comparison of samples a (a_count,) and b (b_count,); with resamples, permutation p-values too (otherwise they are
    NaN)."""
    a, b, options = _sample(a, "a"), _sample(b, "b"), _resampling(resamples, seed, progress)
    return _filled(Comparison, lib.linattn_samples_compare, arrays.address(a), a.size, arrays.address(b), b.size, options)


# ---- The tail --------------------------------------------------------------------------------------------------------------------
def sample_tail(sample, first=0, last=0):
    """The Tail of a sample, with Hill's estimates alphas (last - first + 1,) for k = first .. last; 0 and 0: the upper 0.1% to
    1%."""
    sample, begin, end = _sample(sample), arrays.count(first, "first"), arrays.count(last, "last")
    # The library chooses a range for 0 and 0: how long alphas is, is known afterwards.
    chosen = _filled(Tail, lib.linattn_sample_tail, arrays.address(sample), sample.size, begin, end, ffi.NULL)
    alphas = arrays.write(None, "alphas", (chosen.last - chosen.first + 1, ))
    return _filled(Tail,
                   lib.linattn_sample_tail,
                   arrays.address(sample),
                   sample.size,
                   chosen.first,
                   chosen.last,
                   arrays.address(alphas),
                   alphas=alphas)
