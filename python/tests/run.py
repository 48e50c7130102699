"""Runs all tests, or those of the modules named, such as test_arrays. All of them together must call every function of the
library."""
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import support  # noqa: E402: before any test imports the package
from ctypes_table import FUNCTIONS  # noqa: E402


def main():
    names = sys.argv[1:]
    loader = unittest.defaultTestLoader
    tests = loader.loadTestsFromNames(names) if names else loader.discover(str(HERE))
    ok = unittest.TextTestRunner(verbosity=1).run(tests).wasSuccessful()
    if not names:
        missed = sorted(set(FUNCTIONS) - support.called)
        print(f"{len(FUNCTIONS) - len(missed)} of {len(FUNCTIONS)} functions called" + "".join(f"\n  not: {name}"
                                                                                               for name in missed))
        ok = ok and not missed
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
