"""Quantized Linear and Conv2d: packed weights, static input range or row scales, float bias."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self, cast

import torch
from torch import Tensor, nn

from personalq.taq import kernels, native
from personalq.taq.calibrate import Range
from personalq.taq.errors import ArtifactMismatchError, MissingRangeError, PreparedError
from personalq.taq.packing import pack, packed_dtype, packed_shape, unpack
from personalq.taq.quantizers import Grid, code_limits, dequantize, fit, quantize
from personalq.taq.scheme import (
    InputGrid,
    RoundedWeight,
    RowGrids,
    Scheme,
    equalize,
    weight_grid,
)

BLOCK = 1 << 21  # weights that are rounded at a time; of fewer, threads would mostly wait

#: buffers that are float32 in memory and on disk, whatever is computed in
EXACT_BUFFERS = ("weight_scale", "input_scale", "input_factors")


class QuantModule(nn.Module):
    """What both layers share: the packed weight, its scales and the input's grid.

    Buffers: `weight` (see `packing.pack`), `weight_scale` float32 (out), with 4 bits
    `weight_zero_point` int8 (out), and unless the layer is weight-only or `row_scaled`
    `input_scale` float32 () and `input_zero_point` int32 (). Equalized layers have `input_factors`
    float32 (in): they compute (x · f)(Ŵ / f), where x · f has channels of similar range.
    """

    weight: Tensor
    weight_scale: Tensor
    weight_zero_point: Tensor | None
    input_scale: Tensor | None
    input_zero_point: Tensor | None
    input_factors: Tensor | None
    bias: Tensor | None
    #: Σ(Ŵ − W)² / ΣW², known where the layer was quantized, not where it was loaded
    weight_error: float | None

    def __init__(self, scheme: Scheme, weight_shape: tuple[int, ...], *, bias: bool) -> None:
        """Allocate empty buffers on the current default device."""
        super().__init__()
        out = weight_shape[0]
        self.weight_bits, self.activation_bits = scheme.weight_bits, scheme.activation_bits
        self.weight_shape, self.row_scaled = weight_shape, scheme.row_scaled
        self.weight_error = None
        shape = packed_shape(self.weight_bits, weight_shape)
        self.register_buffer("weight", torch.empty(shape, dtype=packed_dtype(self.weight_bits)))
        self.register_buffer("weight_scale", torch.empty(out, dtype=torch.float32))
        zero_point = None if self.weight_bits == 8 else torch.empty(out, dtype=torch.int8)
        self.register_buffer("weight_zero_point", zero_point)
        static = self.activation_bits is not None and not self.row_scaled
        self.register_buffer("input_scale", torch.empty(()) if static else None)
        zero = torch.empty((), dtype=torch.int32) if static else None
        self.register_buffer("input_zero_point", zero)
        width = weight_shape[1] if scheme.equalized else None
        self.register_buffer("input_factors", None if width is None else torch.empty(width))
        self.register_buffer("bias", torch.empty(out, dtype=torch.float32) if bias else None)
        self._prepacked: dict[str, Any] = {}
        self._input_grid: InputGrid | None = None

    @torch.no_grad()
    def quantize_(
        self,
        weight: Tensor,
        bias: Tensor | None,
        input_range: Range | None,
        candidates: int,
        rounded: RoundedWeight | None = None,
    ) -> Self:
        """Fill the buffers from a float weight (out, …) and the calibrated range of the input.

        Args:
            rounded: codes to take instead of the nearest; not used by equalized layers, whose
                weight absorbs factors that no rounding made elsewhere has seen.

        Raises:
            ArtifactMismatchError: `rounded` has another shape or other bits than the layer.
        """
        values = weight.detach().float()
        if self.input_factors is not None and input_range is not None:
            factors, input_range = equalize(input_range, values.shape[1])
            self.input_factors = factors.to(values.device)
            values = values / self.input_factors.view(1, -1, *[1] * (values.ndim - 2))
        if rounded is not None and self.input_factors is None:
            self._check(rounded)
        else:
            rounded = None
        packed, scales, zero_points, lost = [], [], [], 0.0
        for rows in _blocks(values):
            codes, grid = self._rounded(values[rows], rows, candidates, rounded)
            lost += (dequantize(codes, grid) - values[rows]).square().sum().item()
            packed.append(pack(codes, self.weight_bits))
            scales.append(grid.scale.flatten())
            zero_points.append(grid.zero_point.flatten().to(torch.int8))
        power = values.square().sum().item()
        self.weight_error = lost / power if power else 0.0
        self.weight, self.weight_scale = torch.cat(packed), torch.cat(scales)
        if self.weight_bits != 8:
            self.weight_zero_point = torch.cat(zero_points)
        if self.input_scale is not None and input_range is not None:
            low, high = torch.tensor(input_range.low), torch.tensor(input_range.high)
            static = fit(low, high, self._input_bits, symmetric=False)
            self.input_scale = static.scale.to(weight.device)
            self.input_zero_point = static.zero_point.to(weight.device, torch.int32)
        if bias is not None:
            self.bias = bias.detach().float().clone()
        self._forget()
        return self

    def _rounded(
        self, values: Tensor, rows: slice, candidates: int, given: RoundedWeight | None
    ) -> tuple[Tensor, Grid]:
        """Return codes and grid of some output channels: nearest, or as given."""
        if given is None:
            grid = weight_grid(values, self.weight_bits, candidates)
            return quantize(values, grid), grid
        scale, zero_point = (t[rows].to(values.device) for t in given.grid[:2])
        grid = Grid(scale, zero_point, given.grid.low, given.grid.high)
        return given.codes[rows].to(values.device).float(), grid

    def _check(self, rounded: RoundedWeight) -> None:
        """Refuse the codes of another layer or of another recipe."""
        if tuple(rounded.codes.shape) != self.weight_shape:
            raise ArtifactMismatchError(
                f"Codes of shape {tuple(rounded.codes.shape)} for a weight {self.weight_shape}."
            )
        limits = code_limits(self.weight_bits, symmetric=self.weight_bits == 8)
        if (rounded.grid.low, rounded.grid.high) != limits:
            raise ArtifactMismatchError(
                f"Codes between {rounded.grid.low} and {rounded.grid.high} "
                f"for a weight of {self.weight_bits} bits."
            )

    def codes(self) -> Tensor:
        """Return w_q, int8 of the original shape.

        Raises:
            PreparedError: `prepare_` dropped the plain weights.
        """
        if self.is_prepared:
            raise PreparedError(
                f"The weights are packed for {', '.join(self._prepacked)}, which does not run "
                "this: load the UNet again for another dtype, device or kernel."
            )
        return unpack(self.weight, self.weight_bits, self.weight_shape)

    def integers(self) -> Tensor:
        """Return w_q − z_w, int8 of the original shape: −127…127 or, with 4 bits, −15…15.

        Raises:
            PreparedError: `prepare_` dropped the plain weights.
        """
        codes = self.codes()
        if self.weight_zero_point is None:
            return codes
        return codes - self.weight_zero_point.view(-1, *[1] * (codes.ndim - 1))

    def dequantize(self) -> Tensor:
        """Return Ŵ, float32 of the original shape."""
        integers = self.integers()
        return integers.float() * self.weight_scale.view(-1, *[1] * (integers.ndim - 1))

    @property
    def input_grid(self) -> InputGrid:
        """The grid of the input as plain numbers, for kernels.

        Raises:
            MissingRangeError: the layer is weight-only, or has a grid for each row.
        """
        if self._input_grid is None:
            scale, zero_point = self.input_scale, self.input_zero_point
            if scale is None or zero_point is None:
                raise MissingRangeError("A weight-only or row-scaled layer has no input grid.")
            self._input_grid = InputGrid(
                scale.item(), int(zero_point.item()), self._input_bits, self._broadcast_factors()
            )
        return self._input_grid

    @property
    def row_grids(self) -> RowGrids:
        """The grids of the input of a `row_scaled` layer, for kernels.

        Raises:
            MissingRangeError: the layer is weight-only.
        """
        return RowGrids(1 << (self._input_bits - 1), self._input_bits, self.input_factors)

    @property
    def _input_bits(self) -> int:
        if self.activation_bits is None:
            raise MissingRangeError("A weight-only layer has no input grid.")
        return self.activation_bits

    def prepare_(self, like: Tensor) -> None:
        """Pack the weights for inputs like `like`, and drop the plain ones if they are not read.

        From then on the layer stays on its device.
        """
        if self.is_prepared:
            return
        self._forget()
        name, kernel = kernels.choose(self, like)
        if self._prepared(name, self._packer(kernel)) is not None:
            self.weight = self.weight.new_empty(0)
        else:
            self.weight = self.weight.clone()  # it may be part of a mapped file, which is let go

    def packed(self) -> Iterator[Tensor]:
        """Yield the tensors that kernels prepared."""
        yield from _tensors_in(tuple(self._prepacked.values()))

    @property
    def is_prepared(self) -> bool:
        """Whether `prepare_` dropped the plain weights."""
        return not self.weight.numel()

    def _packer(self, kernel: kernels.Kernel) -> Callable[[Any], Any]:
        """Return what packs this kind of layer."""
        raise NotImplementedError

    def _prepared(self, name: str, pack: Callable[[Self], Any]) -> Any:
        """Return the weights as the kernel `name` wants them, prepared at first use."""
        if name not in self._prepacked:
            self._prepacked[name] = pack(self)
        return self._prepacked[name]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move to another device or dtype, but never round scales or biases to a shorter float.

        Raises:
            PreparedError: to another device, after `prepare_`.
        """
        if self.is_prepared and fn(self.weight).device != self.weight.device:
            raise PreparedError("The UNet is packed for its device: load it again to move it.")
        kept = {
            name: tensor
            for name in (*EXACT_BUFFERS, "bias")
            if (tensor := getattr(self, name)) is not None
        }
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        for name, before in kept.items():
            after = getattr(self, name)
            if after.dtype != before.dtype and not before.is_meta:
                setattr(self, name, before.to(after.device))
        if not self.is_prepared:
            self._forget()
        return self

    def _save_to_state_dict(self, *args: Any, **kwargs: Any) -> None:
        self._check_plain()
        super()._save_to_state_dict(*args, **kwargs)

    def _load_from_state_dict(
        self, state_dict: Mapping[str, Any], prefix: str, *args: Any, **kwargs: Any
    ) -> None:
        if any(key.startswith(prefix) for key in state_dict):
            self._check_plain()
            self._forget()
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        """Return what copies and pickles hold: not what a kernel prepared."""
        self._check_plain()
        return {**self.__dict__, "_prepacked": {}}

    def _check_plain(self) -> None:
        if self.is_prepared:
            raise PreparedError("After prepare_ a UNet cannot be saved, copied or filled anew.")

    def _broadcast_factors(self) -> Tensor | None:
        """Return the factors in the shape that broadcasts against the input (…, in)."""
        return self.input_factors

    def _forget(self) -> None:
        """Drop what was derived from the buffers."""
        self._prepacked.clear()
        self._input_grid = None


