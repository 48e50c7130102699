"""What needs a process of its own: Ctrl-C, fork, unloading, floating-point modes, finding the library, installing."""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import PACKAGE, run_python

LIBRARY = os.environ.get("LINATTN_LIBRARY", "")

START = """
import linattn, numpy, os, signal, sys, time
r = linattn.recipe("setting1")
model, sampler = linattn.Model(**r.model_options()), linattn.Sampler(**r.sampler_options())
theta = model.init_parameters(1)
def trainer(prompts=r.prompts, **options):
    objective = linattn.Objective.sampled(model, sampler, prompts)
    return linattn.Trainer(objective, linattn.Optimizer(model, **r.optimizer_options("adam")), theta, **options)
"""

# Work under Ctrl-C, half a second in; tells how long KeyboardInterrupt took.
INTERRUPTED = START + """
import subprocess
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell are started without
{prepare}
child = subprocess.Popen([sys.executable, "-c", '''if 1:
    import os, signal, sys, time
    time.sleep(0.5)
    os.kill(int(sys.argv[1]), signal.SIGINT)
    print(time.time())''', str(os.getpid())], stdout=subprocess.PIPE)
try:
    {work}
    print("was not interrupted")
except KeyboardInterrupt:
    caught = time.time()
    sent = float(child.communicate()[0])
    print("interrupted within a second" if caught - sent < 1 else f"interrupted after {{caught - sent}} s")
"""


class Interrupts(unittest.TestCase):
    """Case P6."""

    def check(self, prepare, work, after=""):
        finished = run_python(INTERRUPTED.format(prepare=prepare, work=work) + after)
        self.assertEqual((finished.stdout, finished.returncode), ("interrupted within a second\n" + ("good\n" if after else ""), 0))

    def test_run(self):
        """The step count is consistent, and the run goes on as if nothing had been."""
        self.check(
            "t = trainer()", "t.run(10**9)", """
steps = t.step_count
assert 10 < steps == t.record_count
t.run(7)
straight = trainer()
straight.run(steps + 7)
assert straight.parameters().tobytes() == t.parameters().tobytes()
print("good")
""")

    def test_observer(self):
        self.check("t = trainer(observer=lambda record, theta: None)", "t.run(10**9)",
                   "assert t.step_count == t.record_count\nprint('good')\n")

    def test_long_steps(self):
        """A step that takes seconds is not waited for."""
        self.check(
            """
large = linattn.Model(20, 8)
objective = linattn.Objective.sampled(large, linattn.Sampler(20, 60), 200000)
t = linattn.Trainer(objective, linattn.Optimizer(large, learning_rate=0.0), large.init_parameters(1))
""", "t.run(10)", "assert t.step_count == t.record_count < 10\nprint('good')\n")

    def test_measurements(self):
        works = {
            "hessian": ("f = linattn.Objective.fixed(model, sampler.batch(300000))", "f.hessian(theta)"),
            "gradient error": ("d = linattn.Diagnostics(linattn.Objective.sampled(model, sampler, 1000))",
                               "d.gradient_error(theta, samples=10**7)"),
            "bootstrap": ("x = numpy.random.rand(1000)", "linattn.sample_bootstrap(x, resamples=10**6)"),
            "own functions": ("f = linattn.Objective.from_functions(10**5, lambda theta, draw: (0.0, theta), difference_step=1e-5)",
                              "f.hessian_diagonal(numpy.zeros(10**5))"),
        }
        for name, (prepare, work) in works.items():
            with self.subTest(name):
                self.check(prepare, work)


class Processes(unittest.TestCase):

    def test_fork(self):
        """Objects with worker threads go on working in a child, which starts threads of its own."""
        finished = run_python(START + """
import multiprocessing
objective = linattn.Objective.sampled(model, sampler, 1000, threads=2)
wanted = objective.value(theta)
def work(draw):
    return objective.value(theta, draw)
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        values = pool.map(work, range(4))
    print(values == [objective.value(theta, draw) for draw in range(4)] and values[0] == wanted)
""")
        self.assertEqual((finished.stdout, finished.returncode), ("True\n", 0))

    def test_exit_with_live_objects(self):
        """Case K8, normal exit: threads are parked, a thread of Python's is in a call, and callbacks are alive."""
        finished = run_python(START + """
import threading
objective = linattn.Objective.sampled(model, sampler, 1000, threads=2)
objective.value(theta)
t = trainer(observer=lambda record, theta: None)
t.run(3)
threading.Thread(target=lambda: trainer(prompts=100).run(10**9), daemon=True).start()
time.sleep(0.2)
print("end")
""")
        self.assertEqual((finished.stdout, finished.returncode), ("end\n", 0))

    @unittest.skipUnless(LIBRARY, "LINATTN_LIBRARY is not set")
    def test_unload(self):
        """Case K8: in a thread load, make eigenvalues, unload and exit, 50 times; memory does not grow."""
        finished = run_python(
            """
            import ctypes, resource, sys, threading, _ctypes
            import ctypes_table
            def work():
                library = ctypes.CDLL(sys.argv[1])
                ctypes_table.declare(library)
                n = 60
                matrix = (ctypes.c_double * (n * n))(*(1.0 / (1 + i // n + i % n) for i in range(n * n)))
                values, out = (ctypes.c_double * n)(), ctypes_table.linattn_spectrum()
                out.struct_size = ctypes.sizeof(out)
                status = library.linattn_matrix_spectrum(matrix, n, values, None, out)
                assert status == 0, library.linattn_last_message()
                assert abs(sum(values) - sum(matrix[i * n + i] for i in range(n))) < 1e-12
                assert library.linattn_matrix_spectrum(None, n, values, None, out) == -1
                _ctypes.dlclose(library._handle)
            sizes = []
            for i in range(50):
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()
                sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
            print("grew by", sizes[-1] - sizes[9], "KiB" ) if sizes[-1] - sizes[9] > 4096 else print("good")
            """, LIBRARY)
        self.assertEqual((finished.stdout, finished.returncode), ("good\n", 0))

    def test_floating_point_modes(self):
        """Loading and using the library leaves subnormals and rounding alone."""
        finished = run_python("""
            import numpy
            def state():
                tiny, third = numpy.array([5e-324, 2.2e-308]), numpy.array([1.0]) / 3
                return (tiny * 0.5 * 2).tolist(), (tiny + tiny).tolist(), third[0].hex(), (-third)[0].hex(), 5e-324 * 3
            before = state()
            import linattn
            after = state()
            linattn.matrix_spectrum(numpy.eye(50))
            linattn.Objective.sampled(linattn.Model(5, 3), linattn.Sampler(5, 20), 1000, threads=2).hessian(numpy.zeros(150))
            print(before == after == state() and before[1][0] == 1e-323)
            """)
        self.assertEqual((finished.stdout, finished.returncode), ("True\n", 0))


