"""The figures of the page: a row of FIGURES for each, and the table that stands beside its pictures.

A table is a list of rows of text, its header first. Published numbers are those of arXiv:2310.01082 (ICLR 2024), in text or figure,
or of its public notebooks where that is said."""
from collections import namedtuple

import estimates
import measures
from claims import SETTINGS
from estimates import number, text

# pictures: (name of a command's files, ending before .svg). table: results -> rows. published: what is known without a number.
Figure = namedtuple("Figure", "stage title claim pictures table published")

PUBLISHED_RMED = {"setting1": {750: "1.76 (0.40); its notebook 2.57 (0.91)", 1250: "1.58 (0.41); its notebook 1.30 (0.78)"},
                  "setting2": {750: "3.14 (0.97)", 1250: "5.98 (2.86)"}, "setting3": {750: "9.57 (13.3)", 1250: "6.53 (3.55)"},
                  "nonlinear": {750: "5.41 (3.96), its notebook", 1250: "6.61 (2.54), its notebook"}}


def lead_rows(label, found, published=("", "")):
    """A row for each optimizer and one for their ratio."""
    if found is None:
        return []
    rows = [[label, k, "%g" % found.rates[k] if k in found.rates else "-", str(found.steps), text(measures.geometric(
        found.losses[k])), str(len(found.losses[k])), str(found.diverged[k]), published[i]] for i, k in enumerate(
            measures.OPTIMIZERS)]
    ratio = text(estimates.exponential(estimates.mean(found.logs)))
    return rows + [[label, "SGD / Adam", "", str(found.steps), ratio, str(len(found.logs)), "", ""]]


LEAD_HEADER = ["", "optimizer", "rate", "step", "error, mean [95%]", "seeds", "diverged", "published (read off its plot)"]


def losses(r):
    rows = [LEAD_HEADER]
    for i, name, heavy in SETTINGS:
        label, published = "setting %d" % i, {1000: ("about 0.025", "about 0.002"), 10000: ("about 0.008", "about 0.002")}
        last = measures.lead(r, "F2a", "adam_vs_sgd_" + name)
        steps = [1000] if last and last.steps > 1000 else []
        for step in steps + [None]:
            known = published.get(step or (last.steps if last else 0), ("", "")) if i == 1 else ("", "")
            rows += lead_rows(label + ", loss", measures.lead(r, "F2a", "adam_vs_sgd_" + name, False, step), known)
        if heavy:
            rows += lead_rows(label + ", median error", measures.lead(r, "F2a", "adam_vs_sgd_" + name, True))
    return rows


def simple_losses(*parts):
    """parts: (label, stage, name, medians)."""
    def table(r):
        return [LEAD_HEADER] + [row for label, stage, name, medians in parts
                                for row in lead_rows(label, measures.lead(r, stage, name, medians))]
    return table


NOISE_HEADER = ["", "mean norm", "skewness: measured", "Gaussian", "kurtosis: measured, median (range)", "Gaussian",
                "KS distance", "p, median", "seeds", "published"]


def noise_rows(r, label, stage, name, published=""):
    rows = measures.noise(r, stage, name)
    if not rows:
        return []

    def column(key):
        return [row[key] for row in rows]

    def over_seeds(key):
        return text(estimates.mean(column(key)))
    kurtosis = column("excess_kurtosis")
    spread = "%s (%s to %s)" % (number(estimates.median(kurtosis)), number(min(kurtosis)), number(max(kurtosis)))
    spread += ", decided by a few" if all(column("sixth_dominated")) else ""
    return [[label, over_seeds("mean"), over_seeds("skewness"), over_seeds("surrogate_skewness"), spread,
             number(estimates.median(column("surrogate_excess_kurtosis"))), over_seeds("ks_distance"),
             "%.2g" % estimates.median(column("ks_p")), str(len(rows)), published]]


def noises(*parts):
    """parts: (label, stage, name, published)."""
    def table(r):
        return [NOISE_HEADER] + [row for part in parts for row in noise_rows(r, *part)]
    return table


