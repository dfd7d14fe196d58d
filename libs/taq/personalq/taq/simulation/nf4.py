"""NF4: 4-bit codes at quantiles of a normal distribution, one scale per block of 64 weights.

Dettmers et al., QLoRA (2023), Section 3 and Appendix E: eight codes on the positive side and
eight on the negative, zero exactly representable.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

BLOCK = 64
OFFSET = 0.9677083  # of the outermost quantile, from QLoRA


@cache
def levels() -> Tensor:
    """Return the 16 values of the codes in [−1, 1], ascending."""
    positive = torch.special.ndtri(torch.linspace(OFFSET, 0.5, 9)[:-1])
    negative = -torch.special.ndtri(torch.linspace(OFFSET, 0.5, 8)[:-1])
    values = torch.cat([negative, torch.zeros(1), positive])
    return (values / values.abs().max()).sort().values


def nf4(weight: Tensor) -> Tensor:
    """Return Ŵ of any shape: blocks of 64 consecutive weights, each scaled by its largest."""
    flat = weight.detach().float().flatten()
    padded = torch.nn.functional.pad(flat, (0, -len(flat) % BLOCK)).view(-1, BLOCK)
    scale = padded.abs().amax(-1, keepdim=True).clamp(min=torch.finfo(torch.float32).tiny)
    values = levels().to(flat.device)
    middles = (values[1:] + values[:-1]) / 2
    rounded = values[torch.bucketize(padded / scale, middles)] * scale
    return rounded.flatten()[: len(flat)].view_as(weight)
