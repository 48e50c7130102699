"""Times liblinattn beside PyTorch or JAX: the same work, in turns, ratio by ratio. Run by `make bench-peer`.

Before anything is timed, the peer's loss, gradient, Adam step and Hessian on one of the library's batches must be the library's, and
its own batches must have the moments they should have. The library uses double precision and one thread; the peer, on one thread
too, float32 and float64. A pair is a run of the library's and then one of the peer's, each of at least SECONDS; its ratio is how
many times as long a unit of work takes the peer. Units: a step (draw 1000 fresh prompts, gradient, clipping, Adam), a dense Hessian
of one batch, 1000 gradient errors (the peer's from fewer)."""
import argparse
import csv
import importlib
import os
import platform
import statistics
import sys
import tempfile
import time

UNITS = {"noise_setting1": 1000}  # how many runs make a unit
TASKS = ("step_setting1", "step_setting2", "step_setting3", "step_wide", "step_softmax", "hessian_setting1", "noise_setting1")
HEADER = "task,dtype,ours_seconds,peer_seconds,ratio_median,ratio_low,ratio_high,pairs".split(",")
RATE = 1e-6  # so small that parameters stay where they are, and every step costs the same


class Failure(Exception):
    """Ends the program with one line."""


def parse(arguments):

    class Parser(argparse.ArgumentParser):

        def error(self, message):
            raise Failure(f"{message} (--help lists the options)")

    parser = Parser(prog="peer.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default="torch", choices=["torch", "jax"], help="what to compare with (torch)")
    parser.add_argument("--tasks", default="all", help="names joined by commas, out of " + ", ".join(TASKS) + " (all)")
    parser.add_argument("--pairs", default="7", help="pairs of runs for each task and dtype, 1 to 1000 (7)")
    parser.add_argument("--seconds", default="0.3", help="the shortest run, 0.001 to 60 (0.3)")
    parser.add_argument("--out", default="out", help="the folder that bench_peer.csv is written to (out)")
    options = parser.parse_args(arguments)
    options.tasks = list(TASKS) if options.tasks == "all" else options.tasks.split(",")
    for name in options.tasks:
        if name not in TASKS:
            raise Failure(f'task "{name}" is unknown; known: {", ".join(TASKS)}')
    options.pairs = number(options.pairs, "pairs", int, 1, 1000)
    options.seconds = number(options.seconds, "seconds", float, 0.001, 60)
    return options


def number(text, name, kind, least, most):
    try:
        value = kind(text)
    except ValueError:
        value = least - 1
    if not least <= value <= most:
        raise Failure(f'--{name} is "{text}"; allowed: {least} to {most}')
    return value


# ---- Facts ---------------------------------------------------------------------------------------------------------------------
def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def blas():
    """The BLAS libraries that are loaded into this process."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as lines:
            paths = {line.split()[-1] for line in lines if "/" in line}
    except OSError:
        return "unknown"
    found = {path for path in paths if "blas" in os.path.basename(path) or "mkl" in os.path.basename(path)}
    return " ".join(sorted(found)) or "none of its own"


def facts(linattn, peer):
    kernels = [kernel.name.lower() for kernel in linattn.Kernel if linattn.kernel_available(kernel)]
    ours = {"processor": processor(), "system": platform.platform(), "ours": f"liblinattn {linattn.version()}, double",
            "ours kernel": kernels[-1], "ours threads": 1}
    return dict(ours, **peer.facts(), **{"peer BLAS": blas(), "python": platform.python_version()})


# ---- That both do the same work ------------------------------------------------------------------------------------------------
def check(name, what, found, limit, unit=""):
    """Complains unless found <= limit; NaN is not."""
    if not found <= limit:
        raise Failure(f"{name}: {what} differs from the library's by {found:.2g}{unit}; allowed: {limit:.2g}{unit}")
    return f"{what} {found:.1e}{unit}"


def check_recipe(ours, peer_class, name, dtype, with_hessian):
    """Differences in units of the largest entry, of the learning rate, of a standard error."""
    from ours import relative
    limit, rate = (1e-11, 0.01) if dtype == "float64" else (1e-3, 0.01)
    peer = peer_class(ours.recipe, dtype, ours.theta, rate)
    batch = peer.given(*ours.prompts.arrays())
    (our_loss, our_slope), (loss, slope) = ours.gradient(), peer.gradient(batch)
    said = [check(name, "loss", abs(loss / our_loss - 1), limit), check(name, "gradient", relative(slope, our_slope), limit)]
    if with_hessian:
        said.append(check(name, "Hessian", relative(peer.hessian(batch), ours.hessian()), limit))
    if dtype == "float64":  # moves the peer's theta; in float32 the steps of tiny entries have the sign of a rounding error
        said.append(check(name, "Adam step", abs(peer.update(batch) - ours.update(rate)).max() / rate, 1e-5, " of its rate"))
    squares = [float((peer.batch()[0][:, :, :-1]**2).sum()) / ours.recipe.prompts / (ours.recipe.context + 1) for _ in range(40)]
    error = statistics.stdev(squares) / len(squares)**0.5
    off = abs(statistics.fmean(squares) - ours.square_norm()) / error
    return ", ".join(said + [check(name, "mean |x|^2", off, 5, " standard errors")])


# ---- Timing --------------------------------------------------------------------------------------------------------------------
def timed(work, count):
    """Seconds of one of `count` runs, and how many processors were busy."""
    begin, used = time.perf_counter(), time.process_time()
    work(count)
    seconds = time.perf_counter() - begin
    return seconds / count, (time.process_time() - used) / seconds


def enough(work, least):
    """How many runs take that long, after a first one that does not count, being slower."""
    count = 1
    if timed(work, 1)[0] > 10 * least:
        return count
    while True:
        seconds, _ = timed(work, count)
        if seconds * count >= least:
            return count
        count = max(count + 1, min(10 * count, int(1.2 * least / seconds) + 1))


def works(task, ours, peer):
    """(ours, the peer's): functions of a number of runs."""
    kind = task.split("_")[0]
    if kind == "step":
        return ours.steps, peer.steps
    if kind == "noise":
        reference = ours.reference()
        return lambda count: ours.noise(count, reference), lambda count: peer.noise(count, reference)
    batch = peer.given(*ours.prompts.arrays())
    return (lambda count: [ours.hessian() for _ in range(count)]), (lambda count: [peer.hessian(batch) for _ in range(count)])


def compare(task, ours, peers, options):
    """A row for each dtype. Dtypes take turns too: ours, float32, ours, float64, ours, ..."""
    turns = {dtype: works(task, ours, peer) for dtype, peer in peers.items()}
    counts = {dtype: [enough(work, options.seconds) for work in pair] for dtype, pair in turns.items()}
    seconds, busiest = {dtype: [] for dtype in turns}, 0.0
    for _ in range(options.pairs):
        for dtype, pair in turns.items():
            runs = [timed(work, count) for work, count in zip(pair, counts[dtype])]
            seconds[dtype].append([UNITS.get(task, 1) * run[0] for run in runs])
            busiest = max(busiest, *(run[1] for run in runs))
    if busiest > 1.2:
        raise Failure(f"{task}: {busiest:.2g} processors were busy; wanted: one thread")
    for dtype, pairs in seconds.items():
        ratios = sorted(peer / ours for ours, peer in pairs)
        yield [task, dtype, statistics.median(ours for ours, _ in pairs), statistics.median(peer for _, peer in pairs),
               statistics.median(ratios), ratios[0], ratios[-1], len(pairs)]


# ---- Output --------------------------------------------------------------------------------------------------------------------
def cells(row):
    return [f"{value:.4g}" if isinstance(value, float) else str(value) for value in row]


def prepare(folder):
    """Complains of a folder that cannot be written to, before minutes of work rather than after."""
    try:
        os.makedirs(folder, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise Failure(f"{folder}: no files can be written there: {error.strerror}") from None


def write(folder, lines, rows):
    """bench_peer.csv, whole or not at all."""
    try:
        handle, temporary = tempfile.mkstemp(suffix=".part", dir=folder)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.writelines(line + "\n" for line in lines)
                csv.writer(file, lineterminator="\n").writerows([HEADER] + [cells(row) for row in rows])
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o644)
            os.replace(temporary, os.path.join(folder, "bench_peer.csv"))
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise Failure(f"{folder}/bench_peer.csv cannot be written: {error.strerror}") from None


def say(line):
    print(line, flush=True)
    return line


def run(options):
    prepare(options.out)
    try:
        if options.peer == "jax" and hasattr(os, "sched_setaffinity"):  # XLA takes all the processors it is given
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        linattn, peer, ours = (importlib.import_module(name) for name in ("linattn", f"with_{options.peer}", "ours"))
    except ImportError as error:
        raise Failure(f"{sys.executable}: {str(error).splitlines()[0]}") from None
    lines = [say(f"# {key}: {value}") for key, value in facts(linattn, peer).items()]
    both = {}
    for name in dict.fromkeys(task.split("_")[1] for task in options.tasks):
        mine = ours.Ours(linattn.recipe(name), RATE)
        both[name] = mine, {dtype: peer.Peer(mine.recipe, dtype, mine.theta, RATE) for dtype in peer.DTYPES}
        for dtype in peer.DTYPES:
            said = check_recipe(mine, peer.Peer, name, dtype, f"hessian_{name}" in options.tasks)
            lines.append(say(f"# same work, {name} in {dtype}: {said}"))
    say(",".join(HEADER))
    rows = []
    for task in options.tasks:
        for row in compare(task, *both[task.split("_")[1]], options):
            say(",".join(cells(row)))
            rows.append(row)
    write(options.out, lines, rows)


def main():
    try:
        run(parse(sys.argv[1:]))
    except Failure as failure:
        print(f"peer.py: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("peer.py: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
