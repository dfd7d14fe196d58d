"""Integer products on CPU."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple, cast

import torch
from torch import Tensor

from personalq.taq.kernels.codes import quantize_input, quantize_rows
from personalq.taq.kernels.reference import float_bias

if TYPE_CHECKING:
    from personalq.taq.modules import QuantConv2d, QuantModule


class OneDnnWeights(NamedTuple):
    """A weight in oneDNN's own blocked layout, opaque to torch."""

    weight: Tensor
    scale: Tensor  # float32 (out)
    zero_point: Tensor  # int8 (out), all zero: the weight's own was subtracted
    bias: Tensor | None  # float32 (out)


class OneDnn:
    """Integer products on CPU: oneDNN, uint8 input times int8 weight, scale and bias fused.

    4-bit weights are unpacked and reordered on every call: kept, they would take the memory of 8.
    """

    def supports(self, layer: QuantModule, x: Tensor) -> bool:
        """Layers with quantized inputs, on CPUs whose integer products are exact."""
        quantized = layer.activation_bits is not None
        return quantized and x.device.type == "cpu" and onednn_is_exact()

    def pack_linear(self, layer: QuantModule) -> OneDnnWeights | None:
        """Reorder an 8-bit weight."""
        return self._reordered_linear(layer) if layer.weight_bits == 8 else None

    def pack_conv2d(self, layer: QuantConv2d) -> OneDnnWeights | None:
        """Reorder an 8-bit weight."""
        return self._reordered_conv2d(layer) if layer.weight_bits == 8 else None

    def linear(self, layer: QuantModule, packed: OneDnnWeights | None, x: Tensor) -> Tensor:
        """Compute in int32, write in the dtype of `x`."""
        weights = packed or self._reordered_linear(layer)
        if layer.row_scaled:
            return self._row_scaled(layer, weights, x)
        grid = layer.input_grid
        # A signed input would be accepted and take seconds: oneDNN's reference implementation.
        codes = quantize_input(x, grid)
        out = _onednn_dtype(x)
        y = torch.ops.onednn.qlinear_pointwise(
            codes, grid.scale, grid.zero_point, *weights, 1.0, 0, out, "none", [], ""
        )
        return cast(Tensor, y).to(x.dtype)

    def conv2d(self, layer: QuantConv2d, packed: OneDnnWeights | None, x: Tensor) -> Tensor:
        """Compute in int32, write channels last in the dtype of `x`.

        Raises:
            ValueError: the padded input is smaller than the kernel.
        """
        grid = layer.input_grid
        weights = packed or self._reordered_conv2d(layer)
        codes = quantize_input(x, grid)
        codes = codes.contiguous(memory_format=torch.channels_last)
        geometry = (layer.stride, layer.padding, layer.dilation, layer.groups)
        out = _onednn_dtype(x)
        y = torch.ops.onednn.qconv_pointwise(
            codes, grid.scale, grid.zero_point, *weights, *geometry, 1.0, 0, out, "none", [], ""
        )
        if x.numel() and not y.numel():  # some CPUs' oneDNN computes nothing of it
            raise ValueError(f"The input {tuple(x.shape)} is smaller than the kernel.")
        return cast(Tensor, y).to(x.dtype)

    @staticmethod
    def _row_scaled(layer: QuantModule, weights: OneDnnWeights, x: Tensor) -> Tensor:
        """Rescale what oneDNN, which knows one scale for all rows, computes with a scale of 1."""
        if not x.numel():
            return x.new_empty(*x.shape[:-1], layer.weight_shape[0])
        codes, scale = quantize_rows(x, layer.row_grids)
        y = torch.ops.onednn.qlinear_pointwise(
            codes, 1.0, layer.row_grids.zero_point, *weights[:3], None, 1.0, 0, torch.float32,
            "none", [], "",
        )  # fmt: skip
        y = y.mul_(scale) if weights.bias is None else torch.addcmul(weights.bias, y, scale)
        return cast(Tensor, y).to(x.dtype)

    def _reordered_linear(self, layer: QuantModule) -> OneDnnWeights:
        integers = layer.integers().flatten(1).contiguous()
        weight = torch.ops.onednn.qlinear_prepack(integers, None)
        return self._weights(layer, weight)

    def _reordered_conv2d(self, layer: QuantConv2d) -> OneDnnWeights:
        grid = layer.input_grid
        weight = torch.ops.onednn.qconv_prepack(
            layer.integers().contiguous(),
            layer.weight_scale,
            grid.scale,
            grid.zero_point,
            layer.stride,
            layer.padding,
            layer.dilation,
            layer.groups,
            None,
        )
        return self._weights(layer, weight)

    @staticmethod
    def _weights(layer: QuantModule, weight: Tensor) -> OneDnnWeights:
        scale = layer.weight_scale
        return OneDnnWeights(
            weight, scale, torch.zeros_like(scale, dtype=torch.int8), float_bias(layer)
        )


@cache
def onednn_is_exact() -> bool:
    """Tell whether this torch and CPU compute the largest uint8 times int8 products exactly.

    Without VNNI instructions pairs of products are added in 16 bits and saturate.
    """
    codes = torch.full((2, 64), 255, dtype=torch.uint8)
    weight = torch.full((8, 64), 127, dtype=torch.int8)
    one, zero = torch.ones(8), torch.zeros(8, dtype=torch.int8)
    try:
        packed = torch.ops.onednn.qlinear_prepack(weight, None)
        y = torch.ops.onednn.qlinear_pointwise(
            codes, 1.0, 0, packed, one, zero, None, 1.0, 0, torch.float32, "none", [], ""
        )
    except (AttributeError, RuntimeError, NotImplementedError):  # torch built without oneDNN
        return False
    return bool((y == 255 * 127 * 64).all())


def _onednn_dtype(x: Tensor) -> torch.dtype:
    """Return the output dtype to ask for: that of `x` where oneDNN can write it."""
    return torch.bfloat16 if x.dtype == torch.bfloat16 else torch.float32
