"""Measures a PyTorch model: its loss as an objective, with gradients and Hessian-vector products by autograd.

One flat vector theta holds all parameters, in float64: differences and curvature of float32 losses are mostly rounding."""
import linattn
import numpy

try:
    import torch
    from torch.nn.utils import parameters_to_vector, stateless
except ImportError:
    print("torch_objective: skipped, no PyTorch here")
    raise SystemExit

functional_call = getattr(torch, "func", stateless).functional_call  # torch.func from PyTorch 2 on
torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
network = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 1))
shapes = {name: parameter.shape for name, parameter in network.named_parameters()}
theta = parameters_to_vector(network.parameters()).detach().numpy()


def loss(flat, draw):
    """The mean squared error on batch number `draw`: the same numbers whenever it is asked for."""
    x = torch.randn(256, 4, generator=torch.Generator().manual_seed(draw))
    parts = torch.split(flat, [shape.numel() for shape in shapes.values()])
    parameters = {name: part.view(shape) for (name, shape), part in zip(shapes.items(), parts)}
    return ((functional_call(network, parameters, (x, )) - torch.sin(x.sum(1, keepdim=True)))**2).mean()


def derivatives(point, draw):
    """(theta as a tensor, value, gradient), the gradient differentiable again."""
    flat = torch.from_numpy(point).requires_grad_()
    value = loss(flat, draw)
    return flat, value, torch.autograd.grad(value, flat, create_graph=True)[0]


def gradient(point, draw):
    _, value, slope = derivatives(point, draw)
    return value.item(), slope.detach().numpy()


def hvp(point, directions, draw):
    flat, _, slope = derivatives(point, draw)
    products = [torch.autograd.grad(slope, flat, u, retain_graph=True)[0] for u in torch.from_numpy(directions)]
    return torch.stack(products).numpy()


objective = linattn.Objective.from_functions(theta.size, gradient, hvp=hvp)
print(f"{theta.size} parameters; gradient against differences: {objective.check_derivatives(theta).gradient_error:.1e}")
wanted = torch.autograd.functional.hessian(lambda flat: loss(flat, 0), torch.from_numpy(theta)).numpy()
assert numpy.allclose(objective.hessian(theta), wanted, atol=1e-12)
trainer = linattn.Trainer(objective, linattn.Optimizer(theta.size, rule="adam", learning_rate=0.01), theta)
trainer.run(500)
losses = trainer.records()["value"]
spectral, diagonal = linattn.Diagnostics(objective).robust_condition(trainer.parameters())
print(f"loss {losses[0]:.4f} to {losses[-1]:.4f}, R_med {spectral.value:.3g} (eigenvalues), {diagonal.value:.3g} (diagonal)")
