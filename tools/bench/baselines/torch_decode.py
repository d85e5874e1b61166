"""Decoding with GPT-2 in PyTorch, a token a step, with a static cache of keys and values: compiled, and compiled with CUDA graphs.

Keys: gpt_decode/SIZE/ELEMENT/1xCONTEXT, for example gpt_decode/124M/bf16/1x1024; weights and caches have the element type. The
next token is drawn on the GPU from softmax(logits), by the largest of p / exponential noise, and stays there.
"""

import torch
from torch.nn import functional

import baseline
from torch_common import need_gpus, wait_for_all
from torch_gpt import SIZES, Gpt


class Decoder(torch.nn.Module):
    def __init__(self, net, context, element):
        super().__init__()
        self.net = net
        heads, width = net.blocks[0].heads, net.norm.weight.numel()
        shape, device = (1, heads, context, width // heads), net.norm.weight.device
        for i in range(len(net.blocks)):
            for kind in ("keys", "values"):
                self.register_buffer(f"{kind}{i}", torch.zeros(shape, dtype=element, device=device))
        self.register_buffer("rows", torch.arange(context, device=device))
        self.head = torch.nn.Linear(width, net.tokens.num_embeddings, bias=False, device=device, dtype=element)
        self.head.weight = net.tokens.weight

    def attention(self, i, block, x, position, seen):
        q, k, v = (part.view(1, block.heads, 1, -1) for part in block.qkv(x).split(x.shape[-1], dim=-1))
        keys, values = getattr(self, f"keys{i}"), getattr(self, f"values{i}")
        keys.index_copy_(2, position, k)
        values.index_copy_(2, position, v)
        return block.out(functional.scaled_dot_product_attention(q, keys, values, attn_mask=seen).reshape(1, -1))

    def forward(self, token, position):
        seen = (self.rows <= position).view(1, 1, 1, -1)
        x = self.net.tokens(token) + self.net.places(position)
        for i, block in enumerate(self.net.blocks):
            x = x + self.attention(i, block, block.norm1(x), position, seen)
            x = x + block.down(functional.gelu(block.up(block.norm2(x)), approximate="tanh"))
        logits = self.head(self.net.norm(x)).float()
        p = torch.softmax(logits, dim=-1)
        return torch.argmax(p / torch.empty_like(p).exponential_(1), dim=-1)


def step_of(key, mode):
    _, size, element, shape = key.split("/")
    context = int(shape.split("x")[1])
    need_gpus(1)
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("highest")
    layers, heads, width, vocabulary = SIZES[size]
    element = {"f32": torch.float32, "bf16": torch.bfloat16}[element]
    net = Gpt(layers, heads, width, vocabulary, context).cuda().to(element).eval()
    forward = torch.compile(Decoder(net, context, element), mode=mode, fullgraph=True)
    token, position = torch.zeros(1, dtype=torch.long, device="cuda"), torch.zeros(1, dtype=torch.long, device="cuda")

    def step():
        token.copy_(forward(token, position))
        position.add_(1)
        position.remainder_(context)

    return step


def with_graph_of_model(key, quick):
    """PyTorch's own CUDA graphs, of what is compiled."""
    one = step_of(key, "reduce-overhead")

    def step():
        with torch.no_grad():
            torch.compiler.cudagraph_mark_step_begin()
            one()

    return baseline.timed(step, wait_for_all, quick, steps=100)


def with_graph_of_step(key, quick):
    """The whole step as one CUDA graph, with what it leaves for the next one: no call of Python between kernels."""
    step, graph, stream = step_of(key, "max-autotune-no-cudagraphs"), torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.no_grad():
        with torch.cuda.stream(stream):
            for _ in range(5):
                step()
        torch.cuda.current_stream().wait_stream(stream)
        with torch.cuda.graph(graph):
            step()
    return baseline.timed(graph.replay, wait_for_all, quick, steps=100)


def main():
    options = baseline.arguments(__doc__)
    ways = {"one CUDA graph": with_graph_of_step, "CUDA graphs": with_graph_of_model}
    for key in options.keys:
        for name, measure in ways.items():
            baseline.attempt(key, f"PyTorch compiled, {name} {torch.__version__}", lambda k=key, m=measure: m(k, options.quick))
            torch._dynamo.reset()
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
