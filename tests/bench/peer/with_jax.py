"""The experiments in JAX, as one writes them down: the same einsum code as with_torch.py, jax.grad, everything under jax.jit."""
import jax
import jax.numpy as jnp
from linattn import Attention, Covariates

jax.config.update("jax_enable_x64", True)
DTYPES = {"float32": jnp.float32, "float64": jnp.float64}


def facts():
    return {"peer": f"JAX {jax.__version__}", "peer threads": "1 processor, by affinity", "peer capability": jax.default_backend()}


class Peer:
    """A recipe in one dtype. Learning rate: the caller's."""

    def __init__(self, recipe, dtype, theta, learning_rate):
        self.recipe, self.dtype, self.rate = recipe, DTYPES[dtype], learning_rate
        self.mask = jnp.ones(recipe.context + 1, self.dtype).at[-1].set(0)
        self.corner = jnp.zeros((recipe.dim + 1, recipe.dim + 1), self.dtype).at[-1, -1].set(1)
        self.theta = jnp.asarray(theta, self.dtype).reshape(recipe.layers, 2, recipe.dim, recipe.dim)
        self.state = self.theta, jnp.zeros_like(self.theta), jnp.zeros_like(self.theta), 0
        self.key = jax.random.PRNGKey(0)
        self.batch_of = jax.jit(self._batch)
        self.gradient_of = jax.jit(jax.value_and_grad(self.loss))
        self.update_of = jax.jit(self._update)
        self.step_of = jax.jit(lambda state, key: self._update(state, *self._batch(key)))
        self.hessian_of = jax.jit(jax.hessian(self.loss))
        self.error_of = jax.jit(lambda theta, key, reference: jnp.linalg.norm(
            jax.grad(self.loss)(theta, *self._batch(key)).flatten() - reference))

    def _batch(self, key):
        """Fresh prompts: Z and targets (B,)."""
        r = self.recipe
        for_x, for_radii, for_w = jax.random.split(key, 3)
        x = jax.random.normal(for_x, (r.prompts, r.context + 1, r.dim), self.dtype)
        if r.covariates == Covariates.GAMMA:
            gamma = r.gamma_scale * jax.random.gamma(for_radii, r.gamma_shape, (r.prompts, r.context + 1, 1), self.dtype)
            x = x / jnp.linalg.norm(x, axis=-1, keepdims=True) * jnp.sqrt(gamma)
        w = jax.random.normal(for_w, (r.prompts, r.dim), self.dtype)
        y = jnp.einsum("bni,bi->bn", x, w)
        return jnp.concatenate([x, y.at[:, -1].set(0)[:, :, None]], axis=-1), y[:, -1]

    def loss(self, theta, Z, target):
        for P, Q in theta:
            P, Q = jnp.pad(P, (0, 1)) + self.corner, jnp.pad(Q, (0, 1))
            A = jnp.einsum("bni,ij,bmj->bnm", Z, Q, Z)
            if self.recipe.attention == Attention.SOFTMAX:
                A = jax.nn.softmax(A, axis=-1)
            values = jnp.einsum("bmj,ij->bmi", Z, P)
            Z = Z + jnp.einsum("bnm,bmi->bni", A * self.mask, values) / self.recipe.context
        return jnp.mean((-Z[:, -1, -1] - target)**2)

    def _update(self, state, Z, target):
        """Gradient, clipping, Adam."""
        theta, m, v, t = state
        r = self.recipe
        g = jax.grad(self.loss)(theta, Z, target)
        g = g * jnp.minimum(1, r.clip_threshold / (jnp.linalg.norm(g) + 1e-6))
        m, v, t = r.adam_beta1 * m + (1 - r.adam_beta1) * g, r.adam_beta2 * v + (1 - r.adam_beta2) * g * g, t + 1
        step = m / (1 - r.adam_beta1**t) / (jnp.sqrt(v / (1 - r.adam_beta2**t)) + r.adam_epsilon)
        return theta - (self.rate * step).astype(self.dtype), m, v, t

    def next_key(self):
        self.key, key = jax.random.split(self.key)
        return key

    def batch(self):
        return self.batch_of(self.next_key())

    def given(self, tokens, targets):
        """The library's prompts in this dtype."""
        return jnp.asarray(tokens, self.dtype), jnp.asarray(targets, self.dtype)

    def gradient(self, batch):
        """(loss, gradient (p,)), as numbers."""
        loss, slope = self.gradient_of(self.theta, *batch)
        return float(loss), jax.device_get(slope).flatten()

    def update(self, batch):
        """One step of training; theta (p,) after it."""
        self.state = self.update_of(self.state, *batch)
        return jax.device_get(self.state[0]).flatten()

    def steps(self, count):
        for _ in range(count):
            self.state = self.step_of(self.state, self.next_key())
        jax.block_until_ready(self.state)

    def hessian(self, batch):
        return jax.device_get(self.hessian_of(self.theta, *batch)).reshape(self.theta.size, self.theta.size)

    def noise(self, count, reference):
        """|g - reference| of `count` fresh batches."""
        reference = jnp.asarray(reference, self.dtype)
        return [float(self.error_of(self.theta, self.next_key(), reference)) for _ in range(count)]
