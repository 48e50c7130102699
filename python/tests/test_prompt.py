"""Prompt attention against numpy."""
import unittest

import numpy
from support import linattn


def softmax(scores):
    powers = numpy.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


class PromptAttention(unittest.TestCase):

    def setUp(self):
        self.prompt = linattn.Prompt(30, 4, 5, profile="log_uniform", sparsity=0.01, temperature=0.5, key_map="orthogonal")
        self.tokens, self.keys, self.value, self.labels = self.prompt.arrays()
        self.theta = self.prompt.teacher() + 0.1

    def test_outputs(self):
        f, a, b, g = self.prompt.evaluate(self.theta)
        u = self.tokens @ self.value
        weights = softmax(self.keys @ self.theta / 0.5)
        outputs = (weights * u).sum(axis=1)
        numpy.testing.assert_allclose(a, weights, rtol=1e-12)
        numpy.testing.assert_allclose(f, outputs, atol=1e-14)
        numpy.testing.assert_allclose(b, weights * (u - outputs[:, None]), atol=1e-14)
        numpy.testing.assert_allclose(g, numpy.einsum("ik,ikj->ij", b, self.keys) / 0.5, atol=1e-13)

    def test_loss(self):
        f, _, _, g = self.prompt.evaluate(self.theta)
        objective = linattn.Objective.prompt(self.prompt)
        value, gradient = objective.gradient(self.theta)
        self.assertAlmostEqual(value, ((f - self.labels)**2).sum() / 60, places=14)
        numpy.testing.assert_allclose(gradient, (f - self.labels) @ g / 30, atol=1e-14)
        part = linattn.Objective.prompt(self.prompt, examples=10, seed=3)
        self.assertAlmostEqual(sum(part.value(self.theta, draw) for draw in range(3)) / 3, value, places=13)

    def test_curvature(self):
        teacher = self.prompt.teacher()
        g = self.prompt.evaluate(teacher)[3]
        matrix = self.prompt.gauss_newton(teacher)
        numpy.testing.assert_allclose(matrix, g.T @ g / 30, atol=1e-14)
        numpy.testing.assert_allclose(linattn.Objective.prompt(self.prompt).hessian(teacher), matrix, atol=1e-13)
        c = self.prompt.condition(teacher)
        numpy.testing.assert_allclose(c.singular, numpy.linalg.svd(g, compute_uv=False), rtol=1e-10)
        self.assertAlmostEqual(c.condition * c.smallest / c.largest, 1, places=12)
        step = 0.5 / c.largest
        self.assertAlmostEqual(self.prompt.predict_rate(teacher, step), -2 * numpy.log(1 - step * c.smallest), places=12)
        a = self.prompt.evaluate(teacher)[1][2]
        wanted = numpy.linalg.eigvalsh(numpy.diag(a) - numpy.outer(a, a))[::-1]
        numpy.testing.assert_allclose(self.prompt.softmax_spectrum(teacher, 2), wanted, atol=1e-15)

    def test_distance(self):
        far, seen = self.prompt.distance(self.theta)
        self.assertAlmostEqual(far, 0.1 * 5**0.5, places=12)
        self.assertAlmostEqual(seen, far, places=10)  # 30 examples see all of 5 dimensions

    def test_from_arrays(self):
        again = linattn.Prompt.from_arrays(self.keys, self.value, self.labels, temperature=0.5)
        self.assertEqual((again.examples, again.tokens, again.dim, again.parameter_count), (30, 4, 5, 5))
        numpy.testing.assert_array_equal(again.evaluate(self.theta)[1], self.prompt.evaluate(self.theta)[1])
        with self.assertRaisesRegex(linattn.Unsupported, "without one"):
            again.teacher()
        joint = linattn.Prompt.from_arrays(self.tokens, self.value, teacher=self.theta, key_map=2 * numpy.eye(5), train_value=1)
        numpy.testing.assert_array_equal(joint.arrays()[1], 2 * self.tokens)
        self.assertEqual(joint.parameter_count, 10)

    def test_refused(self):
        with self.assertRaisesRegex(linattn.InvalidArgument, "temperature is 0"):
            linattn.Prompt(3, 4, 5, temperature=0)
        with self.assertRaisesRegex(TypeError, "prompt is of type int"):
            linattn.Objective.prompt(3)

    def test_series_rate(self):
        self.assertAlmostEqual(linattn.series_rate([4.0, 2.0, 1.0, 0.5], 4, 1).slope, -numpy.log(2), places=15)


class Polyak(unittest.TestCase):

    def test_step(self):
        objective = linattn.Objective.from_functions(1, lambda theta, draw: (theta[0]**2, 2 * theta))
        optimizer = linattn.Optimizer(1, rule="polyak", learning_rate=1.0)
        theta = numpy.array([8.0])
        value, gradient = objective.gradient(theta)
        optimizer.step(value, gradient, theta)
        self.assertEqual(theta[0], 4.0)


if __name__ == "__main__":
    unittest.main()
