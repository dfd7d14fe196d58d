"""Matrix product of a float input, quantized on the way in, and a packed weight."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from personalq.taq.scheme import InputGrid
from personalq.taq.triton.tiles import CONFIGS, launch, quantized, rescaled, store, weight_tile
from personalq.taq.triton.weights import TritonWeights


@triton.jit
def gemm_kernel(
    x_ptr: tl.tensor,
    factors_ptr: tl.tensor,
    weight_ptr: tl.tensor,
    zero_point_ptr: tl.tensor,
    correction_ptr: tl.tensor,
    scale_ptr: tl.tensor,
    bias_ptr: tl.tensor,
    y_ptr: tl.tensor,
    rows: tl.tensor,
    columns: tl.tensor,
    depth: tl.tensor,
    weight_stride: tl.tensor,
    inverse_scale: tl.tensor,
    offset: tl.tensor,
    top: tl.tensor,
    row_scale_ptr: tl.tensor,
    block_m: tl.constexpr,
    block_n: tl.constexpr,
    block_k: tl.constexpr,
) -> None:
    """Write one block of y (rows, columns) = x (rows, depth) · weight (columns, depth)ᵀ.

    With scales of rows, float32 (rows), they take the place of the one that `inverse_scale` is of.
    """
    m = tl.program_id(0) * block_m + tl.arange(0, block_m)
    n = tl.program_id(1) * block_n + tl.arange(0, block_n)
    # A batch of large pictures has more than 2³¹ numbers.
    x_row = x_ptr + m.to(tl.int64)[:, None] * depth
    weight_row = weight_ptr + n * weight_stride
    if row_scale_ptr is not None:
        row_scale = tl.load(row_scale_ptr + m, mask=m < rows, other=1.0)[:, None]
        inverse_scale = 1.0 / row_scale
    sums = tl.zeros((block_m, block_n), tl.int32)
    for start in range(0, depth, block_k):
        k = start + tl.arange(0, block_k)
        inside = (m < rows)[:, None] & (k < depth)[None, :]
        x = tl.load(x_row + k[None, :], mask=inside, other=0.0)
        codes = quantized(x, factors_ptr, k, depth, inverse_scale, offset, top)
        weight = weight_tile(weight_row, zero_point_ptr, n, columns, start, depth, block_k)
        sums = tl.dot(codes, weight, sums, out_dtype=tl.int32)
    y = rescaled(sums, correction_ptr, scale_ptr, n, columns)
    if row_scale_ptr is not None:
        y *= row_scale
    store(y_ptr, y, bias_ptr, m, n, rows, columns)


# Tuned once for a layer's shape, whatever the number of rows: a batch of another size must not
# stall the first request that has it.
_tuned = triton.autotune(CONFIGS, key=["columns", "depth"])(gemm_kernel)


def gemm(
    x: Tensor, weights: TritonWeights, grid: InputGrid, row_scale: Tensor | None = None
) -> Tensor:
    """Return (M, n) in the dtype of x (M, k).

    Args:
        row_scale: float32 (M): scales of the input, one for each row, in the place of the grid's.
    """
    y = x.new_empty(len(x), len(weights.codes))
    launch(_tuned, x.contiguous(), weights, grid, y, row_scale)
    return y
