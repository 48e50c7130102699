"""Quantiles and intervals against closed forms and tables."""
import math
import unittest

import support  # noqa: F401  (the path of the modules)
import estimates


class Quantiles(unittest.TestCase):
    def test_closed_forms(self):
        for p in (0.6, 0.9, 0.975, 0.9995):
            a = 4 * p * (1 - p)
            q = math.cos(math.acos(math.sqrt(a)) / 3) / math.sqrt(a)
            for freedom, wanted in ((1, math.tan(math.pi * (p - 0.5))), (2, 2 * (p - 0.5) * math.sqrt(2 / a)),
                                    (4, 2 * math.sqrt(q - 1))):
                self.assertAlmostEqual(estimates.t_quantile(p, freedom) / wanted, 1, places=11)

    def test_table(self):
        """Printed tables of Student's t, and the normal limit."""
        for freedom, wanted in ((5, 2.571), (10, 2.228), (30, 2.042), (99, 1.984)):
            self.assertAlmostEqual(estimates.t_quantile(0.975, freedom), wanted, places=3)
        self.assertAlmostEqual(estimates.t_quantile(0.975, 1e7), 1.959964, places=5)

    def test_incomplete_beta(self):
        """I_x(a, 1) = x^a, I_x(1, b) = 1 - (1 - x)^b, and the symmetry."""
        for x in (0.0, 0.01, 0.3, 0.77, 0.999, 1.0):
            self.assertAlmostEqual(estimates.incomplete_beta(2.5, 1, x), x ** 2.5, places=13)
            self.assertAlmostEqual(estimates.incomplete_beta(1, 3.5, x), 1 - (1 - x) ** 3.5, places=13)
            self.assertAlmostEqual(estimates.incomplete_beta(3, 7, x) + estimates.incomplete_beta(7, 3, 1 - x), 1, places=13)


class Intervals(unittest.TestCase):
    def test_mean(self):
        """Of 1, 2, 3: mean 2, standard error 1/sqrt(3), t with two degrees of freedom."""
        e = estimates.mean([1, 2, 3, math.nan])
        self.assertEqual((e.middle, e.count), (2, 3))
        t = 0.95 * math.sqrt(2 / (4 * 0.975 * 0.025))
        self.assertAlmostEqual(e.high - 2, t / math.sqrt(3), places=11)
        self.assertAlmostEqual(2 - e.low, t / math.sqrt(3), places=11)

    def test_few(self):
        self.assertEqual(estimates.mean([]).count, 0)
        self.assertTrue(math.isnan(estimates.mean([5.0]).low))
        self.assertEqual(estimates.slope([(1, 1.0), (1, 2.0)]).count, 0)

    def test_difference(self):
        """Equal sizes and variances: Welch's degrees of freedom are those of the pooled test, 4."""
        e = estimates.difference([5, 6, 7], [1, 2, 3])
        self.assertEqual(e.middle, 4)
        self.assertAlmostEqual(e.high - 4, estimates.t_quantile(0.975, 4) * math.sqrt(2 / 3), places=11)

    def test_slope(self):
        """Points on a line have it as their slope, whatever their number; a known triangle has a known error."""
        e = estimates.slope([(x, 3 - 0.5 * x) for x in range(5)])
        self.assertAlmostEqual(e.middle, -0.5)
        self.assertAlmostEqual(e.high - e.low, 0)
        e = estimates.slope([(-1, 0), (0, 3), (1, 0)])  # slope 0, residual sum 6, Sxx 2, one degree of freedom
        self.assertAlmostEqual(e.middle, 0)
        self.assertAlmostEqual(e.high, math.tan(math.pi * 0.475) * math.sqrt(6 / 1 / 2), places=8)

    def test_share(self):
        """All of n: Wilson's lower end is n / (n + z^2)."""
        z = 1.959963984540054
        self.assertAlmostEqual(estimates.share(6, 6).low, 6 / (6 + z * z))
        self.assertAlmostEqual(estimates.share(6, 6).high, 1)
        self.assertAlmostEqual(estimates.share(3, 6).low + estimates.share(3, 6).high, 1)

    def test_exponential(self):
        """Two numbers far apart have an interval beyond what a double holds."""
        e = estimates.exponential(estimates.mean([-100, 100]))
        self.assertEqual((e.middle, e.low, e.high), (1, 0, math.inf))
        self.assertEqual(estimates.text(e), "1.00 [0, inf]")

    def test_numbers(self):
        for x, wanted in ((0.0195, "0.0195"), (6.8, "6.80"), (29300, "29300"), (0, "0"), (9.4e5, "9.4e5"), (-25.04, "-25.0"),
                          (1.25e-7, "1.2e-7"), (9.999, "10.0"), (math.nan, "-")):
            self.assertEqual(estimates.number(x), wanted)
