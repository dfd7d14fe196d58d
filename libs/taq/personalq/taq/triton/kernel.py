"""The Triton kernels as the registry knows them."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from personalq.taq.kernels.codes import row_scale
from personalq.taq.triton.weights import TritonWeights, conv2d_weights, linear_weights

if TYPE_CHECKING:
    from personalq.taq.modules import QuantConv2d, QuantModule

#: Ampere; for older generations Triton compiles no integer products
OLDEST_CAPABILITY = (8, 0)


class Triton:
    """Integer products on a GPU: int8 input times int8 weight, quantizing and rescaling fused.

    The input is quantized and 4-bit weights are unpacked as they are read: neither the codes nor
    the unpacked weights are written to memory.
    """

    def supports(self, layer: QuantModule, x: Tensor) -> bool:
        """Layers with quantized inputs and one group, on GPUs from Ampere on.

        Under Triton's interpreter (TRITON_INTERPRET=1, for tests) on CPUs too.
        """
        quantized, groups = layer.activation_bits is not None, getattr(layer, "groups", 1)
        return quantized and groups == 1 and _runs_on(x.device)

    def pack_linear(self, layer: QuantModule) -> TritonWeights:
        """Sum the weight's codes; they are used as they lie."""
        return linear_weights(layer)

    def pack_conv2d(self, layer: QuantConv2d) -> TritonWeights:
        """Sum the weight's codes and, unless it is 1×1, reorder them."""
        return conv2d_weights(layer)

    def linear(self, layer: QuantModule, packed: TritonWeights, x: Tensor) -> Tensor:
        """Compute in int32, write in the dtype of `x`."""
        from personalq.taq.triton.gemm import gemm

        out, depth = layer.weight_shape[:2]
        rows = x.reshape(-1, depth)
        if layer.row_scaled:
            grids = layer.row_grids
            values = rows if grids.factors is None else rows * grids.factors
            y = gemm(rows, packed, grids.unit, row_scale(values, grids).flatten())
        else:
            y = gemm(rows, packed, layer.input_grid)
        return y.view(*x.shape[:-1], out)

    def conv2d(self, layer: QuantConv2d, packed: TritonWeights, x: Tensor) -> Tensor:
        """Compute in int32, write channels last in the dtype of `x`."""
        from personalq.taq.triton.conv2d import conv2d

        return conv2d(x, packed, layer, layer.input_grid)


def _runs_on(device: torch.device) -> bool:
    if device.type == "cuda":
        return _installed() and torch.cuda.get_device_capability(device) >= OLDEST_CAPABILITY
    return device.type == "cpu" and os.environ.get("TRITON_INTERPRET") == "1" and _installed()


@cache
def _installed() -> bool:
    return find_spec("triton") is not None
