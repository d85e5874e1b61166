"""Shared by the scripts with JAX: its settings, GPUs, precision, mixed precision, and a timed training loop.

To be imported before jax.
"""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax  # noqa: E402  the line above must come first
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

import baseline  # noqa: E402

PRECISIONS = {"f32": "highest", "tf32": "tensorfloat32", "bf16": "tensorfloat32"}  # bf16: of what stays in f32


def all_gpus(least):
    found = [device for device in jax.devices() if device.platform == "gpu"]
    if len(found) < least:
        raise RuntimeError(f"JAX {jax.__version__} sees {len(found)} GPUs, {least} are needed")
    return found


def gpus(count):
    return all_gpus(count)[:count]


def set_precision(precision):
    """Of products and convolutions of f32."""
    jax.config.update("jax_default_matmul_precision", PRECISIONS[precision])


def narrow(parameters, precision):
    """The parameters as a step computes with them: in bf16 where that is the precision; the masters stay f32."""
    return jax.tree.map(lambda p: p.astype(jnp.bfloat16), parameters) if precision == "bf16" else parameters


def cross_entropy(logits, labels):
    """The mean of -log p(label), in f32."""
    logits = logits.astype(jnp.float32)
    own = jnp.take_along_axis(logits, labels[:, None], axis=1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=1) - own)


def device_bytes(device):
    """The most that the process held on the device at once; None where the backend does not say."""
    return (device.memory_stats() or {}).get("peak_bytes_in_use")


def places(key, benchmark):
    """Where the state and the batch of a key lie: on one GPU, or, where the key is of BENCHMARK, replicated on and divided among
    all of them. And the first of these GPUs."""
    if not key.startswith(benchmark + "/"):
        device = gpus(1)[0]
        return device, device, device
    devices = all_gpus(2)
    mesh = Mesh(np.array(devices), ("data",))
    return NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("data")), devices[0]


def program(key, benchmark):
    return f"JAX{' sharded' if key.startswith(benchmark + '/') else ''} {jax.__version__}"


def timed_training(step, state, feed, where, device, quick):
    """`step` (state, *feed()) -> (state, loss), whose state lies at `where` and is donated; ten steps a sample, as in the PyTorch
    scripts. `device`: the one whose bytes are counted."""
    kept = {} if where is device else {"out_shardings": (where, where)}
    compiled = jax.jit(step, donate_argnums=0, **kept)
    now = [jax.device_put(state, where), None]

    def one():
        now[:] = compiled(now[0], *feed())

    result = baseline.timed(one, lambda: jax.block_until_ready(now), quick, steps=10, samples=5)
    return {**result, "bytes": device_bytes(device)}
