"""Shared by the scripts with PyTorch that torchrun starts once for each GPU: processes that do the same, and one that reports."""

import os

import torch
import torch.distributed as dist

import baseline


def join():
    """This process's rank, which is its GPU's number."""
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    return rank


def wait():
    torch.cuda.synchronize()
    dist.barrier()


def part_of(batch):
    """The windows or images of one process."""
    parts = dist.get_world_size()
    if batch % parts:
        raise RuntimeError(f"a batch of {batch} does not divide among {parts} processes")
    return batch // parts


def attempt(key, program, rank, measure):
    """`measure` in every process; the first one prints its result, or the reason why there is none. Processes that fail alone
    would leave the others waiting, so one failure fails them all."""
    result, reason = None, None
    try:
        result = measure()
    except Exception as error:
        reason = error
    failed = torch.tensor([reason is not None], dtype=torch.int32, device="cuda")
    dist.all_reduce(failed)
    if rank == 0 and failed.item():
        baseline.report_failure(key, program, reason or RuntimeError("another process failed"))
    elif rank == 0:
        baseline.report(key, program, **result)
    torch._dynamo.reset()
    torch.cuda.empty_cache()


def timed_training(step, quick):
    """Ten steps a sample, as on one GPU, and the most bytes that the first GPU held."""
    torch.cuda.reset_peak_memory_stats()
    result = baseline.timed(step, wait, quick, steps=10, samples=5, before=wait)
    return {**result, "bytes": torch.cuda.max_memory_allocated()}
