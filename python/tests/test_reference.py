"""Python against a C program: a run, a gradient and a Hessian of setting 1, bit for bit; and what a step costs more."""
import os
import subprocess
import time
import unittest

import numpy
from support import linattn

PROGRAM = os.environ.get("LINATTN_REFERENCE")


def printed():
    """{name: array} of what the program prints."""
    lines = iter(subprocess.run([PROGRAM], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout.splitlines())
    return {
        name: numpy.array([float.fromhex(next(lines)) for _ in range(int(count))])
        for name, count in (head.split() for head in lines)
    }


def make_trainer(seed, **options):
    r = linattn.recipe("setting1")
    model, sampler = linattn.Model(**r.model_options()), linattn.Sampler(**r.sampler_options(seed=seed))
    objective = linattn.Objective.sampled(model, sampler, r.prompts)
    optimizer = linattn.Optimizer(model.parameter_count, **r.optimizer_options("adam"))
    return objective, linattn.Trainer(objective, optimizer, model.init_parameters(seed), **options)


class Reference(unittest.TestCase):

    @unittest.skipUnless(PROGRAM, "LINATTN_REFERENCE is not set; make check-python sets it")
    def test_same_bits(self):
        wanted = printed()
        objective, trainer = make_trainer(11)
        trainer.run(200)
        theta = trainer.parameters()
        value, gradient = objective.gradient(theta, 200)
        found = dict(theta=theta, value=numpy.array([value]), gradient=gradient, hessian=objective.hessian(theta, 200).ravel())
        self.assertEqual(sorted(found), sorted(wanted))
        for name in found:
            self.assertEqual(found[name].tobytes(), wanted[name].tobytes(), name)

    def test_cost(self):
        """1000 steps in pieces cost at most 5% more than in one call of the library: the best of several of each, in turns."""
        lib, best = linattn._library.lib, {}
        for attempt in range(15):
            _, trainer = make_trainer(1)
            trainer.run(1)
            for name, run in (("package", lambda: trainer.run(1000)),
                              ("library", lambda: lib.linattn_trainer_run(trainer._pointer, 1000, linattn._library.ffi.NULL))):
                begun = time.process_time()
                run()
                best[name] = min(time.process_time() - begun, best.get(name, 1e9))
            if attempt >= 2 and best["package"] <= 1.05 * best["library"]:
                break
        self.assertLessEqual(best["package"], 1.05 * best["library"])