class QuantLinear(QuantModule):
    """y = x̂ Ŵᵀ + b with x (…, in)."""

    def __init__(self, scheme: Scheme, in_features: int, out_features: int, *, bias: bool) -> None:
        """Allocate an empty layer."""
        super().__init__(scheme, (out_features, in_features), bias=bias)
        self.in_features, self.out_features = in_features, out_features

    @classmethod
    def like(cls, linear: nn.Linear, scheme: Scheme) -> QuantLinear:
        """Return an empty layer of the same shape."""
        return cls(scheme, linear.in_features, linear.out_features, bias=linear.bias is not None)

    @classmethod
    def from_linear(
        cls,
        linear: nn.Linear,
        scheme: Scheme,
        input_range: Range | None,
        *,
        candidates: int = 80,
        rounded: RoundedWeight | None = None,
    ) -> QuantLinear:
        """Return `linear` quantized; `input_range` is needed unless the scheme is weight-only.

        Raises:
            ArtifactMismatchError: `rounded` (see `quantize_`) does not fit the layer.
        """
        layer = cls.like(linear, scheme)
        return layer.quantize_(linear.weight, linear.bias, input_range, candidates, rounded)

    def forward(self, x: Tensor) -> Tensor:
        """Return (…, out) in the dtype of x (…, in)."""
        name, kernel = kernels.choose(self, x)
        return kernel.linear(self, self._prepared(name, self._packer(kernel)), x)

    def _packer(self, kernel: kernels.Kernel) -> Callable[[Any], Any]:
        return kernel.pack_linear

    def extra_repr(self) -> str:
        """Describe the layer in a printed model."""
        return (
            f"{self.in_features}, {self.out_features}, w{self.weight_bits}, a{self.activation_bits}"
        )


