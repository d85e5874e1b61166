"""Training steps of GPT-2 on several GPUs in PyTorch, compiled, one process each (torchrun): DistributedDataParallel and FSDP2.

Keys: gpt_on_gpus/SIZE/PRECISION/BATCHxCONTEXT, the batch of all GPUs, for example gpt_on_gpus/124M/bf16/16x1024. The model, its
optimiser and its precision are those of torch_gpt.py; FSDP2 casts parameters to bf16 before it gathers them.
"""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel

import baseline
import torch_processes
from torch_gpt import SIZES, Gpt


def ddp(net, rank, precision):
    return DistributedDataParallel(net, device_ids=[rank], gradient_as_bucket_view=True)


def fsdp(net, rank, precision):
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16 if precision == "bf16" else None, reduce_dtype=torch.float32)
    for block in net.blocks:
        fully_shard(block, mp_policy=policy)
    return fully_shard(net, mp_policy=policy)


def measure(key, wrap, rank, quick):
    _, size, precision, shape = key.split("/")
    batch, context = map(int, shape.split("x"))
    torch.manual_seed(rank)
    torch.set_float32_matmul_precision("highest" if precision == "f32" else "high")
    layers, heads, width, vocabulary = SIZES[size]
    net = wrap(Gpt(layers, heads, width, vocabulary, context).cuda(), rank, precision)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-4, fused=True)
    ids, targets = (torch.randint(vocabulary, (torch_processes.part_of(batch), context), device="cuda") for _ in range(2))
    compiled = torch.compile(net)

    def step():
        with torch.autocast("cuda", torch.bfloat16, enabled=precision == "bf16" and wrap is ddp):
            loss = compiled(ids, targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return torch_processes.timed_training(step, quick)


def main():
    options = baseline.arguments(__doc__)
    rank = torch_processes.join()
    for key in options.keys:
        for name, wrap in (("DDP", ddp), ("FSDP2", fsdp)):
            torch_processes.attempt(key, f"PyTorch compiled, {name} {torch.__version__}", rank,
                                    lambda k=key, w=wrap: measure(k, w, rank, options.quick))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
