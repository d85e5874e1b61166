"""Decoding with GPT-2 in JAX (XLA), a token a step, the whole step compiled, with a static cache of keys and values that is donated.

Keys: gpt_decode/SIZE/ELEMENT/1xCONTEXT, for example gpt_decode/124M/bf16/1x1024; weights and caches have the element type. The
next token is drawn by jax.random.categorical and stays on the GPU.
"""

import jax_common  # before jax

import jax
import jax.numpy as jnp
import numpy as np

import baseline
from jax_gpt import SIZES, dense, initial, norm


def attention(x, p, cache, position, heads):
    q, k, v = (part.reshape(heads, 1, -1) for part in jnp.split(dense(x, p["qkv"]), 3, axis=-1))
    keys = jax.lax.dynamic_update_slice(cache[0], k, (0, position, 0))
    values = jax.lax.dynamic_update_slice(cache[1], v, (0, position, 0))
    scores = jnp.einsum("hqd,hkd->hqk", q, keys, preferred_element_type=jnp.float32) / np.sqrt(q.shape[-1])
    scores = jnp.where(jnp.arange(keys.shape[1]) <= position, scores, -jnp.inf)
    seen = jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores, axis=-1).astype(x.dtype), values)
    return dense(seen.reshape(1, -1), p["out"]), (keys, values)


def step_of(heads):
    def step(state, p):
        token, position, key, caches = state
        x = (p["tokens"][token] + p["places"][position])[None]
        kept = []
        for block, cache in zip(p["blocks"], caches):
            added, now = attention(norm(x, block["norm1"]), block, cache, position, heads)
            kept.append(now)
            x = x + added
            x = x + dense(jax.nn.gelu(dense(norm(x, block["norm2"]), block["up"]), approximate=True), block["down"])
        logits = (norm(x, p["norm"]) @ p["tokens"].T)[0].astype(jnp.float32)
        key, own = jax.random.split(key)
        return jax.random.categorical(own, logits), (position + 1) % p["places"].shape[0], key, kept

    return step


def measure(key, quick):
    _, size, element, shape = key.split("/")
    context = int(shape.split("x")[1])
    layers, heads, width, vocabulary = SIZES[size]
    jax_common.set_precision("f32")
    device = jax_common.gpus(1)[0]
    element = {"f32": jnp.float32, "bf16": jnp.bfloat16}[element]
    weights = jax.tree.map(lambda w: jax.device_put(jnp.asarray(w, element), device), initial(layers, width, vocabulary, context))
    cache = [(jnp.zeros((heads, context, width // heads), element),) * 2 for _ in range(layers)]
    state = [jax.device_put((jnp.int32(0), jnp.int32(0), jax.random.key(0), jax.tree.map(jnp.copy, cache)), device)]
    compiled = jax.jit(step_of(heads), donate_argnums=0)

    def one():
        state[0] = compiled(state[0], weights)

    return baseline.timed(one, lambda: jax.block_until_ready(state[0]), quick, steps=100)


def main():
    options = baseline.arguments(__doc__)
    for key in options.keys:
        baseline.attempt(key, f"JAX {jax.__version__}", lambda k=key: measure(k, options.quick))


if __name__ == "__main__":
    main()
