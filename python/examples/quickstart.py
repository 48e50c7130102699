"""Trains the smallest transformer with Adam for 2000 steps and prints its loss on a batch it has not seen."""
import linattn

r = linattn.recipe("setting1")
model, sampler = linattn.Model(**r.model_options()), linattn.Sampler(**r.sampler_options())
objective = linattn.Objective.sampled(model, sampler, r.prompts)
optimizer = linattn.Optimizer(model, **r.optimizer_options("adam"))
trainer = linattn.Trainer(objective, optimizer, model.init_parameters(seed=1))
trainer.run(2000)
print(f"loss after 2000 steps: {objective.value(trainer.parameters(), draw=2000):.3g}")
