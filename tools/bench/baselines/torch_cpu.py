"""The MLP, a transformer block, GPT-2 and a ResNet on the CPU in PyTorch, eagerly and compiled, with as many threads as dfc. Samples
alternate with those of dfc."""

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
from torch_gpt import Gpt
from torch_net import compiled_step, eager_step
from torch_resnet import Resnet


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


def gpt(quick):
    """A model and its feeds, of the sizes that dfc-bench has for train/gpt/4x256."""
    layers, heads, width, vocabulary, context, batch = (2, 4, 64, 256, 32, 2) if quick else (6, 6, 384, 512, 256, 4)
    ids, targets = (torch.randint(vocabulary, (batch, context)) for _ in range(2))
    return Gpt(layers, heads, width, vocabulary, context), (ids, targets)


def resnet(quick):
    """The same of train/resnet18/8x112; in channels_last, which is the faster layout."""
    width, image, classes, batch = (8, 32, 10, 2) if quick else (64, 112, 1000, 8)
    model = Resnet(18, width, image, 3, classes).to(memory_format=torch.channels_last)
    images = torch.randint(256, (batch, 3, image, image), dtype=torch.uint8).contiguous(memory_format=torch.channels_last)
    return model, (images, torch.randint(classes, (batch,)))


OPTIMIZERS = {Gpt: lambda p: torch.optim.AdamW(p, lr=6e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True),
              Resnet: lambda p: torch.optim.SGD(p, lr=1e-3, momentum=0.9, weight_decay=1e-4, fused=True)}


def training_step(model, feeds, compiled):
    optimizer = OPTIMIZERS[type(model)](model.parameters())
    loss = torch.compile(model) if compiled else model

    def step():
        loss(*feeds).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def inference_step(model, feeds, compiled):
    model.eval()
    logits = torch.compile(model.logits) if compiled else model.logits
    without_gradients = torch.no_grad if compiled else torch.inference_mode

    def step():
        with without_gradients():
            logits(feeds[0])

    return step


def eager_and_compiled(make_step, make, quick):
    return [lambda compiled=compiled: make_step(*make(quick), compiled) for compiled in (False, True)]


def main():
    options = baseline.cpu_arguments(__doc__)
    torch.set_num_threads(options.threads)

    version = torch.__version__.split("+")[0]

    def run(key, makers):
        named = {f"PyTorch {version} eager": makers[0], f"PyTorch {version} compiled": makers[1]}
        baseline.timed_interleaved(key, named, options.steps)

    def both(key, make, made):
        run(key, [lambda: make[0](*made()), lambda: make[1](*made())])

    def block():
        batch = 1 if options.quick else 8
        return Block(), torch.randn(batch, 128, 256), torch.randn(batch, 128, 256)

    for key in options.keys:
        kind, name = key.split("/")[:2]
        if name in ("gpt", "resnet18"):
            make_step = training_step if kind == "train" else inference_step
            run(key, eager_and_compiled(make_step, gpt if name == "gpt" else resnet, options.quick))
        elif kind == "train":
            size = int(key.split("/")[1]) // (8 if options.quick else 1)
            both(key, (eager_step, compiled_step), lambda size=size: (net("cpu"), *batch_on("cpu", size)))
        elif key == "block/forward":
            both(key, (forward_step, compiled_forward), block)
        elif key == "block/train":
            both(key, (eager_step, compiled_step), block)


if __name__ == "__main__":
    main()
