"""Training steps of a ResNet in JAX (XLA), the whole step compiled, as lesson 7 trains it: stride in the 3x3 convolutions, batch
norms with running statistics, SGD with momentum and weight decay.

Keys: resnet_training/DEPTH/PRECISION/BATCHxIMAGE, for example resnet_training/50/bf16/64x224, and resnet_on_gpus/… with the batch
divided among all GPUs and the weights on each. Images are bytes in NHWC. Weights
and velocities are f32; for bf16 a step computes with weights that it has cast, statistics and the loss in f32. The images are
on the device already, or fed from the host, each batch while the step before it computes.
"""

import jax_common  # before jax

import argparse

import jax
import jax.numpy as jnp
import numpy as np

import baseline

DEPTHS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3)}  # blocks of each stage
ON_GPUS = "resnet_on_gpus"
RATE, MOMENTUM, DECAY, KEPT = 1e-3, 0.9, 1e-4, 0.9


class Weights:
    """Draws a network's first weights, and the running statistics of its norms."""

    def __init__(self):
        self.random = np.random.default_rng(0)

    def convolution(self, channels, to, size):
        filters = self.random.normal(size=(size, size, channels, to), scale=(2 / (size * size * channels)) ** 0.5)
        norm = {"weight": np.ones(to, np.float32), "bias": np.zeros(to, np.float32)}
        running = {"mean": np.zeros(to, np.float32), "variance": np.ones(to, np.float32)}
        return {"filter": filters.astype(np.float32), **norm}, running

    def head(self, channels, classes):
        weight = self.random.normal(size=(channels, classes), scale=0.01)
        return {"weight": weight.astype(np.float32), "bias": np.zeros(classes, np.float32)}


def plan_of(depth, width, channels, image):
    """Convolutions in order: (channels, to, size, stride), and blocks as (indices of the residual's, of the shortcut's or None)."""
    small, bottleneck = image < 64, depth >= 50
    convolutions, blocks = [(channels, width, 3 if small else 7, 1 if small else 2)], []
    now = width
    for stage, count in enumerate(DEPTHS[depth]):
        for i in range(count):
            w, stride = width << stage, 2 if stage > 0 and i == 0 else 1
            to = 4 * w if bottleneck else w
            shapes = ((w, 1, 1), (w, 3, stride), (to, 1, 1)) if bottleneck else ((w, 3, stride), (to, 3, 1))
            begin, inner = len(convolutions), now
            for out, size, step in shapes:
                convolutions.append((inner, out, size, step))
                inner = out
            residual = tuple(range(begin, len(convolutions)))
            shortcut = None
            if stride > 1 or now != to:
                shortcut = len(convolutions)
                convolutions.append((now, to, 1, stride))
            blocks.append((residual, shortcut))
            now = to
    return convolutions, blocks, now


def convolution(x, p, size, stride):
    around = (size // 2, size // 2)
    return jax.lax.conv_general_dilated(x, p["filter"], (stride, stride), (around, around),
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))


def batch_norm(x, p, running):
    """And the running statistics with a tenth of the batch's."""
    wide = x.astype(jnp.float32)
    mean = wide.mean((0, 1, 2))
    variance = jnp.maximum((wide * wide).mean((0, 1, 2)) - mean * mean, 0)
    scale = p["weight"] * jax.lax.rsqrt(variance + 1e-5)
    count = x.size // x.shape[-1]
    after = {"mean": KEPT * running["mean"] + (1 - KEPT) * mean,
             "variance": KEPT * running["variance"] + (1 - KEPT) * variance * (count / (count - 1))}
    return (wide * scale + (p["bias"] - mean * scale)).astype(x.dtype), after


def max_pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1),
                                 ((0, 0), (1, 1), (1, 1), (0, 0)))


def loss(parameters, running, images, labels, plan, precision):
    convolutions, blocks, _ = plan
    p = jax_common.narrow(parameters, precision)
    after = list(running)

    def layer(x, i):
        x = convolution(x, p["convolutions"][i], *convolutions[i][2:])
        x, after[i] = batch_norm(x, parameters["convolutions"][i], running[i])
        return x

    x = ((images.astype(jnp.float32) - 72.9) / 90).astype(p["head"]["weight"].dtype)
    x = jax.nn.relu(layer(x, 0))
    x = max_pool(x) if convolutions[0][3] == 2 else x
    for residual, shortcut in blocks:
        inner = x
        for i in residual[:-1]:
            inner = jax.nn.relu(layer(inner, i))
        x = jax.nn.relu(layer(inner, residual[-1]) + (x if shortcut is None else layer(x, shortcut)))
    means = x.astype(jnp.float32).mean((1, 2)).astype(x.dtype)
    logits = means @ p["head"]["weight"] + p["head"]["bias"]
    return jax_common.cross_entropy(logits, labels), after


def step_of(plan, precision, rate=RATE):
    def step(state, images, labels):
        parameters, velocities, running = state
        (value, running), gradients = jax.value_and_grad(loss, has_aux=True)(parameters, running, images, labels, plan, precision)
        velocities = jax.tree.map(lambda v, g, p: MOMENTUM * v + g + DECAY * p, velocities, gradients, parameters)
        return (jax.tree.map(lambda p, v: p - rate * v, parameters, velocities), velocities, running), value

    return step


def initial_state(plan, classes):
    weights = Weights()
    layers = [weights.convolution(*shape[:3]) for shape in plan[0]]
    parameters = {"convolutions": [own for own, _ in layers], "head": weights.head(plan[2], classes)}
    return parameters, jax.tree.map(np.zeros_like, parameters), [running for _, running in layers]


class HostFeed:
    """Two batches of the host in turn; the next is on its way while the present one is computed with."""

    def __init__(self, batches, device):
        self.batches, self.device, self.turn = batches, device, 0
        self.copy()

    def copy(self):
        self.ready = jax.device_put(self.batches[self.turn], self.device)
        self.turn = 1 - self.turn

    def next(self):
        now = self.ready
        self.copy()
        return now


def feed_of(batch, image, options, device):
    random = np.random.default_rng(1)

    def drawn():
        images = random.integers(256, size=(batch, image, image, options.channels), dtype=np.uint8)
        return images, random.integers(options.classes, size=batch, dtype=np.int32)

    if options.feed == "host":
        return HostFeed([drawn(), drawn()], device).next
    one = jax.device_put(drawn(), device)
    return lambda: one


def measure(key, options):
    _, depth, precision, shape = key.split("/")
    batch, image = map(int, shape.split("x"))
    jax_common.set_precision(precision)
    state_place, batch_place, device = jax_common.places(key, ON_GPUS)
    plan = plan_of(int(depth), options.width, options.channels, image)
    return jax_common.timed_training(step_of(plan, precision), initial_state(plan, options.classes),
                                     feed_of(batch, image, options, batch_place), state_place, device, options.quick)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", default="", help="rows to measure, with commas between")
    parser.add_argument("--width", type=int, default=64, help="channels of the first stage")
    parser.add_argument("--channels", type=int, default=3, help="of an image")
    parser.add_argument("--classes", type=int, default=1000, help="of labels")
    parser.add_argument("--feed", choices=("device", "host"), default="device", help="where the images are")
    parser.add_argument("--quick", action="store_true", help="few samples")
    options = parser.parse_args()
    for key in filter(None, options.keys.split(",")):
        baseline.attempt(key, jax_common.program(key, ON_GPUS), lambda k=key: measure(k, options))


if __name__ == "__main__":
    main()
