"""The MLP in JAX (XLA), the whole step compiled: on one GPU, and data parallel by sharding on two."""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax  # noqa: E402  the line above must come first
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

import baseline  # noqa: E402

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


def gpus(count):
    found = [device for device in jax.devices() if device.platform == "gpu"]
    if len(found) < count:
        raise RuntimeError(f"JAX {jax.__version__} sees {len(found)} GPUs, {count} are needed")
    return found[:count]


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
        jax.config.update("jax_default_matmul_precision", "tensorfloat32" if precision == "tf32" else "float32")
        if key.startswith("mlp_training/1gpu/"):
            baseline.attempt(key, "JAX", lambda b=batch: on_one(b, options.quick))
        else:
            baseline.attempt(key, "JAX sharded", lambda b=batch: on_two(b, options.quick))


if __name__ == "__main__":
    main()
