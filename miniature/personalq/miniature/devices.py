"""The device that trainings and the sampler run on: a GPU where there is one."""

from __future__ import annotations

import torch


def device() -> torch.device:
    """CUDA if it is there, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def autocast() -> torch.autocast:
    """Mixed precision in bf16 on that device."""
    return torch.autocast(device().type, torch.bfloat16)
