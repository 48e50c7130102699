"""The life of objects: closing, wrong kinds, pickling, who keeps whom alive."""
import copy
import gc
import pickle
import unittest
import weakref

import numpy
from support import Setting, linattn


class Life(unittest.TestCase):

    def all_handles(self):
        s = Setting()
        return [s.sampler, s.batch, s.model, s.fixed, s.sampled, s.optimizer(), s.trainer(), linattn.Diagnostics(s.fixed)]

    def test_closed(self):
        calls = {
            linattn.Sampler: lambda h: h.batch(3),
            linattn.Batch: lambda h: h.arrays(),
            linattn.Model: lambda h: h.init_parameters(1),
            linattn.Objective: lambda h: h.value(numpy.zeros(150)),
            linattn.Optimizer: lambda h: h.state(),
            linattn.Trainer: lambda h: h.run(1),
            linattn.Diagnostics: lambda h: h.spectrum(numpy.zeros(150)),
        }
        for handle in self.all_handles():
            with self.subTest(type(handle).__name__):
                self.assertFalse(handle.closed)
                with handle as same:
                    self.assertIs(same, handle)
                self.assertTrue(handle.closed)
                handle.close()
                with self.assertRaisesRegex(ValueError, f"{handle._kind} is closed"):
                    calls[type(handle)](handle)

    def test_closed_arguments(self):
        s = Setting()
        s.batch.close()
        with self.assertRaisesRegex(ValueError, "batch is closed"):
            linattn.Objective.fixed(s.model, s.batch)
        with self.assertRaisesRegex(ValueError, "batch is closed"):
            s.model.predict(s.batch, s.theta)
        self.assertEqual(s.fixed.value(s.theta), Setting().fixed.value(s.theta))  # the batch lives on in the objective

    def test_wrong_kinds(self):
        s = Setting()
        wrong = [
            (lambda: linattn.Objective.fixed(s.batch, s.model), "model"),
            (lambda: linattn.Objective.fixed(s.model, s.sampler), "batch"),
            (lambda: linattn.Objective.sampled(s.model, s.batch, 10), "sampler"),
            (lambda: linattn.Trainer(s.model, s.optimizer(), s.theta), "objective"),
            (lambda: linattn.Trainer(s.fixed, s.fixed, s.theta), "optimizer"),
            (lambda: linattn.Diagnostics(s.model), "objective"),
            (lambda: linattn.Batch(s.model, 10), "sampler"),
            (lambda: s.model.predict(s.sampler, s.theta), "batch"),
            (lambda: s.model.predict(None, s.theta), "batch"),
        ]
        for call, name in wrong:
            with self.subTest(name), self.assertRaisesRegex(TypeError, f"{name} is of type"):
                call()
        with self.assertRaisesRegex(TypeError, "Objective.fixed"):
            linattn.Objective()

    def test_pickling(self):
        for handle in self.all_handles():
            for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
                with self.subTest(type(handle).__name__), self.assertRaisesRegex(TypeError, f"a {handle._kind} cannot be pickled"):
                    attempt(handle)

    def test_results_are_pickled(self):
        s = Setting()
        for result in (linattn.recipe("setting1"), linattn.sample_moments(s.theta), linattn.matrix_spectrum(numpy.eye(2)),
                       s.model.tensors):
            again = pickle.loads(pickle.dumps(result))
            self.assertEqual(repr(again), repr(result))
        failure = pickle.loads(pickle.dumps(linattn.NonFinite("x")))
        self.assertEqual((str(failure), failure.status), ("x", -4))

    def test_any_order(self):
        s = Setting()
        trainer, diagnostics, clone = s.trainer(), linattn.Diagnostics(s.fixed), s.fixed.clone()
        wanted = s.fixed.value(s.theta)
        for handle in (s.model, s.sampler, s.batch, s.fixed, s.sampled):
            handle.close()
        theta = s.theta
        del s
        gc.collect()
        self.assertEqual(clone.value(theta), wanted)
        self.assertEqual(trainer.run(3), 3)
        self.assertEqual(diagnostics.parameter_count, theta.size)

    def test_released_without_close(self):
        """Objects do not outlive their last reference, functions of the caller's included."""

        def gradient(theta, draw):
            return 0.0, theta

        objective = linattn.Objective.from_functions(2, gradient)
        trainer = linattn.Trainer(objective, linattn.Optimizer(2, learning_rate=0.1), numpy.zeros(2))
        trainer.run(2)
        dead = weakref.ref(gradient)
        del objective, gradient
        gc.collect()
        self.assertIsNotNone(dead())
        self.assertEqual(trainer.run(2), 2)
        del trainer
        gc.collect()
        self.assertIsNone(dead())
