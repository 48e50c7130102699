"""What a trained model is to be compared with: functions of linattn/baseline.h. Formulas: docs/numerics.md."""
from . import arrays, structs
from ._library import lib
from .callbacks import progress_callback
from .errors import check
from .handles import pointer
from .model import Model
from .sampler import Batch, Sampler
from .structs import TheoryDistance

_OPTIONS = "linattn_baseline_options"


@structs.documented(_OPTIONS, skip=("steps", ))
def baseline_predict(batch, baseline="least_squares", out=None, **options):
    """Predictions (prompts,) of a batch's targets by a learner that sees each prompt's context alone, such as
    baseline_predict(batch, lambda_=0.25) or baseline_predict(batch, "gradient_descent", rates=[0.5, 0.5]), which makes as many
    steps as there are rates."""
    handle, factor = pointer(batch, Batch, "batch"), (batch.dim, batch.dim)
    options["progress"] = progress_callback(options.get("progress"))
    if "lambda_" in options:
        options["lambda"] = options.pop("lambda_")
    if options.get("rates") is not None:
        options["rates"] = arrays.read(options["rates"], "rates", ("steps", ))
        options["steps"] = options["rates"].size
    filled = structs.options(_OPTIONS, dict(options, baseline=baseline), {
        "task_factor": factor,
        "preconditioner": factor,
        "rates": ("steps", )
    })
    given = [a for a in (options.get(name) for name in ("rates", "task_factor", "preconditioner")) if a is not None]
    predictions = arrays.write(out, "out", (batch.prompts, ), *given)
    check(lib.linattn_baseline_predict(handle, filled, arrays.address(predictions)))
    return predictions


def theory_one_layer(sampler):
    """(Q, loss): Q_x (d, d) of the best linear transformer of one layer on a sampler's prompts, in block form, and the mean squared
    error it has."""
    handle = pointer(sampler, Sampler, "sampler")
    Q, loss = arrays.write(None, "Q", (sampler.dim, sampler.dim)), arrays.write(None, "loss", (1, ))
    check(lib.linattn_theory_one_layer(handle, arrays.address(Q), arrays.address(loss)))
    return Q, float(loss[0])


def theory_compare(model, sampler, theta, layer=0, head=0):
    """The TheoryDistance of a head of theta (p,) from the sampler's best single layer."""
    handles = pointer(model, Model, "model"), pointer(sampler, Sampler, "sampler")
    theta, out = arrays.read(theta, "theta", (model.parameter_count, )), structs.new("linattn_theory_distance")
    check(
        lib.linattn_theory_compare(*handles, arrays.address(theta), arrays.count(layer, "layer"), arrays.count(head, "head"), out))
    return structs.result(TheoryDistance, out)
