"""Failures of the library as exceptions: one class for each status, all of them LinattnError.

Exceptions that callbacks raise are kept here until the library's call has returned, and are then raised to its caller."""
import threading

from ._library import lib, text

RAISED = -1000
"""The status by which our callbacks tell that they raised; no status of the library."""

_kept = threading.local()


class LinattnError(Exception):
    """A call of the library failed. `status` is its negative status; the text names the argument, its value and what is allowed."""

    status = 0

    def __init__(self, message="", status=None):
        super().__init__(message)
        if status is not None:
            self.status = status


class InvalidArgument(LinattnError, ValueError):
    """An argument or option is outside what is allowed."""

    status = lib.LINATTN_EINVAL


class OutOfMemory(LinattnError, MemoryError):
    """Memory could not be allocated."""

    status = lib.LINATTN_ENOMEM


class SizeOverflow(LinattnError, OverflowError):
    """Sizes are each allowed, but their product does not fit."""

    status = lib.LINATTN_EOVERFLOW


class NonFinite(LinattnError, ArithmeticError):
    """NaN or Inf in an input array, or in a value or gradient that was computed."""

    status = lib.LINATTN_ENONFINITE


class VersionError(LinattnError):
    """A struct or file of a version that the library does not know."""

    status = lib.LINATTN_EVERSION


class Unsupported(LinattnError):
    """A valid request that this object or machine cannot serve."""

    status = lib.LINATTN_EUNSUPPORTED


class Mismatch(LinattnError, ValueError):
    """Two objects, or an object and a file, do not belong together."""

    status = lib.LINATTN_EMISMATCH


class FormatError(LinattnError, ValueError):
    """A file or text is truncated, damaged or not of the expected kind."""

    status = lib.LINATTN_EFORMAT


class FileError(LinattnError, OSError):
    """The operating system refused to read or write a file."""

    status = lib.LINATTN_EIO


class SystemRefusal(LinattnError, OSError):
    """The operating system refused another resource, such as a thread."""

    status = lib.LINATTN_ESYSTEM


class Degenerate(LinattnError, ArithmeticError):
    """The answer is not defined for this input."""

    status = lib.LINATTN_EDEGENERATE


class NotConverged(LinattnError, ArithmeticError):
    """An iterative method did not reach its tolerance."""

    status = lib.LINATTN_ENOTCONVERGED


class Stopped(LinattnError):
    """A callback ended the call before there was a result, by returning True or STOP."""

    status = lib.LINATTN_STOP


_CLASSES = {kind.status: kind for kind in LinattnError.__subclasses__()}


def keep(_kind, exception, traceback):
    """Keeps what a callback raised; cffi calls it, and then hands RAISED to the library."""
    _kept.exception = exception.with_traceback(traceback)


def failure(status):
    """The exception for a status of the library: what a callback raised, or one of the classes above."""
    if status == RAISED:
        exception, _kept.exception = getattr(_kept, "exception", None), None
        if exception is not None:
            return exception
    if status == lib.LINATTN_STOP:
        return Stopped("a callback ended the call")
    return _CLASSES.get(status, LinattnError)(text(lib.linattn_last_message()), status)


def check(status):
    """Raises the exception for a status other than 0."""
    if status != lib.LINATTN_OK:
        raise failure(status)


def status_name(status):
    """The name of a status, such as "LINATTN_EINVAL"."""
    return text(lib.linattn_status_name(status))


def last_message():
    """The library's message of the calling thread's last failure; exceptions have it already. "" when there was none."""
    return text(lib.linattn_last_message())
