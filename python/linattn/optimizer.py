"""Update rules over a flat vector of parameters."""
from . import arrays, structs
from ._library import ffi, lib
from .callbacks import callback, require_callable, word
from .errors import NonFinite, check, failure
from .handles import Handle
from .model import Model
from .structs import StepRecord, Tensor

_OPTIONS = "linattn_optimizer_options"


@structs.documented(_OPTIONS)
class Optimizer(Handle):
    """An update rule with its memory. Use one from one thread at a time.

    Optimizer(parameters, **options), such as Optimizer(model, rule="adam", learning_rate=0.02). parameters: a Model, whose tensor
    table clipping by tensor uses, or the number of parameters p."""

    _kind = "optimizer"
    _instead = "make another with the same options, and pickle its state()"

    def __init__(self, parameters, **options):
        filled = structs.options(_OPTIONS, options)
        self._take(lib.linattn_optimizer_create, filled, *self._sizes(parameters))

    @classmethod
    def custom(cls, parameters, update, state_count=0, name="custom", **options):
        """The caller's own rule: update(u), with an Update, moves u.theta. state_count: doubles of u.state. Clipping, schedule,
        learning rate and nonfinite of the options apply. A checkpoint tells rules apart by `name`: put numbers that matter into
        it."""
        self = cls.__new__(cls)
        filled = structs.options(_OPTIONS, options)
        sizes = self._sizes(parameters)
        function = _update_callback(require_callable(update, "update"), arrays.count(state_count, "state_count"))
        label = ffi.new("char[]", name.encode())
        rule = structs.options("linattn_custom_rule", dict(state_count=state_count, name=label, update=function))
        self._kept = function
        self._take(lib.linattn_optimizer_create_custom, filled, rule, ffi.NULL, *sizes)
        return self

    def _sizes(self, parameters):
        """(tensors, tensor_count, p) for the library."""
        if isinstance(parameters, Model):
            table = parameters._table()
            self._p = parameters.parameter_count
            return table, len(table), self._p
        self._p = arrays.count(parameters, "parameters")
        return ffi.NULL, 0, self._p

    def step(self, value, gradient, theta):
        """Moves theta (p,), in place, by one step; gradient: (p,), value: f(theta). Returns the StepRecord. A NonFinite has it
        too, as its attribute `record`, where the gradient was not finite; theta is then as it was."""
        gradient = arrays.read(gradient, "gradient", (self._p, ))
        if theta is None:
            raise TypeError("theta is None; wanted: a numpy array")
        theta = arrays.write(theta, "theta", (self._p, ), gradient)
        record = structs.new("linattn_step_record")
        status = lib.linattn_optimizer_step(self._pointer, arrays.real(value, "value"), arrays.address(gradient),
                                            arrays.address(theta), record)
        if status:
            exception = failure(status)
            if isinstance(exception, NonFinite):
                exception.record = structs.result(StepRecord, record)
            raise exception
        return structs.result(StepRecord, record)

    @property
    def step_count(self):
        """Steps taken so far, skipped ones included."""
        return lib.linattn_optimizer_step_count(self._pointer)

    @property
    def skip_count(self):
        """How many steps were skipped."""
        return lib.linattn_optimizer_skip_count(self._pointer)

    @property
    def state_count(self):
        """The length of the rule's memory."""
        return lib.linattn_optimizer_state_count(self._pointer)

    def learning_rate(self, step):
        """The learning rate that the schedule gives to the step with index `step`."""
        return lib.linattn_optimizer_learning_rate(self._pointer, arrays.count(step, "step"))

    def state(self):
        """(state (state_count,), steps, skips): the rule's memory, copied. SGD: velocity; Adam: first, then second moment."""
        memory = arrays.write(None, "state", (self.state_count, ))
        steps, skips = ffi.new("uint64_t *"), ffi.new("uint64_t *")
        check(lib.linattn_optimizer_get_state(self._pointer, arrays.address(memory), steps, skips))
        return memory, steps[0], skips[0]

    def set_state(self, state, steps, skips=0):
        """Puts back what state() gave."""
        memory = arrays.read(state, "state", (self.state_count, ))
        check(
            lib.linattn_optimizer_set_state(self._pointer, arrays.address(memory), arrays.count(steps, "steps"),
                                            arrays.count(skips, "skips")))

    def preconditioner(self, out=None):
        """The diagonal D (p,) by which the rule divides: sqrt(v_hat) + epsilon for Adam, 1 for SGD."""
        diagonal = arrays.write(out, "out", (self._p, ))
        check(lib.linattn_optimizer_preconditioner(self._pointer, arrays.address(diagonal)))
        return diagonal


class Update:
    """What a custom rule sees of a step; all arrays are copies.

    step: t = 1, 2, ...; learning_rate; value: f(theta); gradient: (p,), clipped; theta: (p,) and state: (state_count,), which
    are read back when the rule returns, whether they were changed in place or replaced; tensors: a tuple of Tensor."""

    __slots__ = ("step", "learning_rate", "value", "gradient", "theta", "state", "tensors")


def _update_callback(update, state_count):

    def call(raw, user):
        u = Update()
        u.step, u.learning_rate, u.value = raw.step, raw.learning_rate, raw.value
        u.gradient, u.theta = arrays.copied(raw.gradient, raw.p), arrays.copied(raw.theta, raw.p)
        u.state = arrays.copied(raw.state, state_count)
        u.tensors = tuple(structs.result(Tensor, raw.tensors + i) for i in range(raw.tensor_count))
        status = word(update(u), "update")
        theta = arrays.read(u.theta, "the theta that the rule left", (raw.p, ))
        state = arrays.read(u.state, "the state that the rule left", (state_count, ))
        arrays.view(raw.theta, raw.p)[:] = theta
        if state_count:
            arrays.view(raw.state, state_count)[:] = state
        return status

    return callback("int(const linattn_update *, void *)", call)