class QuantConv2d(QuantModule):
    """y = x̂ ∗ Ŵ + b with x (B, in, H, W), zero padding."""

    def __init__(
        self,
        scheme: Scheme,
        weight_shape: tuple[int, ...],
        *,
        stride: tuple[int, int],
        padding: tuple[int, int],
        dilation: tuple[int, int],
        groups: int,
        bias: bool,
    ) -> None:
        """Allocate an empty layer; `weight_shape` is (out, in / groups, kh, kw)."""
        super().__init__(scheme, weight_shape, bias=bias)
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.out_channels, self.in_channels = weight_shape[0], weight_shape[1] * groups
        self.kernel_size = weight_shape[2:]

    @classmethod
    def like(cls, conv: nn.Conv2d, scheme: Scheme) -> QuantConv2d:
        """Return an empty layer of the same shape."""
        return cls(
            scheme,
            tuple(conv.weight.shape),
            stride=_pair(conv.stride),
            padding=_pair(conv.padding),
            dilation=_pair(conv.dilation),
            groups=conv.groups,
            bias=conv.bias is not None,
        )

    @classmethod
    def from_conv2d(
        cls,
        conv: nn.Conv2d,
        scheme: Scheme,
        input_range: Range | None,
        *,
        candidates: int = 80,
        rounded: RoundedWeight | None = None,
    ) -> QuantConv2d:
        """Return `conv` quantized; `input_range` is needed unless the scheme is weight-only.

        Raises:
            ArtifactMismatchError: `rounded` (see `quantize_`) does not fit the layer.
        """
        layer = cls.like(conv, scheme)
        return layer.quantize_(conv.weight, conv.bias, input_range, candidates, rounded)

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, out, H', W') in the dtype of x (B, in, H, W)."""
        name, kernel = kernels.choose(self, x)
        packed = self._prepared(name, self._packer(kernel))
        if self.row_scaled:  # one pixel makes one: a Linear of its channels
            return kernel.linear(self, packed, x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return kernel.conv2d(self, packed, x)

    def _packer(self, kernel: kernels.Kernel) -> Callable[[Any], Any]:
        return kernel.pack_linear if self.row_scaled else kernel.pack_conv2d

    def _broadcast_factors(self) -> Tensor | None:
        """Return the factors in the shape that broadcasts against the input (B, in, H, W)."""
        return None if self.input_factors is None else self.input_factors.view(1, -1, 1, 1)

    def extra_repr(self) -> str:
        """Describe the layer in a printed model."""
        return f"{self.weight_shape}, w{self.weight_bits}, a{self.activation_bits}"


def _pair(value: Any) -> tuple[int, int]:
    """Return diffusers' stride or padding as two integers."""
    first, second = value
    return int(first), int(second)


