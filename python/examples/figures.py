"""Setting 1: losses of SGD and Adam as a picture, and the ratio of their robust condition numbers. figures.py [folder] [quick]"""
import subprocess
import sys
from shutil import which

import linattn
import numpy

folder, quick = (sys.argv + ["."])[1], "quick" in sys.argv
SEEDS, BATCHES, STEPS = (2, 3, 1250) if quick else (6, 20, 3000)  # ratios differ by factors from one evaluation batch to another
r = linattn.recipe("setting1")
model, evaluation = linattn.Model(**r.model_options()), linattn.Sampler(**r.sampler_options(seed=99, stream="evaluation"))
judge = linattn.Objective.fixed(model, evaluation.batch(20000))
curvature = linattn.Diagnostics(linattn.Objective.sampled(model, evaluation, r.prompts))
steps, logs, conditions = range(0, STEPS + 1, 50), {}, {}
for rule in ("sgd", "adam"):
    logs[rule] = numpy.empty((SEEDS, len(steps)))
    for seed in range(SEEDS):
        objective = linattn.Objective.sampled(model, linattn.Sampler(**r.sampler_options(seed=seed)), r.prompts)
        trainer = linattn.Trainer(objective, linattn.Optimizer(model, **r.optimizer_options(rule)), model.init_parameters(seed))
        for i, step in enumerate(steps):
            theta = trainer.parameters()
            logs[rule][seed, i] = numpy.log10(judge.value(theta))
            if step in (750, 1250):
                conditions.setdefault((rule, step), []).append(
                    [curvature.robust_condition(theta, draw, eigenvalues=False)[1].value for draw in range(BATCHES)])
            trainer.run(50)
for step in (750, 1250):
    ratios = numpy.array(conditions["sgd", step]) / conditions["adam", step]
    print(f"R_med(SGD)/R_med(Adam) at {step}: {ratios.mean():.2f}, sd over seeds {ratios.mean(axis=1).std(ddof=1):.2f}")
try:
    import matplotlib.pyplot as plot
    plot.plot(steps, logs["sgd"].mean(axis=0), steps, logs["adam"].mean(axis=0))
    plot.savefig(f"{folder}/loss.png")
except ImportError:
    script = f"set terminal png; set output '{folder}/loss.png'; set xlabel 'step'; set ylabel 'log10 loss'\n"
    script += "plot '-' with lines title 'SGD', '-' with lines title 'Adam'\n"
    data = ["".join(f"{x} {y}\n" for x, y in zip(steps, logs[rule].mean(axis=0))) + "e\n" for rule in ("sgd", "adam")]
    which("gnuplot") and subprocess.run(["gnuplot"], input=script + "".join(data), text=True, check=True)
