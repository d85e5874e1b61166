"""Training steps of a ResNet on several GPUs in PyTorch, compiled, one process each (torchrun), with DistributedDataParallel:
each process's norms have the statistics of its own images, and with SyncBatchNorm those of all, as in dfc and JAX.

Keys: resnet_on_gpus/DEPTH/PRECISION/BATCHxIMAGE, the batch of all GPUs, for example resnet_on_gpus/50/bf16/128x224. The model and
its feeds are those of torch_resnet.py.
"""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import torch_processes
import torch_resnet
from torch_common import set_precision


def step_of(options, rank, synchronised):
    layout = torch.channels_last if options.layout == "channels_last" else torch.contiguous_format
    net = torch_resnet.Resnet(options.depth, options.width, options.image, options.channels, options.classes)
    net = nn.SyncBatchNorm.convert_sync_batchnorm(net) if synchronised else net
    net = net.to("cuda").to(memory_format=layout).train()
    net = DistributedDataParallel(net, device_ids=[rank], gradient_as_bucket_view=True, broadcast_buffers=False)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-4, fused=True)
    feed = torch_resnet.feed_of(options)
    compiled = torch.compile(net)

    def step():
        with torch.autocast("cuda", torch.bfloat16, enabled=options.precision == "bf16"):
            loss = compiled(*feed())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def measure(options, rank, synchronised):
    torch.manual_seed(rank)
    set_precision(options.precision)
    torch.backends.cudnn.allow_tf32 = options.precision == "tf32"
    torch.backends.cudnn.benchmark = True
    options = argparse.Namespace(**{**vars(options), "batch": torch_processes.part_of(options.batch)})
    return torch_processes.timed_training(step_of(options, rank, synchronised), options.quick)


def main():
    options = torch_resnet.arguments()
    rank = torch_processes.join()
    for key in filter(None, options.keys.split(",")):
        for name, synchronised in (("DDP", False), ("DDP, SyncBatchNorm", True)):
            torch_processes.attempt(key, f"PyTorch compiled, {name} {torch.__version__}", rank,
                                    lambda k=key, s=synchronised: measure(torch_resnet.with_key(options, k), rank, s))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