def _blocks(weight: Tensor) -> Iterator[slice]:
    """Cut the output channels of a weight (out, …) into blocks, which bound what is in use."""
    step = max(1, BLOCK * len(weight) // max(weight.numel(), 1))
    for first in range(0, len(weight), step):
        yield slice(first, first + step)


def _tensors_in(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _tensors_in(part)


def held_tensors(model: nn.Module) -> list[Tensor]:
    """Return every tensor that a model holds, each once: what kernels packed is among them."""
    held: dict[int, Tensor] = {}
    for module in model.modules():
        tensors = [*module.parameters(recurse=False), *module.buffers(recurse=False)]
        if isinstance(module, QuantModule):
            tensors += module.packed()
        held |= {id(tensor): tensor for tensor in tensors}
    return list(held.values())


def prepare_(unet: nn.Module, like: Tensor) -> nn.Module:
    """Pack the weights of a quantized UNet for the device and dtype of `like`, and return it.

    Otherwise every layer packs its weight when it is first executed, and keeps the plain one
    beside it. A prepared UNet holds one copy; it can be executed, and carry LoRAs, but no longer
    be moved, saved or copied, nor run by another kernel.
    """
    native.supports(like)  # compiles the kernels now, not within the first request
    for module in unet.modules():
        if isinstance(module, QuantModule):
            module.prepare_(like)
        elif isinstance(module, nn.Conv2d):
            # Quantized convolutions write channels last, and read their inputs fastest that way.
            cast(Any, module).to(memory_format=torch.channels_last)
    return unet
