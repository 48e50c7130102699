"""The experiments in PyTorch, as one writes them down: einsum, autograd, torch.optim.

Tokens are rows, Z (B, n+1, d+1); theta (L, 2, d, d) holds P_x and Q_x of each layer, in the order of the library's parameters."""
import torch
from linattn import Attention, Covariates
from torch.nn.functional import pad

DTYPES = {"float32": torch.float32, "float64": torch.float64}


def facts():
    torch.set_num_threads(1)
    return {"peer": f"PyTorch {torch.__version__}", "peer threads": torch.get_num_threads(), "peer capability": capability()}


def capability():
    lines = torch.__config__.show().splitlines()
    return next((line.split(":")[-1].strip() for line in lines if "CPU capability" in line), "unknown")


class Peer:
    """A recipe in one dtype. Learning rate: the caller's."""

    def __init__(self, recipe, dtype, theta, learning_rate):
        self.recipe, self.dtype, self.softmax = recipe, DTYPES[dtype], recipe.attention == Attention.SOFTMAX
        self.mask = torch.ones(recipe.context + 1, dtype=self.dtype)
        self.mask[-1] = 0
        self.corner = torch.zeros(recipe.dim + 1, recipe.dim + 1, dtype=self.dtype)
        self.corner[-1, -1] = 1
        shape = recipe.layers, 2, recipe.dim, recipe.dim
        self.theta = torch.tensor(theta, dtype=self.dtype).reshape(shape).requires_grad_()
        self.optimizer = torch.optim.Adam([self.theta], lr=learning_rate, betas=(recipe.adam_beta1, recipe.adam_beta2),
                                          eps=recipe.adam_epsilon)

    def batch(self):
        """Fresh prompts: Z and targets (B,)."""
        r = self.recipe
        x = torch.randn(r.prompts, r.context + 1, r.dim, dtype=self.dtype)
        if r.covariates == Covariates.GAMMA:
            gamma = torch.distributions.Gamma(torch.tensor(r.gamma_shape, dtype=self.dtype), 1 / r.gamma_scale)
            x = x / x.norm(dim=-1, keepdim=True) * gamma.sample((r.prompts, r.context + 1, 1)).sqrt()
        w = torch.randn(r.prompts, r.dim, dtype=self.dtype)
        y = torch.einsum("bni,bi->bn", x, w)
        target = y[:, -1].clone()
        y[:, -1] = 0
        return torch.cat([x, y.unsqueeze(-1)], dim=-1), target

    def given(self, tokens, targets):
        """The library's prompts in this dtype."""
        return torch.tensor(tokens, dtype=self.dtype), torch.tensor(targets, dtype=self.dtype)

    def loss(self, theta, Z, target):
        for P, Q in theta:
            P, Q = pad(P, (0, 1, 0, 1)) + self.corner, pad(Q, (0, 1, 0, 1))
            A = torch.einsum("bni,ij,bmj->bnm", Z, Q, Z)
            if self.softmax:
                A = torch.softmax(A, dim=-1)
            values = torch.einsum("bmj,ij->bmi", Z, P)
            Z = Z + torch.einsum("bnm,bmi->bni", A * self.mask, values) / self.recipe.context
        return ((-Z[:, -1, -1] - target)**2).mean()

    def gradient(self, batch):
        """(loss, gradient (p,)), as numbers."""
        loss = self.loss(self.theta, *batch)
        slope, = torch.autograd.grad(loss, self.theta)
        return loss.item(), slope.flatten().numpy()

    def update(self, batch):
        """One step of training; theta (p,) after it."""
        self.optimizer.zero_grad()
        self.loss(self.theta, *batch).backward()
        torch.nn.utils.clip_grad_norm_([self.theta], self.recipe.clip_threshold)
        self.optimizer.step()
        return self.theta.detach().flatten().numpy()

    def steps(self, count):
        for _ in range(count):
            self.update(self.batch())

    def hessian(self, batch):
        p = self.theta.numel()
        return torch.autograd.functional.hessian(lambda theta: self.loss(theta, *batch), self.theta.detach()).reshape(p, p).numpy()

    def noise(self, count, reference):
        """|g - reference| of `count` fresh batches."""
        reference, norms = torch.tensor(reference, dtype=self.dtype), []
        for _ in range(count):
            slope, = torch.autograd.grad(self.loss(self.theta, *self.batch()), self.theta)
            norms.append((slope.flatten() - reference).norm().item())
        return norms
