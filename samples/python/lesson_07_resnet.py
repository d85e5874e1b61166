"""Lesson 7: a residual network of 18 layers (He et al. 2016), trained on Fashion-MNIST, and test images classified by the
running statistics of its batch norms. Parameters have the names of torchvision's weights.

    python lesson_07_resnet.py [--steps N] [--width N] [--batch N] [--data FOLDER]
"""

import argparse
import math

import numpy as np

import dfc

BLOCKS, IMAGE, CLASSES, KEPT = (2, 2, 2, 2), 28, 10, 0.9


class Model:
    def __init__(self, g, width, training):
        self.g, self.width, self.training, self.weights = g, width, training, []

    def logits(self, images):
        """images: [batch, 1, 28, 28]; result: [batch, classes]."""
        with self.g.scope("stem"):
            x = dfc.relu(self.norm("bn1", self.convolution("conv1", images, self.width, 3)))
        for stage, count in enumerate(BLOCKS):
            for i in range(count):
                name = f"layer{stage + 1}.{i}"
                with self.g.scope(name):
                    x = self.block(name, x, self.width << stage, 2 if stage > 0 and i == 0 else 1)
        with self.g.scope("head"):
            means = x.mean((2, 3))
            w = self.weight("fc.weight", (CLASSES, means.shape[1]), dfc.init.normal(0, 0.01, len(self.weights)))
            return dfc.matmul(means, w, transpose_b=True) + self.weight("fc.bias", CLASSES, 0)

    def weight(self, name, shape, start):
        self.weights.append(self.g.parameter(name, shape, start))
        return self.weights[-1]

    def convolution(self, name, x, to, size, stride=1):
        filter = self.weight(name + ".weight", (to, x.shape[1], size, size), dfc.init.he_normal(len(self.weights)))
        around = [size // 2] * 2
        return dfc.conv2d(x, filter, strides=[stride] * 2, low=around, high=around)

    def norm(self, name, x):
        channels = x.shape[1]
        scale, bias = self.weight(name + ".weight", channels, 1), self.weight(name + ".bias", channels, 0)
        mean = self.g.parameter(name + ".running_mean", channels)
        variance = self.g.parameter(name + ".running_var", channels, 1)
        if not self.training:
            return dfc.batch_norm(x, scale, bias, mean, variance)
        result, batch_mean, batch_variance = dfc.batch_norm_training(x, scale, bias)
        n = math.prod(x.shape) // channels
        self.follow(mean, batch_mean)
        self.follow(variance, batch_variance * (n / (n - 1)))  # unbiased: of the distribution, not of the batch
        return result

    def follow(self, running, now):
        self.g.assign(running, running * KEPT + now * (1 - KEPT))

    def block(self, name, x, channels, stride):
        """relu(f(x) + x), where x takes a 1x1 convolution if f changes its shape."""
        h = dfc.relu(self.norm(name + ".bn1", self.convolution(name + ".conv1", x, channels, 3, stride)))
        h = self.norm(name + ".bn2", self.convolution(name + ".conv2", h, channels, 3))
        if stride > 1 or x.shape[1] != channels:
            x = self.norm(name + ".downsample.1", self.convolution(name + ".downsample.0", x, channels, 1, stride))
        return dfc.relu(h + x)


def feeds(g, batch):
    labels = g.input("labels", batch, dfc.int64)
    images = g.input("images", (batch, 1, IMAGE, IMAGE), dfc.uint8)
    return (images.astype(dfc.float32) - 72.9) * (1 / 90), labels  # mean and deviation of the training pixels


def training_step(width, batch, rate=0.02):
    g = dfc.Builder("resnet18 training")
    pixels, labels = feeds(g, batch)
    model = Model(g, width, training=True)
    loss = dfc.softmax_cross_entropy(model.logits(pixels), labels)
    d = dfc.gradients(loss, model.weights)
    with g.scope("sgd"):
        dfc.momentum(model.weights, d, rate, 0.9, weight_decay=1e-4)
    g.fetch("loss", loss)
    return g.finish()


def evaluation(width, batch):
    g = dfc.Builder("resnet18 evaluation")
    pixels, labels = feeds(g, batch)
    right = dfc.argmax(Model(g, width, training=False).logits(pixels), axis=-1) == labels
    g.fetch("right", right.astype(dfc.float32).sum())
    return g.finish()


def read_images(folder, part):
    images = dfc.read_idx(f"{folder}/{part}-images-idx3-ubyte.gz")
    return {"images": images[:, None], "labels": dfc.read_idx(f"{folder}/{part}-labels-idx1-ubyte.gz").astype(np.int64)}


def main():
    parser = argparse.ArgumentParser(description="train a ResNet on Fashion-MNIST and classify test images")
    parser.add_argument("--steps", type=int, default=120, help="of training")
    parser.add_argument("--width", type=int, default=16, help="channels of the first stage")
    parser.add_argument("--batch", type=int, default=32, help="images in a step")
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="folder of the IDX files")
    arguments = parser.parse_args()
    batch = arguments.batch
    train = dfc.Batches(read_images(arguments.data, "train"), batch, seed=1)
    test = dfc.Batches(read_images(arguments.data, "t10k"), batch)

    session = dfc.open(training_step(arguments.width, batch), policy="single")
    losses = [float(session.run(train.at(step // len(train), step % len(train)))["loss"]) for step in range(arguments.steps)]
    print(f"loss: {losses[0]:.3f} at first, {np.mean(losses[-5:]):.3f} in the end")

    judge = dfc.open(evaluation(arguments.width, batch), policy="single")
    state = session.state()
    judge.set_state({row.name: state[row.name] for row in judge.parameters})
    count = min(len(test), 20)
    right = sum(float(judge.run(test.at(0, i))["right"]) for i in range(count))
    print(f"{100 * right / (count * batch):.1f} % of {count * batch} test images")
    if arguments.steps >= 120 and arguments.width >= 16:
        assert np.mean(losses[-5:]) < losses[0] / 2 and right > 0.6 * count * batch, "the model learns"


if __name__ == "__main__":
    main()
