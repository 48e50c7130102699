"""The paper's claims in its order, each as numbers with intervals, and the rule that makes a verdict of them."""
from collections import namedtuple

import estimates
import measures

RULE = ("Each claim is a list of numbers, each with a 95% interval and a value that it must exceed (a ratio 1, a slope 0, a share "
        "1/2). A number holds when its whole interval lies above that value. A claim reproduces when all its numbers hold, and "
        "partly when some do. When none does it does not reproduce, or is undecided where no interval lies below its value either; "
        "numbers without an interval (one seed) decide nothing. No number here was "
        "written by hand: all are computed from the files of this run.")

# above: what the middle must exceed.
Item = namedtuple("Item", "label estimate above note")
Claim = namedtuple("Claim", "key text says figures items")
VERDICTS = "reproduces", "partly", "does not reproduce", "undecided", "not run"


def holds(item):
    return item.estimate.low > item.above


def opposite(item):
    return item.estimate.high < item.above


def verdict(items):
    """One of VERDICTS. Items that were not measured do not count."""
    known = [item for item in items if item.estimate.count > 0]
    if not known:
        return "not run"
    held = sum(holds(item) for item in known)
    if held:
        return "reproduces" if held == len(known) else "partly"
    return "does not reproduce" if any(opposite(item) for item in known) else "undecided"


def ratio(label, logs, note=""):
    return Item(label, estimates.exponential(estimates.mean(logs)), 1, note)


def plural(count, what):
    return "%d %s%s" % (count, what, "" if count == 1 else "s")


SETTINGS = [(1, "setting1", False), (2, "setting2", True), (3, "setting3", True)]


def of_lead(label, found):
    if found is None:
        return Item(label, estimates.NONE, 1, "")
    lost = sum(found.diverged.values())
    return ratio(label, found.logs, "%s diverged" % plural(lost, "run") if lost else "")


def of_noise(label, rows):
    """Share of initialisations at which the errors have the heavier tail."""
    more = sum(row["excess_kurtosis"] > row["surrogate_excess_kurtosis"] for row in rows)
    note = "excess kurtosis %s, of Gaussian noise %s (medians)" % tuple(
        estimates.number(estimates.median([row[key] for row in rows])) for key in ("excess_kurtosis", "surrogate_excess_kurtosis"))
    return Item(label, estimates.share(more, len(rows)), 0.5, note if rows else "")


def beats(r):
    return [of_lead("setting %d, %s" % (i, "median error" if heavy else "loss"),
                    measures.lead(r, "F2a", "adam_vs_sgd_" + name, heavy)) for i, name, heavy in SETTINGS]


def heavy_noise(r):
    return [of_noise("setting %d" % i, measures.noise(r, "F2b", "gradient_error_" + name)) for i, name, _ in SETTINGS]


def condition(numbers, stage="T2c", names=tuple((str(i), name) for i, name, _ in SETTINGS)):
    def items(r):
        found = [Item("setting %s, step %d" % (i, row["step"]), measures.condition_estimate(row), 1, "")
                 for i, name in names for row in measures.condition(r, stage, "condition_number_" + name, numbers)]
        return found
    return items


def smoother(r):
    return [ratio("setting %d" % i, measures.smoothness(r, "F2d", "directional_smoothness_" + name)[1]) for i, name, _ in SETTINGS]


def grows(r):
    found = []
    for i, name, _ in SETTINGS:
        rows = measures.fits(r, "F6", "generalized_smoothness_" + name)
        found.append(Item("setting %d" % i, measures.slope(rows) if rows else estimates.NONE, 0, ""))
    return found


def against(label, heavy, light):
    return Item(label, estimates.exponential(estimates.difference(heavy, light)), 1, "")


def heavier(r):
    """Setting 3 against the sphere (F7) and against setting 1: by what factor each quantity is larger."""
    leads = {name: measures.lead(r, stage, "adam_vs_sgd_" + name, name == "setting3")
             for stage, name in (("F2a", "setting1"), ("F2a", "setting3"), ("F7", "sphere"))}
    leads = {name: found.logs if found else [] for name, found in leads.items()}
    apart = {name: [measures.log_ratio(row["ks_distance"], 1) for row in measures.noise(r, stage, "gradient_error_" + name)]
             for stage, name in (("F2b", "setting1"), ("F2b", "setting3"), ("F7", "sphere"))}
    curves = {name: measures.curve_logs(r, "F7", "condition_number_%s_curve" % name) for name in ("setting1", "setting3", "sphere")}
    steps = {name: measures.smoothness(r, "F2d", "directional_smoothness_" + name)[1] for name in ("setting1", "setting3")}
    found = []
    for light, text in (("sphere", "the sphere"), ("setting1", "setting 1")):
        found += [against("Adam's lead, setting 3 over " + text, leads["setting3"], leads[light]),
                  against("distance of the noise from Gaussian, setting 3 over " + text, apart["setting3"], apart[light]),
                  against("R_med(SGD) / R_med(Adam), setting 3 over " + text, curves["setting3"], curves[light])]
    return found + [against("smoothness SGD / Adam, setting 3 over setting 1", steps["setting3"], steps["setting1"])]


