"""What the tests share: the package, with a record of which functions of the library were called, and small objects to try."""
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import cffi

called = set()


class Recorder:
    """A library that notes the names of its functions when they are called."""

    def __init__(self, library):
        self._library = library

    def __getattr__(self, name):
        found = getattr(self._library, name)
        if callable(found):
            function = found

            def found(*arguments):
                called.add(name)
                return function(*arguments)

        setattr(self, name, found)
        return found


_dlopen = cffi.FFI.dlopen
cffi.FFI.dlopen = lambda self, *arguments: Recorder(_dlopen(self, *arguments))
import linattn  # noqa: E402: opened through the recorder

cffi.FFI.dlopen = _dlopen

PACKAGE = Path(linattn.__file__).parent
TOP = PACKAGE.parent.parent


class Setting:
    """A small instance of setting 1: model, sampler, batch, theta, objectives."""

    def __init__(self, prompts=100, seed=3, **model_options):
        recipe = linattn.recipe("setting1")
        self.model = linattn.Model(**recipe.model_options(**model_options))
        self.sampler = linattn.Sampler(**recipe.sampler_options(seed=seed))
        self.batch = self.sampler.batch(prompts)
        self.theta = self.model.init_parameters(seed)
        self.fixed = linattn.Objective.fixed(self.model, self.batch)
        self.sampled = linattn.Objective.sampled(self.model, self.sampler, prompts)
        self.p = self.model.parameter_count

    def optimizer(self, rule="adam", **changes):
        return linattn.Optimizer(self.model, **linattn.recipe("setting1").optimizer_options(rule, **changes))

    def trainer(self, rule="adam", **options):
        return linattn.Trainer(self.sampled, self.optimizer(rule), self.theta, **options)


def run_python(script, *arguments, timeout=120, **variables):
    """Runs a script in another Python with the package on its path; returns the finished process, with its output."""
    environment = dict(os.environ, PYTHONPATH=str(PACKAGE.parent), **variables)
    return subprocess.run([sys.executable, "-c", textwrap.dedent(script), *arguments],
                          env=environment,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT,
                          universal_newlines=True,
                          timeout=timeout)
