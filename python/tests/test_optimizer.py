"""Optimizers: steps against their formulas, state, the caller's own rules."""
import math
import unittest

import numpy
from support import linattn

G = numpy.array([1.0, -2.0, 0.5])


class Rules(unittest.TestCase):

    def test_adam(self):
        """Three steps with the same gradient: bias-corrected moments are g and g^2."""
        optimizer, theta = linattn.Optimizer(3, rule="adam", learning_rate=0.1), numpy.zeros(3)
        for step in range(3):
            record = optimizer.step(1.5, G, theta)
            self.assertEqual((record.step, record.value, record.learning_rate, record.clipped), (step, 1.5, 0.1, 0))
        numpy.testing.assert_allclose(theta, -0.3 * numpy.sign(G), rtol=1e-7)
        numpy.testing.assert_allclose(optimizer.preconditioner(), abs(G) + 1e-8, rtol=1e-12)
        state, steps, skips = optimizer.state()
        self.assertEqual((state.size, optimizer.state_count, steps, skips, optimizer.step_count), (6, 6, 3, 0, 3))
        numpy.testing.assert_allclose(state[:3], G * (1 - 0.9**3), rtol=1e-12)
        other, moved = linattn.Optimizer(3, rule="adam", learning_rate=0.1), theta.copy()
        other.set_state(state, steps, skips)
        other.step(1.0, G, moved)
        optimizer.step(1.0, G, theta)
        self.assertEqual(moved.tobytes(), theta.tobytes())

    def test_clipping_and_schedule(self):
        optimizer = linattn.Optimizer(3,
                                      learning_rate=1,
                                      clip=linattn.Clip.GLOBAL_NORM,
                                      clip_threshold=0.5,
                                      schedule="cosine",
                                      decay_steps=10,
                                      warmup_steps=2)
        theta = numpy.zeros(3)
        record = optimizer.step(0.0, G, theta)
        self.assertEqual(record.clipped, 1)
        self.assertAlmostEqual(record.gradient_norm, math.sqrt(5.25), places=14)
        self.assertAlmostEqual(numpy.linalg.norm(theta), 0.25, places=14)
        self.assertEqual(optimizer.learning_rate(0), 0.5)
        self.assertAlmostEqual(optimizer.learning_rate(6), 0.5, places=14)

    def test_nonfinite(self):
        bad = numpy.array([1.0, numpy.inf, 0.0])
        optimizer, theta = linattn.Optimizer(3, learning_rate=1), numpy.ones(3)
        with self.assertRaises(linattn.NonFinite) as caught:
            optimizer.step(0.0, bad, theta)
        self.assertEqual((caught.exception.record.gradient_norm, theta.tolist()), (math.inf, [1, 1, 1]))
        skipping = linattn.Optimizer(3, learning_rate=1, nonfinite="skip")
        self.assertEqual(skipping.step(0.0, bad, theta).skipped, 1)
        self.assertEqual((skipping.skip_count, skipping.step_count), (1, 1))

    def test_refused(self):
        cases = [
            (lambda: linattn.Optimizer(3), linattn.InvalidArgument, "learning_rate"),
            (lambda: linattn.Optimizer(3, learning_rate="fast"), TypeError, "learning_rate"),
            (lambda: linattn.Optimizer(3, learning_rate=1, rule="adamm"), ValueError, "sgd, adam, adamw"),
            (lambda: linattn.Optimizer(3, learning_rate=1, rate=1), TypeError, 'no option "rate"'),
            (lambda: linattn.Optimizer(0, learning_rate=1), linattn.InvalidArgument, ""),
            (lambda: linattn.Optimizer("3", learning_rate=1), TypeError, "parameters"),
            (lambda: linattn.Optimizer(3, learning_rate=1, rule="sign").preconditioner(), linattn.Unsupported, ""),
            (lambda: linattn.Optimizer(3, learning_rate=1, rule="adam").preconditioner(), linattn.Degenerate, ""),
            (lambda: linattn.Optimizer(3, learning_rate=1).set_state(numpy.zeros(3), 1, 2), linattn.InvalidArgument, "skips"),
            (lambda: linattn.Optimizer(3, learning_rate=1).step(0.0, numpy.zeros(2), numpy.zeros(3)), ValueError, "gradient"),
        ]
        for call, kind, words in cases:
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                call()


class Custom(unittest.TestCase):

    def make(self, update, **options):
        return linattn.Optimizer.custom(3, update, **dict(dict(learning_rate=0.1), **options))

    def test_heavy_ball(self):
        """In place and by replacing, the same bits as the built-in rule."""

        def in_place(u):
            u.state *= 0.9
            u.state += u.gradient
            u.theta -= u.learning_rate * u.state

        def replacing(u):
            u.state = u.gradient + u.state * 0.9
            u.theta = u.theta - u.learning_rate * u.state

        wanted = numpy.zeros(3)
        built_in = linattn.Optimizer(3, learning_rate=0.1, momentum=0.9)
        for _ in range(5):
            built_in.step(0.0, G, wanted)
        for update in (in_place, replacing):
            theta, optimizer = numpy.zeros(3), self.make(update, state_count=3, name="heavy ball")
            for _ in range(5):
                optimizer.step(0.0, G, theta)
            numpy.testing.assert_allclose(theta, wanted, rtol=1e-14)
            numpy.testing.assert_allclose(optimizer.state()[0], built_in.state()[0], rtol=1e-14)

    def test_what_it_sees(self):
        seen = []
        optimizer = linattn.Optimizer.custom(linattn.Model(2, 1),
                                             seen.append,
                                             learning_rate=0.5,
                                             clip="coordinate",
                                             clip_threshold=1)
        optimizer.step(3.5, numpy.full(8, 2.0), numpy.arange(8.0))
        u = seen[0]
        self.assertEqual((u.step, u.learning_rate, u.value), (1, 0.5, 3.5))
        self.assertEqual((u.gradient.tolist(), u.theta.tolist(), u.state.size), ([1] * 8, list(range(8)), 0))
        self.assertEqual([t.name for t in u.tensors], ["layer0.head0.P", "layer0.head0.Q"])

    def test_misbehaviour(self):

        def wrong_shape(u):
            u.theta = numpy.zeros(4)

        def wrong_type(u):
            u.theta = u.theta.astype("<f4")

        def wrong_state(u):
            u.state = numpy.zeros(2)

        def nan(u):
            u.theta[1] = numpy.nan

        def raising(u):
            u.theta[:] = 9
            raise LookupError("mine")

        def unknown(u):
            u.thetta = 0

        cases = [(wrong_shape, ValueError, "theta that the rule left"), (wrong_type, TypeError, "theta that the rule left"),
                 (wrong_state, ValueError, "state that the rule left"), (nan, linattn.NonFinite, ""),
                 (raising, LookupError, "mine"), (unknown, AttributeError, "thetta"),
                 (lambda u: "yes", TypeError, "the callback update returned 'yes'"), (lambda u: True, linattn.Stopped, "")]
        for update, kind, words in cases:
            theta, optimizer = numpy.ones(3), self.make(update)
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                optimizer.step(0.0, G, theta)
            self.assertEqual((theta.tolist(), optimizer.step_count), ([1, 1, 1], 0))
        self.assertRaisesRegex(TypeError, "update is of type", self.make, None)
