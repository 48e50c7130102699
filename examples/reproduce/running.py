"""Runs the stages that are not done, one command after the other, and keeps a record of each."""
import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import time

from records import Records, checksum, write_whole
from stages import choose, commands


class Trouble(Exception):
    """One line for the user, and the status to end with."""

    def __init__(self, line, status=1):
        super().__init__(line)
        self.status = status


def make_folder(path):
    try:
        os.mkdir(path)
    except FileExistsError:
        if not os.path.isdir(path):
            raise Trouble('"%s" is not a folder' % path) from None
    except FileNotFoundError:
        raise Trouble('cannot make the folder "%s": its parent does not exist' % path) from None
    except OSError as error:
        raise Trouble('cannot make the folder "%s": %s' % (path, error.strerror)) from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise Trouble('cannot write to the folder "%s"' % path)


def need_room(folder):
    """A full disk is said once, and not by every program in turn."""
    part = os.path.join(folder, "room.%d.part" % os.getpid())
    try:
        with open(part, "wb") as file:
            file.write(bytes(1 << 20))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise Trouble('cannot write to the folder "%s": %s' % (folder, error.strerror)) from None
    finally:
        if os.path.exists(part):
            os.unlink(part)


def lock(folder):
    """One `make reproduce` at a time; the lock ends with the process, however it ends."""
    path = os.path.join(folder, "stages", "lock")
    try:
        held = open(path, "w")
    except OSError as error:
        raise Trouble('cannot write "%s": %s' % (path, error.strerror)) from None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Trouble('another "make reproduce" is writing to "%s"' % folder) from None
    return held


def end_with_parent():
    """In the child: a killed `make reproduce` leaves no program behind, in the next one's way. Does nothing outside Linux."""
    set_death_signal = 1
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl:
        prctl(set_death_signal, signal.SIGKILL)


def stamps(folder):
    return {entry.name: (entry.stat().st_mtime_ns, entry.stat().st_ino) for entry in os.scandir(folder)}


class Runner:
    def __init__(self, programs, folder, threads, version, machine, commit, say=print):
        self.programs, self.folder, self.threads = programs, folder, threads
        self.version, self.machine, self.commit, self.say = version, machine, commit, say
        self.records = Records(folder)
        self.failures = []

    def run_stage(self, stage, quick):
        wanted = commands(stage, quick)
        before = self.records.read(stage.id)
        kept = [self.records.done(stage.id, before, self.line(command), self.version) for command in wanted]
        if all(kept):
            self.say("==== %s: done before" % stage.id)
            return
        make_folder(os.path.join(self.folder, stage.id))
        self.sweep(os.path.join(self.folder, stage.id))
        for i, command in enumerate(wanted):
            if kept[i]:
                continue
            self.say("\n==== %s, %d of %d: %s" % (stage.id, i + 1, len(wanted), self.line(command)))
            kept[i] = self.run_command(stage, command)
            try:
                self.records.write(stage.id, [entry for entry in kept if entry])
            except OSError as error:
                raise Trouble('cannot write "%s": %s' % (self.records.path(stage.id), error.strerror)) from None

    @staticmethod
    def sweep(folder):
        """Takes away what killed programs left half written."""
        for name in os.listdir(folder):
            if name.endswith(".part"):
                os.unlink(os.path.join(folder, name))

    @staticmethod
    def line(command):
        """Without what does not change a number: threads and folder."""
        return " ".join([command.program] + command.arguments)

    def run_command(self, stage, command):
        folder = os.path.join(self.folder, stage.id)
        before = stamps(folder)
        started = time.time()
        words = [os.path.join(self.programs, command.program)] + command.arguments
        words += ["--threads", str(self.threads), "--out", folder]
        # On matrices of 150 x 150, a BLAS's own threads only get into the way of the runs.
        environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
        try:
            ended = subprocess.run(words, stdout=subprocess.PIPE, env=environment, check=False, preexec_fn=end_with_parent)
            status, printed = ended.returncode, ended.stdout.decode("utf-8", "replace")
        except OSError as error:
            print("reproduce: cannot run %s: %s" % (words[0], error.strerror), file=sys.stderr)
            status, printed = 127, ""
        if status in (130, -2):
            raise KeyboardInterrupt
        self.say(printed, end="")
        entry = {"line": self.line(command), "name": command.name, "quick": command.quick, "version": self.version,
                 "commit": self.commit, "threads": self.threads, "machine": self.machine,
                 "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "seconds": round(time.time() - started, 2),
                 "failed": "", "files": {}}
        if status != 0:
            need_room(folder)
            entry["failed"] = "ended with status %d" % status
            self.failures.append("%s: %s %s" % (stage.id, self.line(command), entry["failed"]))
            return entry
        try:
            write_whole(os.path.join(folder, command.name + ".txt"), printed)
            entry["files"] = self.checksums(folder, before)
        except OSError as error:
            raise Trouble('cannot write to the folder "%s": %s' % (folder, error.strerror)) from None
        return entry

    @staticmethod
    def checksums(folder, before):
        made = [name for name, stamp in stamps(folder).items() if before.get(name) != stamp and not name.endswith(".part")]
        return {name: checksum(os.path.join(folder, name)) for name in sorted(made)}


def run(runner, names, quick, table):
    """Runs what is asked for and is not done; Trouble for what cannot go on, runner.failures for what failed."""
    try:
        chosen = choose(names, table)
    except ValueError as error:
        raise Trouble(str(error), 2) from None
    make_folder(runner.folder)
    make_folder(os.path.join(runner.folder, "stages"))
    held = lock(runner.folder)
    runner.sweep(os.path.join(runner.folder, "stages"))
    need_room(runner.folder)
    try:
        for stage in chosen:
            runner.run_stage(stage, quick)
    finally:
        held.close()
