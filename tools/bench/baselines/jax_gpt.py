"""Training steps of GPT-2 in JAX (XLA), the whole step compiled, as lesson 6 trains it: pre-norm blocks, tied embeddings, AdamW
with decay of matrices alone.

Keys: gpt_training/SIZE/PRECISION/BATCHxCONTEXT, for example gpt_training/124M/bf16/8x1024, and gpt_on_gpus/… with the batch
divided among all GPUs and the weights on each. Weights and moments are f32; for bf16
a step computes with weights that it has cast, norms' statistics and the loss in f32, and attention is cuDNN's. Feeds are on
the GPU already.
"""

import jax_common  # before jax

import jax
import jax.numpy as jnp
import numpy as np

import baseline

SIZES = {"small": (2, 4, 64, 256), "124M": (12, 12, 768, 50304)}  # layers, heads, width, vocabulary
ON_GPUS = "gpt_on_gpus"
RATE, BETA1, BETA2, EPSILON, DECAY = 6e-4, 0.9, 0.95, 1e-8, 0.1


def initial(layers, width, vocabulary, context):
    random = np.random.default_rng(0)

    def dense(rows, columns, deviation=0.02):
        return {"weight": random.normal(size=(rows, columns), scale=deviation).astype(np.float32),
                "bias": np.zeros(columns, np.float32)}

    def norm():
        return {"weight": np.ones(width, np.float32), "bias": np.zeros(width, np.float32)}

    def block():
        small = 0.02 / (2 * layers) ** 0.5
        return {"norm1": norm(), "qkv": dense(width, 3 * width), "out": dense(width, width, small),
                "norm2": norm(), "up": dense(width, 4 * width), "down": dense(4 * width, width, small)}

    tables = {"tokens": dense(vocabulary, width)["weight"], "places": dense(context, width)["weight"]}
    return {**tables, "blocks": [block() for _ in range(layers)], "norm": norm()}


def dense(x, p):
    return x @ p["weight"] + p["bias"]


def norm(x, p):
    wide = x.astype(jnp.float32)
    mean = wide.mean(-1, keepdims=True)
    scaled = (wide - mean) * jax.lax.rsqrt(((wide - mean) ** 2).mean(-1, keepdims=True) + 1e-5)
    return (scaled * p["weight"] + p["bias"]).astype(x.dtype)


def attention(x, p, heads, implementation):
    batch, context, width = x.shape
    q, k, v = (part.reshape(batch, context, heads, -1) for part in jnp.split(dense(x, p["qkv"]), 3, axis=-1))
    seen = jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation=implementation)
    return dense(seen.reshape(batch, context, width), p["out"])


def loss(parameters, ids, targets, heads, precision, implementation):
    p = jax_common.narrow(parameters, precision)
    x = p["tokens"][ids] + p["places"]
    for block in p["blocks"]:
        x = x + attention(norm(x, block["norm1"]), block, heads, implementation)
        x = x + dense(jax.nn.gelu(dense(norm(x, block["norm2"]), block["up"]), approximate=True), block["down"])
    logits = norm(x, p["norm"]) @ p["tokens"].T
    return jax_common.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


def adam(state, gradients):
    parameters, first, second, count = state
    count = count + 1
    first = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, first, gradients)
    second = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, second, gradients)

    def updated(p, m, v):
        step = (m / (1 - BETA1**count)) / (jnp.sqrt(v / (1 - BETA2**count)) + EPSILON)
        return p - RATE * (step + (DECAY * p if p.ndim > 1 else 0))

    return jax.tree.map(updated, parameters, first, second), first, second, count


def step_of(heads, precision, implementation):
    def step(state, ids, targets):
        value, gradients = jax.value_and_grad(loss)(state[0], ids, targets, heads, precision, implementation)
        return adam(state, gradients), value

    return step


def initial_state(*sizes):
    parameters = initial(*sizes)
    zeros = jax.tree.map(np.zeros_like, parameters)
    return parameters, zeros, jax.tree.map(np.zeros_like, parameters), np.float32(0)


def measure(key, quick):
    _, size, precision, shape = key.split("/")
    batch, context = map(int, shape.split("x"))
    layers, heads, width, vocabulary = SIZES[size]
    jax_common.set_precision(precision)
    state_place, batch_place, device = jax_common.places(key, ON_GPUS)
    windows = np.random.default_rng(1).integers(vocabulary, size=(2, batch, context), dtype=np.int32)
    ids, targets = (jax.device_put(part, batch_place) for part in windows)
    step = step_of(heads, precision, "cudnn" if precision == "bf16" else "xla")
    return jax_common.timed_training(step, initial_state(layers, width, vocabulary, context), lambda: (ids, targets), state_place,
                                     device, quick)


def main():
    options = baseline.arguments(__doc__)
    for key in options.keys:
        baseline.attempt(key, jax_common.program(key, ON_GPUS), lambda k=key: measure(k, options.quick))


if __name__ == "__main__":
    main()
