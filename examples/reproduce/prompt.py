"""Prompt attention on the page: the claims of "Gradient Descent and Attention Models: Challenges Posed by the Softmax Function" (ICLR
2025 submission), by the rule of claims.py, and its figures. docs/prompt-attention.md has the model and the formulas."""
import math

import estimates
from claims import Claim, Item
from estimates import number, text
from figures import Figure

GAUSSIAN = ("under5", "d = 5"), ("under20", "d = 20")
PROFILES = "scaled", "log-uniform", "one active", "half active"
SYSTEMS = ("under20", "N = 200 examples, d = 20"), ("over", "N = 10, d = 50, orthonormal keys")


def conditions(r, **which):
    """Rows of prompt_condition with these values."""
    return [row for row in r.table("Pb", "prompt_condition") if all(row[key] == value for key, value in which.items())]


def growth(r, recipe, profile):
    """By what factor the condition number grows from R = 1 to 1e-20, a logarithm for each seed."""
    ends = [{row["seed"]: row["condition"] for row in conditions(r, recipe=recipe, profile=profile, asked_ratio=at)} for at in (1, 1e-20)]
    return estimates.exponential(estimates.mean([math.log(ends[1][seed] / ends[0][seed]) for seed in ends[0] if seed in ends[1]]))


def ill_conditioned(r):
    return [Item("%s, %s" % (profile, words), growth(r, recipe, profile), 1, "") for recipe, words in GAUSSIAN for profile in PROFILES]


def slowdown(r, recipe, attention, rule="GD at 1/L"):
    for row in r.table("Pa", "prompt_descent", "_slowdown.csv"):
        if (row["recipe"], row["attention"], row["rule"]) == (recipe, attention, rule):
            return estimates.Estimate(row["slowdown"], row["slowdown_low"], row["slowdown_high"], int(row["seeds"]))
    return estimates.NONE


def slower(r):
    """With softmax, each against the upper end of linear attention's interval."""
    found = []
    for recipe, words in SYSTEMS:
        linear = slowdown(r, recipe, "linear")
        note = "linear attention: %s" % text(linear) if linear.count else ""
        found.append(Item(words, slowdown(r, recipe, "softmax"), linear.high if linear.count else 1, note))
    return found


CLAIMS = [
    Claim("prompt-condition", "The sparser softmax attention is, the worse the condition number",
          "condition number at the teacher with R = 1e-20 over that with R = 1, R being the smallest over the largest coefficient, "
          "for four ways of making attention sparse", "Pb", ill_conditioned),
    Claim("prompt-slow", "Sparsity slows gradient descent with softmax, not with linear attention",
          "steps to a loss of 1e-6 with a sparse teacher (R = 1e-3) over those with a dense one (0.3), gradient descent at 1/L; to "
          "exceed: the upper end of linear attention's interval", "Pa", slower),
]


# ---- Tables ----------------------------------------------------------------------------------------------------------------------

def descents(r):
    rows = [["", "rule", "softmax: sparse / dense", "linear: sparse / dense", "seeds"]]
    rules = []
    for row in r.table("Pa", "prompt_descent", "_slowdown.csv"):
        if row["rule"] not in rules:
            rules.append(row["rule"])
    for recipe, words in SYSTEMS:
        for rule in rules:
            softmax, linear = (slowdown(r, recipe, attention, rule) for attention in ("softmax", "linear"))
            if softmax.count or linear.count:
                rows.append([words, rule, text(softmax), text(linear), "%d, %d" % (softmax.count, linear.count)])
    return rows


def kappas(r):
    shown = (1, 1e-3, 1e-6, 1e-12, 1e-20)
    fits = {(row["recipe"], row["profile"]): row for row in r.table("Pb", "prompt_condition", "_fits.csv")}
    rows = [["", "profile"] + ["R = %g" % at for at in shown] + ["exponent of ln 1/R, R at most 1e-3", "bound crossed"]]
    found = {}
    for row in r.table("Pb", "prompt_condition", "_summary.csv"):
        found[row["recipe"], row["profile"], row["asked_ratio"]] = row
    for recipe in ("under5", "under20", "over", "over_gaussian"):
        for profile in PROFILES + ("linear", ):
            cells = []
            for at in shown:
                row = found.get((recipe, profile, at))
                cells.append(text(estimates.Estimate(row["condition"], row["condition_low"], row["condition_high"], int(row["seeds"])))
                             if row else "-")
            fit, bounded = fits.get((recipe, profile)), [row for row in conditions(r, recipe=recipe, profile=profile) if row["bound"] > 0]
            exponent = text(estimates.Estimate(fit["log_exponent"], fit["log_exponent_low"], fit["log_exponent_high"],
                                               int(fit["seeds"]))) if fit else "-"
            crossed = sum(row["condition"] > row["bound"] * (1 + 1e-9) for row in bounded)
            if any(cell != "-" for cell in cells):
                rows.append([recipe, profile] + cells + [exponent, "%d of %d" % (crossed, len(bounded)) if bounded else "no bound"])
    return rows


def rates(r):
    rows = [["profile", "R", "converged", "condition number: at the teacher", "where it ends", "rate", "measured / predicted",
             "predicted at the teacher instead"]]
    for row in r.table("Pc", "prompt_rate_over", "_summary.csv"):
        if row["temperature"] == 1:
            ratio = estimates.Estimate(row["measured_over_predicted"], row["measured_over_predicted_low"],
                                       row["measured_over_predicted_high"], int(row["seeds"]))
            rows.append([row["profile"], "%g" % row["asked_ratio"], "%d of %d" % (row["converged"], row["seeds"]),
                         number(row["condition_teacher"]), number(row["condition_end"]), number(row["rate"]), text(ratio),
                         number(row["measured_over_predicted_teacher"])])
    return rows


FIGURES = [
    Figure("Pa", "Prompt attention: loss and distance from the teacher, six rules, dense and sparse", CLAIMS[1].text + ".",
           [("prompt_descent", "_" + recipe + ending) for recipe, _ in SYSTEMS for ending in ("", "_distance")], descents, ""),
    Figure("Pb", "Prompt attention: condition number against R", CLAIMS[0].text + ".",
           [("prompt_condition", ""), ("prompt_condition", "_spread")], kappas, ""),
    Figure("Pc", "Prompt attention: measured and predicted rates of gradient descent; temperature",
           "The condition number tells how fast gradient descent ends.",
           [("prompt_rate_over", ""), ("prompt_rate_over", "_temperature")], rates, ""),
]