class Finding(unittest.TestCase):

    def test_missing(self):
        finished = run_python("import linattn", LINATTN_LIBRARY="/nowhere/liblinattn.so")
        self.assertNotEqual(finished.returncode, 0)
        self.assertRegex(finished.stdout, "ImportError: liblinattn is not found.*(?s:.)*/nowhere/liblinattn.so")

    @unittest.skipUnless(LIBRARY, "LINATTN_LIBRARY is not set")
    def test_places(self):
        """A folder in LINATTN_LIBRARY; beside the package; a build tree around the package."""
        with tempfile.TemporaryDirectory() as folder:
            top = Path(folder)
            shutil.copytree(PACKAGE, top / "python" / "linattn", ignore=shutil.ignore_patterns("__pycache__"))
            soname = "liblinattn.so.1"
            script = "import sys; sys.path.insert(0, sys.argv[1]); import linattn; print(linattn._library.candidates()[0])"

            def found(**variables):
                finished = run_python(script, str(top / "python"), **dict(dict(LINATTN_LIBRARY=""), **variables))
                self.assertEqual(finished.returncode, 0, finished.stdout)
                return finished.stdout.strip()

            (top / "build" / "lib").mkdir(parents=True)
            tree, beside = top / "build" / "lib" / soname, top / "python" / "linattn" / soname
            tree.symlink_to(os.path.realpath(LIBRARY))
            self.assertEqual(found(), os.path.realpath(tree.parent) + "/" + soname)
            beside.symlink_to(os.path.realpath(LIBRARY))
            self.assertEqual(found(), os.path.realpath(beside.parent) + "/" + soname)
            self.assertEqual(found(LINATTN_LIBRARY=str(tree.parent)), str(tree))

    @unittest.skipUnless(LIBRARY, "LINATTN_LIBRARY is not set")
    def test_another_version(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "linattn"
            shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
            cdef = copy / "_cdef.py"
            cdef.write_text(re.sub(r"VERSION = \((\d+), (\d+), ", r"VERSION = (\1, 1\2, ", cdef.read_text()))  # 1.2 becomes 1.12
            finished = run_python("import sys; sys.path.insert(0, sys.argv[1]); import linattn", folder)
            self.assertIn("ImportError", finished.stdout)
            self.assertRegex(finished.stdout, r"made for \d+\.1\d+\.\d+")

    def test_install(self):
        """Into a virtual environment, without network: the package is complete and has the header's version."""
        source = PACKAGE.parent
        if not (source / "pyproject.toml").exists():
            self.skipTest("not a source tree")
        if sys.prefix != sys.base_prefix:
            self.skipTest("this Python is a virtual environment, whose packages another one does not see")
        for module in ("ensurepip", "setuptools", "wheel"):
            if importlib.util.find_spec(module) is None:
                self.skipTest(f"no {module} here")
        with tempfile.TemporaryDirectory() as folder:
            tree, place = Path(folder) / "python", Path(folder) / "V"
            shutil.copytree(source, tree, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
            environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
            for command in ([sys.executable, "-m", "venv", "--system-site-packages",
                             str(place)], [
                                 str(place / "bin" / "pip"), "install", "--no-index", "--no-build-isolation", "--no-deps",
                                 "--disable-pip-version-check", "-q",
                                 str(tree)
                             ]):
                finished = subprocess.run(command,
                                          env=environment,
                                          stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT,
                                          universal_newlines=True)
                self.assertEqual(finished.returncode, 0, finished.stdout)
            script = "import linattn, importlib.metadata as m; print(linattn.__file__, m.version('linattn') == linattn.version())"
            finished = subprocess.run([str(place / "bin" / "python"), "-c", script],
                                      env=environment,
                                      cwd=folder,
                                      stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT,
                                      universal_newlines=True)
            self.assertRegex(finished.stdout,
                             rf"^{os.path.realpath(place)}/lib/.*/site-packages/linattn/__init__.py True\n$|^{place}.* True\n$")
