"""The shared library: where it is looked for, and whether it is one that the declarations fit."""
import os
import sys
from pathlib import Path

from cffi import FFI

from ._cdef import SOURCE, VERSION

NAMES = ("liblinattn.{}.dylib", "liblinattn.dylib") if sys.platform == "darwin" else ("liblinattn.so.{}", "liblinattn.so")
NAMES = tuple(name.format(VERSION[0]) for name in NAMES)

ffi = FFI()
ffi.cdef(SOURCE)


def candidates():
    """Paths to try, in order: LINATTN_LIBRARY alone when it is set; beside the package; a build tree that holds the package; then
    plain names, which the system's loader looks for."""
    chosen = os.environ.get("LINATTN_LIBRARY")
    if chosen:
        return [os.path.join(chosen, NAMES[0])] if os.path.isdir(chosen) else [chosen]
    package = Path(__file__).resolve().parent
    folders = (package, package.parent.parent / "build" / "lib")
    return [str(folder / name) for folder in folders for name in NAMES if (folder / name).exists()] + list(NAMES)


def fits(number, declared=VERSION):
    """Whether a library of version `number` (10000 major + 100 minor + patch) is one that the declarations hold for: the same major
    version, and not older."""
    wanted = 10000 * declared[0] + 100 * declared[1] + declared[2]
    return number // 10000 == declared[0] and number >= wanted


def load():
    """The library; ImportError when there is none, or one of another version."""
    failures = []
    for path in candidates():
        try:
            library = ffi.dlopen(path)
        except OSError as error:
            failures.append(f"  {path}: {error}")
            continue
        number = library.linattn_version_number()
        if not fits(number):
            found = ffi.string(library.linattn_version_string()).decode()
            wanted = ".".join(map(str, VERSION))
            raise ImportError(
                f"{path} is liblinattn {found}, and this package was made for {wanted}: install the one that goes with it")
        return library
    hint = "LINATTN_LIBRARY is set, and nothing else is tried" if os.environ.get("LINATTN_LIBRARY") else \
        "Set LINATTN_LIBRARY to the path of the shared library"
    raise ImportError(f"liblinattn is not found. {hint}; tried:\n" + "\n".join(failures))


lib = load()


def text(address):
    """A string of the library as str; None for NULL."""
    return None if address == ffi.NULL else ffi.string(address).decode()
