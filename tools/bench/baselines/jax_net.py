"""The MLP in JAX (XLA), the whole step compiled: on one GPU, and data parallel by sharding on two."""

import jax_common  # before jax

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import baseline
from jax_common import gpus

WIDTHS = [512, 2048, 512, 1]


def initial():
    random = np.random.default_rng(0)
    return [(random.normal(size=(a, b), scale=a**-0.5).astype(np.float32), np.zeros(b, np.float32))
            for a, b in zip(WIDTHS, WIDTHS[1:])]


def loss(parameters, x, y):
    for weight, bias in parameters[:-1]:
        x = jax.nn.relu(x @ weight + bias)
    weight, bias = parameters[-1]
    return jnp.mean((x @ weight + bias - y) ** 2)


def step(parameters, x, y):
    return jax.tree.map(lambda p, g: p - 1e-3 * g, parameters, jax.grad(loss)(parameters, x, y))


def batch_of(size):
    random = np.random.default_rng(1)
    return random.normal(size=(size, 512)).astype(np.float32), random.normal(size=(size, 1)).astype(np.float32)


def timed(compiled, parameters, x, y, quick):
    state = [parameters]

    def one():
        state[0] = compiled(state[0], x, y)

    return baseline.timed(one, lambda: jax.block_until_ready(state[0]), quick)


def on_one(batch, quick):
    device = gpus(1)[0]
    x, y = (jax.device_put(part, device) for part in batch_of(batch))
    return timed(jax.jit(step, donate_argnums=0), jax.device_put(initial(), device), x, y, quick)


def on_two(batch, quick):
    mesh = Mesh(np.array(gpus(2)), ("data",))
    everywhere, divided = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("data"))
    x, y = (jax.device_put(part, divided) for part in batch_of(batch))
    compiled = jax.jit(step, donate_argnums=0, out_shardings=everywhere)
    return timed(compiled, jax.device_put(initial(), everywhere), x, y, quick)


def main():
    options = baseline.arguments(__doc__)
    for key in options.keys:
        precision, batch = baseline.precision_and_batch(key)
        jax_common.set_precision(precision)
        if key.startswith("mlp_training/1gpu/"):
            baseline.attempt(key, "JAX", lambda b=batch: on_one(b, options.quick))
        else:
            baseline.attempt(key, "JAX sharded", lambda b=batch: on_two(b, options.quick))


if __name__ == "__main__":
    main()
