"""Shared by the scripts with PyTorch: the MLP, waiting for all GPUs, precision."""

import torch
from torch import nn


def wait_for_all():
    for device in range(torch.cuda.device_count()):
        torch.cuda.synchronize(device)


def need_gpus(count):
    if torch.cuda.device_count() < count:
        raise RuntimeError(f"PyTorch {torch.__version__} sees {torch.cuda.device_count()} CUDA devices, {count} are needed")


def set_precision(precision):
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"


def net(device="cuda"):
    """Dense 512 -> 2048 ReLU -> 512 ReLU -> 1, with biases."""
    return nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512), nn.ReLU(), nn.Linear(512, 1)).to(device)


def batch_on(device, size):
    return torch.randn(size, 512, device=device), torch.randn(size, 1, device=device)


def loss_of(model, x, y):
    return ((model(x) - y) ** 2).mean()
