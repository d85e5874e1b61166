"""The MLP on two GPUs of one process, by hand: gradients summed on the first GPU, or on the CPU."""

import torch

import baseline
from torch_common import net, need_gpus, set_precision, wait_for_all


class Pair:
    """Two replicas with the same weights, each with half of the batch on its GPU."""

    def __init__(self, batch):
        need_gpus(2)
        self.batch = batch
        self.models = [net(f"cuda:{gpu}") for gpu in range(2)]
        self.xs = [torch.randn(batch // 2, 512, device=f"cuda:{gpu}") for gpu in range(2)]
        self.ys = [torch.randn(batch // 2, 1, device=f"cuda:{gpu}") for gpu in range(2)]
        with torch.no_grad():
            for own, other in self.parameters():
                other.copy_(own)

    def parameters(self):
        return list(zip(*(model.parameters() for model in self.models)))

    def backward(self, gpu):
        model = self.models[gpu]
        for parameter in model.parameters():
            parameter.grad = None
        (((model(self.xs[gpu]) - self.ys[gpu]) ** 2).sum() / self.batch).backward()


def on_the_first_gpu(pair):
    def step():
        pair.backward(0)
        pair.backward(1)
        with torch.no_grad():
            for own, other in pair.parameters():
                own -= 1e-3 * (own.grad + other.grad.to("cuda:0", non_blocking=True))
                other.copy_(own, non_blocking=True)

    return step


def on_the_cpu(pair):
    weights = [parameter.detach().cpu().pin_memory() for parameter in pair.models[0].parameters()]
    buffers = [[torch.empty_like(weight).pin_memory() for weight in weights] for _ in range(2)]

    def step():
        for gpu in range(2):
            pair.backward(gpu)
            for buffer, parameter in zip(buffers[gpu], pair.models[gpu].parameters()):
                buffer.copy_(parameter.grad, non_blocking=True)
        wait_for_all()
        for weight, first, second in zip(weights, *buffers):
            weight.sub_(first.add_(second), alpha=1e-3)
        with torch.no_grad():
            for model in pair.models:
                for parameter, weight in zip(model.parameters(), weights):
                    parameter.copy_(weight, non_blocking=True)

    return step


def main():
    options = baseline.arguments(__doc__)

    def timed(make, batch, steps):
        return baseline.timed(make(Pair(batch)), wait_for_all, options.quick, steps=steps)

    for key in options.keys:
        if key.startswith("update_on_cpu/mlp/"):
            set_precision("f32")
            batch = int(key.split("/")[-1])
            baseline.attempt(key, "PyTorch by hand", lambda b=batch: timed(on_the_cpu, b, 20))
        else:
            precision, batch = baseline.precision_and_batch(key)
            set_precision(precision)
            baseline.attempt(key, "PyTorch by hand", lambda b=batch: timed(on_the_first_gpu, b, 50))


if __name__ == "__main__":
    main()
