"""Lesson 3: the figure of "Dive into Deep Learning", chapter "Automatic Parallelism": one training step of a two-layer MLP
over a CPU and two GPUs, with every copy inserted and hidden by dfc. The GPUs are emulated by threads of the CPU, each with
an address space of its own, unless --backend cuda names real ones.

    python lesson_03_figure.py [--steps N] [--out FOLDER] [--data FOLDER] [--backend NAME]
"""

import argparse
from pathlib import Path

import numpy as np

import dfc

PIXELS, HIDDEN, CLASSES, BATCH, HALF = 784, 256, 10, 128, 64


def training_step(cpu="cpu0", gpus=("gpu0", "gpu1")):
    g = dfc.Builder("figure")
    with g.on(cpu):
        w1 = g.parameter("w1", (PIXELS, HIDDEN), dfc.init.glorot(1))
        w2 = g.parameter("w2", (HIDDEN, CLASSES), dfc.init.glorot(2))
        with g.scope("next_batch"):
            x = (g.input("images", (BATCH, PIXELS)) - 0.286) * (1 / 0.353)  # mean and deviation of the training images
            y = g.input("labels", BATCH, dfc.int64)
            halves = [(x[i:i + HALF], y[i:i + HALF]) for i in (0, HALF)]

        gradients = []
        for gpu, (images, labels) in zip(gpus, halves):
            with g.on(gpu):
                with g.scope("fc1 forward"):
                    h = dfc.relu(images @ w1)
                with g.scope("fc2 forward"):
                    logits = h @ w2
                with g.scope("loss"):
                    loss = dfc.softmax_cross_entropy(logits, labels) * 0.5  # the mean of the means of the halves
                gradients.append(dfc.gradients(loss, [w1, w2]))

        # On the CPU again. dfc inserts every copy: halves in, gradients out, new weights to both GPUs.
        rate = g.parameter("rate", (), 0.25)
        for layer, weight, (first, second) in zip(("fc2", "fc1"), (w2, w1), list(zip(*gradients))[::-1]):
            with g.scope(layer + " sum"):
                total = first + second
            with g.scope(layer + " update"):
                g.assign(weight, weight - total * rate)
        with g.scope("fc1 update"):
            g.assign(rate, rate * 0.99936)
    return g.finish()


def train(session, data, steps):
    batches = dfc.Batches(data, BATCH, seed=1)
    for step in range(steps):
        session.submit(batches.at(step // len(batches), step % len(batches)))
    session.wait_all()
    return session.state()


def main():
    parser = argparse.ArgumentParser(description="one training step over a CPU and two GPUs, on Fashion-MNIST")
    parser.add_argument("--steps", type=int, default=468, help="of 128 images; 468 are an epoch")
    parser.add_argument("--out", type=Path, help="where picture, plan and trace are written")
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="folder of the IDX files")
    parser.add_argument("--backend", default="emulated", help="that plays the GPUs: emulated or cuda")
    arguments = parser.parse_args()
    images = dfc.read_idx(f"{arguments.data}/train-images-idx3-ubyte.gz").reshape(-1, PIXELS)
    labels = dfc.read_idx(f"{arguments.data}/train-labels-idx1-ubyte.gz")
    data = {"images": images.astype(np.float32) / 255, "labels": labels.astype(np.int64)}

    plan = dfc.compile(training_step(), "cpu-2gpu")
    print(f"plan: {len(plan.steps)} steps, {len(plan.transfers)} transfers, predicted {plan.predicted_seconds * 1e6:.0f} us")
    assert len(plan.transfers) == 12, "10 transfers of the figure and 2 halves of the labels"
    session = dfc.Session(plan, gpu_backend=arguments.backend, trace=True)
    print(*session.devices, sep="\n")
    state = train(session, data, arguments.steps)
    trace = session.take_trace()
    print(f"transfers and computation overlapped for {trace.overlap * 1e3:.2f} ms of {trace.makespan * 1e3:.0f} ms")

    if arguments.backend == "emulated":
        one = dfc.open(training_step("cpu0", ("cpu0", "cpu0")), "cpu")
        alone = train(one, data, arguments.steps)
        assert all(np.array_equal(state[name], alone[name]) for name in alone), "the same bits as on one device"
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "figure.svg").write_text(dfc.svg(plan.dot("figure")))
        (arguments.out / "trace.json").write_text(trace.chrome())
        plan.save(arguments.out / "figure.plan")


if __name__ == "__main__":
    main()
