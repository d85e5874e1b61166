"""The MLP and a transformer block on the CPU in PyTorch, eagerly and compiled, with as many threads as dfc. Samples
alternate with those of dfc."""

import argparse
import os
import tempfile

# The cache of torch.compile is of this run alone: a run that was killed leaves broken files in it.
cache = tempfile.TemporaryDirectory()
os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache.name

import torch
from torch import nn
from torch.nn import functional as F

import baseline
from torch_common import batch_on, loss_of, net
from torch_net import compiled_step, eager_step


class Block(nn.Module):
    """x + attention(norm(x)), then x + mlp(norm(x)) with a GELU of tanh form."""

    def __init__(self, width=256, heads=4):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, sequence, width = x.shape
        parts = self.qkv(self.norm1(x)).view(batch, sequence, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, sequence, width))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


def forward_step(model, x, _):
    def step():
        with torch.inference_mode():
            model(x)

    return step


def compiled_forward(model, x, _):
    compiled = torch.compile(model)

    def step():
        with torch.no_grad():
            compiled(x)

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--steps", type=int, default=5, help="steps of a sample")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)

    def both(key, make, made):
        version = torch.__version__.split("+")[0]
        makers = {f"PyTorch {version} eager": lambda: make[0](*made()),
                  f"PyTorch {version} compiled": lambda: make[1](*made())}
        baseline.timed_interleaved(key, makers, options.steps)

    def block():
        batch = 1 if options.quick else 8
        return Block(), torch.randn(batch, 128, 256), torch.randn(batch, 128, 256)

    for key in filter(None, options.keys.split(",")):
        if key.startswith("train/"):
            size = int(key.split("/")[1]) // (8 if options.quick else 1)
            both(key, (eager_step, compiled_step), lambda size=size: (net("cpu"), *batch_on("cpu", size)))
        elif key == "block/forward":
            both(key, (forward_step, compiled_forward), block)
        elif key == "block/train":
            both(key, (eager_step, compiled_step), block)


if __name__ == "__main__":
    main()
