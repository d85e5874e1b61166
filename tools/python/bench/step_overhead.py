#!/usr/bin/env python3
"""What a step costs more when Python calls it than when C++ does: the same training step, feeds and results, in turns.

usage: step_overhead.py [--blocks N]. Wants the package `dfc` (PYTHONPATH=build/release/python). The feeds are arrays on a
boundary of 64 bytes, made once, as C++ would have them; both drop the results of a step before the next. Exits 1 where the
difference is above 10 µs.

Steps come in blocks, C++ and Python by turns, so that what else the host does meets both. Of the medians of the blocks the
lowest tenth counts: a busy host makes a step longer, never shorter. Beside it stands what the calling thread computes more,
by its processor time, in which other programs have no part but that they fill the caches.
"""

import argparse
import statistics
import time

import numpy as np

import dfc

MOST = 10.0  # µs
STEPS = 20  # of a block


def mlp(batch, width):
    """Two layers, of which the parameters of 784 x 784 leave nothing of Python in a processor's inner caches."""
    g = dfc.Builder("mlp")
    x, labels = g.input("x", (batch, width)), g.input("labels", batch, dfc.int64)
    w1, w2 = g.parameter("w1", (width, width), dfc.init.glorot(1)), g.parameter("w2", (width, 10), dfc.init.glorot(2))
    loss = dfc.softmax_cross_entropy(dfc.relu(x @ w1) @ w2, labels)
    dfc.momentum([w1, w2], dfc.gradients(loss, [w1, w2]), 0.01)
    g.fetch("loss", loss)
    return g.finish()


def many_parameters(layers):
    """As deep a network of small layers: two parameters and their velocities each."""
    g = dfc.Builder("deep")
    x = g.input("x", (8, 16))
    parameters = []
    for layer in range(layers):
        w, b = g.parameter(f"w{layer}", (16, 16), dfc.init.glorot(layer)), g.parameter(f"b{layer}", 16)
        parameters += [w, b]
        x = dfc.relu(x @ w + b)
    loss = dfc.square(x).sum()
    dfc.momentum(parameters, dfc.gradients(loss, parameters), 0.01)
    g.fetch("loss", loss)
    return g.finish()


def many_arrays(count):
    """So many inputs and fetches, one parameter."""
    g = dfc.Builder("wide")
    w = g.parameter("w", 16, 1.0)
    loss = None
    for i in range(count):
        x = g.input(f"x{i}", 16)
        y = dfc.square(x * w)
        g.fetch(f"y{i}", y)
        loss = y.sum() if loss is None else loss + y.sum()
    dfc.momentum([w], dfc.gradients(loss, [w]), 0.01)
    return g.finish()


MODELS = {
    "mlp, batch 8, width 16": lambda: mlp(8, 16),
    "mlp, batch 64, width 128": lambda: mlp(64, 128),
    "mlp, batch 100, width 784": lambda: mlp(100, 784),
    "100 layers, 200 parameters": lambda: many_parameters(100),
    "8 inputs, 8 fetches": lambda: many_arrays(8),
}


def feeds_of(session):
    random = np.random.default_rng(0)

    def array(spec):
        if spec.dtype == dfc.int64:
            return dfc.aligned(random.integers(0, 10, spec.shape))
        return dfc.aligned(random.standard_normal(spec.shape).astype(np.float32))

    return {name: array(spec) for name, spec in session.inputs.items()}


def python_seconds(session, feeds, count):
    seconds = []
    for _ in range(count):
        begin = time.perf_counter()
        session.run(feeds)
        seconds.append(time.perf_counter() - begin)
    return seconds


class Blocks:
    """Of the steps of one kind: medians of the seconds, means of the calling thread's processor time."""

    def __init__(self, steps):
        self.steps, self.seconds, self.computing = steps, [], []

    def add(self):
        begin = time.thread_time()
        seconds = self.steps()
        self.computing.append((time.thread_time() - begin) / STEPS)
        self.seconds.append(statistics.median(seconds))


def low(medians):
    return statistics.quantiles(medians, n=10)[0]


def measure(graph, blocks):
    """Seconds of a step from C++, what it takes more from Python, and what the calling thread computes more."""
    session = dfc.open(graph)
    feeds = feeds_of(session)
    session._step_seconds(feeds, STEPS)  # the first steps touch all memory for the first time
    cpp = Blocks(lambda: session._step_seconds(feeds, STEPS))
    python = Blocks(lambda: python_seconds(session, feeds, STEPS))
    for _ in range(blocks):
        cpp.add()
        python.add()
    return low(cpp.seconds), low(python.seconds) - low(cpp.seconds), low(python.computing) - low(cpp.computing)


def main():
    parser = argparse.ArgumentParser(description="what a step costs more from Python than from C++")
    parser.add_argument("--blocks", type=int, default=200, help=f"of {STEPS} steps, of each kind and model")
    blocks = parser.parse_args().blocks
    worst = 0.0
    for name, graph in MODELS.items():
        cpp, more, computing = (1e6 * seconds for seconds in measure(graph(), blocks))
        worst = max(worst, more)
        print(f"{name:26}: {cpp:8.2f} us from C++, {more:6.2f} us more from Python, {computing:6.2f} us of its thread", flush=True)
    print(f"at most {MOST:.0f} us: {'met' if worst <= MOST else 'missed'}")
    return 0 if worst <= MOST else 1


if __name__ == "__main__":
    raise SystemExit(main())
