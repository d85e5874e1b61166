"""Products in PyTorch: of a matrix by itself on each GPU, on two at once, and copied to the host."""

import torch

import baseline
from torch_common import need_gpus, wait_for_all


def main():
    options = baseline.arguments(__doc__)
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
        return baseline.timed(step, wait_for_all, options.quick, steps=1)

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
        if key.startswith("products_on_gpu/gpu"):
            x = int(key[len("products_on_gpu/gpu"):])
            baseline.attempt(key, "PyTorch", lambda gpu=x: timed(lambda x=matrix(gpu): run(x)))
        elif key == "products_on_gpus":
            baseline.attempt(key, "PyTorch", both)
        elif key == "drain_to_host/copies":
            baseline.attempt(key, "PyTorch, pinned", copies)
        elif key == "drain_to_host/all":
            baseline.attempt(key, "PyTorch as the book", as_the_book)
            baseline.attempt(key, "PyTorch by hand", by_hand)


if __name__ == "__main__":
    main()
