"""Training steps of GPT-2 in PyTorch, eager and compiled, as lesson 6 trains it: pre-norm blocks, tied embeddings, AdamW.

Keys: gpt_training/SIZE/PRECISION/BATCHxCONTEXT, for example gpt_training/124M/bf16/8x1024. Weights and moments are f32; bf16
is autocast. Attention is scaled_dot_product_attention. Feeds are on the GPU already.
"""

import torch
from torch.nn import functional

import baseline
from torch_common import need_gpus, wait_for_all

SIZES = {"small": (2, 4, 64, 256), "124M": (12, 12, 768, 50304)}  # layers, heads, width, vocabulary


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        batch, context, width = x.shape
        q, k, v = (part.view(batch, context, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).split(width, dim=2))
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, context, width))
        return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(torch.nn.Module):
    def __init__(self, layers, heads, width, vocabulary, context):
        super().__init__()
        self.tokens, self.places = torch.nn.Embedding(vocabulary, width), torch.nn.Embedding(context, width)
        self.blocks = torch.nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = torch.nn.LayerNorm(width)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                torch.nn.init.normal_(parameter, std=0.02)

    def logits(self, ids):
        x = self.tokens(ids) + self.places.weight
        for block in self.blocks:
            x = block(x)
        return functional.linear(self.norm(x), self.tokens.weight)

    def forward(self, ids, targets):
        logits = self.logits(ids)
        return functional.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


def measure(key, mode, quick):
    _, size, precision, shape = key.split("/")
    batch, context = map(int, shape.split("x"))
    need_gpus(1)
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("highest" if precision == "f32" else "high")
    layers, heads, width, vocabulary = SIZES[size]
    net = Gpt(layers, heads, width, vocabulary, context).cuda()
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-4, fused=True)
    ids, targets = (torch.randint(vocabulary, (batch, context), device="cuda") for _ in range(2))

    def forward():
        with torch.autocast("cuda", torch.bfloat16, enabled=precision == "bf16"):
            return net(ids, targets)

    forward = torch.compile(forward, mode=mode) if mode else forward

    def step():
        forward().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    torch.cuda.reset_peak_memory_stats()
    result = baseline.timed(step, wait_for_all, quick, steps=10, samples=5)
    return {**result, "bytes": torch.cuda.max_memory_allocated()}


def main():
    options = baseline.arguments(__doc__)
    for key in options.keys:
        for name, mode in (("PyTorch", None), ("PyTorch compiled", "default"), ("PyTorch compiled, CUDA graphs", "reduce-overhead")):
            baseline.attempt(key, f"{name} {torch.__version__}", lambda k=key, m=mode: measure(k, m, options.quick))
            torch._dynamo.reset()
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
