"""A1 to A3 in PyTorch: 50 products of a matrix by itself on each GPU, on both, and copied to the host."""

import torch

import peer
from torch_common import need_gpus, wait_for_all


def main():
    options = peer.arguments(__doc__)
    torch.backends.cuda.matmul.allow_tf32 = False
    matrices = {}

    def matrix(gpu):
        need_gpus(gpu + 1)
        if gpu not in matrices:
            matrices[gpu] = torch.rand(options.size, options.size, device=f"cuda:{gpu}")
        return matrices[gpu]

    def run(x):
        return [x.mm(x) for _ in range(options.count)]

    def timed(step):
        return peer.timed(step, wait_for_all, options.quick, steps=1)

    def both():
        first, second = matrix(0), matrix(1)
        return timed(lambda: (run(first), run(second)))

    def pinned():
        return [torch.empty(options.size, options.size, pin_memory=True) for _ in range(options.count)]

    def copies():
        results, targets = run(matrix(0)), pinned()
        return timed(lambda: [p.copy_(y, non_blocking=True) for p, y in zip(targets, results)])

    def as_the_book():
        x = matrix(0)
        return timed(lambda: [y.to("cpu", non_blocking=True) for y in run(x)])

    def by_hand():
        x, targets, copier = matrix(0), pinned(), torch.cuda.Stream()

        def step():
            results = []
            for target in targets:
                y = x.mm(x)
                ready = torch.cuda.Event()
                ready.record()
                with torch.cuda.stream(copier):
                    copier.wait_event(ready)
                    target.copy_(y, non_blocking=True)
                results.append(y)
            copier.synchronize()

        return timed(step)

    for key in options.keys:
        if key.startswith("A1/gpu"):
            x = int(key[len("A1/gpu"):])
            peer.attempt(key, "PyTorch", lambda gpu=x: timed(lambda x=matrix(gpu): run(x)))
        elif key == "A2/both":
            peer.attempt(key, "PyTorch", both)
        elif key == "A3/copies":
            peer.attempt(key, "PyTorch, pinned", copies)
        elif key == "A3/all":
            peer.attempt(key, "PyTorch as the book", as_the_book)
            peer.attempt(key, "PyTorch by hand", by_hand)


if __name__ == "__main__":
    main()
