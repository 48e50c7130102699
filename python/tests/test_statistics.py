"""Statistics and spectra against numpy and known values; the exact library results against its own raw calls."""
import math
import unittest

import numpy
from support import linattn


class Samples(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.x = numpy.random.default_rng(2).normal(size=400)

    def test_line(self):
        x = numpy.arange(5.0)
        line = linattn.line_fit(x, 2 - 3 * x)
        self.assertEqual((line.count, line.intercept, line.slope, line.r_squared), (5, 2, -3, 1))
        slope, intercept = numpy.polyfit(self.x[:200], self.x[200:], 1)
        found = linattn.line_fit(self.x[:200], self.x[200:])
        numpy.testing.assert_allclose([found.slope, found.intercept], [slope, intercept], rtol=1e-10)
        low, high = linattn.line_bootstrap(self.x[:200], self.x[200:], 5, resamples=200, seed=1)
        self.assertTrue(low.low < intercept < low.high and high.low < slope < high.high)

    def test_order(self):
        self.assertEqual(linattn.sample_median([1.0, 2.0, 3.0, 4.0]), 2.5)
        self.assertEqual(linattn.sample_median([4.0, 3.0, 2.0, 1.0], rule="lower"), 2.0)
        p = numpy.array([0.0, 0.1, 0.5, 0.99, 1.0])
        numpy.testing.assert_allclose(linattn.sample_quantiles(self.x, p), numpy.quantile(self.x, p), rtol=1e-13)
        histogram = linattn.sample_histogram(self.x, 10)
        counts, edges = numpy.histogram(self.x, 10)
        self.assertEqual(histogram.counts.tolist(), counts.tolist())
        numpy.testing.assert_allclose(histogram.edges, edges, rtol=1e-13)
        self.assertEqual(histogram.inside, 400)
        part = linattn.sample_histogram(self.x, 4, low=0, high=1)
        self.assertEqual(part.below + part.inside + part.above, 400)
        self.assertRaisesRegex(ValueError, "bins", linattn.sample_histogram, self.x, 0)

    def test_quantile_functions(self):
        self.assertAlmostEqual(linattn.normal_quantile(0.975), 1.959963984540054, places=14)
        t = linattn.student_quantile(0.975, 5)
        angle = math.atan(t / math.sqrt(5))  # the distribution function in closed form
        share = 0.5 + (angle + math.sin(angle) * (math.cos(angle) + 2 / 3 * math.cos(angle)**3)) / math.pi
        self.assertAlmostEqual(share, 0.975, places=14)
        self.assertAlmostEqual(linattn.student_quantile(0.75, 1), 1, places=11)
        self.assertRaisesRegex(linattn.InvalidArgument, "p", linattn.normal_quantile, 1.5)

    def test_moments(self):
        m = linattn.sample_moments(self.x)
        z = self.x - self.x.mean()
        self.assertAlmostEqual(m.mean, self.x.mean(), places=13)
        self.assertAlmostEqual(m.variance, self.x.var(ddof=1), places=12)
        self.assertAlmostEqual(m.excess_kurtosis, (z**4).mean() / (z**2).mean()**2 - 3, places=12)
        self.assertTrue(math.isnan(m.mean_error))
        with_errors = linattn.sample_moments(self.x, resamples=300, seed=2)
        self.assertAlmostEqual(with_errors.mean_error / (m.sd / 20), 1, delta=0.2)
        self.assertEqual(repr(with_errors), repr(linattn.sample_moments(self.x, resamples=300, seed=2)))

    def test_intervals(self):
        t = linattn.sample_interval(self.x[:6])
        half = linattn.student_quantile(0.975, 5) * self.x[:6].std(ddof=1) / math.sqrt(6)
        numpy.testing.assert_allclose([t.low, t.high], self.x[:6].mean() + numpy.array([-half, half]), rtol=1e-11)
        share = linattn.share_interval(8, 10)
        numpy.testing.assert_allclose([share.low, share.high], [0.4901624715, 0.9433178485], rtol=1e-8)  # Wilson, 8 of 10
        bca = linattn.sample_bootstrap(self.x, location="median", resamples=500, seed=1)
        self.assertTrue(bca.low < numpy.median(self.x) < bca.high)
        series = linattn.series_bootstrap(self.x, block=5, resamples=500)
        self.assertTrue(series.low < self.x.mean() < series.high)
        self.assertEqual(linattn.sample_bootstrap(self.x, seed=0), linattn.sample_bootstrap(self.x, resamples=2000))

    def test_normality(self):
        plot = linattn.sample_normal_plot(self.x)
        self.assertEqual(plot.ordered.tolist(), sorted(self.x))
        self.assertAlmostEqual(plot.quantiles[0], -plot.quantiles[-1], places=15)
        self.assertAlmostEqual(plot.correlation, numpy.corrcoef(plot.quantiles, plot.ordered)[0, 1], places=12)
        normal = linattn.sample_normality(self.x, resamples=200)
        heavy = linattn.sample_normality(self.x**3, resamples=200)
        self.assertGreater(normal.kolmogorov_smirnov_p, 0.01)
        self.assertEqual(heavy.kolmogorov_smirnov_p, 1 / 201)

    def test_two_samples(self):
        same = linattn.samples_compare(self.x, self.x)
        self.assertEqual((same.kolmogorov_smirnov, same.wasserstein, same.mean_difference), (0, 0, 0))
        moved = linattn.samples_compare(self.x, self.x[:300] + 1, resamples=99)
        self.assertAlmostEqual(moved.mean_difference, self.x.mean() - self.x[:300].mean() - 1, places=12)
        self.assertEqual(moved.wasserstein_p, 0.01)

    def test_tail(self):
        """Hill's estimates by hand."""
        pareto = numpy.random.default_rng(3).pareto(3, 5000) + 1
        tail = linattn.sample_tail(pareto)
        self.assertEqual((tail.first, tail.last, tail.alphas.size), (10, 50, 41))
        largest = numpy.sort(pareto)[::-1]
        hill = [k / numpy.log(largest[:k] / largest[k]).sum() for k in range(10, 51)]
        numpy.testing.assert_allclose(tail.alphas, hill, rtol=1e-11)
        self.assertEqual(linattn.sample_tail(pareto, 5, 9).alphas.size, 5)

    def test_failures_and_callbacks(self):
        self.assertRaisesRegex(linattn.Degenerate, "", linattn.sample_median, numpy.zeros(0))
        self.assertRaisesRegex(linattn.NonFinite, "3", linattn.sample_moments, [1.0, 2.0, 3.0, math.nan])
        self.assertRaisesRegex(ValueError, r"y has shape \(2,\)", linattn.line_fit, numpy.zeros(3), numpy.zeros(2))
        self.assertRaisesRegex(TypeError, "sample has dtype", linattn.sample_median, numpy.arange(4))
        seen = []
        linattn.sample_bootstrap(self.x, progress=seen.append)
        self.assertTrue(seen)

        def broken(fraction):
            raise LookupError("mine")

        for call in (linattn.sample_moments, linattn.sample_bootstrap, linattn.sample_normality):
            self.assertRaisesRegex(LookupError, "mine", call, self.x, resamples=500, progress=broken)
        self.assertRaisesRegex(LookupError, "mine", linattn.samples_compare, self.x, self.x, resamples=500, progress=broken)
        self.assertRaises(linattn.Stopped, linattn.series_bootstrap, self.x, 3, progress=lambda fraction: True)


class Spectra(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        square = numpy.random.default_rng(4).normal(size=(12, 12))
        cls.matrix = square + square.T

    def test_spectrum(self):
        s = linattn.matrix_spectrum(self.matrix, vectors=True)
        numpy.testing.assert_allclose(s.eigenvalues, numpy.linalg.eigvalsh(self.matrix), atol=1e-12)
        numpy.testing.assert_allclose(s.vectors.T * s.eigenvalues @ s.vectors, self.matrix, atol=1e-12)
        self.assertEqual((s.count, s.smallest, s.largest), (12, s.eigenvalues[0], s.eigenvalues[-1]))
        self.assertIsNone(linattn.matrix_spectrum(self.matrix).vectors)
        self.assertIsInstance(s.driver, linattn.EigenDriver)
        self.assertRaisesRegex(ValueError, "matrix has shape", linattn.matrix_spectrum, numpy.zeros((2, 3)))

    def test_condition(self):
        c = linattn.robust_condition([1.0, -8.0, 2.0, 4.0], kind="diagonal")
        self.assertEqual((c.value, c.largest, c.median, c.negatives, c.kind), (4, 8, 2, 1, linattn.ConditionKind.DIAGONAL))
        self.assertEqual(linattn.robust_condition([1.0, -8.0, 2.0, 4.0], rule="mean").value, 8 / 3)
        self.assertTrue(linattn.robust_condition([0.0, 0.0, 1.0]).flags & linattn.ConditionFlag.ZERO_MEDIAN)

    def test_density(self):
        x = numpy.linspace(-3, 4, 2001)
        density = linattn.spectrum_density([0.0, 1.0], x, 0.3)
        wanted = sum(numpy.exp(-(x - m)**2 / 0.18) for m in (0, 1)) / (2 * 0.3 * math.sqrt(2 * math.pi))
        numpy.testing.assert_allclose(density, wanted, rtol=1e-12, atol=1e-300)
        one = linattn.spectrum_density([0.0, 1.0], x, 0.3, weights=[1.0, 0.0])
        self.assertAlmostEqual(x[one.argmax()], 0, places=2)

    def test_compare(self):
        self.assertEqual(linattn.spectra_compare([1.0, 2.0], [2.0, 1.0]).distance, 0)
        far = linattn.spectra_compare([0.0], [1.0])
        self.assertAlmostEqual(far.divergence, 1, places=6)

    def test_precondition(self):
        d = numpy.arange(1.0, 13.0)
        wanted = self.matrix / numpy.sqrt(numpy.outer(d, d))
        found = linattn.matrix_precondition(self.matrix, d)
        numpy.testing.assert_allclose(found, wanted, rtol=1e-14)
        own = self.matrix.copy()
        self.assertIs(linattn.matrix_precondition(own, d, out=own), own)
        self.assertEqual(own.tobytes(), found.tobytes())
        with self.assertRaisesRegex(ValueError, "overlaps"):
            linattn.matrix_precondition(numpy.eye(1), d[:1], out=d[:1].reshape(1, 1))
