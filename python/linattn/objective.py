"""The function to be minimised: f(theta; draw), with its gradient and Hessian."""
import numpy

from . import arrays, enums, structs
from ._library import ffi, lib
from .callbacks import callback, progress_callback, require_callable
from .errors import check
from .handles import Handle, pointer
from .model import Model
from .prompt import Prompt
from .sampler import Batch, Sampler
from .structs import DerivativeReport

_OPTIONS = "linattn_objective_options"


class Objective(Handle):
    """f(theta; draw): theta (p,) are parameters, draw says which random batch is meant. Made by Objective.fixed, .sampled,
    .dataset, .prompt or .from_functions; use one from one thread at a time, and clone() it for another.

    gradient, hvp and hessian have the signatures that scipy.optimize.minimize wants:
    minimize(f.gradient, theta, jac=True, hessp=f.hvp, method="trust-krylov")."""

    _kind = "objective"
    _instead = "make another of the same model and batch or sampler"

    def __init__(self):
        raise TypeError("an objective is made by Objective.fixed, .sampled, .dataset, .prompt or .from_functions")

    @classmethod
    def _make(cls, create, arguments, options, kept=(), user=()):
        self = cls.__new__(cls)
        options = dict(options, progress=progress_callback(options.get("progress")))
        filled = structs.options(_OPTIONS, options)
        # What the library may call for as long as its object lives, which may be longer than this one: dependants hold this.
        self._kept = (*kept, options["progress"])
        self._take(create, *arguments, filled, *user)
        return self

    @classmethod
    def fixed(cls, model, batch, **options):
        """A model on a fixed batch, which every draw means."""
        return cls._make(lib.linattn_objective_create_fixed,
                         [pointer(model, Model, "model"), pointer(batch, Batch, "batch")], options)

    @classmethod
    def sampled(cls, model, sampler, prompts, **options):
        """A model on fresh batches of `prompts` prompts: draw t is batch t of the sampler."""
        arguments = [pointer(model, Model, "model"), pointer(sampler, Sampler, "sampler"), arrays.count(prompts, "prompts")]
        return cls._make(lib.linattn_objective_create_sampled, arguments, options, sampler._kept)

    @classmethod
    def dataset(cls, model, batch, prompts, seed=0, mode="epochs", **options):
        """A model on minibatches of `prompts` prompts out of a fixed batch. mode: Minibatch, "epochs" (without replacement: every
        epoch of floor(batch.prompts / prompts) draws has an order of its own) or "replacement". Draw t of a seed is always the
        same minibatch; prompts = batch.prompts in epochs is Objective.fixed."""
        arguments = [
            pointer(model, Model, "model"),
            pointer(batch, Batch, "batch"),
            arrays.count(prompts, "prompts"),
            enums.number(enums.Minibatch, mode, "mode"),
            arrays.count(seed, "seed")
        ]
        return cls._make(lib.linattn_objective_create_dataset, arguments, options)

    @classmethod
    def prompt(cls, prompt, examples=None, seed=0, mode="epochs", **options):
        """The loss of a prompt-attention system: over all its examples, whatever the draw, or over minibatches of `examples`, taken
        as Objective.dataset takes prompts."""
        handle = pointer(prompt, Prompt, "prompt")
        if examples is None:
            return cls._make(lib.linattn_objective_create_prompt, [handle], options)
        arguments = [
            handle,
            arrays.count(examples, "examples"),
            enums.number(enums.Minibatch, mode, "mode"),
            arrays.count(seed, "seed")
        ]
        return cls._make(lib.linattn_objective_create_prompt_dataset, arguments, options)

    @classmethod
    def from_functions(cls, parameter_count, gradient, value=None, hvp=None, difference_step=0.0, **options):
        """The caller's own functions, p = parameter_count; theta is a copy, theirs to keep.

        gradient(theta, draw) -> (value, gradient (p,))
        value(theta, draw) -> value; taken from gradient when there is none
        hvp(theta, directions (count, p), draw) -> products (count, p); without it difference_step > 0 (1e-5 is a good choice) makes
            them from differences of gradients

        What they raise is raised to the caller of whatever method needed them. One that returns None has written nothing, which the
        library reports as NonFinite."""
        p = arrays.count(parameter_count, "parameter_count")
        functions = _functions(p, gradient, value, hvp)
        callbacks = structs.options("linattn_objective_callbacks",
                                       dict(functions, parameter_count=p, difference_step=difference_step))
        return cls._make(lib.linattn_objective_create_callbacks, [callbacks], options, functions.values(), [ffi.NULL])

    def clone(self):
        """A second objective of the same function, for another thread."""
        other = Objective.__new__(Objective)
        other._kept = self._kept
        other._take(lib.linattn_objective_clone, self._pointer)
        return other

    @property
    def parameter_count(self):
        """p, the length of theta."""
        return lib.linattn_objective_parameter_count(self._pointer)

    @property
    def hvp_kind(self):
        """HvpKind: how exact Hessian-vector products are."""
        return enums.member(enums.HvpKind, lib.linattn_objective_hvp_kind(self._pointer))

    @property
    def hessian_workspace(self):
        """Bytes that second derivatives take beside their outputs; 0 when there are none."""
        return lib.linattn_objective_hessian_workspace(self._pointer)

    def _theta(self, theta):
        return arrays.read(theta, "theta", (self.parameter_count, ))

    def value(self, theta, draw=0):
        """f(theta; draw), a float. theta: (p,)."""
        theta, value = self._theta(theta), ffi.new("double *")
        check(lib.linattn_objective_value(self._pointer, arrays.count(draw, "draw"), arrays.address(theta), value))
        return value[0]

    def gradient(self, theta, draw=0, out=None):
        """(f(theta; draw), its gradient (p,)). theta: (p,); out: (p,), where the gradient is to be written."""
        theta, value = self._theta(theta), ffi.new("double *")
        gradient = arrays.write(out, "out", theta.shape, theta)
        check(
            lib.linattn_objective_gradient(self._pointer, arrays.count(draw, "draw"), arrays.address(theta), value,
                                           arrays.address(gradient)))
        return value[0], gradient

    def hvp(self, theta, directions, draw=0, out=None):
        """H u for one direction (p,) or several (count, p), in the same shape."""
        theta = self._theta(theta)
        single = numpy.ndim(directions) == 1
        directions = arrays.read(directions, "directions", theta.shape if single else ("count", theta.size))
        products = arrays.write(out, "out", directions.shape, theta, directions)
        check(
            lib.linattn_objective_hvp(self._pointer, arrays.count(draw, "draw"), arrays.address(theta), arrays.address(directions),
                                      1 if single else directions.shape[0], arrays.address(products)))
        return products

    def hessian(self, theta, draw=0, out=None):
        """The Hessian (p, p), symmetric bit for bit."""
        theta = self._theta(theta)
        matrix = arrays.write(out, "out", 2 * theta.shape, theta)
        check(
            lib.linattn_objective_hessian(self._pointer, arrays.count(draw, "draw"), arrays.address(theta), arrays.address(matrix)))
        return matrix

    def hessian_block(self, theta, first, count, draw=0, out=None):
        """Rows and columns first .. first+count-1 of the Hessian, (count, count); a tensor's block has its offset and size."""
        theta, size = self._theta(theta), arrays.count(count, "count")
        matrix = arrays.write(out, "out", (size, size), theta)
        check(
            lib.linattn_objective_hessian_block(self._pointer, arrays.count(draw, "draw"), arrays.address(theta),
                                                arrays.count(first, "first"), size, arrays.address(matrix)))
        return matrix

    def hessian_diagonal(self, theta, first=0, count=None, draw=0, out=None):
        """Entries first .. first+count-1 of the Hessian's diagonal, (count,); count None: all the rest."""
        theta, begin = self._theta(theta), arrays.count(first, "first")
        size = max(theta.size - begin, 0) if count is None else arrays.count(count, "count")
        diagonal = arrays.write(out, "out", (size, ), theta)
        check(
            lib.linattn_objective_hessian_diagonal(self._pointer, arrays.count(draw, "draw"), arrays.address(theta), begin, size,
                                                   arrays.address(diagonal)))
        return diagonal

    def check_derivatives(self, theta, draw=0, step=1e-5):
        """DerivativeReport: how far the gradient is from central differences of the value, of step `step` max(1, |theta_i|)."""
        theta, report = self._theta(theta), structs.new("linattn_derivative_report")
        check(
            lib.linattn_objective_check_derivatives(self._pointer, arrays.count(draw, "draw"), arrays.address(theta),
                                                    arrays.real(step, "step"), report))
        return structs.result(DerivativeReport, report)


