"""The MLP on one GPU in PyTorch: eagerly, compiled, and as a CUDA graph of the whole step."""

import torch

import baseline
from torch_common import batch_on, loss_of, need_gpus, net, set_precision, wait_for_all


def eager_step(model, x, y, loss=loss_of):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss(model, x, y).backward()
        optimizer.step()

    return step


def compiled_step(model, x, y):
    compiled = torch.compile(lambda a, b: loss_of(model, a, b))
    return eager_step(model, x, y, lambda _, a, b: compiled(a, b))


def graph_step(model, x, y):
    step = eager_step(model, x, y)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        step()
    return recorded.replay


def main():
    options = baseline.arguments(__doc__)

    def timed(make, batch):
        need_gpus(1)
        return baseline.timed(make(net(), *batch_on("cuda", batch)), wait_for_all, options.quick)

    for key in options.keys:
        precision, batch = baseline.precision_and_batch(key)
        set_precision(precision)
        baseline.attempt(key, "PyTorch eager", lambda b=batch: timed(eager_step, b))
        baseline.attempt(key, "PyTorch compiled", lambda b=batch: timed(compiled_step, b))
        baseline.attempt(key, "PyTorch CUDA graph", lambda b=batch: timed(graph_step, b))


if __name__ == "__main__":
    main()
