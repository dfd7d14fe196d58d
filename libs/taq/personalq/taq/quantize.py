"""The walker: replace a UNet's layers by quantized ones, and say what became of each."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import nn

from personalq.taq.attention import install_attention_, is_attention
from personalq.taq.calibrate import Range
from personalq.taq.errors import ArtifactMismatchError, MissingRangeError
from personalq.taq.modules import QuantConv2d, QuantLinear, QuantModule
from personalq.taq.recipe import ROW_SCALED_LAYERS, Recipe, equalized
from personalq.taq.scheme import RoundedWeight, Scheme, is_pointwise

STORED_FLOAT = torch.float16  # of everything that is not quantized
FULL_BITS = 16

#: SDXL's second time embedding, which makes one state of the pooled text and the picture's size.
ADDED_CONDITIONS = "add_embedding."
ADDED_INPUT = "add_embedding.linear_1"


EIGHT_BITS_KEPT = "time, text, shortcut, downsampling and outermost layers keep 8 bits"


@dataclass(frozen=True)
class Places:
    """Where layers stand in a UNet, which their own names do not tell."""

    text: frozenset[str]  # names of those that project text to keys and values
    outermost: tuple[str, ...]  # what begins the names of those that see the latents' full size

    @classmethod
    def of(cls, unet: nn.Module) -> Places:
        """Read the places of a diffusers UNet; a model of a single level has no outermost one."""
        ups = [name for name, _ in unet.named_modules() if re.fullmatch(r"up_blocks\.\d+", name)]
        outermost = ("down_blocks.0.", f"up_blocks.{len(ups) - 1}.") if len(ups) > 1 else ()
        return cls(text_projections(unet), outermost)


@dataclass(frozen=True)
class LayerReport:
    """What became of one Linear or Conv2d."""

    name: str
    kind: str  # "linear" or "conv2d"
    shape: tuple[int, ...]  # of the weight
    weight_bits: int
    activation_bits: int | None  # None: the input is not quantized
    equalized: bool  # input channels are brought to similar ranges first
    row_scaled: bool  # one scale of the input per token or pixel, found at run time
    reason: str | None  # why the layer is not quantized as the recipe's bits say
    weight_error_db: float | None  # 10 log₁₀ Σ(Ŵ−W)² / ΣW²; None: nothing was rounded


@dataclass(frozen=True)
class Report:
    """What became of a UNet."""

    layers: tuple[LayerReport, ...]
    weights: int  # weights of Linear and Conv2d
    packed_bytes: int  # their packed size, scales and zero points included
    full_bytes: int  # their size in float16

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return asdict(self)


def quantize_(
    unet: nn.Module,
    recipe: Recipe,
    ranges: Mapping[str, Range],
    *,
    rounded: Mapping[str, RoundedWeight] | None = None,
) -> Report:
    """Quantize `unet` in place and give it trigger-aware attention.

    Linear and Conv2d become `QuantLinear` and `QuantConv2d`; what stays in full precision, or
    at more bits than the recipe's, does so by a rule named in the report.

    Args:
        unet: a diffusers `UNet2DConditionModel`, or any model built of its parts.
        ranges: activation ranges by layer name, from `Calibration`; for the recipe "full" empty.
        rounded: codes of weights by layer name, from `rounding.reconstruct`; every other layer,
            and a layer that is equalized, is rounded to the nearest.

    Raises:
        MissingRangeError: a layer that needs a range has none.
        ArtifactMismatchError: `rounded` was made for another model or another recipe.
    """
    places = Places.of(unet)
    rounded = rounded or {}
    _check_names(unet, recipe, places, rounded)
    missing = []
    for name, layer in list(_layers(unet)):
        if isinstance(layer, QuantModule):
            continue
        scheme, _ = plan(name, layer, recipe, places)
        if scheme is None:
            continue
        if scheme.needs_range and name not in ranges:
            missing.append(name)
            continue
        candidates = recipe.weight_range_candidates
        if isinstance(layer, nn.Conv2d):
            quantized: QuantModule = QuantConv2d.from_conv2d(
                layer,
                scheme,
                ranges.get(name),
                candidates=candidates,
                rounded=rounded.get(name),
            )
        else:
            quantized = QuantLinear.from_linear(
                layer,
                scheme,
                ranges.get(name),
                candidates=candidates,
                rounded=rounded.get(name),
            )
        unet.set_submodule(name, quantized)
    if missing:
        raise MissingRangeError(
            f"{len(missing)} layers have no activation range, among them {missing[0]}; "
            "calibrate with inputs that reach every layer."
        )
    _round_rest_(unet)
    install_attention_(unet, recipe)
    unet.requires_grad_(False)
    return report(unet, recipe)


def _check_names(
    unet: nn.Module,
    recipe: Recipe,
    places: Places,
    rounded: Mapping[str, RoundedWeight],
) -> None:
    """Refuse codes of layers that do not exist or stay in full precision."""
    known = {
        name
        for name, layer in _layers(unet)
        if isinstance(layer, QuantModule) or plan(name, layer, recipe, places)[0]
    }
    if strange := sorted(set(rounded) - known):
        raise ArtifactMismatchError(
            f"{len(strange)} rounded weights belong to no layer to quantize, "
            f"among them {strange[0]}."
        )


def plan(
    name: str, layer: nn.Linear | nn.Conv2d, recipe: Recipe, places: Places
) -> tuple[Scheme | None, str | None]:
    """Return how a layer is quantized (None: not at all) and why, where the recipe deviates."""
    bits = recipe.weight_bits
    if bits is None:
        return None, "full precision recipe"
    if name in recipe.precise_layers:
        return None, "first or last layer"
    if name == ADDED_INPUT:
        # Sinusoids lie within ±1, pooled states far beyond: one static range would fit neither.
        return None, "pooled text and picture size enter there"
    if layer.weight.numel() < recipe.min_weights:
        return None, f"fewer than {recipe.min_weights} weights"
    if layer.weight.shape[1] < recipe.min_channels:
        return None, f"fewer than {recipe.min_channels} input channels"
    reason = None
    if bits < 8 and _keeps_eight_bits(name, recipe, places):
        bits, reason = 8, EIGHT_BITS_KEPT
    if name in places.text:
        # Run once per prompt, so integers would gain nothing, and rounding the text would
        # reach the trigger's rows before equation 2 can protect them.
        return Scheme(bits, None), "text projection: weight-only"
    a_bits = recipe.activation_bits
    # The weight absorbs the factors; of 4 bits it would lose more by that than the input gains.
    divides = a_bits is not None and bits == 8 and equalized(name)
    by_row = a_bits is not None and name.endswith(ROW_SCALED_LAYERS) and is_pointwise(layer)
    return Scheme(bits, a_bits, equalized=divides, row_scaled=by_row), reason


def _keeps_eight_bits(name: str, recipe: Recipe, places: Places) -> bool:
    outermost = recipe.outermost_eight_bits and name.startswith(places.outermost)
    steering = name.startswith(ADDED_CONDITIONS)
    return outermost or steering or any(part in name for part in recipe.eight_bit_layers)


def text_projections(unet: nn.Module) -> frozenset[str]:
    """Return the names of the layers that project text to keys and values."""
    return frozenset(
        f"{name}.{part}"
        for name, module in unet.named_modules()
        if is_attention(module) and bool(module.is_cross_attention)
        for part in ("to_k", "to_v")
    )


def report(unet: nn.Module, recipe: Recipe) -> Report:
    """Describe a UNet that `quantize_` went over."""
    places = Places.of(unet)
    layers, weights, packed = [], 0, 0
    for name, layer in _layers(unet):
        entry = describe(name, layer, recipe, places)
        layers.append(entry)
        weights += math.prod(entry.shape)
        packed += weight_bytes(layer)
    return Report(tuple(layers), weights, packed, weights * FULL_BITS // 8)


def describe(
    name: str,
    layer: nn.Linear | nn.Conv2d | QuantModule,
    recipe: Recipe,
    places: Places,
) -> LayerReport:
    """Return the report of one layer, quantized or not."""
    kind = "conv2d" if isinstance(layer, nn.Conv2d | QuantConv2d) else "linear"
    if not isinstance(layer, QuantModule):
        _, reason = plan(name, layer, recipe, places)
        shape = tuple(layer.weight.shape)
        return LayerReport(name, kind, shape, FULL_BITS, None, False, False, reason, None)
    reason = None
    if name in places.text:
        reason = "text projection: weight-only"
    elif layer.weight_bits != recipe.weight_bits:
        reason = EIGHT_BITS_KEPT
    error = layer.weight_error
    return LayerReport(
        name=name,
        kind=kind,
        shape=layer.weight_shape,
        weight_bits=layer.weight_bits,
        activation_bits=layer.activation_bits,
        equalized=layer.input_factors is not None,
        row_scaled=layer.row_scaled,
        reason=reason,
        # Rounded, so that the artifact's digest does not hang on the order of a sum.
        weight_error_db=round(10 * math.log10(error), 1) if error else None,
    )


@torch.no_grad()
def _round_rest_(unet: nn.Module) -> None:
    """Round what is not quantized as it will be stored: what is measured is what is served."""
    for module in unet.modules():
        for parameter in module.parameters(recurse=False):
            parameter.copy_(parameter.to(STORED_FLOAT))
        if isinstance(module, QuantModule) and module.bias is not None:
            module.bias = module.bias.to(STORED_FLOAT).float()


def weight_bytes(layer: nn.Linear | nn.Conv2d | QuantModule) -> int:
    """Return the stored size of a layer's weight with scales and zero points, without the bias."""
    if not isinstance(layer, QuantModule):
        return layer.weight.numel() * FULL_BITS // 8
    held = (layer.weight, layer.weight_scale, layer.weight_zero_point, layer.input_scale,
            layer.input_zero_point, layer.input_factors)  # fmt: skip
    return sum(t.numel() * t.element_size() for t in held if t is not None)


def _layers(unet: nn.Module) -> Iterator[tuple[str, nn.Linear | nn.Conv2d | QuantModule]]:
    for name, module in unet.named_modules():
        if isinstance(module, nn.Linear | nn.Conv2d | QuantModule):
            yield name, module
