"""The MLP on several GPUs in PyTorch, one process each (torchrun): DistributedDataParallel, and the step with NCCL in a
CUDA graph. Every process does the same in the same order; the first one prints."""

import torch
import torch.distributed as dist

import baseline
import torch_processes
from torch_common import batch_on, loss_of, net, set_precision


def ddp_step(model, x, y):
    wrapped = torch.nn.parallel.DistributedDataParallel(model, device_ids=[x.device.index], gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=1e-3, foreach=True)

    def step():
        optimizer.zero_grad(set_to_none=False)
        loss_of(wrapped, x, y).backward()
        optimizer.step()

    return step


def graph_step(model, x, y):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=True)
    parts = dist.get_world_size()

    def body():
        optimizer.zero_grad(set_to_none=False)
        (loss_of(model, x, y) / parts).backward()
        with dist._coalescing_manager(device=x.device):  # one NCCL group for all parameters
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
        optimizer.step()

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(5):
            body()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        body()
    return recorded.replay


def main():
    options = baseline.arguments(__doc__)
    rank = torch_processes.join()
    wait = torch_processes.wait

    def measure(make, batch):
        x, y = batch_on(f"cuda:{rank}", torch_processes.part_of(batch))
        return baseline.timed(make(net(f"cuda:{rank}"), x, y), wait, options.quick, before=wait)

    for key in options.keys:
        precision, batch = baseline.precision_and_batch(key)
        set_precision(precision)
        for program, make in (("PyTorch DDP", ddp_step), ("PyTorch CUDA graph + NCCL", graph_step)):
            result = measure(make, batch)
            if rank == 0:
                baseline.report(key, program, **result)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
