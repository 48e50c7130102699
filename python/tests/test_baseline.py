"""Baselines against numpy, and theory against its closed form."""
import unittest

import numpy
from support import Setting, linattn


class Baselines(unittest.TestCase):

    def setUp(self):
        self.batch = linattn.Sampler(3, 8, noise_std=0.5, seed=2).batch(20)
        tokens, _ = self.batch.arrays()
        self.x, self.y, self.query = tokens[:, :-1, :-1], tokens[:, :-1, -1], tokens[:, -1, :-1]

    def test_least_squares(self):
        wanted = [q @ numpy.linalg.lstsq(x, y, rcond=None)[0] for x, y, q in zip(self.x, self.y, self.query)]
        numpy.testing.assert_allclose(linattn.baseline_predict(self.batch), wanted, rtol=1e-10)

    def test_ridge(self):
        factor = numpy.array([[1.0, 0.5, 0.0], [0.0, 2.0, 0.1], [0.3, 0.0, 1.0]])
        wanted = []
        for x, y, q in zip(self.x @ factor, self.y, self.query @ factor):
            wanted.append(q @ numpy.linalg.solve(x.T @ x + 0.25 * numpy.eye(3), x.T @ y))
        out = numpy.empty(20)
        given = linattn.baseline_predict(self.batch, lambda_=0.25, task_factor=factor, out=out)
        self.assertIs(given, out)
        numpy.testing.assert_allclose(given, wanted, rtol=1e-10)

    def test_gradient_descent(self):
        rates, matrix, wanted = [0.3, 0.2], numpy.diag([1.0, 2.0, 0.5]), []
        for x, y, q in zip(self.x, self.y, self.query):
            w = numpy.zeros(3)
            for rate in rates:
                w -= rate * matrix @ x.T @ (x @ w - y) / 8
            wanted.append(q @ w)
        given = linattn.baseline_predict(self.batch, "gradient_descent", rates=rates, preconditioner=matrix)
        numpy.testing.assert_allclose(given, wanted, rtol=1e-11)

    def test_refused(self):
        with self.assertRaisesRegex(linattn.InvalidArgument, "rates is NULL"):
            linattn.baseline_predict(self.batch, "gradient_descent")
        with self.assertRaisesRegex(linattn.InvalidArgument, "lambda is -1"):
            linattn.baseline_predict(self.batch, lambda_=-1)
        with self.assertRaisesRegex(TypeError, "rate"):
            linattn.baseline_predict(self.batch, rate=1)
        with self.assertRaisesRegex(linattn.Unsupported, "needs tokens"):
            linattn.baseline_predict(linattn.Sampler(3, 8, kind="moments").batch(2))


class Theory(unittest.TestCase):

    def test_one_layer(self):
        s = Setting()
        Q, loss = linattn.theory_one_layer(s.sampler)
        self.assertAlmostEqual(loss, 30 / 26, places=13)
        numpy.testing.assert_allclose(Q, -20 / 26 * numpy.eye(5), atol=1e-14)

    def test_compare(self):
        s = Setting()
        theta = numpy.zeros(s.model.parameter_count)
        theta[125:150] = -(20 / 26) * 1.5 * numpy.eye(5).ravel()
        theta[100:125] = 0.25 * numpy.eye(5).ravel()
        distance = linattn.theory_compare(s.model, s.sampler, theta, layer=2)
        self.assertAlmostEqual(distance.q_error, 0.5, places=13)
        self.assertAlmostEqual(distance.q_scale, 1.5, places=13)
        self.assertAlmostEqual(distance.p_scale, 0.25, places=13)
        self.assertLess(max(distance.q_distance, distance.p_distance, distance.outside), 1e-13)
        with self.assertRaisesRegex(linattn.InvalidArgument, "layer is 3"):
            linattn.theory_compare(s.model, s.sampler, theta, layer=3)


if __name__ == "__main__":
    unittest.main()