for _method in (Objective.fixed, Objective.sampled, Objective.dataset, Objective.prompt):
    structs.documented(_OPTIONS)(_method.__func__)


def _functions(p, gradient, value, hvp):
    """{field of linattn_objective_callbacks: C function}."""

    def call_value(draw, theta, out, user):
        answer = value(arrays.copied(theta, p), draw)
        if answer is not None:
            out[0] = arrays.real(answer, "what the function value returned")
        return 0

    def call_gradient(draw, theta, out, slope, user):
        answer = gradient(arrays.copied(theta, p), draw)
        if answer is None:
            return 0
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise TypeError(f"the function gradient returned {answer!r}; wanted: (value, gradient)")
        number = arrays.real(answer[0], "the value that the function gradient returned")
        arrays.view(slope, p)[:] = arrays.read(answer[1], "the array that the function gradient returned", (p, ))
        out[0] = number
        return 0

    def call_hvp(draw, theta, directions, count, out, user):
        answer = hvp(arrays.copied(theta, p), arrays.copied(directions, count, p), draw)
        if answer is not None:
            arrays.view(out, count, p)[:] = arrays.read(answer, "the array that the function hvp returned", (count, p))
        return 0

    given = dict(gradient=(require_callable(gradient,
                                            "gradient"), call_gradient, "uint64_t, const double *, double *, double *, void *"),
                 value=(value, call_value, "uint64_t, const double *, double *, void *"),
                 hvp=(hvp, call_hvp, "uint64_t, const double *, const double *, size_t, double *, void *"))
    return {
        name: callback(f"int({parameters})", call)
        for name, (function, call, parameters) in given.items() if function is not None and require_callable(function, name)
    }
