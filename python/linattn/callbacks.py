"""Python functions as callbacks of the library.

Whatever a function raises is kept, the library is told to end its call, and the exception is raised to the caller of that call. A
callback lives as long as the object that was returned here: whoever hands it to the library keeps it."""
import numpy

from ._library import ffi, lib
from .errors import RAISED, keep

STOP = lib.LINATTN_STOP
"""What a callback returns to end the work early; True will do too."""


def word(answer, name):
    """A callback's answer as a status: None or False go on, True or STOP end the work, a negative number is a failure."""
    if answer is None or isinstance(answer, (bool, numpy.bool_)):
        return STOP if answer else lib.LINATTN_OK
    if isinstance(answer, int) and -2**31 <= answer <= STOP:
        return answer
    raise TypeError(f"the callback {name} returned {answer!r}; wanted: None to go on, True to end, or a negative status")


def callback(signature, function):
    """function as a C function of that type; exceptions are kept for errors.check."""
    return ffi.callback(signature, function, error=RAISED, onerror=keep)


def require_callable(function, name):
    if not callable(function):
        raise TypeError(f"{name} is of type {type(function).__name__}; wanted: a function")
    return function


# Does nothing but come by Python now and then, where Ctrl-C is then noticed.
_visit = callback("int(double, void *)", lambda fraction, user: 0)


def progress_callback(function):
    """A progress callback: function(fraction), fraction in [0, 1], answers as in `word`. None: one that only lets Ctrl-C through;
    False: none at all."""
    if function is None:
        return _visit
    if function is False:
        return ffi.NULL
    require_callable(function, "progress")
    return callback("int(double, void *)", lambda fraction, user: word(function(fraction), "progress"))
