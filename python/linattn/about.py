"""The library itself: its version, how it was built, what this machine can run."""
from . import enums
from ._library import ffi, lib, text
from .errors import check


def version():
    """The running library's version, such as "0.1.0"."""
    return text(lib.linattn_version_string())


def build_info():
    """One line on how the library was built."""
    return text(lib.linattn_build_info())


def blas_info():
    """One line on the BLAS that answers behind LAPACK; eigenvalues may depend on it in their last digits."""
    line = ffi.new("char[]", lib.LINATTN_BLAS_INFO_SIZE)
    check(lib.linattn_blas_info(line))
    return text(line)


def kernel_available(kernel):
    """Whether this machine and this build can run a kernel (Kernel)."""
    return bool(lib.linattn_kernel_available(enums.number(enums.Kernel, kernel, "kernel")))
