"""Numbers from the CSV files of the stages: one for each seed, so that intervals are over seeds.

Every function takes the Results and says by an empty answer that its stage has not run."""
import csv
import math
import os
from collections import defaultdict, namedtuple

import estimates
from records import Records

OPTIMIZERS = "SGD", "Adam"
Lead = namedtuple("Lead", "logs losses rates diverged steps")  # ln(SGD / Adam) by seed; {optimizer: [loss]}; {optimizer: rate}


class Results:
    """The files on record in a folder."""

    def __init__(self, folder):
        self.records = Records(folder)
        self.folder = folder
        self._tables = {}

    def entries(self, stage):
        return self.records.read(stage)

    def entry(self, stage, name):
        for entry in self.entries(stage):
            if entry["name"] == name and not entry["failed"]:
                return entry
        return None

    def file(self, stage, name, ending):
        """Path of a file of a command that ended well and that is as it left it, or None."""
        entry = self.entry(stage, name)
        if entry is None or name + ending not in entry["files"] or not self.records.sound(stage, name + ending):
            return None
        return os.path.join(self.folder, stage, name + ending)

    def table(self, stage, name, ending=".csv"):
        """Rows of a CSV file as dictionaries; numbers where they can be."""
        path = self.file(stage, name, ending)
        if path is None:
            return []
        if path not in self._tables:
            with open(path, encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            try:
                self._tables[path] = [{key: self.value(key, text) for key, text in row.items()} for row in rows]
            except (TypeError, ValueError):
                self.records.spoilt('"%s" is damaged' % path)
                self._tables[path] = []
        return self._tables[path]

    @staticmethod
    def value(key, text):
        if key in ("recipe", "optimizer", "attention", "numbers", "table", "fit", "profile", "task", "rule"):
            return text
        return float(text) if text else math.nan

    def option(self, stage, name, option, otherwise):
        entry = self.entry(stage, name)
        words = entry["line"].split() if entry else []
        return words[words.index(option) + 1] if option in words else otherwise


def by_run(rows, *keys):
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys)].append(row)
    return groups


def log_ratio(a, b):
    return math.log(a / b) if a > 0 and b > 0 and math.isfinite(a / b) else math.nan


def lead(results, stage, name, medians=False, step=None):
    """Loss of SGD over that of Adam at the last step or another one, or of the median errors; None when there is none. A run that
    diverged has no last step."""
    rows = results.table(stage, name, "_medians.csv" if medians else ".csv")
    if not rows:
        return None
    column = "median_error" if medians else "eval_loss"
    last = float(results.option(stage, name, "--steps", 0)) or max(row["step"] for row in rows)
    at = last if step is None else step
    runs = by_run(rows, "optimizer", "seed")
    found = {key: row[column] for key, run in runs.items() for row in run if row["step"] == at}
    finished = {key for key, run in runs.items() if max(row["step"] for row in run) == last}
    losses = {k: [x for (optimizer, seed), x in sorted(found.items()) if optimizer == k and (k, seed) in finished]
              for k in OPTIMIZERS}
    seeds = sorted({seed for _, seed in runs})
    logs = [log_ratio(found[("SGD", seed)], found[("Adam", seed)]) for seed in seeds
            if all((k, seed) in finished and (k, seed) in found for k in OPTIMIZERS)]
    rates = {row["optimizer"]: row["learning_rate"] for row in results.table(stage, name)}
    diverged = {k: sum((k, seed) in runs and (k, seed) not in finished for seed in seeds) for k in OPTIMIZERS}
    return Lead(logs, losses, rates, diverged, int(at))


def geometric(values):
    return estimates.exponential(estimates.mean([math.log(x) for x in values if x > 0 and math.isfinite(x)]))


def noise(results, stage, name):
    return results.table(stage, name, "_summary.csv")


def condition(results, stage, name, numbers):
    """Rows of T2c: by "diagonal" or "eigenvalues"."""
    return [row for row in results.table(stage, name, "_summary.csv") if row["numbers"] == numbers]


def condition_estimate(row):
    """Geometric mean of the ratios with the interval for other seeds and batches, where there is one."""
    wide = math.isfinite(row["wide_low"])
    ends = (row["wide_low"], row["wide_high"]) if wide else (row["low"], row["high"])
    return estimates.Estimate(row["geometric_mean"], ends[0], ends[1], int(row["seeds"]))


def curve_logs(results, stage, name, column="r_diagonal"):
    """ln(R_med(SGD) / R_med(Adam)) of each seed, its mean over the second half of the curve."""
    rows = results.table(stage, name)
    runs = by_run(rows, "optimizer", "seed")
    last = float(results.option(stage, name, "--steps", 0)) or max([row["step"] for row in rows] or [0])
    answer = []
    for seed in sorted({key[1] for key in runs}):
        both = [{row["step"]: row[column] for row in runs.get((k, seed), [])} for k in OPTIMIZERS]
        if all(last in one for one in both):
            logs = [log_ratio(both[0][t], both[1][t]) for t in both[0] if 2 * t >= last]
            answer.append(math.fsum(logs) / len(logs))
    return answer


def curve_at(results, stage, name, optimizer, step, column="r_diagonal"):
    return geometric([row[column] for row in results.table(stage, name) if row["optimizer"] == optimizer and row["step"] == step])


def smoothness(results, stage, name):
    """{optimizer: [median over the second half]} by seed and ln(SGD / Adam) of them; negatives of all numbers by optimizer."""
    rows = results.table(stage, name)
    last = float(results.option(stage, name, "--steps", 0)) or max([row["step"] for row in rows] or [0])
    runs = by_run(rows, "optimizer", "seed")
    medians = defaultdict(dict)
    negatives = {k: [0, 0] for k in OPTIMIZERS}
    for (k, seed), run in sorted(runs.items()):
        half = [row["smoothness"] for row in run if 2 * row["step"] >= last and math.isfinite(row["smoothness"])]
        if not half or max(row["step"] for row in run) < last - 1:
            continue  # diverged
        medians[k][seed] = estimates.median(half)
        negatives[k][0] += sum(x < 0 for x in half)
        negatives[k][1] += len(half)
    logs = [log_ratio(medians["SGD"][seed], medians["Adam"][seed]) for seed in medians["SGD"] if seed in medians["Adam"]]
    return {k: list(medians[k].values()) for k in OPTIMIZERS}, logs, negatives


def fits(results, stage, name, kind="along_steps"):
    return [row for row in results.table(stage, name, "_fits.csv") if row["fit"] == kind]


def slope(rows):
    """Mean slope over seeds; of one seed alone its own bootstrap interval."""
    if len(rows) == 1:
        return estimates.Estimate(rows[0]["slope"], rows[0]["slope_low"], rows[0]["slope_high"], 1)
    return estimates.mean([row["slope"] for row in rows])


def trajectory(results, attention, optimizer, column, ending=".csv", layer=None):
    """Values at the last step of F4's runs, by seed."""
    rows = results.table("F4", "softmax_vs_linear_setting1", ending)
    last = max([row["step"] for row in rows] or [0])
    return {row["seed"]: row[column] for row in rows if (row["attention"], row["optimizer"], row["step"]) ==
            (attention, optimizer, last) and (layer is None or row["layer"] == layer)}


def trajectory_logs(results, attention, column):
    sgd, adam = (trajectory(results, attention, k, column) for k in OPTIMIZERS)
    return [log_ratio(sgd[seed], adam[seed]) for seed in sgd if seed in adam]