def conditions(stage, names):
    def table(r):
        rows = [["", "step", "by", "mean (sd)", "geometric mean [95%, seeds and batches]", "share above 1 [Wilson]",
                 "on one batch, mean (sd)", "seeds", "published, mean (sd)"]]
        for name in names:
            for row in measures.condition(r, stage, "condition_number_" + name, "diagonal") + measures.condition(
                    r, stage, "condition_number_" + name, "eigenvalues"):
                known = PUBLISHED_RMED.get(name, {}).get(int(row["step"]), "") if row["numbers"] == "diagonal" else ""
                above = estimates.Estimate(row["above"], row["above_low"], row["above_high"], 1)
                rows.append([name, "%d" % row["step"], row["numbers"], "%s (%s)" % (number(row["mean"]), number(row["sd"])),
                             text(measures.condition_estimate(row)), text(above),
                             "%s (%s)" % (number(row["one_batch_mean"]), number(row["one_batch_sd"])), "%d" % row["seeds"], known])
        return rows
    return table


def curves(*parts):
    """parts: (label, stage, name)."""
    published = {(0, "SGD"): "about 300", (0, "Adam"): "about 300", (250, "Adam"): "about 10", (1500, "SGD"): "about 80",
                 (1500, "Adam"): "about 100"}

    def table(r):
        rows = [["", "step", "SGD", "Adam", "published (read off its plot): SGD", "Adam"]]
        for label, stage, name in parts:
            steps = {row["step"] for row in r.table(stage, name)}
            for step in sorted(steps & {0, 250, 1500} | ({max(steps)} if steps else set())):
                known = [published.get((step, k), "") if label == "setting1" else "" for k in measures.OPTIMIZERS]
                rows.append([label, "%d" % step] + [text(measures.curve_at(r, stage, name, k, step)) for k in measures.OPTIMIZERS]
                            + known)
            logs = measures.curve_logs(r, stage, name)
            if logs:
                rows.append([label, "SGD / Adam, second half", text(estimates.exponential(estimates.mean(logs))), "", "", ""])
        return rows
    return table


def smoothnesses(stage, names):
    def table(r):
        rows = [["", "SGD: median over the second half", "Adam", "SGD / Adam", "seeds", "downward steps: SGD", "Adam"]]
        for name in names:
            values, logs, negatives = measures.smoothness(r, stage, "directional_smoothness_" + name)
            if any(values.values()):
                rows.append([name] + [text(measures.geometric(values[k])) for k in measures.OPTIMIZERS]
                            + [text(estimates.exponential(estimates.mean(logs))), str(len(logs))]
                            + ["%d of %d" % tuple(negatives[k]) for k in measures.OPTIMIZERS])
        return rows
    return table


def slopes(r):
    rows = [["", "slope of logs along the step: mean [95%]", "by seed", "correlation", "slope of the spectral norm", "seeds"]]
    for i, name, _ in SETTINGS:
        along, spectral = (measures.fits(r, "F6", "generalized_smoothness_" + name, kind) for kind in
                           ("along_steps", "spectral_norm"))
        if along:
            each = ", ".join(number(row["slope"]) for row in along)
            correlations = [row["correlation"] for row in along]
            rows.append(["setting %d" % i, text(measures.slope(along)), each,
                         "%s to %s" % (number(min(correlations)), number(max(correlations))),
                         text(measures.slope(spectral)) if spectral else "-", str(len(along))])
    return rows


VARIANTS = [("linear", "linear"), ("factored", "linear, Q = W_Q^T W_K"), ("softmax", "softmax")]


def along_training(r):
    rows = [["attention", "optimizer", "loss", "R_med, diagonal", "directional smoothness", "stable rank of Q",
             "entropy of attention by layer", "seeds"]]
    for key, label in VARIANTS:
        for k in measures.OPTIMIZERS:
            losses_ = measures.trajectory(r, key, k, "eval_loss")
            if not losses_:
                continue
            layers = sorted({row["layer"] for row in r.table("F4", "softmax_vs_linear_setting1", "_attention.csv")})
            entropies = [measures.trajectory(r, key, k, "entropy", "_attention.csv", layer) for layer in layers]
            rows.append([label, k] + [text(measures.geometric(measures.trajectory(r, key, k, column).values()))
                                      for column in ("eval_loss", "r_diagonal")]
                        + [text(estimates.mean(list(measures.trajectory(r, key, k, column).values())))
                           for column in ("smoothness", "stable_rank")]
                        + [", ".join(number(estimates.mean(list(e.values())).middle) for e in entropies), str(len(losses_))])
    return rows


