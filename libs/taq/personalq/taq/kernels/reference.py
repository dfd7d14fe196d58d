"""The test oracle, and what weight-only layers use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor
from torch.nn import functional as F

from personalq.taq.kernels.codes import quantize_input, quantize_rows

if TYPE_CHECKING:
    from personalq.taq.modules import QuantConv2d, QuantModule


class Reference:
    """Quantize the input, dequantize input and weight, compute in float: the test oracle.

    Runs anywhere, and is what weight-only layers (no activation range) use.
    """

    def supports(self, layer: QuantModule, x: Tensor) -> bool:
        """Any layer, any device."""
        return True

    def pack_linear(self, layer: QuantModule) -> None:
        """Nothing is prepared: the weights are dequantized on every call."""

    def pack_conv2d(self, layer: QuantConv2d) -> None:
        """Nothing is prepared: the weights are dequantized on every call."""

    def linear(self, layer: QuantModule, packed: None, x: Tensor) -> Tensor:
        """Compute in float32."""
        weight = layer.dequantize().flatten(1)
        return F.linear(self._input(layer, x), weight, float_bias(layer)).to(x.dtype)

    def conv2d(self, layer: QuantConv2d, packed: None, x: Tensor) -> Tensor:
        """Compute in float32."""
        return F.conv2d(
            self._input(layer, x),
            layer.dequantize(),
            float_bias(layer),
            layer.stride,
            layer.padding,
            layer.dilation,
            layer.groups,
        ).to(x.dtype)

    @staticmethod
    def _input(layer: QuantModule, x: Tensor) -> Tensor:
        if layer.activation_bits is None:
            return x.float()
        if layer.row_scaled:
            codes, scale = quantize_rows(x, layer.row_grids)
            return (codes.float() - layer.row_grids.zero_point) * scale
        grid = layer.input_grid
        return (quantize_input(x, grid).float() - grid.zero_point) * grid.scale


def float_bias(layer: QuantModule) -> Tensor | None:
    """Return the bias (out) as kernels add it, if there is one."""
    return None if layer.bias is None else layer.bias.float()
