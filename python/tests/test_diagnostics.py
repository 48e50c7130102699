"""Diagnostics against the same numbers made in numpy from gradients and Hessians."""
import math
import unittest

import numpy
from support import Setting, linattn


class Measurements(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.s = Setting()
        cls.s.theta = numpy.random.default_rng(5).normal(size=cls.s.p) * 0.2
        cls.d = linattn.Diagnostics(cls.s.fixed)
        cls.hessian = cls.s.fixed.hessian(cls.s.theta)

    def test_spectrum(self):
        s = self.d.spectrum(self.s.theta, vectors=True)
        top = s.spectral_norm
        numpy.testing.assert_allclose(s.eigenvalues, numpy.linalg.eigvalsh(self.hessian), atol=1e-12 * top)
        numpy.testing.assert_allclose(s.vectors @ self.hessian @ s.vectors.T, numpy.diag(s.eigenvalues), atol=1e-11 * top)
        block = self.d.spectrum(self.s.theta, first=25, count=25)
        numpy.testing.assert_allclose(block.eigenvalues, numpy.linalg.eigvalsh(self.hessian[25:50, 25:50]), atol=1e-12 * top)
        self.assertEqual(self.d.spectrum(self.s.theta, first=25).count, 125)
        scale = numpy.linspace(1, 2, self.s.p)
        scaled = self.d.spectrum(self.s.theta, preconditioner=scale).eigenvalues
        numpy.testing.assert_allclose(scaled,
                                      numpy.linalg.eigvalsh(self.hessian / numpy.sqrt(numpy.outer(scale, scale))),
                                      atol=1e-12 * top)
        self.assertEqual((self.d.parameter_count, self.d.hvp_kind), (150, linattn.HvpKind.EXACT))

    def test_condition(self):
        spectral, diagonal = self.d.robust_condition(self.s.theta)
        entries = numpy.sort(abs(self.hessian.diagonal()))
        self.assertEqual(diagonal.value, entries[-1] / entries[74])
        values = numpy.sort(abs(numpy.linalg.eigvalsh(self.hessian)))
        self.assertAlmostEqual(spectral.value / (values[-1] / values[74]), 1, places=8)
        nothing, same = self.d.robust_condition(self.s.theta, eigenvalues=False)
        self.assertEqual((nothing, same), (None, diagonal))
        self.assertEqual(self.d.robust_condition(self.s.theta, median_rule="mean")[1].median, entries[74:76].mean())

    def test_heterogeneity(self):
        limits = [t.offset for t in self.s.model.tensors][:4] + [100]
        h = self.d.heterogeneity(self.s.theta, limits)
        self.assertEqual((h.blocks, h.distances.shape), (4, (4, 4)))
        eigenvalues = [numpy.linalg.eigvalsh(self.hessian[a:b, a:b]) for a, b in zip(limits, limits[1:])]
        self.assertAlmostEqual(h.distances[0, 3], linattn.spectra_compare(eigenvalues[0], eigenvalues[3]).distance, places=9)
        self.assertEqual(h.largest_distance, h.distances.max())
        self.assertRaisesRegex(ValueError, "boundaries", self.d.heterogeneity, self.s.theta, [0])

    def test_extremes(self):
        e = self.d.extremes(self.s.theta, steps=150, tolerance=1e-10)
        values = numpy.linalg.eigvalsh(self.hessian)
        numpy.testing.assert_allclose([e.smallest, e.largest], values[[0, -1]], atol=1e-9 * abs(values).max())
        self.assertEqual((e.nodes.size, e.weights.size), (e.steps, e.steps))
        self.assertAlmostEqual(e.weights.sum(), 1, places=12)
        self.assertRaises(linattn.NotConverged, self.d.extremes, self.s.theta, steps=2)
        self.assertRaises(linattn.InvalidArgument, self.d.extremes, self.s.theta, steps=5000)

    def test_gradient_error(self):
        s = self.s
        d = linattn.Diagnostics(s.sampled)
        directions = numpy.eye(s.p)[:2]
        e = d.gradient_error(s.theta, samples=5, reference_draws=3, directions=directions, surrogates=10)
        gradients = numpy.stack([s.sampled.gradient(s.theta, draw)[1] for draw in range(8)])
        reference = gradients[:3].mean(axis=0)
        numpy.testing.assert_allclose(e.reference, reference, atol=1e-13 * abs(reference).max())
        numpy.testing.assert_allclose(e.errors, numpy.linalg.norm(gradients[3:] - reference, axis=1), rtol=1e-11)
        numpy.testing.assert_allclose(e.projections, (gradients[3:] - reference)[:, :2], atol=1e-12 * e.errors.max())
        self.assertEqual((e.surrogate.shape, e.samples, e.measure), ((10, ), 5, linattn.ErrorMeasure.NORM))
        given = d.gradient_error(s.theta, samples=5, first_draw=3, reference=e.reference, measure="squared")
        numpy.testing.assert_allclose(given.errors, e.errors**2, rtol=1e-12)
        self.assertEqual((given.projections, given.surrogate), (None, None))
        self.assertRaisesRegex(ValueError, "direction_count", d.gradient_error, s.theta, directions=directions, direction_count=3)
        self.assertRaisesRegex(ValueError,
                               r"directions has shape \(2, 3\)",
                               d.gradient_error,
                               s.theta,
                               directions=numpy.zeros((2, 3)))

    def test_smoothness(self):
        s, following = self.s, self.s.theta + 0.01
        u = (following - s.theta) / numpy.linalg.norm(following - s.theta)
        self.assertAlmostEqual(self.d.directional_smoothness(s.theta, following) / (u @ self.hessian @ u), 1, places=9)
        ratios = self.d.gradient_ratios(s.theta, following, [0.5, 1.0])
        g = [s.fixed.gradient(s.theta + a * (following - s.theta))[1] for a in (0, 0.5, 1)]
        step = numpy.linalg.norm(following - s.theta)
        numpy.testing.assert_allclose(ratios, [numpy.linalg.norm(g[1] - g[0]) / step * 2,
                                               numpy.linalg.norm(g[2] - g[0]) / step],
                                      rtol=1e-9)
        self.assertRaises(linattn.Degenerate, self.d.directional_smoothness, s.theta, s.theta)

    def test_fit(self):
        norms = numpy.linspace(0.1, 2, 40)
        fit = linattn.smoothness_fit(norms, 3 + 2 * norms)
        self.assertAlmostEqual(fit.l0, 3, places=12)
        self.assertAlmostEqual(fit.l1, 2, places=12)
        self.assertTrue(math.isnan(fit.l0_low))
        smoothness = 3 + 2 * norms + numpy.random.default_rng(1).normal(size=40) * 0.1
        smoothness[3] = numpy.nan
        fit = linattn.smoothness_fit(norms, smoothness, block=4, resamples=300)
        self.assertTrue(fit.l0_low < 3 < fit.l0_high and fit.zero_steps == 1)

    def test_progress_and_functions(self):
        seen = []
        linattn.Diagnostics(self.s.fixed, progress=seen.append).spectrum(self.s.theta)
        self.assertTrue(seen)

        def broken(fraction):
            raise LookupError("mine")

        d = linattn.Diagnostics(self.s.sampled, progress=broken)
        for call in (d.spectrum, d.gradient_error, d.robust_condition):
            self.assertRaisesRegex(LookupError, "mine", call, self.s.theta)

        def gradient(theta, draw):
            return theta @ theta, 2 * theta

        own = linattn.Diagnostics(linattn.Objective.from_functions(3, gradient, difference_step=1e-5))
        numpy.testing.assert_allclose(own.spectrum(numpy.ones(3)).eigenvalues, 2, rtol=1e-8)

    def test_in_an_observer(self):
        s, seen = self.s, []
        trainer = s.trainer(observer=lambda record, theta: seen.append(self.d.spectrum(theta).largest), observer_stride=5)
        trainer.run(10)
        self.assertEqual(seen[0], self.d.spectrum(s.theta).largest)
        self.assertEqual(len(seen), 2)
