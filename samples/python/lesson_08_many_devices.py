"""Lesson 8: the training step of lesson 6, written for one device, on many: dfc cuts its ops and parameters into parts for
two GPUs and for eight.

The GPUs are emulated by threads of the CPU, each with an address space of its own. The losses are those of one device but
for the order of sums; state is the author's, whoever holds the parts, so that training which two devices began goes on
with eight or with one.

    python lesson_08_many_devices.py [--steps N]
"""

import argparse

import numpy as np

import dfc
import gpt

SIZES, TRAINING = gpt.Sizes(layers=2, heads=4, width=64, context=64), gpt.Training(batch=16)


def emulated(plan, state=None):
    session = dfc.Session(plan, gpu_backend="emulated")
    if state is not None:
        session.set_state(state)
    return session


def check_same(losses, others, what):
    miss = np.max(np.abs(np.subtract(losses, others)) / losses)
    print(f"losses of {what} differ by {miss:.2g} of them at most")
    assert miss < 1e-4, f"the losses of {what} are the same within 1e-4"


def gpus_of(plan):
    """How many GPUs hold parameters."""
    return sum(row.resident_bytes > 0 for row in plan.memory if row.device.startswith("gpu"))


def main():
    parser = argparse.ArgumentParser(description="one training step of a small GPT on one, two and eight devices")
    parser.add_argument("--steps", type=int, default=20, help="of training before and after the change of devices")
    steps = parser.parse_args().steps

    # One graph; the devices are the compiler's to choose: the best split of all, or one in which the batch is cut over
    # all GPUs.
    graph = gpt.training_step(SIZES, TRAINING)
    one = dfc.compile(graph, "cpu-2gpu", policy="single")
    over_two = dfc.explain(graph, "cpu-2gpu", policy="split", changes=False)
    over_eight = dfc.explain(graph, "cpu-8gpu-nvlink", policy="split", splits=[("tokens", 0, "gpu*")], changes=False)
    print(over_two, over_eight, sep="\n")
    two, eight = over_two.plan, over_eight.plan
    assert gpus_of(two) == 2 and gpus_of(eight) == 8, "the plans are over two and over eight devices"

    text = gpt.read_text()

    def losses(session):
        return gpt.train(session, text, SIZES, TRAINING, steps)

    alone = losses(emulated(one))
    session = emulated(two)
    on_two = losses(session)
    assert alone[-1] < alone[0], "the model learns"
    check_same(alone, on_two, "two devices")
    assert losses(emulated(two)) == on_two, "a second run on two devices gives the same bits"
    check_same(alone, losses(emulated(eight)), "eight devices")

    # The parts of a parameter are joined, and cut anew, under the author's names.
    state = session.state()
    further = losses(session)
    check_same(further, losses(emulated(eight, state)), "eight devices that go on where two ended")
    check_same(further, losses(emulated(one, state)), "one device that goes on where two ended")


if __name__ == "__main__":
    main()
