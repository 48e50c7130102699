"""What all objects of the library have in common: their life."""
from ._library import ffi, lib
from .errors import check


class Handle:
    """An object of the library. It is released when nothing refers to it any more, or by close(); `with` closes it at the end.

    An object keeps alive what it was made from, so the order does not matter, and closing one that is in a call takes effect
    when the call has returned."""

    _kind = ""  # the library's word for it
    _instead = ""  # what to do instead of pickling
    _handle = None

    def _take(self, create, *arguments):
        """Makes the object by a create function of the library."""
        out = ffi.new(f"linattn_{self._kind} **")
        check(create(out, *arguments))
        # A call holds a reference to what it was given, so that nothing is destroyed in the middle of one.
        self._handle = ffi.gc(out[0], getattr(lib, f"linattn_{self._kind}_destroy"))

    @property
    def _pointer(self):
        if self._handle is None:
            raise ValueError(f"this {self._kind} is closed")
        return self._handle

    @property
    def closed(self):
        """Whether close() was called."""
        return self._handle is None

    def close(self):
        """Releases the object; its methods then raise ValueError. Closing twice does nothing."""
        self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __reduce__(self):
        raise TypeError(f"a {self._kind} cannot be pickled or copied: {self._instead}")


def pointer(value, kind, name):
    """The address of an object, which must be of class `kind` and open."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} is of type {type(value).__name__}; wanted: {kind.__name__}")
    if value.closed:
        raise ValueError(f"{name} is closed")
    return value._handle
