"""Prompt attention, the smallest model in which softmax slows gradient descent: linattn/prompt.h and docs/prompt-attention.md."""
import numpy

from . import arrays, structs
from ._library import ffi, lib
from .callbacks import progress_callback
from .errors import check
from .handles import Handle
from .structs import PromptCondition

_OPTIONS = "linattn_prompt_options"


@structs.documented(_OPTIONS)
class Prompt(Handle):
    """N examples of n tokens in d dimensions, their labels, and a teacher; immutable, may be shared between threads.

    Prompt(N, n, d, **options), such as Prompt(200, 10, 5, profile="active", active=5, sparsity=1e-6), or Prompt.from_arrays. Its
    loss is Objective.prompt(p); theta is p (d,), or with train_value=1 p and then v (2 d,)."""

    _kind = "prompt"
    _instead = "make another with the same options and seed, or from its arrays()"

    def __init__(self, examples, tokens, dim, **options):
        options["progress"] = progress_callback(options.get("progress"))
        self._take(lib.linattn_prompt_create, structs.options(_OPTIONS, dict(options, examples=examples, tokens=tokens, dim=dim)))

    @classmethod
    def from_arrays(cls, tokens, value, labels=None, teacher=None, key_map=None, **options):
        """A system of the caller's numbers, which are copied: tokens (N, n, d), value (d,), labels (N,) or teacher (d,) or both,
        key_map W_K (d, d). Options that say how to draw are not read."""
        tokens = arrays.read(tokens, "tokens", ("examples", "tokens", "dim"))
        examples, count, dim = tokens.shape
        value = arrays.read(value, "value", (dim, ))
        labels = arrays.optional(labels, "labels", (examples, ))
        teacher, key_map = arrays.optional(teacher, "teacher", (dim, )), arrays.optional(key_map, "key_map", (dim, dim))
        self = cls.__new__(cls)
        filled = structs.options(_OPTIONS, dict(options, examples=examples, tokens=count, dim=dim))
        given = [arrays.address(a) for a in (tokens, key_map, value, teacher, labels)]
        self._take(lib.linattn_prompt_create_from_arrays, filled, *given)
        return self

    @property
    def examples(self):
        """N."""
        return lib.linattn_prompt_examples(self._pointer)

    @property
    def tokens(self):
        """n, of each example."""
        return lib.linattn_prompt_tokens(self._pointer)

    @property
    def dim(self):
        """d."""
        return lib.linattn_prompt_dim(self._pointer)

    @property
    def parameter_count(self):
        """The length of theta, d or 2 d."""
        return lib.linattn_prompt_parameter_count(self._pointer)

    def arrays(self):
        """(tokens (N, n, d), keys (N, n, d), value (d,), labels (N,)), copies."""
        shape = (self.examples, self.tokens, self.dim)
        out = [
            arrays.write(None, name, size)
            for name, size in (("tokens", shape), ("keys", shape), ("value", shape[2:]), ("labels", shape[:1]))
        ]
        tokens, keys, value, labels = map(arrays.address, out)
        check(lib.linattn_prompt_get_arrays(self._pointer, tokens, keys, value, ffi.NULL, labels))
        return tuple(out)

    def teacher(self):
        """A copy of p* (d,). Unsupported for a system made without one."""
        teacher = arrays.write(None, "teacher", (self.dim, ))
        none = ffi.NULL
        check(lib.linattn_prompt_get_arrays(self._pointer, none, none, none, arrays.address(teacher), none))
        return teacher

    def _theta(self, theta):
        return arrays.read(theta, "theta", (self.parameter_count, ))

    def evaluate(self, theta):
        """(outputs f (N,), weights a (N, n), sensitivities b (N, n), jacobian G (N, p)) at theta (p,): b holds the derivatives of f
        by the scores, row i of G the gradient of f_i by theta."""
        theta, rows = self._theta(theta), (self.examples, self.tokens)
        out = [
            arrays.write(None, name, shape, theta)
            for name, shape in (("outputs", rows[:1]), ("weights", rows), ("sensitivities", rows), ("jacobian", (rows[0], theta.size)))
        ]
        check(lib.linattn_prompt_evaluate(self._pointer, arrays.address(theta), *map(arrays.address, out)))
        return tuple(out)

    def gauss_newton(self, theta, out=None):
        """The Gauss-Newton matrix (p, p): the Hessian but for the curvature of the outputs."""
        theta = self._theta(theta)
        matrix = arrays.write(out, "out", 2 * theta.shape, theta)
        check(lib.linattn_prompt_gauss_newton(self._pointer, arrays.address(theta), arrays.address(matrix)))
        return matrix

    def softmax_spectrum(self, theta, example):
        """Eigenvalues (n,) of the softmax Jacobian diag(a) - a a^T of one example, descending, the last one 0."""
        theta = self._theta(theta)
        out = arrays.write(None, "out", (self.tokens, ), theta)
        check(
            lib.linattn_prompt_softmax_spectrum(self._pointer, arrays.address(theta), arrays.count(example, "example"),
                                                arrays.address(out)))
        return out

    def condition(self, theta):
        """The PromptCondition at theta, with the singular values (min(N, p),) of the jacobian."""
        theta, out = self._theta(theta), structs.new("linattn_prompt_condition")
        singular = numpy.empty(min(self.examples, theta.size))
        check(lib.linattn_prompt_measure_condition(self._pointer, arrays.address(theta), arrays.address(singular), out))
        return structs.result(PromptCondition, out, singular=singular)

    def distance(self, theta):
        """(|p - p*|, the same without the directions that no example sees)."""
        theta, out = self._theta(theta), ffi.new("double[2]")
        check(lib.linattn_prompt_distance(self._pointer, arrays.address(theta), out, out + 1))
        return out[0], out[1]

    def predict_rate(self, theta, learning_rate):
        """ln(loss_t / loss_(t+1)) of gradient descent with this learning rate in the limit, when it ends at theta with loss 0."""
        theta, out = self._theta(theta), ffi.new("double *")
        check(
            lib.linattn_prompt_predict_rate(self._pointer, arrays.address(theta), arrays.real(learning_rate, "learning_rate"),
                                            out))
        return out[0]
