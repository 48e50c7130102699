"""Which arrays are taken, in and out: the same numbers as of a C-contiguous copy, or an error that names the argument."""
import unittest

import numpy
from support import Setting, linattn


def misaligned(array):
    """The same numbers at an odd address."""
    memory = numpy.zeros(array.nbytes + 1, numpy.uint8)
    moved = memory[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


class Inputs(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.s = Setting()
        cls.random = numpy.random.default_rng(1)

    def gradient_bits(self, theta):
        value, gradient = self.s.fixed.gradient(theta)
        return value, gradient.tobytes()

    def test_other_layouts_have_the_same_bits(self):
        """Case P1: transposed, sliced, Fortran-ordered, reversed and broadcast inputs."""
        theta = self.s.theta
        wide = numpy.zeros((theta.size, 2))
        wide[:, 0] = theta
        layouts = {"column": wide[:, 0], "reversed": theta[::-1].copy()[::-1], "broadcast": numpy.broadcast_to(0.01, theta.shape)}
        for name, layout in layouts.items():
            with self.subTest(name):
                self.assertFalse(layout.flags.c_contiguous)
                copy = numpy.ascontiguousarray(layout)
                self.assertEqual(self.gradient_bits(layout), self.gradient_bits(copy))
                self.assertEqual(self.s.fixed.hessian(layout).tobytes(), self.s.fixed.hessian(copy).tobytes())

    def test_other_layouts_of_matrices(self):
        directions = self.random.normal(size=(3, self.s.p))
        wanted = self.s.fixed.hvp(self.s.theta, directions)
        twice = numpy.repeat(directions, 2, axis=1)
        layouts = {
            "fortran": numpy.asfortranarray(directions),
            "transposed": directions.T.copy().T,
            "sliced": twice[:, ::2],
            "rows": numpy.repeat(directions, 2, axis=0)[::2]
        }
        for name, layout in layouts.items():
            with self.subTest(name):
                self.assertEqual(self.s.fixed.hvp(self.s.theta, layout).tobytes(), wanted.tobytes())
        one = numpy.broadcast_to(directions[0], (3, self.s.p))
        self.assertEqual(self.s.fixed.hvp(self.s.theta, one).tobytes(), self.s.fixed.hvp(self.s.theta, one.copy()).tobytes())
        square = self.random.normal(size=(4, 4))
        with self.assertRaises(ValueError):  # not symmetric: a transposed view must not be read as if it were
            linattn.matrix_spectrum(square.T)

    def test_read_only_inputs_and_lists_are_taken(self):
        theta = self.s.theta.copy()
        theta.flags.writeable = False
        self.assertEqual(self.gradient_bits(theta), self.gradient_bits(self.s.theta))
        self.assertEqual(self.gradient_bits(self.s.theta.tolist()), self.gradient_bits(self.s.theta))

    def test_wrong_types(self):
        """Case P2: the message names argument, wanted and got dtype."""
        for dtype in ("<f4", "<i8", ">f8", "<c16", "?", "O"):
            with self.subTest(dtype), self.assertRaises(TypeError) as caught:
                self.s.fixed.gradient(self.s.theta.astype(dtype))
            for part in ("theta", "float64", numpy.dtype(dtype).str):
                self.assertIn(part, str(caught.exception))
        with self.assertRaisesRegex(TypeError, "theta"):
            self.s.fixed.gradient("theta")
        with self.assertRaisesRegex(TypeError, "theta"):
            self.s.fixed.gradient(None)

    def test_wrong_shapes(self):
        for shape in ((self.s.p + 1, ), (self.s.p - 1, ), (1, self.s.p), (self.s.p, 1), ()):
            with self.subTest(shape), self.assertRaisesRegex(ValueError, rf"theta has shape .*wanted: \({self.s.p},\)"):
                self.s.fixed.gradient(numpy.zeros(shape))
        with self.assertRaisesRegex(ValueError, r"directions has shape \(2, 3\)"):
            self.s.fixed.hvp(self.s.theta, numpy.zeros((2, 3)))
        with self.assertRaisesRegex(ValueError, "targets"):
            linattn.Batch.from_arrays(numpy.zeros((2, 3, 4)), numpy.zeros(3))

    def test_misaligned(self):
        with self.assertRaisesRegex(ValueError, "theta is misaligned"):
            self.s.fixed.gradient(misaligned(self.s.theta))

    def test_integers_and_numbers(self):
        for draw, kind in ((-1, ValueError), (2**64, ValueError), (1.0, TypeError), ("1", TypeError)):
            with self.subTest(draw), self.assertRaisesRegex(kind, "draw"):
                self.s.fixed.value(self.s.theta, draw)
        self.assertEqual(self.s.sampled.value(self.s.theta, numpy.uint64(2**64 - 1)), self.s.sampled.value(self.s.theta, 2**64 - 1))
        with self.assertRaisesRegex(TypeError, "level"):
            linattn.sample_interval(numpy.arange(3.0), level="high")

    def test_temporaries(self):
        """Case P7: what is handed over may be gone afterwards."""
        tokens, targets = self.s.batch.arrays()
        batch = linattn.Batch.from_arrays(tokens + 0.0, targets + 0.0)
        sampler = linattn.Sampler(5, 20, covariates="rotated", covariate_factor=numpy.eye(5) * 2.0, task_factor=numpy.eye(5) + 0.0)
        del tokens, targets
        again, _ = batch.arrays()
        self.assertEqual(again.tobytes(), self.s.batch.arrays()[0].tobytes())
        self.assertTrue(numpy.isfinite(sampler.batch(10).arrays()[0]).all())


class Outputs(unittest.TestCase):
    """An output that is not exactly what is wanted is an error, and nothing is written anywhere."""

    @classmethod
    def setUpClass(cls):
        cls.s = Setting()

    def refuse(self, call, memory, out, kind, words):
        before = memory.tobytes()
        with self.assertRaisesRegex(kind, words):
            call(out)
        self.assertEqual(memory.tobytes(), before)

    def test_good_output(self):
        out = numpy.full(self.s.p, numpy.nan)
        value, gradient = self.s.fixed.gradient(self.s.theta, out=out)
        self.assertIs(gradient, out)
        self.assertEqual(out.tobytes(), self.s.fixed.gradient(self.s.theta)[1].tobytes())

    def test_layouts(self):
        p = self.s.p
        line, square = numpy.zeros(2 * p), numpy.zeros((p, p))
        read_only = numpy.zeros(p)
        read_only.flags.writeable = False
        s = self.s
        cases = [
            (lambda out: s.fixed.gradient(s.theta, out=out), line, line[::2], ValueError, "out is not C-contiguous"),
            (lambda out: s.fixed.hessian(s.theta, out=out), square, square.T, ValueError, "out is not C-contiguous"),
            (lambda out: s.fixed.hessian(s.theta, out=out), square, square[::-1], ValueError, "out is not C-contiguous"),
            (lambda out: s.fixed.gradient(s.theta, out=out), read_only, read_only, ValueError, "out is read-only"),
            (lambda out: s.fixed.gradient(s.theta, out=out), line, numpy.broadcast_to(line[:1], (p, )), ValueError, "out is"),
        ]
        for call, memory, out, kind, words in cases:
            with self.subTest(words):
                self.refuse(call, memory, out, kind, words)

    def test_types_shapes_places(self):
        p, s = self.s.p, self.s
        call = lambda out: s.fixed.gradient(s.theta, out=out)  # noqa: E731
        for dtype in ("<f4", "<i8", ">f8"):
            out = numpy.zeros(p, dtype)
            self.refuse(call, out, out, TypeError, "out has dtype")
        odd = misaligned(numpy.zeros(p))
        self.refuse(call, odd, odd, ValueError, "out is misaligned")
        short = numpy.zeros(p - 1)
        self.refuse(call, short, short, ValueError, "out has shape")
        theta = s.theta.copy()
        self.refuse(lambda out: s.fixed.gradient(theta, out=out), theta, theta, ValueError, "out overlaps an input")
        with self.assertRaisesRegex(TypeError, "out is of type list"):
            call([0.0] * p)

    def test_theta_that_is_moved(self):
        wide = numpy.zeros((self.s.p, 2))
        optimizer, gradient = self.s.optimizer(), numpy.ones(self.s.p)
        self.refuse(lambda theta: optimizer.step(1.0, gradient, theta), wide, wide[:, 0], ValueError, "theta is not C-contiguous")
        with self.assertRaisesRegex(TypeError, "theta"):
            optimizer.step(1.0, gradient, None)
        self.assertEqual(optimizer.step_count, 0)
