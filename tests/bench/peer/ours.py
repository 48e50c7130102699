"""The experiments with liblinattn: one thread, double precision, the fastest kernel of this machine."""
import linattn
import numpy


class Ours:
    """A recipe, and its parameters at the beginning."""

    def __init__(self, recipe, learning_rate):
        self.recipe = recipe
        self.model = linattn.Model(**recipe.model_options())
        self.sampler = linattn.Sampler(**recipe.sampler_options())
        self.theta = self.model.init_parameters(seed=1)
        self.prompts = linattn.Batch(self.sampler, recipe.prompts)
        self.fixed = linattn.Objective.fixed(self.model, self.prompts, threads=1)
        sampled = linattn.Objective.sampled(self.model, self.sampler, recipe.prompts, threads=1)
        self.trainer = linattn.Trainer(sampled, self.adam(learning_rate), self.theta)
        self.diagnostics = linattn.Diagnostics(sampled, threads=1)

    def adam(self, learning_rate):
        return linattn.Optimizer(self.model, **self.recipe.optimizer_options("adam", learning_rate=learning_rate))

    def gradient(self):
        return self.fixed.gradient(self.theta)

    def update(self, learning_rate):
        """theta (p,) after one step on the fixed batch."""
        trainer = linattn.Trainer(self.fixed, self.adam(learning_rate), self.theta)
        trainer.run(1)
        return trainer.parameters()

    def steps(self, count):
        if self.trainer.run(count) != count:
            raise RuntimeError("the trainer took fewer steps than it was asked for")

    def hessian(self):
        return self.fixed.hessian(self.theta)

    def reference(self):
        """The mean gradient (p,) of 100 batches that no sample is made of."""
        error = self.diagnostics.gradient_error(self.theta, samples=2, reference_draws=100, first_draw=2**32)
        return error.reference

    def noise(self, count, reference):
        return self.diagnostics.gradient_error(self.theta, samples=count, reference=reference).errors

    def square_norm(self):
        """E |x|^2 of the recipe's covariates."""
        r = self.recipe
        return r.gamma_shape * r.gamma_scale if r.covariates == linattn.Covariates.GAMMA else r.dim


def relative(found, wanted):
    """The largest difference, in units of the largest entry."""
    return float(numpy.max(numpy.abs(found - wanted)) / numpy.max(numpy.abs(wanted)))
