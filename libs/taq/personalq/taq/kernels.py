"""How a quantized layer is executed: one registry, each kernel tested against the reference.

A kernel computes y = ((x_q − z_x) s_x) · ((w_q − z_w) s_w) + b, where x_q are the input's codes
(unsigned, one static scale and zero point per layer) and w_q the weight's (one scale per output
channel).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import torch
from torch import Tensor
from torch.nn import functional as F

from personalq.taq.errors import RecipeError

if TYPE_CHECKING:
    from personalq.taq.modules import InputGrid, QuantConv2d, QuantLinear, QuantModule


class Kernel(Protocol):
    """One way to execute quantized layers."""

    def supports(self, layer: QuantModule, x: Tensor) -> bool:
        """Tell whether this kernel can compute `layer` for inputs like `x`."""
        ...

    def pack_linear(self, layer: QuantLinear) -> Any:
        """Return the weights as `linear` wants them; called at first use, then kept."""
        ...

    def pack_conv2d(self, layer: QuantConv2d) -> Any:
        """Return the weights as `conv2d` wants them; called at first use, then kept."""
        ...

    def linear(self, layer: QuantLinear, packed: Any, x: Tensor) -> Tensor:
        """Return (…, out) for x (…, in), in the dtype of `x`."""
        ...

    def conv2d(self, layer: QuantConv2d, packed: Any, x: Tensor) -> Tensor:
        """Return (B, out, H', W') for x (B, in, H, W), in the dtype of `x`."""
        ...


#: every kernel by name, the preferred first
KERNELS: dict[str, Kernel] = {}

_forced: ContextVar[str | None] = ContextVar("forced_kernel", default=None)


def choose(layer: QuantModule, x: Tensor) -> tuple[str, Kernel]:
    """Return the preferred kernel that supports `layer` and `x`, with its name."""
    forced = _forced.get()
    for name, kernel in KERNELS.items():
        if forced in (None, name) and kernel.supports(layer, x):
            return name, kernel
    raise RecipeError(f"No kernel named {forced} supports a {type(layer).__name__} on {x.device}.")


@contextmanager
def use_kernel(name: str) -> Iterator[None]:
    """Execute every quantized layer within the block by the kernel `name` (tests, comparisons).

    Raises:
        RecipeError: there is no such kernel.
    """
    if name not in KERNELS:
        raise RecipeError(f"There is no kernel {name}; there are {', '.join(KERNELS)}.")
    token = _forced.set(name)
    try:
        yield
    finally:
        _forced.reset(token)


def quantize_input(x: Tensor, grid: InputGrid) -> Tensor:
    """Return the codes of `x` as uint8: clip(round(x / s) + z, 0, 2^b − 1), x equalized first.

    The conversion to uint8 truncates, so that adding z + ½ first rounds (ties upwards).
    """
    if grid.factors is not None:
        x = x * grid.factors
    offset = x.new_full((), grid.zero_point + 0.5, dtype=torch.float32)
    codes = torch.add(offset, x.float(), alpha=1.0 / grid.scale)
    return codes.clamp_(0, 2**grid.bits - 1).to(torch.uint8)


class Reference:
    """Quantize the input, dequantize input and weight, compute in float: the test oracle.

    Runs anywhere, and is what weight-only layers (no activation range) use.
    """

    def supports(self, layer: QuantModule, x: Tensor) -> bool:
        """Any layer, any device."""
        return True

    def pack_linear(self, layer: QuantLinear) -> None:
        """Nothing is prepared: the weights are dequantized on every call."""

    def pack_conv2d(self, layer: QuantConv2d) -> None:
        """Nothing is prepared: the weights are dequantized on every call."""

    def linear(self, layer: QuantLinear, packed: None, x: Tensor) -> Tensor:
        """Compute in float32."""
        return F.linear(self._input(layer, x), layer.dequantize(), _bias(layer)).to(x.dtype)

    def conv2d(self, layer: QuantConv2d, packed: None, x: Tensor) -> Tensor:
        """Compute in float32."""
        return F.conv2d(
            self._input(layer, x),
            layer.dequantize(),
            _bias(layer),
            layer.stride,
            layer.padding,
            layer.dilation,
            layer.groups,
        ).to(x.dtype)

    @staticmethod
    def _input(layer: QuantModule, x: Tensor) -> Tensor:
        if layer.activation_bits is None:
            return x.float()
        grid = layer.input_grid
        return (quantize_input(x, grid).float() - grid.zero_point) * grid.scale


def _bias(layer: QuantModule) -> Tensor | None:
    return None if layer.bias is None else layer.bias.float()


class OneDnnWeights(NamedTuple):
    """A weight in oneDNN's own blocked layout, opaque to torch."""

    weight: Tensor
    scale: Tensor  # float32 (out)
    zero_point: Tensor  # int8 (out), all zero: the weight's own was subtracted
    bias: Tensor | None  # float32 (out)


class OneDnn:
    """Integer products on CPU: oneDNN, uint8 input times int8 weight, scale and bias fused.

    4-bit weights are unpacked to int8 when the layer is prepared.
    """

    def supports(self, layer: QuantModule, x: Tensor) -> bool:
        """Layers with a static input range, on CPUs whose integer products are exact."""
        static = layer.activation_bits is not None
        return static and x.device.type == "cpu" and onednn_is_exact()

    def pack_linear(self, layer: QuantLinear) -> OneDnnWeights:
        """Reorder the weight."""
        weight = torch.ops.onednn.qlinear_prepack(layer.integers().contiguous(), None)
        return self._weights(layer, weight)

    def pack_conv2d(self, layer: QuantConv2d) -> OneDnnWeights:
        """Reorder the weight."""
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

    def linear(self, layer: QuantLinear, packed: OneDnnWeights, x: Tensor) -> Tensor:
        """Compute in int32, write in the dtype of `x`."""
        grid = layer.input_grid
        # A signed input would be accepted and take seconds: oneDNN's reference implementation.
        codes = quantize_input(x, grid)
        out = _onednn_dtype(x)
        y = torch.ops.onednn.qlinear_pointwise(
            codes, grid.scale, grid.zero_point, *packed, 1.0, 0, out, "none", [], ""
        )
        return cast(Tensor, y).to(x.dtype)

    def conv2d(self, layer: QuantConv2d, packed: OneDnnWeights, x: Tensor) -> Tensor:
        """Compute in int32, write channels last in the dtype of `x`."""
        grid = layer.input_grid
        codes = quantize_input(x, grid)
        codes = codes.contiguous(memory_format=torch.channels_last)
        geometry = (layer.stride, layer.padding, layer.dilation, layer.groups)
        out = _onednn_dtype(x)
        y = torch.ops.onednn.qconv_pointwise(
            codes, grid.scale, grid.zero_point, *packed, *geometry, 1.0, 0, out, "none", [], ""
        )
        return cast(Tensor, y).to(x.dtype)

    @staticmethod
    def _weights(layer: QuantModule, weight: Tensor) -> OneDnnWeights:
        scale = layer.weight_scale
        return OneDnnWeights(weight, scale, torch.zeros_like(scale, dtype=torch.int8), _bias(layer))


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


KERNELS["onednn"] = OneDnn()
KERNELS["reference"] = Reference()
