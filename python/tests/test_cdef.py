"""The generated declarations: complete, plain, and the same for cffi and ctypes."""
import ctypes
import mmap
import os
import re
import subprocess
import sys
import unittest

import cffi
import ctypes_table
from support import TOP, linattn

LIBRARY = os.environ.get("LINATTN_LIBRARY")
HEADERS = TOP / "include" / "linattn"


def header_functions():
    """The names that LINATTN_API marks in the headers."""
    text = "".join(
        re.sub(r"/\*.*?\*/|^#.*?$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE) for path in HEADERS.glob("*.h"))
    return set(re.findall(r"LINATTN_API [^(;]*?(\w+)\(", text))


class Declarations(unittest.TestCase):

    def test_cffi_takes_them(self):
        """Case K7: no directive, attribute or inline function is left, and constants are plain integers."""
        source = linattn._cdef.SOURCE
        cffi.FFI().cdef(source)
        self.assertNotRegex(source, r"#|__attribute__|inline|static|\.\.\.|LINATTN_API")
        values = re.findall(r"^ {4}LINATTN_\w+ = (.*),$", source, re.MULTILINE)
        self.assertGreater(len(values), 50)
        for value in values:
            self.assertRegex(value, r"^-?\d+$")

    @unittest.skipUnless(HEADERS.exists(), "the headers are not here")
    def test_every_constant_is_an_enumerator(self):
        text = "".join(path.read_text() for path in HEADERS.glob("*.h"))
        self.assertEqual(
            set(re.findall(r"#define (LINATTN_\w+)", text)) - {"LINATTN_API"},
            {"LINATTN_H"} | {f"LINATTN_{path.stem.upper()}_H"
                             for path in HEADERS.glob("*.h")} - {"LINATTN_LINATTN_H"})

    @unittest.skipUnless(HEADERS.exists(), "the headers are not here")
    def test_every_function_is_declared(self):
        functions = header_functions()
        self.assertEqual(functions, set(ctypes_table.FUNCTIONS))
        for name in functions:
            getattr(linattn._library.lib, name)

    def test_versions(self):
        self.assertEqual(linattn.__version__, linattn.version())
        fits = linattn._library.fits
        self.assertTrue(fits(10102, (1, 1, 2)) and fits(10103, (1, 1, 2)) and fits(10200, (1, 1, 2)) and fits(20300, (2, 1, 0)))
        self.assertFalse(fits(10101, (1, 1, 2)) or fits(10002, (1, 1, 2)) or fits(20102, (1, 1, 2)) or fits(30000, (2, 1, 0)))

    def test_files_are_fresh(self):
        script = TOP / "tools" / "cdef.py"
        if not script.exists():
            self.skipTest("tools/cdef.py is not here")
        self.assertEqual(subprocess.run([sys.executable, str(script), "--check"]).returncode, 0)


@unittest.skipUnless(LIBRARY, "LINATTN_LIBRARY is not set")
class Ctypes(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.lib = ctypes_table.declare(ctypes.CDLL(LIBRARY))

    def test_types(self):
        """Case P3: every function has argtypes and restype; none is variadic."""
        ffi = linattn._library.ffi
        for name in ctypes_table.FUNCTIONS:
            function, declared = getattr(self.lib, name), ffi.typeof(getattr(linattn._library.lib._library, name))
            self.assertFalse(declared.ellipsis, name)
            self.assertEqual(len(function.argtypes), len(declared.args), name)
            for ours, theirs in zip((function.restype, *function.argtypes), (declared.result, *declared.args)):
                if ours is None:
                    self.assertEqual(theirs.cname, "void", name)
                else:
                    pointer = ours in POINTERS or issubclass(ours, (ctypes._Pointer, ctypes._CFuncPtr))
                    self.assertEqual((ctypes.sizeof(ours), "*" in theirs.cname), (ffi.sizeof(theirs), pointer), f"{name}: {theirs}")

    def test_structs(self):
        """Sizes and offsets of every field are cffi's."""
        ffi = linattn._library.ffi
        structs = {
            name: item
            for name, item in vars(ctypes_table).items()
            if isinstance(item, type) and name.startswith("linattn_") and issubclass(item, ctypes.Structure)
        }
        self.assertGreater(len(structs), 20)
        for name, struct in structs.items():
            self.assertEqual(ctypes.sizeof(struct), ffi.sizeof(name))
            wanted = [(field, item.offset, ffi.sizeof(item.type)) for field, item in ffi.typeof(name).fields]
            found = [(field, getattr(struct, field).offset, getattr(struct, field).size) for field, *_ in struct._fields_]
            self.assertEqual(found, wanted, name)

    def test_high_addresses(self):
        """Case P3: a handle kept at an address above 4 GiB comes back whole."""
        memory = mmap.mmap(-1, mmap.PAGESIZE)
        place = ctypes.c_void_p.from_buffer(memory)
        self.assertGreater(ctypes.addressof(place), 2**32)
        options = ctypes_table.linattn_model_options()
        self.lib.linattn_model_options_init(options, ctypes.sizeof(options))
        options.dim, options.layers = 5, 3
        self.assertEqual(self.lib.linattn_model_create(ctypes.byref(place), options), 0)
        self.assertEqual(self.lib.linattn_model_parameter_count(place), 150)
        theta = (ctypes.c_double * 150)()
        self.assertGreater(ctypes.addressof(theta), 0)
        self.assertEqual(self.lib.linattn_model_init_parameters(place, 2**64 - 1, theta), 0)
        again = ctypes.c_void_p(int.from_bytes(memory[:ctypes.sizeof(place)], sys.byteorder))
        self.assertEqual(self.lib.linattn_model_parameter_count(again), 150)
        self.lib.linattn_model_destroy(again)
        with self.assertRaises(ctypes.ArgumentError):
            self.lib.linattn_model_parameter_count(1.5)
        del place

    def test_exceptions(self):
        """Case P5 by hand: catch, keep, return a negative status."""
        t, lib, raised = ctypes_table, self.lib, []
        callbacks, options, rule = t.linattn_objective_callbacks(), t.linattn_trainer_options(), t.linattn_optimizer_options()
        lib.linattn_objective_callbacks_init(callbacks, ctypes.sizeof(callbacks))
        lib.linattn_optimizer_options_init(rule, ctypes.sizeof(rule))
        lib.linattn_trainer_options_init(options, ctypes.sizeof(options))

        def gradient(draw, theta, value, slope, user):
            try:
                if draw == 3:
                    raise RuntimeError("mine")
                value[0], slope[0] = 0.0, 1.0
                return 0
            except BaseException as error:
                raised.append(error)
                return -1000

        callbacks.parameter_count, rule.learning_rate = 1, 0.5
        callbacks.gradient = type(callbacks.gradient)(gradient)
        f, o, trainer, done = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
        self.assertEqual(lib.linattn_objective_create_callbacks(f, callbacks, None, None), 0)
        self.assertEqual(lib.linattn_optimizer_create(o, rule, None, 0, 1), 0)
        self.assertEqual(lib.linattn_trainer_create(trainer, f, o, (ctypes.c_double * 1)(1.0), options), 0)
        self.assertEqual(lib.linattn_trainer_run(trainer, 10, done), -1000)
        self.assertEqual((done.value, str(raised[0])), (3, "mine"))
        lib.linattn_trainer_destroy(trainer)
        lib.linattn_optimizer_destroy(o)
        lib.linattn_objective_destroy(f)


POINTERS = (ctypes.c_void_p, ctypes.c_char_p, ctypes_table.linattn_progress, ctypes_table.linattn_observer)
