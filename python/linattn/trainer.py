"""Runs: objective + optimizer + theta, records, checkpoints."""
import os
import time

import numpy

from . import arrays, structs
from ._library import ffi, lib
from .callbacks import callback, require_callable, word
from .errors import check
from .handles import Handle, pointer
from .objective import Objective
from .optimizer import Optimizer
from .structs import StepRecord

_OPTIONS = "linattn_trainer_options"
_RECORD = "linattn_step_record"
# A run is handed to the library in pieces of about so many seconds, between which Ctrl-C is noticed.
_PIECE = 0.1

_NUMPY = {"size_t": numpy.uintp, "uint64_t": numpy.uint64, "double": numpy.float64, "int32_t": numpy.int32}
_RAW = numpy.dtype({
    "names": [name for name, _ in ffi.typeof(_RECORD).fields],
    "formats": [_NUMPY[field.type.cname] for _, field in ffi.typeof(_RECORD).fields],
    "offsets": [field.offset for _, field in ffi.typeof(_RECORD).fields],
    "itemsize": ffi.sizeof(_RECORD),
})

RECORD = numpy.dtype([(name, _NUMPY[ctype.cname]) for name, ctype in structs.fields(_RECORD).items()])
"""The element type of Trainer.records(): the fields of StepRecord."""


@structs.documented(_OPTIONS)
class Trainer(Handle):
    """Takes steps: step t = 0, 1, ... takes value and gradient of draw t at theta_t and lets the optimizer move it.

    Trainer(objective, optimizer, theta, **options); theta (p,) is copied, the optimizer must be new. observer(record, theta) is
    called after step record.step with its StepRecord and a copy of the theta_t it started from; it returns None to go on, True
    to end the run, and what it raises is raised by run(), with that step done."""

    _kind = "trainer"
    _instead = "save() a checkpoint and load() it into another with the same options"

    def __init__(self, objective, optimizer, theta, **options):
        handles = pointer(objective, Objective, "objective"), pointer(optimizer, Optimizer, "optimizer")
        theta = arrays.read(theta, "theta", (objective.parameter_count, ))
        observer = options.pop("observer", None)
        if observer is not None:
            options["observer"] = _observer_callback(require_callable(observer, "observer"), theta.size)
        filled = structs.options(_OPTIONS, options)
        # Their callbacks must live as long as this does; so must the observer.
        self._kept = objective, optimizer, options.get("observer")
        self._take(lib.linattn_trainer_create, *handles, arrays.address(theta), filled)

    def run(self, steps):
        """Takes up to so many steps and returns how many were taken: fewer when the observer or request_stop ended the run. When it
        raises (NonFinite: it diverged) the trainer is at the last completed step, step_count tells which, and run() goes on
        from there. Ctrl-C raises KeyboardInterrupt between two steps, within about 0.1 seconds or the time of a step."""
        trainer, left, taken, piece = self._pointer, arrays.count(steps, "steps"), 0, 1
        done = ffi.new("uint64_t *")
        while True:
            begun = time.perf_counter()
            status = lib.linattn_trainer_run(trainer, min(piece, left), done)
            seconds = time.perf_counter() - begun
            taken, left = taken + done[0], left - done[0]
            if status == lib.LINATTN_STOP:
                return taken
            check(status)
            if left == 0:
                return taken
            piece = 2 * piece if seconds < _PIECE / 2 else max(1, piece // 2) if seconds > _PIECE else piece

    def request_stop(self):
        """Asks the run in progress, or else the next one, to end before its next step. May be called from another thread."""
        lib.linattn_trainer_request_stop(self._pointer)

    @property
    def step_count(self):
        """t, the number of steps taken."""
        return lib.linattn_trainer_step_count(self._pointer)

    @property
    def parameter_count(self):
        """p, the length of theta."""
        return lib.linattn_trainer_parameter_count(self._pointer)

    def parameters(self, out=None):
        """theta_t (p,), a copy."""
        theta = arrays.write(out, "out", (self.parameter_count, ))
        check(lib.linattn_trainer_get_parameters(self._pointer, arrays.address(theta)))
        return theta

    @property
    def record_count(self):
        """How many records there are."""
        return lib.linattn_trainer_record_count(self._pointer)

    def records(self, first=0, count=None):
        """Records first .. first+count-1 (all from first on), a structured array of dtype RECORD: records()["value"] is the
        loss."""
        begin = arrays.count(first, "first")
        size = max(self.record_count - begin, 0) if count is None else arrays.count(count, "count")
        raw = numpy.zeros(min(size, self.record_count), _RAW)
        check(lib.linattn_trainer_get_records(self._pointer, begin, size, ffi.sizeof(_RECORD), arrays.address(raw, f"{_RECORD}[]")))
        tidy = numpy.empty(raw.shape, RECORD)
        for name in RECORD.names:
            tidy[name] = raw[name]
        return tidy

    def save(self, path):
        """Writes a checkpoint: the file is the old or the new one, never half of one."""
        check(lib.linattn_trainer_save(self._pointer, os.fsencode(path)))

    def load(self, path):
        """Takes a checkpoint of a trainer with the same options; the run goes on with the same bits. Clears the records."""
        check(lib.linattn_trainer_load(self._pointer, os.fsencode(path)))


def _observer_callback(observer, p):

    def call(record, theta, user):
        return word(observer(structs.result(StepRecord, record), arrays.copied(theta, p)), "observer")

    return callback(f"int(const {_RECORD} *, const double *, void *)", call)
