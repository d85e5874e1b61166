"""Tiny adds in PyTorch: eagerly, with a barrier after each, and as one CUDA graph."""

import torch

import baseline
from torch_common import need_gpus, wait_for_all


def main():
    options = baseline.arguments(__doc__)
    start = None

    def ones():
        nonlocal start
        need_gpus(1)
        start = torch.ones(1, 2, device="cuda:0") if start is None else start
        return start

    def timed(step):
        return baseline.timed(step, wait_for_all, options.quick, steps=5)

    def eager():
        x = ones()

        def step():
            y = x
            for _ in range(options.count):
                y = y + 1

        return timed(step)

    def barrier():
        x = ones()

        def step():
            y = x
            for _ in range(options.count):
                y = y + 1
                torch.cuda.synchronize()

        return timed(step)

    def graph():
        x, recorded = ones(), torch.cuda.CUDAGraph()
        wait_for_all()
        with torch.cuda.graph(recorded):
            y = x
            for _ in range(options.count):
                y = y + 1
        return timed(recorded.replay)

    for key in options.keys:
        if key == "stepwise_adds/back_to_back":
            baseline.attempt(key, "PyTorch eager", eager)
        elif key == "stepwise_adds/barrier":
            baseline.attempt(key, "PyTorch eager", barrier)
        elif key == "dependent_adds":
            baseline.attempt(key, "PyTorch CUDA graph", graph)


if __name__ == "__main__":
    main()
