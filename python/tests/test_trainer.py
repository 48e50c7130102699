"""Runs: records, observers, stopping, checkpoints."""
import gc
import os
import tempfile
import threading
import time
import unittest

import numpy
from support import Setting, linattn


class Runs(unittest.TestCase):

    def test_records(self):
        s = Setting()
        trainer = s.trainer(record_stride=2)
        self.assertEqual((trainer.run(5), trainer.step_count, trainer.record_count, trainer.parameter_count), (5, 5, 3, 150))
        records = trainer.records()
        self.assertEqual(records.dtype.names,
                         ("step", "value", "gradient_norm", "clipped_norm", "learning_rate", "clipped", "skipped"))
        self.assertEqual(records["step"].tolist(), [0, 2, 4])
        value, gradient = s.sampled.gradient(s.theta, 0)
        self.assertEqual(records["value"][0], value)
        self.assertAlmostEqual(records["gradient_norm"][0], numpy.linalg.norm(gradient), places=12)
        self.assertEqual(trainer.records(1, 2).tobytes(), records[1:].tobytes())
        self.assertEqual(trainer.records(3).size, 0)
        self.assertRaises(linattn.InvalidArgument, trainer.records, 2, 2)
        self.assertRaises(linattn.InvalidArgument, trainer.records, 0, 2**63)

    def test_by_hand(self):
        """The same bits as gradient and step called one by one."""
        s = Setting()
        trainer, theta, optimizer = s.trainer(), s.theta.copy(), s.optimizer()
        trainer.run(20)
        for step in range(20):
            value, gradient = s.sampled.gradient(theta, step)
            optimizer.step(value, gradient, theta)
        self.assertEqual(trainer.parameters().tobytes(), theta.tobytes())
        out = numpy.zeros(150)
        self.assertIs(trainer.parameters(out=out), out)

    def test_observer(self):
        """Case P4: a temporary function, collected in between, through 1000 steps."""
        s, seen = Setting(prompts=10), []
        trainer = s.trainer(observer=lambda record, theta: seen.append((record.step, theta)), observer_stride=10)
        gc.collect()
        self.assertEqual(trainer.run(1000), 1000)
        self.assertEqual([step for step, _ in seen], list(range(0, 1000, 10)))
        self.assertEqual(seen[0][1].tobytes(), s.theta.tobytes())

    def test_observer_raises(self):
        """Case P5: at step 3 of 10 exactly the steps before and that one are done, and the run goes on afterwards."""
        s = Setting()

        def observer(record, theta):
            if record.step == 2 and trainer.step_count == 3 and not raised:
                raised.append(1)
                raise RuntimeError("at the third step")

        raised = []
        trainer = s.trainer(observer=observer)
        with self.assertRaisesRegex(RuntimeError, "third step"):
            trainer.run(10)
        self.assertEqual((trainer.step_count, trainer.record_count), (3, 3))
        self.assertEqual(trainer.run(7), 7)
        straight = Setting().trainer()
        straight.run(10)
        self.assertEqual(trainer.parameters().tobytes(), straight.parameters().tobytes())

    def test_observer_stops(self):
        s = Setting()
        for answer in (True, linattn.STOP, numpy.True_):
            trainer = s.trainer(observer=lambda record, theta: answer if record.step == 4 else None)
            self.assertEqual((trainer.run(10), trainer.step_count), (5, 5))
        trainer = s.trainer(observer=lambda record, theta: theta)
        self.assertRaisesRegex(TypeError, "the callback observer returned", trainer.run, 2)

    def test_observer_uses_its_trainer(self):
        s, path = Setting(), tempfile.mktemp()
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))

        def observer(record, theta):
            trainer.save(path)
            self.assertEqual(trainer.records()["step"][-1], record.step)
            with self.assertRaisesRegex(linattn.InvalidArgument, "running"):
                trainer.run(1)
            with self.assertRaises(linattn.LinattnError):
                trainer.load(path)

        trainer = s.trainer(observer=observer)
        self.assertEqual(trainer.run(3), 3)

    def test_everything_dies_during_a_run(self):
        """Closing, and dropping every other reference, inside a callback: the run goes to its end."""
        s = Setting()
        box = {}

        def observer(record, theta):
            for handle in (s.sampled, s.model, s.sampler, box.get("trainer")):
                if handle is not None:
                    handle.close()
            box.clear()
            gc.collect()

        box["trainer"] = s.trainer(observer=observer)
        self.assertEqual(box["trainer"].run(20), 20)

        def gradient(theta, draw):
            box.clear()
            gc.collect()
            return 0.0, theta

        box["t"] = linattn.Trainer(linattn.Objective.from_functions(2, gradient), linattn.Optimizer(2, learning_rate=0.1),
                                   numpy.ones(2))
        self.assertEqual(box["t"].run(20), 20)

    def test_divergence(self):

        def gradient(theta, draw):
            return (numpy.nan if draw == 4 else 0.0), theta * 0

        f = linattn.Objective.from_functions(2, gradient)
        trainer = linattn.Trainer(f, linattn.Optimizer(2, learning_rate=1), numpy.ones(2))
        with self.assertRaisesRegex(linattn.NonFinite, "diverged at step 4"):
            trainer.run(10)
        self.assertEqual(trainer.step_count, 4)

    def test_request_stop(self):
        s = Setting()
        trainer = s.trainer()
        trainer.request_stop()
        self.assertEqual((trainer.run(5), trainer.run(5)), (0, 5))
        timer = threading.Timer(0.3, trainer.request_stop)
        timer.start()
        begun = time.monotonic()
        done = trainer.run(10**9)
        timer.join()
        self.assertLess(time.monotonic() - begun, 10)
        self.assertEqual(trainer.step_count, done + 5)

    def test_pieces_are_one_run(self):
        s = Setting()
        whole, steps = s.trainer(), s.trainer()
        whole.run(100)
        for count in (0, 1, 2, 97):
            self.assertEqual(steps.run(count), count)
        self.assertEqual(whole.parameters().tobytes(), steps.parameters().tobytes())
        self.assertEqual(whole.records().tobytes(), steps.records().tobytes())

    def test_threads(self):
        """Runs side by side, each with objects of its own, give what they give alone."""
        results = {}

        def work(seed):
            trainer = Setting(seed=seed).trainer()
            trainer.run(200)
            results[seed] = trainer.parameters().tobytes()

        threads = [threading.Thread(target=work, args=(seed, )) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        side_by_side = dict(results)
        for seed in range(4):
            work(seed)
        self.assertEqual(results, side_by_side)

    def test_refused(self):
        s = Setting()
        used = s.optimizer()
        used.step(0.0, s.theta, s.theta.copy())
        cases = [
            (lambda: linattn.Trainer(s.fixed, linattn.Optimizer(3, learning_rate=1), s.theta), linattn.Mismatch, ""),
            (lambda: linattn.Trainer(s.fixed, used, s.theta), linattn.InvalidArgument, "step count"),
            (lambda: s.trainer(observer_stride=0), linattn.InvalidArgument, "observer_stride"),
            (lambda: s.trainer(observer=1), TypeError, "observer is of type"),
            (lambda: s.trainer(observe=print), TypeError, 'no option "observe"'),
            (lambda: s.trainer().run(-1), ValueError, "steps"),
            (lambda: s.trainer().run(1.5), TypeError, "steps"),
        ]
        for call, kind, words in cases:
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                call()


class Checkpoints(unittest.TestCase):

    def test_resume(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run é.checkpoint")
            first, second, straight = (Setting().trainer() for _ in range(3))
            first.run(7)
            first.save(path)
            second.load(path)
            self.assertEqual((second.step_count, second.record_count), (7, 0))
            second.run(5)
            straight.run(12)
            self.assertEqual(second.parameters().tobytes(), straight.parameters().tobytes())
            with self.assertRaisesRegex(linattn.Mismatch, ""):
                Setting().trainer("sgd").load(path)
            with open(path, "r+b") as file:
                file.truncate(50)
            self.assertRaises(linattn.FormatError, second.load, path)
            with self.assertRaisesRegex(OSError, "nowhere"):
                second.save(os.path.join(folder, "nowhere", "x"))
            self.assertRaises(linattn.FileError, second.load, os.path.join(folder, "missing"))
