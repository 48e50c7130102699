"""Arrays and numbers on their way into the library and out of it.

Inputs: float64 arrays. C-contiguous ones are used as they are; transposed, strided and broadcast ones are copied first, so that the
numbers are those that numpy shows. Another element type or byte order is a TypeError, another shape a ValueError; nothing is ever
converted silently. Lists and tuples of numbers are taken too.
Outputs (out=...): float64, C-contiguous, aligned, writable, of the right shape and apart from the inputs. Anything else is an
error, and nothing is written: a hidden copy would lose the result."""
import operator

import numpy

from ._library import ffi

FLOAT = numpy.dtype(numpy.float64)


def _described(shape):
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def _check_type(array, name, dtype):
    if array.dtype != dtype or not array.dtype.isnative:
        raise TypeError(f"{name} has dtype {array.dtype.str} ({array.dtype}); wanted: {dtype}, in this machine's byte order")


def _check_shape(array, name, shape):
    """shape: numbers, or names for what may be any size."""
    fits = len(array.shape) == len(shape) and all(isinstance(want, str) or want == got for want, got in zip(shape, array.shape))
    if not fits:
        raise ValueError(f"{name} has shape {_described(array.shape)}; wanted: {_described(shape)}")


def _check_aligned(array, name):
    if not array.flags.aligned:
        raise ValueError(f"{name} is misaligned: its address is no multiple of {array.dtype.alignment}; pass {name}.copy()")


def read(value, name, shape, dtype=FLOAT):
    """An input as a C-contiguous array that the library may read; shape as for _check_shape."""
    if isinstance(value, (list, tuple, float, int)):
        try:
            value = numpy.array(value, dtype=dtype)
        except (TypeError, ValueError, OverflowError) as error:
            raise type(error)(f"{name}: {error}") from None
    array = numpy.asarray(value)
    _check_type(array, name, dtype)
    _check_shape(array, name, shape)
    _check_aligned(array, name)
    return numpy.ascontiguousarray(array)


def write(out, name, shape, *inputs, dtype=FLOAT):
    """An output array of that shape: a new one, or the caller's, which is checked and must not overlap the inputs."""
    if out is None:
        return numpy.empty(shape, dtype)
    if not isinstance(out, numpy.ndarray):
        raise TypeError(f"{name} is of type {type(out).__name__}; wanted: a numpy array")
    _check_type(out, name, dtype)
    _check_shape(out, name, shape)
    _check_aligned(out, name)
    if not out.flags.c_contiguous:
        raise ValueError(f"{name} is not C-contiguous (strides {out.strides}); an output is never written through a copy")
    if not out.flags.writeable:
        raise ValueError(f"{name} is read-only")
    for other in inputs:
        if numpy.may_share_memory(out, other):
            raise ValueError(f"{name} overlaps an input")
    return out


def optional(value, name, shape):
    """read, or None for None."""
    return None if value is None else read(value, name, shape)


def address(array, ctype="double[]"):
    """An array's address for the library; NULL for None. Holds the array for as long as it lives itself."""
    return ffi.NULL if array is None else ffi.from_buffer(ctype, array)


def copied(pointer, *shape):
    """A copy of the numbers at an address that the library hands to a callback: it is valid during the call only."""
    size = FLOAT.itemsize * int(numpy.prod(shape, dtype=object))
    return numpy.frombuffer(ffi.buffer(pointer, size), FLOAT).reshape(shape).copy() if size else numpy.empty(shape)


def view(pointer, *shape):
    """The library's memory at an address as an array, to be written during a callback and never handed out."""
    return numpy.frombuffer(ffi.buffer(pointer, FLOAT.itemsize * int(numpy.prod(shape, dtype=object))), FLOAT).reshape(shape)


def count(value, name, bits=64):
    """An unsigned integer of at most so many bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is of type {type(value).__name__}; wanted: an integer") from None
    if not 0 <= number < 2**bits:
        raise ValueError(f"{name} is {number}; allowed: 0 to 2^{bits} - 1")
    return number


def real(value, name):
    """A double."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}; wanted: a number") from None