def tuned(r):
    rows = [["", "optimizer", "best rate", "its median error [95%]", "rates tried", "diverged runs"]]
    for name in DEPTHS + ["wide", "softmax"]:
        table = r.table("tune", "tune_" + name)
        for k in measures.OPTIMIZERS:
            points = [row for row in table if row["optimizer"] == k]
            rows += [[name, k, "%g" % row["learning_rate"],
                      text(estimates.Estimate(row["median_error"], row["low"], row["high"], 1)),
                      "%g to %g" % (points[0]["learning_rate"], points[-1]["learning_rate"]),
                      "%d of %d" % (sum(p["diverged"] for p in points), sum(p["seeds"] for p in points))]
                     for row in points if row["best"] == 1]
    return rows


def pictures(stem, names, ending=""):
    return [(stem.format(name), ending) for name in names]


THREE = [name for _, name, _ in SETTINGS]
COVARIATES = ["setting1", "setting3", "sphere"]
DEPTHS = ["depth%d" % depth for depth in (2, 4, 6, 8)]

FIGURES = [
    Figure("F2a", "Loss against step (figure 2a)", "Adam beats SGD.", pictures("adam_vs_sgd_{}", THREE), losses,
           "Curves of 6 runs on 1000 evaluation prompts."),
    Figure("F2b", "Gradient error at initialisation (figure 2b)", "Gradient noise is heavy-tailed.",
           pictures("gradient_error_{}", THREE),
           noises(("setting 1", "F2b", "gradient_error_setting1", "mean about 2.1, range 1.2 to 4.5"),
                  ("setting 2", "F2b", "gradient_error_setting2"), ("setting 3", "F2b", "gradient_error_setting3")),
           "Histograms with a normal Q-Q inset; no numbers. The norms of Gaussian noise are not normal either: so each number "
           "stands beside that of Gaussian noise of the same mean and covariance. Kurtosis is excess kurtosis; KS is Kolmogorov "
           "and Smirnov's distance of the two samples, p by permutation."),
    Figure("T2c", "Robust condition numbers (table 2c)", "R_med is larger under SGD.", pictures("condition_number_{}", THREE),
           conditions("T2c", THREE), "6 seeds on one evaluation batch, by the diagonal."),
    Figure("F2d", "Directional smoothness (figure 2d)", "Adam has the smaller directional smoothness.",
           pictures("directional_smoothness_{}", THREE), smoothnesses("F2d", THREE), "Curves, in which Adam's are the lower ones."),
    Figure("F4", "Linear against softmax attention, along training (figure 4, and what reviewers asked)",
           "Softmax attention behaves alike. Asked by reviewers: curvature of softmax along training, Q against W_Q^T W_K, how "
           "concentrated attention is.", [("softmax_vs_linear_setting1", e) for e in ("", "_diagnostics", "_attention")],
           along_training, "Curves of the loss."),
    Figure("F5", "The wide model (figure 5)", "The phenomena stay with L = 8, d = 20, n = 60.",
           [("adam_vs_sgd_wide", ""), ("gradient_error_wide", "")], simple_losses(("wide, loss", "F5", "adam_vs_sgd_wide", False)),
           "Curves and a histogram."),
    Figure("F5", "The wide model's gradient error", "", [], noises(("wide", "F5", "gradient_error_wide")), ""),
    Figure("F6", "Smoothness against gradient norm (figure 6)", "Smoothness grows with the gradient norm.",
           pictures("generalized_smoothness_{}", THREE), slopes, "Clouds of points along one run of Adam."),
    Figure("F7", "Sphere against heavy-tailed covariates: loss (figure 7)", "All of it strengthens with heavier tails.",
           pictures("adam_vs_sgd_{}", ["sphere"]),
           simple_losses(("sphere, loss", "F7", "adam_vs_sgd_sphere", False), ("setting 1, loss", "F2a", "adam_vs_sgd_setting1",
                                                                             False),
                         ("setting 3, median error", "F2a", "adam_vs_sgd_setting3", True)), "Curves."),
    Figure("F7", "Sphere against heavy-tailed covariates: gradient error", "", pictures("gradient_error_{}", ["sphere"]),
           noises(("sphere", "F7", "gradient_error_sphere"), ("setting 1", "F2b", "gradient_error_setting1"),
                  ("setting 3", "F2b", "gradient_error_setting3")), "Histograms."),
    Figure("F7", "R_med along training, by covariates", "", pictures("condition_number_{}_curve", COVARIATES),
           curves(*[(name, "F7", "condition_number_%s_curve" % name) for name in COVARIATES]), "Curves."),
    Figure("F8", "Depth: loss (figure 8)", "All of it strengthens with depth.", pictures("adam_vs_sgd_{}", DEPTHS),
           simple_losses(*[(name + ", loss", "F8", "adam_vs_sgd_" + name, False) for name in DEPTHS]), "Curves."),
    Figure("F8", "Depth: gradient error", "", pictures("gradient_error_{}", DEPTHS),
           noises(*[(name, "F8", "gradient_error_" + name) for name in DEPTHS]), "Histograms."),
    Figure("F8", "Depth: R_med along training", "", pictures("condition_number_{}_curve", DEPTHS),
           curves(*[(name, "F8", "condition_number_%s_curve" % name) for name in DEPTHS]), "Curves."),
    Figure("FA", "Nonlinear data: loss (appendix)", "The phenomena stay on nonlinear data.", [("adam_vs_sgd_nonlinear", "")],
           simple_losses(("nonlinear, loss", "FA", "adam_vs_sgd_nonlinear", False)), "Curves of training losses."),
    Figure("FA", "Nonlinear data: gradient error", "", [("gradient_error_nonlinear", "")],
           noises(("nonlinear", "FA", "gradient_error_nonlinear")), "A histogram of one initialisation."),
    Figure("FA", "Nonlinear data: R_med", "", [("condition_number_nonlinear", "")], conditions("FA", ["nonlinear"]), ""),
    Figure("FA", "Nonlinear data: directional smoothness", "", [("directional_smoothness_nonlinear", "")],
           smoothnesses("FA", ["nonlinear"]), "A curve."),
    Figure("fullbatch", "Without gradient noise: full batch", "Asked by reviewers: is noise why Adam is ahead?",
           [("adam_vs_sgd_setting1_tuned", ""), ("adam_vs_sgd_setting1_full4000_tuned", "")],
           simple_losses(("fresh batches, best rates", "fullbatch", "adam_vs_sgd_setting1_tuned", False),
                         ("full batch of 4000, best rates", "fullbatch", "adam_vs_sgd_setting1_full4000_tuned", False)), ""),
    Figure("feedforward", "With feed-forward blocks", "Asked by reviewers: and with a feed-forward block after each layer?",
           [("adam_vs_sgd_setting1_ff24_tuned", "")],
           simple_losses(("24 units, best rates", "feedforward", "adam_vs_sgd_setting1_ff24_tuned", False)), ""),
    Figure("covariates", "Real covariates", "Asked by reviewers: and on data that nobody drew?",
           pictures("real_covariates_wine_{}", ["d5", "d5_tuned", "d13", "d13_tuned"]),
           simple_losses(*[("%d columns, median error, %s rates" % (d, "best" if tuned else "published"), "covariates",
                            "real_covariates_wine_d%d%s" % (d, tuned), True) for d in (5, 13) for tuned in ("", "_tuned")]), ""),
    Figure("tune", "Learning rates tuned here", "The best of ten rates for recipes whose rates were not published.",
           pictures("tune_{}", DEPTHS + ["wide", "softmax"]), tuned,
           "The best of ten for each setting, by a rule that is not given."),
]
