"""Lesson 2: train a two-layer perceptron on Fashion-MNIST, 60,000 + 10,000 real images, on one device; three ways: a
graph written here, the same as a graph file, and a saved plan. All three end with the same parameters.

    python lesson_02_train_mlp.py [--steps N] [--data FOLDER]
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

import dfc

BATCH, PIXELS, HIDDEN, CLASSES = 100, 784, 256, 10


def perceptron(g, images):
    w1 = g.parameter("w1", (PIXELS, HIDDEN), dfc.init.glorot(1))
    b1 = g.parameter("b1", HIDDEN)
    w2 = g.parameter("w2", (HIDDEN, CLASSES), dfc.init.glorot(2))
    b2 = g.parameter("b2", CLASSES)
    x = (images.astype(dfc.float32) - 72.9) * (1 / 90)  # mean and deviation of the training pixels
    return dfc.relu(x @ w1 + b1) @ w2 + b2, [w1, b1, w2, b2]


def training_step():
    g = dfc.Builder("mlp")
    images = g.input("images", (BATCH, PIXELS), dfc.uint8)
    labels = g.input("labels", BATCH, dfc.int64)
    logits, weights = perceptron(g, images)
    loss = dfc.softmax_cross_entropy(logits, labels)
    dfc.momentum(weights, dfc.gradients(loss, weights), rate=0.01, momentum=0.9)
    g.fetch("loss", loss)
    return g.finish()


def evaluation(count):
    g = dfc.Builder("evaluation")
    images = g.input("images", (count, PIXELS), dfc.uint8)
    labels = g.input("labels", count, dfc.int64)
    logits, _ = perceptron(g, images)
    right = dfc.argmax(logits, axis=-1) == labels
    g.fetch("accuracy", right.astype(dfc.float32).mean())
    return g.finish()


def read_images(folder, part):
    """Images as bytes [n, 784] and labels as int64 [n]."""
    images = dfc.read_idx(Path(folder) / f"{part}-images-idx3-ubyte.gz")
    labels = dfc.read_idx(Path(folder) / f"{part}-labels-idx1-ubyte.gz")
    return {"images": images.reshape(-1, PIXELS), "labels": labels.astype(np.int64)}


def train(plan, data, steps):
    """Steps in the file's order, one submitted while the one before runs; with checkpoint= and resume= it could be killed
    and go on."""
    session = dfc.Session(plan)
    trainer = dfc.Trainer(session, steps=steps, feeds=dfc.Batches(data, BATCH))
    trainer.run()
    print(f"loss of the last step: {trainer.last['loss']:.4f}")
    return session


def accuracy(test, trained):
    """Of the test images, by a plan over the same parameters."""
    session = dfc.open(evaluation(len(test["labels"])), "cpu", session={"state": trained})
    return float(session.run(test)["accuracy"])


def main():
    parser = argparse.ArgumentParser(description="train a two-layer perceptron on Fashion-MNIST, three ways")
    parser.add_argument("--steps", type=int, default=6000, help="of 100 images; 600 are an epoch")
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="folder of the IDX files")
    arguments = parser.parse_args()
    training, test = read_images(arguments.data, "train"), read_images(arguments.data, "t10k")

    graph = training_step()
    ways = {"the graph": train(dfc.compile(graph, "cpu"), training, arguments.steps)}
    with tempfile.TemporaryDirectory() as folder:
        graph.save(f"{folder}/mlp.dfg")
        read = dfc.read_graph(f"{folder}/mlp.dfg")
        ways["a graph file"] = train(dfc.compile(read, "cpu"), training, arguments.steps)
        dfc.compile(graph, "cpu").save(f"{folder}/mlp.plan")
        ways["a saved plan"] = train(dfc.Plan.load(f"{folder}/mlp.plan"), training, arguments.steps)

    reached = {way: accuracy(test, trained) for way, trained in ways.items()}
    for way, part in reached.items():
        print(f"{way + ':':15} {100 * part:.2f} % of the {len(test['labels'])} test images")
    first, *others = (trained.state() for trained in ways.values())
    for other in others:
        assert all(np.array_equal(first[name], other[name]) for name in first), "the same parameters, bit for bit"
    if arguments.steps >= 6000:
        assert reached["the graph"] >= 0.871, "better than the 87.1 % that the data set's own benchmark has for an MLP"


if __name__ == "__main__":
    main()
