#!/usr/bin/env python3
"""What a step costs more when Python calls it than when C++ does: medians of the same training step, in turns.

usage: step_overhead.py [--steps N]. Wants the package `dfc` (PYTHONPATH=build/release/python). The feeds are arrays on a
boundary of 64 bytes, made once, as C++ would have them. Exits 1 where the difference is above 10 µs.
"""

import argparse
import statistics
import time

import numpy as np

import dfc

MOST = 10e-6
ROUNDS = 100


def training_step(batch, width):
    g = dfc.Builder("step")
    x, labels = g.input("x", (batch, width)), g.input("labels", batch, dfc.int64)
    w1, w2 = g.parameter("w1", (width, width), dfc.init.glorot(1)), g.parameter("w2", (width, 10), dfc.init.glorot(2))
    loss = dfc.softmax_cross_entropy(dfc.relu(x @ w1) @ w2, labels)
    dfc.momentum([w1, w2], dfc.gradients(loss, [w1, w2]), 0.01)
    g.fetch("loss", loss)
    return g.finish()


def python_seconds(session, feeds, count):
    seconds = []
    for _ in range(count):
        begin = time.perf_counter()
        session.run(feeds)
        seconds.append(time.perf_counter() - begin)
    return seconds


def medians(batch, width, steps):
    """Of a step from C++ and of what Python adds: medians over rounds, in which both take turns, so that what else the
    host does meets both."""
    session = dfc.open(training_step(batch, width))
    random = np.random.default_rng(0)
    feeds = {"x": dfc.aligned(random.standard_normal((batch, width)).astype(np.float32)),
             "labels": dfc.aligned(random.integers(0, 10, batch))}
    session._step_seconds(feeds, steps // ROUNDS)  # the first steps touch all memory for the first time
    from_cpp, added = [], []
    for _ in range(ROUNDS):
        from_cpp.append(statistics.median(session._step_seconds(feeds, steps // ROUNDS)))
        added.append(statistics.median(python_seconds(session, feeds, steps // ROUNDS)) - from_cpp[-1])
    return statistics.median(from_cpp), statistics.median(added)


def main():
    parser = argparse.ArgumentParser(description="what a step costs more from Python than from C++")
    parser.add_argument("--steps", type=int, default=4000, help="of each kind and size")
    steps = parser.parse_args().steps
    worst = 0.0
    for batch, width in ((8, 16), (64, 128), (100, 784)):
        cpp, added = medians(batch, width, steps)
        worst = max(worst, added)
        print(f"batch {batch:3}, width {width:3}: {cpp * 1e6:8.2f} us from C++, {added * 1e6:6.2f} us more from Python")
    print(f"at most {MOST * 1e6:.0f} us: {'met' if worst <= MOST else 'missed'}")
    return 0 if worst <= MOST else 1


if __name__ == "__main__":
    raise SystemExit(main())
