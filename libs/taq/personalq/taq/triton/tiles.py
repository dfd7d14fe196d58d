"""What both kernels have in common: quantize, unpack and rescale a block; start on all blocks."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from personalq.taq.scheme import InputGrid
from personalq.taq.triton.weights import SHIFT, TritonWeights

_SHIFT = tl.constexpr(SHIFT)
_INTERPRETED = triton.knobs.runtime.interpret

#: The interpreter takes each block in turn, in numpy: small ones let small tests have several.
CONFIGS = (
    [triton.Config({"block_m": 32, "block_n": 16, "block_k": 32})]
    if _INTERPRETED
    else [
        triton.Config({"block_m": 128, "block_n": 128, "block_k": 64}, num_warps=8, num_stages=3),
        triton.Config({"block_m": 128, "block_n": 64, "block_k": 64}, num_warps=4, num_stages=4),
        triton.Config({"block_m": 64, "block_n": 128, "block_k": 64}, num_warps=4, num_stages=4),
        triton.Config({"block_m": 32, "block_n": 64, "block_k": 128}, num_warps=4, num_stages=4),
    ]
)


@triton.jit
def quantized(
    x: tl.tensor,
    factors_ptr: tl.tensor,
    k: tl.tensor,
    depth: tl.tensor,
    inverse_scale: tl.tensor,
    offset: tl.tensor,
    top: tl.tensor,
) -> tl.tensor:
    """Return the codes of x (m, k) minus 128, int8, as `kernels.quantize_input` rounds them.

    Args:
        x: values of any float dtype, 0 where there are none: their code is the zero point.
        factors_ptr: float32 (depth) or None: they multiply the input channels first.
        k: input channels of the block's columns.
        depth: how many input channels there are.
        inverse_scale: 1 / s, or (m, 1) of them.
        offset: z + ½, so that truncation rounds, ties upwards.
        top: the highest code.
    """
    x = x.to(tl.float32)
    if factors_ptr is not None:
        x *= tl.load(factors_ptr + k, mask=k < depth, other=0.0)[None, :]
    codes = tl.minimum(tl.maximum(x * inverse_scale + offset, 0.0), top)
    return (codes.to(tl.int32) - _SHIFT).to(tl.int8)


@triton.jit
def weight_tile(
    row_ptr: tl.tensor,
    zero_point_ptr: tl.tensor,
    n: tl.tensor,
    columns: tl.tensor,
    start: tl.tensor,
    depth: tl.tensor,
    block_k: tl.constexpr,
) -> tl.tensor:
    """Return w_q − z_w of inputs start … start + block_k, int8 (block_k, n), 0 beyond the edges.

    Args:
        row_ptr: where the codes of each output channel begin (n).
        zero_point_ptr: int8 by output channel, or None: the codes have 8 bits.
        n: output channels of the block.
        columns: how many output channels there are.
        start: first input channel, even.
        depth: how many input channels there are.
        block_k: how many of them to return.
    """
    k = start + tl.arange(0, block_k)
    inside = (n < columns)[:, None] & (k < depth)[None, :]
    if zero_point_ptr is None:
        codes = tl.load(row_ptr[:, None] + k[None, :], mask=inside, other=0)
    else:
        byte = start // 2 + tl.arange(0, block_k // 2)
        held = (n < columns)[:, None] & (byte < (depth + 1) // 2)[None, :]
        pair = tl.load(row_ptr[:, None] + byte[None, :], mask=held, other=0)
        codes = tl.interleave(pair & 0x0F, pair >> 4).to(tl.int8)
        zero_point = tl.load(zero_point_ptr + n, mask=n < columns, other=0)
        codes = tl.where(inside, codes - zero_point[:, None], 0)
    return tl.trans(codes)


@triton.jit
def rescaled(
    sums: tl.tensor,
    correction_ptr: tl.tensor,
    scale_ptr: tl.tensor,
    n: tl.tensor,
    columns: tl.tensor,
) -> tl.tensor:
    """Return (sums − correction) · scale, float32, of int32 sums (m, n)."""
    inside = n < columns
    exact = sums - tl.load(correction_ptr + n, mask=inside, other=0)[None, :]
    return exact.to(tl.float32) * tl.load(scale_ptr + n, mask=inside, other=0.0)[None, :]


@triton.jit
def store(
    y_ptr: tl.tensor,
    y: tl.tensor,
    bias_ptr: tl.tensor,
    m: tl.tensor,
    n: tl.tensor,
    rows: tl.tensor,
    columns: tl.tensor,
) -> None:
    """Write a block y (m, n), with the bias, to y (rows, columns)."""
    inside = n < columns
    if bias_ptr is not None:
        y += tl.load(bias_ptr + n, mask=inside, other=0.0)[None, :]
    # A batch of large pictures has more than 2³¹ numbers.
    y_row = y_ptr + m.to(tl.int64)[:, None] * columns
    tl.store(y_row + n[None, :], y, mask=(m < rows)[:, None] & inside[None, :])


def launch(
    kernel: Any,
    x: Tensor,
    weights: TritonWeights,
    grid: InputGrid,
    y: Tensor,
    *rest: int | Tensor | None,
) -> None:
    """Run a tuned `kernel` on as many blocks as cover y, whose rows have one number per channel.

    Args:
        rest: what the kernel wants to know beyond the arguments that both begin with.
    """
    columns = len(weights.codes)
    rows = y.numel() // columns

    def blocks(config: dict[str, int]) -> tuple[int, int]:
        return triton.cdiv(rows, config["block_m"]), triton.cdiv(columns, config["block_n"])

    with torch.cuda.device_of(x):  # type: ignore[no-untyped-call]
        kernel[blocks](
            x,
            grid.factors,
            weights.codes,
            weights.zero_point,
            weights.correction,
            weights.scale,
            weights.bias,
            y,
            rows,
            columns,
            weights.depth,
            weights.codes.shape[2],
            1 / grid.scale,
            grid.zero_point + 0.5,
            2.0**grid.bits - 1,
            *rest,
        )
