"""The stages of `make reproduce`: which programs, on which recipes, at full length and quick.

A stage is a row of STAGES, a command a row of its list: program, recipes, the name of its files, options that always hold, those of
the full run, those of the quick one. A new figure is a stage here and a row in figures.py."""
from collections import namedtuple

Stage = namedtuple("Stage", "id shows rows cut named")
Stage.__new__.__defaults__ = (False,)  # named: runs only where STAGES names it
Row = namedtuple("Row", "program recipes files always full quick")
Command = namedtuple("Command", "program name arguments quick")

SETTINGS = "setting1 setting2 setting3"
DEPTHS = "depth2 depth4 depth6 depth8"
TUNED = "--tune --lr-sgd 0.1"

LOSSES = "--seeds 6 --steps 10000 --eval-prompts 100000", "--seeds 3 --steps 1000 --eval-prompts 10000"
NOISE = "--seeds 14 --samples 10000", "--seeds 6 --samples 500"
CURVE = "--seeds 6 --steps 10000", "--seeds 2 --steps 1000"

STAGES = [
    Stage("F2a", "loss against step, SGD and Adam, settings 1, 2, 3", [
        Row("adam_vs_sgd", SETTINGS, "adam_vs_sgd_{}", "", *LOSSES)], ""),
    Stage("F2b", "gradient error at initialisation, settings 1, 2, 3", [
        Row("gradient_error", SETTINGS, "gradient_error_{}", "", *NOISE)], ""),
    Stage("T2c", "R_med(SGD) / R_med(Adam) at steps 750 and 1250, settings 1, 2, 3", [
        Row("condition_number", SETTINGS, "condition_number_{}", "", "--seeds 100 --eval-batches 20",
            "--seeds 4 --eval-batches 3")], ""),
    Stage("F2d", "directional smoothness against step, settings 1, 2, 3", [
        Row("directional_smoothness", SETTINGS, "directional_smoothness_{}", "", "--seeds 6 --steps 10000",
            "--seeds 3 --steps 1000")],
        "Measured at every 50th step."),
    Stage("F4", "linear against softmax attention, and Q against W_Q^T W_K, measured along training", [
        Row("softmax_vs_linear", "setting1", "softmax_vs_linear_{}", "", "--seeds 6 --steps 10000",
            "--seeds 2 --steps 500 --eval-prompts 2000")],
        "Curvature and attention at every 250th step."),
    Stage("F5", "the wide model: loss and gradient error", [
        Row("adam_vs_sgd", "wide", "adam_vs_sgd_{}", "", "--seeds 6 --steps 1500 --eval-prompts 10000",
            "--seeds 2 --steps 100 --eval-prompts 1000"),
        Row("gradient_error", "wide", "gradient_error_{}", "", "--seeds 1 --samples 300", None)],
        "1500 of 10000 steps, 10000 evaluation prompts; gradient error: 1 initialisation, 300 batches. Not in quick runs: the "
        "gradient error, whose Gaussian surrogate takes minutes."),
    Stage("F6", "smoothness against gradient norm along Adam, settings 1, 2, 3", [
        Row("generalized_smoothness", SETTINGS, "generalized_smoothness_{}", "", "--seeds 6 --steps 2000",
            "--seeds 2 --steps 400")],
        "The Hessian's spectral norm at every 20th step."),
    Stage("F7", "sphere against heavy-tailed covariates: loss, gradient error, R_med along training", [
        Row("adam_vs_sgd", "sphere", "adam_vs_sgd_{}", "", *LOSSES),
        Row("gradient_error", "sphere", "gradient_error_{}", "", *NOISE),
        Row("condition_number", "setting1 setting3 sphere", "condition_number_{}_curve", "--curve", *CURVE)],
        "R_med at every 250th step. Losses and gradient errors of setting 3 are those of F2a and F2b."),
    Stage("F8", "depth 2, 4, 6, 8: loss, gradient error, R_med along training", [
        Row("adam_vs_sgd", DEPTHS, "adam_vs_sgd_{}", "", "--seeds 6 --steps 10000 --eval-prompts 20000",
            "--seeds 3 --steps 1000 --eval-prompts 10000"),
        Row("gradient_error", DEPTHS, "gradient_error_{}", "", "--seeds 6 --samples 5000", "--seeds 2 --samples 500"),
        Row("condition_number", DEPTHS, "condition_number_{}_curve", "--curve", "--seeds 6 --steps 10000",
            "--seeds 2 --steps 500")],
        "6 initialisations x 5000 batches of the gradient error, R_med at every 250th step."),
    Stage("FA", "nonlinear data: loss, gradient error, R_med, directional smoothness", [
        Row("adam_vs_sgd", "nonlinear", "adam_vs_sgd_{}", "--eval-prompts 20000", "--seeds 5 --steps 10000",
            "--seeds 2 --steps 300"),
        Row("gradient_error", "nonlinear", "gradient_error_{}", "", "--seeds 5 --samples 2000", "--seeds 2 --samples 300"),
        Row("condition_number", "nonlinear", "condition_number_{}", "", "--seeds 5 --eval-batches 3 --eval-prompts 2000",
            "--seeds 2 --eval-batches 2 --eval-prompts 500 --at 200,400"),
        Row("directional_smoothness", "nonlinear", "directional_smoothness_{}", "", "--seeds 5 --steps 5000",
            "--seeds 2 --steps 300")],
        "5 seeds, as published; 5000 of 10000 steps of directional smoothness; 2000 batches of the gradient error; "
        "R_med on 3 batches of 2000 prompts."),
    Stage("fullbatch", "without gradient noise: fresh batches against one full batch, each optimizer at its best rate", [
        Row("adam_vs_sgd", "setting1", "adam_vs_sgd_{}_tuned", TUNED + " --eval-prompts 20000", "--seeds 6 --steps 5000",
            "--seeds 2 --steps 300"),
        Row("adam_vs_sgd", "setting1", "adam_vs_sgd_{}_full4000_tuned",
            TUNED + " --data-set 4000 --batch 4000 --eval-prompts 20000", "--seeds 6 --steps 5000", "--seeds 2 --steps 200")],
        "5000 of 10000 steps."),
    Stage("feedforward", "with feed-forward blocks, each optimizer at its best rate", [
        Row("adam_vs_sgd", "setting1", "adam_vs_sgd_{}_ff24_tuned", TUNED + " --ff-hidden 24 --eval-prompts 20000",
            "--seeds 6 --steps 1000", "--seeds 2 --steps 60")],
        "1000 of 10000 steps."),
    Stage("covariates", "the columns of a real table as covariates, at the recipe's rates and at the best", [
        Row("real_covariates", "setting1", "real_covariates_wine_d5", "--columns 5", "--seeds 6 --steps 2000",
            "--seeds 2 --steps 300 --eval-prompts 2000"),
        Row("real_covariates", "setting1", "real_covariates_wine_d13", "--columns 13", "--seeds 6 --steps 2000",
            "--seeds 2 --steps 300 --eval-prompts 2000"),
        Row("real_covariates", "setting1", "real_covariates_wine_d5_tuned", "--columns 5 --tune", "--seeds 6 --steps 2000",
            "--seeds 2 --steps 100 --eval-prompts 2000"),
        Row("real_covariates", "setting1", "real_covariates_wine_d13_tuned", "--columns 13 --tune", "--seeds 6 --steps 2000",
            "--seeds 2 --steps 100 --eval-prompts 2000")],
        "2000 of 10000 steps."),
    Stage("Pa", "prompt attention: training by six rules, sparse and dense teachers, softmax and linear", [
        Row("prompt_descent", "", "prompt_descent", "", "--seeds 10", "--quick")], ""),
    Stage("Pb", "prompt attention: condition number against sparsity", [
        Row("prompt_condition", "", "prompt_condition", "", "--seeds 20", "--quick")], ""),
    Stage("Pc", "prompt attention: rates of gradient descent, measured and predicted", [
        Row("prompt_rate", "over", "prompt_rate_over", "", "--seeds 10", "--quick")], ""),
    Stage("tune", "the learning rates that the recipe table calls tuned here", [
        Row("tune", DEPTHS + " softmax", "tune_{}", "", "--seeds 3 --steps 2000", "--seeds 2 --steps 100"),
        Row("tune", "wide", "tune_{}", "", "--seeds 3 --steps 500", "--seeds 1 --steps 20")],
        "A quarter of an hour, so it runs only where it is named (STAGES=tune).", True),
]


def commands(stage, quick):
    """What the stage runs; a row whose quick options are None is left out of quick runs."""
    found = []
    for row in stage.rows:
        options = row.quick if quick else row.full
        if options is None:
            continue
        for recipe in row.recipes.split() or [""]:  # "": the program's own choice
            arguments = (["--recipe", recipe] if recipe else []) + row.always.split() + options.split()
            found.append(Command(row.program, row.files.format(recipe), arguments, quick))
    return found


def choose(names, table):
    """The stages of these names, in the table's order; of no names all that need not be named; of "report" alone none. ValueError
    tells of a wrong one."""
    allowed = [stage.id for stage in table]
    for name in names:
        if name not in allowed + ["report"]:
            raise ValueError('unknown stage "%s"; allowed: %s report' % (name, " ".join(allowed)))
    return [stage for stage in table if stage.id in names or not names and not stage.named]
