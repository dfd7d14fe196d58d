"""Convolution as an implicit matrix product: no patches are gathered in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl
from torch import Tensor

from personalq.taq.triton.tiles import CONFIGS, launch, quantized, rescaled, store, weight_tile
from personalq.taq.triton.weights import TritonWeights

if TYPE_CHECKING:
    from personalq.taq.modules import QuantConv2d
    from personalq.taq.scheme import InputGrid


@triton.jit
def conv2d_kernel(
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
    height: tl.tensor,
    width: tl.tensor,
    out_height: tl.tensor,
    out_width: tl.tensor,
    taps_y: tl.constexpr,
    taps_x: tl.constexpr,
    stride_y: tl.constexpr,
    stride_x: tl.constexpr,
    padding_y: tl.constexpr,
    padding_x: tl.constexpr,
    dilation_y: tl.constexpr,
    dilation_x: tl.constexpr,
    block_m: tl.constexpr,
    block_n: tl.constexpr,
    block_k: tl.constexpr,
) -> None:
    """Write one block of y (rows, columns), a row being a pixel of the output.

    x is (B, height, width, depth), the weight (columns, taps, depth). A pixel beyond the border is
    read as 0, whose code is the zero point.
    """
    m = tl.program_id(0) * block_m + tl.arange(0, block_m)
    n = tl.program_id(1) * block_n + tl.arange(0, block_n)
    # A batch of large pictures has more than 2³¹ numbers.
    picture = (m // (out_height * out_width)).to(tl.int64)
    top_y = m // out_width % out_height * stride_y - padding_y
    left_x = m % out_width * stride_x - padding_x
    weight_row = weight_ptr + n * (taps_y * taps_x * weight_stride)
    sums = tl.zeros((block_m, block_n), tl.int32)
    steps = tl.cdiv(depth, block_k)
    # One loop over taps and channels, not two nested ones: only the innermost is pipelined.
    for step in range(taps_y * taps_x * steps):
        tap, start = step // steps, step % steps * block_k
        pixel_y = top_y + tap // taps_x * dilation_y
        pixel_x = left_x + tap % taps_x * dilation_x
        visible = (pixel_y >= 0) & (pixel_y < height) & (pixel_x >= 0) & (pixel_x < width)
        k = start + tl.arange(0, block_k)
        inside = (visible & (m < rows))[:, None] & (k < depth)[None, :]
        x_row = x_ptr + ((picture * height + pixel_y) * width + pixel_x)[:, None] * depth
        x = tl.load(x_row + k[None, :], mask=inside, other=0.0)
        codes = quantized(x, factors_ptr, k, depth, inverse_scale, offset, top)
        tap_row = weight_row + tap * weight_stride
        weight = weight_tile(tap_row, zero_point_ptr, n, columns, start, depth, block_k)
        sums = tl.dot(codes, weight, sums, out_dtype=tl.int32)
    y = rescaled(sums, correction_ptr, scale_ptr, n, columns)
    store(y_ptr, y, bias_ptr, m, n, rows, columns)


# Tuned once for a layer's shape, as `gemm` is.
_tuned = triton.autotune(CONFIGS, key=["columns", "depth", "taps_y", "taps_x", "stride_y"])(
    conv2d_kernel
)


def conv2d(x: Tensor, weights: TritonWeights, layer: QuantConv2d, grid: InputGrid) -> Tensor:
    """Return (B, n, H', W'), channels last, in the dtype of x (B, k, H, W)."""
    x = x.contiguous(memory_format=torch.channels_last)
    batch, _, *size = x.shape
    out = [
        (pixels + 2 * padding - dilation * (taps - 1) - 1) // stride + 1
        for pixels, padding, dilation, taps, stride in zip(
            size, layer.padding, layer.dilation, layer.kernel_size, layer.stride, strict=True
        )
    ]
    y = torch.empty(
        (batch, layer.out_channels, *out),
        dtype=x.dtype,
        device=x.device,
        memory_format=torch.channels_last,
    )
    geometry = (*layer.kernel_size, *layer.stride, *layer.padding, *layer.dilation)
    launch(_tuned, x, weights, grid, y, *size, *out, *geometry)
    return y
