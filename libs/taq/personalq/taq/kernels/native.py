"""Products in C++ on CPU: 4-bit weights, and 8-bit ones where oneDNN's are not as fast or exact."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from personalq.taq import native
from personalq.taq.kernels.codes import quantize_input, quantize_rows
from personalq.taq.kernels.onednn import onednn_is_exact
from personalq.taq.kernels.reference import float_bias

if TYPE_CHECKING:
    from personalq.taq.modules import QuantConv2d, QuantModule

POINT = (1, 1)


class Native:
    """Integer products on CPU, uint8 input times 4- or 8-bit weight, in a kernel of our own.

    4-bit weights are unpacked in the cache while they are multiplied.
    """

    def supports(self, layer: QuantModule, x: Tensor) -> bool:
        """Ungrouped layers with quantized inputs, where the CPU has the instructions.

        Where oneDNN is exact, 8-bit weights only of convolutions larger than 1×1: oneDNN multiplies
        them no faster and takes six times as long to reorder them; other layers are its own.
        """
        return (
            layer.activation_bits is not None
            and layer.weight_shape[1] % 4 == 0
            and getattr(layer, "groups", 1) == 1
            and native.supports(x)
            and layer.weight.is_cpu  # elsewhere torch says what is wrong
            and (layer.weight_bits == 4 or not onednn_is_exact() or _is_slow_in_onednn(layer))
        )

    def pack_linear(self, layer: QuantModule) -> native.Packed:
        """Reorder the codes."""
        return _packed(layer)

    def pack_conv2d(self, layer: QuantConv2d) -> native.Packed:
        """Reorder the codes."""
        return _packed(layer)

    def linear(self, layer: QuantModule, packed: native.Packed, x: Tensor) -> Tensor:
        """Compute in int32, write in the dtype of `x`."""
        if not x.numel():
            return x.new_empty(*x.shape[:-1], layer.weight_shape[0])
        if layer.row_scaled:
            codes, scale = quantize_rows(x, layer.row_grids)
            input_ = _Input(layer.row_grids.zero_point, scale=1.0, row_scale=scale.flatten())
        else:
            codes = quantize_input(x, layer.input_grid).contiguous()
            input_ = _Input(layer.input_grid.zero_point, layer.input_grid.scale)
        pixels = codes.view(1, -1, 1, codes.shape[-1]).permute(0, 3, 1, 2)
        y = _product(layer, packed, pixels, input_, x.dtype, POINT, POINT, (0, 0), POINT)
        return y.permute(0, 2, 3, 1).reshape(*x.shape[:-1], layer.weight_shape[0])

    def conv2d(self, layer: QuantConv2d, packed: native.Packed, x: Tensor) -> Tensor:
        """Compute in int32, write channels last in the dtype of `x`."""
        codes = quantize_input(x, layer.input_grid)
        codes = codes.contiguous(memory_format=torch.channels_last)
        height, width = layer.weight_shape[2:]
        geometry = ((height, width), layer.stride, layer.padding, layer.dilation)
        input_ = _Input(layer.input_grid.zero_point, layer.input_grid.scale)
        return _product(layer, packed, codes, input_, x.dtype, *geometry)


class _Input(NamedTuple):
    """What the codes of an input stand for."""

    zero_point: int
    scale: float
    row_scale: Tensor | None = None  # float32 (pixels), besides


def _taps(layer: QuantModule) -> int:
    return prod(layer.weight_shape[2:])


def _is_slow_in_onednn(layer: QuantModule) -> bool:
    return _taps(layer) > 1 and not _has_tiles() and native.multiplies_bytes()


@cache
def _has_tiles() -> bool:
    """Tell whether the CPU multiplies matrices (AMX): oneDNN uses that, these kernels do not."""
    return bool(torch.cpu.get_capabilities().get("amx_int8"))


def _packed(layer: QuantModule) -> native.Packed:
    out, width = layer.weight_shape[:2]
    return native.pack(layer.weight, layer.weight_zero_point, (out, width, _taps(layer)))


def _product(
    layer: QuantModule,
    packed: native.Packed,
    codes: Tensor,
    input_: _Input,
    dtype: torch.dtype,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
) -> Tensor:
    bias = float_bias(layer)
    return native.product(
        codes,
        input_.zero_point,
        packed,
        layer.weight_scale * input_.scale,
        torch.zeros_like(layer.weight_scale) if bias is None else bias,
        kernel=kernel,
        stride=stride,
        padding=padding,
        dilation=dilation,
        dtype=dtype,
        row_scale=input_.row_scale,
    )
