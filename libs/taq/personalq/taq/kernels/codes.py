"""Codes of layer inputs."""

from __future__ import annotations

import torch
from torch import Tensor

from personalq.taq import native
from personalq.taq.kernels.registry import is_native_allowed
from personalq.taq.quantizers import TINY
from personalq.taq.scheme import InputGrid, RowGrids


def quantize_input(x: Tensor, grid: InputGrid) -> Tensor:
    """Return the codes of `x` as uint8: clip(round(x / s) + z, 0, 2^b − 1), x equalized first.

    Ties go upwards.
    """
    if is_native_allowed() and native.supports_quantize(x, grid.factors):
        factors = None if grid.factors is None else grid.factors.flatten()
        return native.quantize(
            x, factors, scale=grid.scale, zero_point=grid.zero_point, bits=grid.bits
        )
    if grid.factors is not None:
        x = x * grid.factors
    # The conversion to uint8 truncates, so that adding z + ½ first rounds.
    offset = x.new_full((), grid.zero_point + 0.5, dtype=torch.float32)
    codes = torch.add(offset, x.float(), alpha=1.0 / grid.scale)
    return codes.clamp_(0, 2**grid.bits - 1).to(torch.uint8)


def quantize_rows(x: Tensor, grids: RowGrids) -> tuple[Tensor, Tensor]:
    """Return the codes of x (…, in), uint8, and the scale of each of its rows (…, 1), float32.

    A row's scale reaches its largest magnitude: s = max |x| / (2^(b−1) − 1), x equalized first;
    codes are floor(x / s + z + ½), z = 2^(b−1).
    """
    x = x.contiguous()
    if is_native_allowed() and native.supports_quantize(x, grids.factors):
        return native.quantize_rows(x, grids.factors, bits=grids.bits)
    values = x.float() if grids.factors is None else x.float() * grids.factors
    scale = row_scale(values, grids)
    return (values / scale).add_(grids.zero_point + 0.5).to(torch.uint8), scale


def row_scale(values: Tensor, grids: RowGrids) -> Tensor:
    """Return the scale of each row (…, 1) of equalized values (…, in), float32."""
    most = values.abs().amax(-1, keepdim=True).float()
    return most.div_(grids.zero_point - 1).clamp_(min=TINY)
