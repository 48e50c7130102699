"""The linear transformer: an architecture, without parameters."""
import numpy

from . import arrays, structs
from ._library import ffi, lib
from .errors import check
from .handles import Handle, pointer
from .sampler import Batch
from .structs import Tensor

_OPTIONS = "linattn_model_options"


@structs.documented(_OPTIONS)
class Model(Handle):
    """An architecture; immutable, may be shared between threads. Parameters are the caller's array theta (p,).

    Model(dim, layers, **options), such as Model(5, 3, heads=2, form="full")."""

    _kind = "model"
    _instead = "make another with the same options, and pickle the array of parameters"

    def __init__(self, dim, layers, **options):
        filled = structs.options(_OPTIONS, dict(options, dim=dim, layers=layers))
        self._take(lib.linattn_model_create, filled)

    @property
    def parameter_count(self):
        """p, the length of theta."""
        return lib.linattn_model_parameter_count(self._pointer)

    @property
    def tensors(self):
        """The tensor table, a tuple of Tensor in the order of theta."""
        return tuple(structs.result(Tensor, row) for row in self._table())

    def _table(self):
        """The tensor table as the library's structs."""
        count = lib.linattn_model_tensor_count(self._pointer)
        table = ffi.new("linattn_tensor[]", count)
        for i in range(count):
            table[i].struct_size = ffi.sizeof("linattn_tensor")
            check(lib.linattn_model_get_tensor(self._pointer, i, table + i))
        return table

    def views(self, theta):
        """{name: matrix} of views into theta (p,): writing to one writes to theta."""
        if not isinstance(theta, numpy.ndarray):
            raise TypeError(f"theta is of type {type(theta).__name__}; wanted: a numpy array, of which parts are shown")
        if arrays.read(theta, "theta", (self.parameter_count, )) is not theta:
            raise ValueError("theta is not C-contiguous; its parts cannot be shown as matrices")
        return {t.name: theta[t.offset:t.offset + t.rows * t.columns].reshape(t.rows, t.columns) for t in self.tensors}

    def init_parameters(self, seed, out=None):
        """theta (p,): independent normals of standard deviation init_std; the same bits for the same seed on every machine."""
        theta = arrays.write(out, "out", (self.parameter_count, ))
        check(lib.linattn_model_init_parameters(self._pointer, arrays.count(seed, "seed"), arrays.address(theta)))
        return theta

    def predict(self, batch, theta, out=None):
        """Predictions (prompts,) of a batch's targets. theta: (p,)."""
        theta = arrays.read(theta, "theta", (self.parameter_count, ))
        batch_pointer = pointer(batch, Batch, "batch")
        predictions = arrays.write(out, "out", (batch.prompts, ), theta)
        check(lib.linattn_model_predict(self._pointer, batch_pointer, arrays.address(theta), arrays.address(predictions)))
        return predictions

    def attention(self, batch, theta, layer=0, head=0, out=None):
        """Attention weights (prompts, n+1, n+1) of a layer and head, before 1/n; row: query token, column: key token, the query
        last. theta: (p,)."""
        theta = arrays.read(theta, "theta", (self.parameter_count, ))
        batch_pointer = pointer(batch, Batch, "batch")
        weights = arrays.write(out, "out", (batch.prompts, batch.context + 1, batch.context + 1), theta)
        check(
            lib.linattn_model_attention(self._pointer, batch_pointer, arrays.address(theta), arrays.count(layer, "layer"),
                                        arrays.count(head, "head"), arrays.address(weights)))
        return weights