def deeper(r):
    """By what factor each quantity grows for every layer more: a line through logarithms."""
    depths = 2, 4, 6, 8
    leads, apart, curves, lost = [], [], [], 0
    for depth in depths:
        found = measures.lead(r, "F8", "adam_vs_sgd_depth%d" % depth)
        leads += [(depth, x) for x in (found.logs if found else [])]
        lost += sum(found.diverged.values()) if found else 0
        rows = measures.noise(r, "F8", "gradient_error_depth%d" % depth)
        apart += [(depth, measures.log_ratio(row["ks_distance"], 1)) for row in rows]
        curves += [(depth, x) for x in measures.curve_logs(r, "F8", "condition_number_depth%d_curve" % depth)]
    note = "%s diverged" % plural(lost, "run") if lost else ""
    return [Item(label, estimates.exponential(estimates.slope(points)), 1, note if points is leads else "") for label, points in
            (("Adam's lead, a layer more", leads), ("distance of the noise from Gaussian, a layer more", apart),
             ("R_med(SGD) / R_med(Adam), a layer more", curves))]


def softmax(r):
    return [ratio(label, measures.trajectory_logs(r, "softmax", column)) for label, column in
            (("loss SGD / Adam", "eval_loss"), ("R_med by the diagonal, SGD / Adam", "r_diagonal"),
             ("directional smoothness SGD / Adam", "smoothness"))]


def nonlinear(r):
    rows = measures.condition(r, "FA", "condition_number_nonlinear", "diagonal")
    return [of_lead("loss SGD / Adam", measures.lead(r, "FA", "adam_vs_sgd_nonlinear")),
            of_noise("initialisations with the heavier tail", measures.noise(r, "FA", "gradient_error_nonlinear")),
            *[Item("R_med SGD / Adam, step %d" % row["step"], measures.condition_estimate(row), 1, "") for row in rows],
            ratio("directional smoothness SGD / Adam", measures.smoothness(r, "FA", "directional_smoothness_nonlinear")[1])]


def wide(r):
    return [of_lead("loss SGD / Adam", measures.lead(r, "F5", "adam_vs_sgd_wide")),
            of_noise("initialisations with the heavier tail", measures.noise(r, "F5", "gradient_error_wide"))]


CLAIMS = [
    Claim("beats", "Adam beats SGD", "error of SGD over that of Adam at the last step, each at its published rate", "F2a", beats),
    Claim("noise", "Gradient noise is heavy-tailed", "share of initialisations at which the errors' norms have a larger excess "
          "kurtosis than those of Gaussian noise of the same mean and covariance", "F2b", heavy_noise),
    Claim("rmed", "The robust condition number is larger under SGD, by the diagonal (as it was measured)",
          "R_med(SGD) / R_med(Adam), geometric mean, interval over seeds and evaluation batches", "T2c", condition("diagonal")),
    Claim("rmed-eigen", "The same by eigenvalues (as it is defined)", "R_med(SGD) / R_med(Adam), likewise", "T2c",
          condition("eigenvalues")),
    Claim("smoother", "Adam has the smaller directional smoothness", "smoothness along SGD's steps over that along "
          "Adam's: ratio of each seed's medians over the second half of the run", "F2d", smoother),
    Claim("grows", "Smoothness grows with the gradient norm", "slope of ln smoothness along the step against ln gradient norm",
          "F6", grows),
    Claim("heavier", "All of it strengthens with heavier-tailed covariates", "by what factor each quantity is larger", "F7",
          heavier),
    Claim("deeper", "All of it strengthens with depth", "by what factor each quantity grows with a layer more (a line through the "
          "logarithms at 2, 4, 6 and 8 layers)", "F8", deeper),
    Claim("softmax", "Softmax attention behaves alike", "SGD over Adam with softmax attention, at the last step", "F4", softmax),
    Claim("nonlinear", "Nonlinear data behave alike", "SGD over Adam, and the noise, on nonlinear data", "FA", nonlinear),
    Claim("wide", "A wider, deeper model behaves alike", "SGD over Adam, and the noise, of the wide model", "F5", wide),
]


# ---- What reviewers asked: no claims, so no verdicts but who is ahead ------------------------------------------------------------

def ahead(item):
    """Of a ratio SGD / Adam."""
    if item.estimate.count == 0:
        return "not run"
    return "Adam ahead" if holds(item) else "SGD ahead" if opposite(item) else "undecided"


def questions(r):
    """(question, figure, items)."""
    tuned = "adam_vs_sgd_setting1_tuned"
    factored = measures.trajectory(r, "factored", "SGD", "eval_loss"), measures.trajectory(r, "linear", "SGD", "eval_loss")
    return [
        ("Does Adam lead with each optimizer at its best rate?", "fullbatch",
         [of_lead("fresh batches", measures.lead(r, "fullbatch", tuned))]),
        ("Does Adam lead because of gradient noise? Without any:", "fullbatch",
         [of_lead("full batch", measures.lead(r, "fullbatch", "adam_vs_sgd_setting1_full4000_tuned"))]),
        ("Does Adam lead with feed-forward blocks?", "feedforward",
         [of_lead("24 units", measures.lead(r, "feedforward", "adam_vs_sgd_setting1_ff24_tuned"))]),
        ("Does Adam lead on real covariates, at the recipe's rates?", "covariates",
         [of_lead("%d columns, median error" % d, measures.lead(r, "covariates", "real_covariates_wine_d%d" % d, True))
          for d in (5, 13)]),
        ("And at the best rates?", "covariates",
         [of_lead("%d columns, median error" % d, measures.lead(r, "covariates", "real_covariates_wine_d%d_tuned" % d, True))
          for d in (5, 13)]),
        ("Does Adam lead with Q = W_Q^T W_K?", "F4",
         [ratio("loss", measures.trajectory_logs(r, "factored", "eval_loss"),
                "SGD's loss with Q over that with W_Q^T W_K: " + estimates.text(estimates.exponential(estimates.mean(
                    [measures.log_ratio(factored[1][s], factored[0][s]) for s in factored[0] if s in factored[1]]))))]),
    ]
