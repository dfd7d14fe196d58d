"""What a layer's weight becomes for the Triton kernels."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from personalq.taq.packing import pack, unpack

if TYPE_CHECKING:
    from personalq.taq.modules import QuantConv2d, QuantModule

#: tensor cores multiply int8 by int8, so that the input's codes 0 … 255 are used minus this
SHIFT = 128


class TritonWeights(NamedTuple):
    """A weight as the kernels read it, n output channels, t taps (1 of a Linear), k inputs.

    Σ (x_q − z_x)(w_q − z_w) over taps and inputs is Σ (x_q − 128)(w_q − z_w) minus `correction`.
    Sums of up to 66,000 products stay within int32; the longest of SD1.5 and SDXL has 23,040.
    """

    codes: Tensor  # int8 (n, t, k), or with 4 bits uint8 (n, t, ⌈k / 2⌉), the even in the low half
    zero_point: Tensor | None  # int8 (n), with 4 bits only
    correction: Tensor  # int32 (n): (z_x − 128) Σ (w_q − z_w)
    scale: Tensor  # float32 (n): s_x s_w
    bias: Tensor | None  # float32 (n)
    depth: int  # k


def linear_weights(layer: QuantModule) -> TritonWeights:
    """Prepare a Linear or what is computed as one. Its packed weight is used as it lies."""
    out, inputs = layer.weight_shape[:2]
    return _weights(layer, layer.weight.reshape(out, 1, -1), inputs)


def conv2d_weights(layer: QuantConv2d) -> TritonWeights:
    """Prepare a convolution of one group, its inputs innermost, as they lie in channels last.

    A 1×1 kernel lies so already; a larger one is copied.
    """
    out, inputs, *kernel = layer.weight_shape
    taps = prod(kernel)
    if taps == 1:
        return linear_weights(layer)
    codes = unpack(layer.weight, layer.weight_bits, (out, inputs, taps)).transpose(1, 2)
    packed = pack(codes.reshape(out * taps, inputs), layer.weight_bits)
    return _weights(layer, packed.view(out, taps, -1), inputs)


def _weights(layer: QuantModule, codes: Tensor, depth: int) -> TritonWeights:
    grid = layer.row_grids.unit if layer.row_scaled else layer.input_grid
    sums = layer.integers().flatten(1).sum(1, dtype=torch.int32)
    return TritonWeights(
        codes.contiguous(),
        layer.weight_zero_point,
        (grid.zero_point - SHIFT) * sums,
        layer.weight_scale * grid.scale,
        None if layer.bias is None else layer.bias.float(),
        depth,
    )
