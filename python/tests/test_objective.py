"""Objectives: derivatives against differences and scipy, and functions of the caller's that misbehave."""
import traceback
import unittest

import numpy
from support import Setting, linattn

try:
    from scipy import optimize
except ImportError:
    optimize = None

A = numpy.array([[3.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 4.0]])
B = numpy.array([1.0, -2.0, 0.5])


def quadratic(theta, draw):
    """f = theta A theta / 2 - B theta + draw, by hand."""
    return theta @ A @ theta / 2 - B @ theta + draw, A @ theta - B


class Derivatives(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.s = Setting()
        cls.s.theta = numpy.random.default_rng(5).normal(size=cls.s.p) * 0.3

    def test_gradient_and_hessian(self):
        s, f = self.s, self.s.fixed
        value, gradient = f.gradient(s.theta)
        self.assertEqual(value, f.value(s.theta))
        direction = numpy.random.default_rng(6).normal(size=s.p)
        h = 1e-5
        slope = (f.value(s.theta + h * direction) - f.value(s.theta - h * direction)) / (2 * h)
        self.assertAlmostEqual(slope / (gradient @ direction), 1, places=7)
        product = f.hvp(s.theta, direction)
        differences = (f.gradient(s.theta + h * direction)[1] - f.gradient(s.theta - h * direction)[1]) / (2 * h)
        numpy.testing.assert_allclose(product, differences, atol=1e-6 * abs(product).max())
        hessian = f.hessian(s.theta)
        self.assertEqual(hessian.tobytes(), hessian.T.copy().tobytes())
        numpy.testing.assert_allclose(hessian @ direction, product, rtol=1e-9, atol=1e-11 * abs(product).max())
        several = f.hvp(s.theta, numpy.stack([direction, -direction]))
        numpy.testing.assert_allclose(several, [product, -product], rtol=1e-12, atol=1e-12 * abs(product).max())
        self.assertEqual(f.hessian_block(s.theta, 25, 50).tobytes(), hessian[25:75, 25:75].tobytes())
        self.assertEqual(f.hessian_diagonal(s.theta).tobytes(), hessian.diagonal().tobytes())
        self.assertEqual(f.hessian_diagonal(s.theta, 10, 5).tobytes(), hessian.diagonal()[10:15].tobytes())
        self.assertGreater(f.hessian_workspace, 0)
        self.assertEqual(f.hvp_kind, linattn.HvpKind.EXACT)

    def test_report(self):
        report = self.s.fixed.check_derivatives(self.s.theta)
        self.assertLess(report.gradient_error, 1e-6)
        self.assertAlmostEqual(report.analytic / report.difference, 1, places=4)

    def test_draws_threads_clones(self):
        s = self.s
        drawn = linattn.Objective.fixed(s.model, s.sampler.batch(100, draw=7))
        self.assertEqual(s.sampled.value(s.theta, 7), drawn.value(s.theta))
        self.assertEqual(s.sampled.value(s.theta, draw=7), s.sampled.clone().value(s.theta, 7))
        threads = linattn.Objective.sampled(s.model, s.sampler, 1000, threads=2)
        one = linattn.Objective.sampled(s.model, s.sampler, 1000, kernel="baseline")
        self.assertEqual(
            threads.gradient(s.theta)[1].tobytes(),
            linattn.Objective.sampled(s.model, s.sampler, 1000).gradient(s.theta)[1].tobytes())
        numpy.testing.assert_allclose(one.value(s.theta), threads.value(s.theta), rtol=1e-12)

    def test_refused(self):
        s = self.s
        cases = [
            (lambda: s.fixed.value(numpy.full(s.p, numpy.nan)), linattn.NonFinite, "theta"),
            (lambda: linattn.Objective.fixed(s.model, s.batch, threads=0), linattn.InvalidArgument, "threads"),
            (lambda: linattn.Objective.fixed(s.model, s.batch, kernel="sse9"), ValueError, "kernel"),
            (lambda: linattn.Objective.fixed(s.model,
                                             linattn.Sampler(4, 4).batch(3)), linattn.Mismatch, ""),
            (lambda: s.fixed.hessian_block(s.theta, 140, 11), linattn.InvalidArgument, ""),
            (lambda: s.fixed.hvp(s.theta, numpy.zeros((0, s.p))), linattn.InvalidArgument, "count"),
            (lambda: s.fixed.hessian_diagonal(s.theta, 150), linattn.InvalidArgument, ""),
            (lambda: s.fixed.check_derivatives(s.theta, step=0), linattn.InvalidArgument, "step"),
            (lambda: linattn.Objective.fixed(s.model, s.batch, progress=3), TypeError, "progress"),
        ]
        for call, kind, words in cases:
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                call()

    def test_dataset(self):
        """An epoch of 100 prompts, 30 at a time, are three minibatches apart from each other, each the mean over its prompts."""
        s = self.s
        tokens, targets = s.batch.arrays()
        losses = [
            linattn.Objective.fixed(s.model, linattn.Batch.from_arrays(tokens[i:i + 1], targets[i:i + 1])).value(s.theta)
            for i in range(100)
        ]
        f = linattn.Objective.dataset(s.model, s.batch, 30, seed=5)
        epoch = [f.value(s.theta, t) for t in range(3)]
        self.assertEqual(len(set(epoch)), 3)
        self.assertEqual(epoch, [f.clone().value(s.theta, t) for t in range(3)])
        rest = sum(losses) - 30 * sum(epoch)  # of the ten prompts that the epoch leaves out
        self.assertTrue(sum(sorted(losses)[:10]) - 1e-9 <= rest <= sum(sorted(losses)[-10:]) + 1e-9)
        whole = linattn.Objective.dataset(s.model, s.batch, 100, mode=linattn.Minibatch.EPOCHS)
        self.assertEqual(whole.gradient(s.theta, 7)[1].tobytes(), s.fixed.gradient(s.theta)[1].tobytes())
        picked = linattn.Objective.dataset(s.model, s.batch, 1, seed=2, mode="replacement")
        for t in range(20):
            self.assertLess(min(abs(numpy.array(losses) / picked.value(s.theta, t) - 1)), 1e-12)
        cases = [
            (lambda: linattn.Objective.dataset(s.model, s.batch, 101), linattn.InvalidArgument, "101; allowed: 1 to 100"),
            (lambda: linattn.Objective.dataset(s.model, s.batch, 0), linattn.InvalidArgument, "prompts is 0"),
            (lambda: linattn.Objective.dataset(s.model, s.batch, 5, mode="all"), ValueError, 'mode is "all"; allowed: epochs'),
            (lambda: linattn.Objective.dataset(s.model, s.batch, 5, mode=2), linattn.InvalidArgument, "mode is 2"),
            (lambda: linattn.Objective.dataset(s.model, s.sampler, 5), TypeError, "batch"),
        ]
        for call, kind, words in cases:
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                call()

    @unittest.skipUnless(optimize, "scipy is not here")
    def test_scipy(self):
        """What is handed to scipy as it is: value and gradient, products, Hessian."""
        f = linattn.Objective.from_functions(3, quadratic, hvp=lambda theta, u, draw: u @ A)
        wanted = numpy.linalg.solve(A, B)
        for options in (dict(method="BFGS"), dict(method="trust-krylov", hessp=f.hvp), dict(method="trust-exact", hess=f.hessian)):
            found = optimize.minimize(f.gradient, numpy.zeros(3), jac=True, tol=1e-10, **options)
            numpy.testing.assert_allclose(found.x, wanted, rtol=1e-7)
        s = self.s
        found = optimize.minimize(s.sampled.gradient, s.model.init_parameters(1), args=(7, ), jac=True, options={"maxiter": 20})
        self.assertLess(found.fun, s.sampled.value(s.model.init_parameters(1), 7))


class Functions(unittest.TestCase):
    """The caller's own functions."""

    def setUp(self):
        self.theta = numpy.array([0.5, -1.0, 2.0])

    def objective(self, gradient=quadratic, **options):
        return linattn.Objective.from_functions(3, gradient, **options)

    def test_values(self):
        f = self.objective()
        value, gradient = f.gradient(self.theta, draw=5)
        self.assertEqual(value, quadratic(self.theta, 5)[0])
        self.assertEqual(gradient.tobytes(), quadratic(self.theta, 5)[1].tobytes())
        self.assertEqual(f.value(self.theta, 2), quadratic(self.theta, 2)[0])
        self.assertEqual(self.objective(value=lambda theta, draw: 42).value(self.theta), 42.0)
        self.assertEqual(f.hvp_kind, linattn.HvpKind.NONE)
        self.assertRaises(linattn.Unsupported, f.hessian, self.theta)

    def test_hessians(self):
        exact = self.objective(hvp=lambda theta, directions, draw: directions @ A)
        self.assertEqual(exact.hessian(self.theta).tolist(), A.tolist())
        self.assertEqual(exact.hvp(self.theta, [1.0, 0.0, 0.0]).tolist(), A[0].tolist())
        differences = self.objective(difference_step=1e-5)
        self.assertEqual(differences.hvp_kind, linattn.HvpKind.DIFFERENCES)
        numpy.testing.assert_allclose(differences.hessian(self.theta), A, atol=1e-8)

    def test_theta_is_a_copy(self):
        kept = []

        def gradient(theta, draw):
            kept.append(theta)
            theta[:] = 7
            return 0.0, theta * 0

        self.objective(gradient).gradient(self.theta)
        self.assertEqual((kept[0].tolist(), self.theta.tolist()), ([7, 7, 7], [0.5, -1.0, 2.0]))

    def test_exceptions(self):
        """Case P5: the exception that was raised is raised to the caller, the same object with its traceback."""
        for error in (RuntimeError("mine"), KeyboardInterrupt(), SystemExit(3), MemoryError()):

            def broken(*arguments):
                raise error

            calls = [
                lambda: self.objective(broken).gradient(self.theta), lambda: self.objective(broken).value(self.theta),
                lambda: self.objective(value=broken).value(self.theta), lambda: self.objective(hvp=broken).hessian(self.theta),
                lambda: self.objective(broken, difference_step=1e-5).hvp(self.theta, self.theta),
                lambda: linattn.Diagnostics(self.objective(hvp=broken)).spectrum(self.theta),
                lambda: self.objective(progress=broken).check_derivatives(self.theta)
            ]
            for i, call in enumerate(calls):
                with self.subTest(error=type(error), call=i):
                    try:
                        call()
                        self.fail("nothing was raised")
                    except type(error) as raised:
                        self.assertIs(raised, error)
                        self.assertIn("broken", [frame.name for frame in traceback.extract_tb(raised.__traceback__)])
        self.assertEqual(self.objective().value(self.theta), quadratic(self.theta, 0)[0])  # nothing is left behind

    def test_exception_inside_a_callback_that_handles_it(self):
        inner = self.objective(lambda theta, draw: 1 / 0)

        def gradient(theta, draw):
            try:
                inner.value(theta)
            except ZeroDivisionError:
                return quadratic(theta, draw)

        self.assertEqual(self.objective(gradient).value(self.theta), quadratic(self.theta, 0)[0])

    def test_wrong_answers(self):
        good = numpy.zeros(3)
        cases = [
            (lambda theta, draw: 1.0, TypeError, "the function gradient returned 1.0"),
            (lambda theta, draw: (good, 1.0), TypeError, "the value that the function gradient returned"),
            (lambda theta, draw: (1.0, numpy.zeros(4)), ValueError, r"the function gradient returned has shape \(4,\)"),
            (lambda theta, draw: (1.0, numpy.zeros((3, 1))), ValueError, "shape"),
            (lambda theta, draw:
             (1.0, good.astype("<f4")), TypeError, "the array that the function gradient returned has dtype <f4"),
            (lambda theta, draw: (1.0, None), TypeError, "gradient returned"),
            (lambda theta, draw: ("x", good), TypeError, "the value"),
            (lambda theta, draw: (numpy.nan, good), linattn.NonFinite, "value"),
            (lambda theta, draw: (1.0, numpy.array([0, numpy.inf, 0])), linattn.NonFinite, "gradient"),
            (lambda theta, draw: None, linattn.NonFinite, ""),
        ]
        for function, kind, words in cases:
            out = numpy.full(3, 7.0)
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                self.objective(function).gradient(self.theta, out=out)
            self.assertEqual(out.tolist(), [7, 7, 7])
        with self.assertRaisesRegex(ValueError, r"the function hvp returned has shape \(3,\)"):
            self.objective(hvp=lambda theta, u, draw: u[0]).hvp(self.theta, self.theta)
        with self.assertRaisesRegex(TypeError, "gradient is of type int"):
            linattn.Objective.from_functions(3, 5)
        with self.assertRaisesRegex(TypeError, "hvp is of type"):
            self.objective(hvp="H")

    def test_reentrance(self):

        def gradient(theta, draw):
            return f.gradient(theta, draw)

        f = self.objective(gradient)
        with self.assertRaisesRegex(linattn.InvalidArgument, "in a call"):
            f.gradient(self.theta)

    def test_closing_inside(self):

        def gradient(theta, draw):
            f.close()
            return quadratic(theta, draw)

        f = self.objective(gradient)
        self.assertEqual(f.value(self.theta), quadratic(self.theta, 0)[0])
        self.assertTrue(f.closed)

    def test_progress(self):
        seen = []
        f = self.objective(progress=seen.append)
        f.check_derivatives(self.theta)
        self.assertTrue(len(seen) >= 3 and all(0 <= x <= 1 for x in seen))
        self.assertLess(self.objective(progress=False).check_derivatives(self.theta).gradient_error, 1e-8)
        with self.assertRaises(linattn.Stopped):
            self.objective(progress=lambda fraction: True).check_derivatives(self.theta)
        with self.assertRaisesRegex(TypeError, "the callback progress returned 'x'"):
            self.objective(progress=lambda fraction: "x").check_derivatives(self.theta)
        with self.assertRaises(linattn.LinattnError) as caught:
            self.objective(progress=lambda fraction: -77).check_derivatives(self.theta)
        self.assertEqual(caught.exception.status, -77)
