"""Put a method into a UNet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from personalq.taq.attention import is_attention
from personalq.taq.calibrate import Range
from personalq.taq.errors import MissingRangeError
from personalq.taq.quantize import Places, plan, text_projections
from personalq.taq.quantizers import dequantize, quantize, search
from personalq.taq.recipe import SHORTCUT, Recipe
from personalq.taq.scheme import equalize, is_pointwise
from personalq.taq.simulation.attention import REST, AttentionRounders, SimulatedAttention
from personalq.taq.simulation.groups import grouped
from personalq.taq.simulation.layers import Clock, own_channels, simulated
from personalq.taq.simulation.method import Inputs, Method, Probabilities, Rows
from personalq.taq.simulation.nf4 import nf4
from personalq.taq.simulation.observe import HALVES, Observations
from personalq.taq.simulation.rounders import (
    AfterFirst,
    Equalized,
    Exactly,
    LogPerRow,
    PerColumn,
    PerGroup,
    PerPrompt,
    PerRow,
    PerSample,
    PerTensor,
    PowersOfTwo,
    Rounder,
    Split,
    ZeroToMax,
    ZeroToRowMax,
)

FULL_BITS = 32


@dataclass(frozen=True)
class Simulation:
    """A UNet that computes as a method would."""

    unet: nn.Module
    method: Method
    #: bits of weight and input of each Linear and Conv2d; 32 where it is precise
    bits: Mapping[str, tuple[int, int]]


def simulate_(
    unet: nn.Module,
    method: Method,
    observations: Observations,
    weights: Mapping[str, Tensor] | None = None,
) -> Simulation:
    """Make `unet`, in float32, compute as `method` does.

    Args:
        observations: of this UNet in full precision, see `observe`.
        weights: Ŵ by layer, shared by all methods; rounded to nearest where a layer has none.

    Raises:
        MissingRangeError: a tensor was not observed.
    """
    clock = Clock(observations.timesteps)
    clock.attach(unet)
    text_layers = text_projections(unet)
    bits = layer_bits(unet, method)
    for name, (weight_bits, _) in bits.items():
        layer: Any = unet.get_submodule(name)
        if weight_bits == FULL_BITS:
            continue
        rounder = _input_rounder(name, layer, method, observations, unet, text_layers)
        factors = rounder.factors if isinstance(rounder, Equalized) else None
        _round_weight_(name, layer, method, weight_bits, weights or {}, factors)
        simulated(layer, rounder, clock)
    for name, attn in unet.named_modules():
        if is_attention(attn):
            _simulate_attention(name, attn, method, observations, clock)
    return Simulation(unet.requires_grad_(False), method, bits)


def layer_bits(unet: nn.Module, method: Method) -> dict[str, tuple[int, int]]:
    """Return bits of weight and input by Linear and Conv2d of a UNet; 32 where it is precise."""
    recipe, places = _recipe(method), Places.of(unet)
    bits: dict[str, tuple[int, int]] = {}
    for name, layer in unet.named_modules():
        if isinstance(layer, nn.Linear | nn.Conv2d):
            scheme, _ = plan(name, layer, recipe, places)
            if scheme is None or name.endswith(method.precise_layers or ("\0",)):
                bits[name] = (FULL_BITS, FULL_BITS)
            else:
                a_bits = _input_bits(name, method, places.text)
                bits[name] = (scheme.weight_bits, a_bits or FULL_BITS)
    return bits


def _input_bits(name: str, method: Method, text_layers: frozenset[str]) -> int | None:
    """Return the bits of a layer's input; None where it is not rounded."""
    precise = name.endswith(method.precise_inputs or ("\0",))
    if precise or (name in text_layers and method.text_inputs == "precise"):
        return None
    return method.input_bits


def _recipe(method: Method) -> Recipe:
    """Return the recipe that names the layers which all methods quantize, and their bits."""
    return Recipe(
        name=method.name,
        weight_bits=method.weight_bits,
        activation_bits=method.input_bits,
        cross_probability_bits=None,
        self_probability_bits=None,
    )


@torch.no_grad()
def _round_weight_(
    name: str,
    layer: nn.Linear | nn.Conv2d,
    method: Method,
    bits: int,
    weights: Mapping[str, Tensor],
    factors: Tensor | None,
) -> None:
    if factors is not None:
        # The weight absorbs the factors and is rounded then, as in `QuantModule`.
        layer.weight.copy_(nearest(layer.weight / factors, bits) * factors)
    elif method.weights == "nf4":
        layer.weight.copy_(nf4(layer.weight) if bits == 4 else nearest(layer.weight, bits))
    elif name in weights:
        layer.weight.copy_(weights[name])
    else:
        layer.weight.copy_(nearest(layer.weight, bits))


def nearest(weight: Tensor, bits: int) -> Tensor:
    """Return Ŵ rounded to nearest, per output channel, as `QuantModule` does it."""
    symmetric = bits == 8
    candidates = {"candidates": 1} if symmetric else {}
    values = weight.detach().float()
    grid = search(values, bits, "channel", symmetric=symmetric, **candidates)
    return dequantize(quantize(values, grid), grid)


def _input_rounder(
    name: str,
    layer: nn.Linear | nn.Conv2d,
    method: Method,
    seen: Observations,
    unet: nn.Module,
    text_layers: frozenset[str],
) -> Rounder:
    bits = _input_bits(name, method, text_layers)
    if bits is None:
        return Exactly()
    by_row = name.endswith(method.row_scaled) and is_pointwise(layer)
    if name.endswith(SHORTCUT) and method.shortcuts == "split":
        return _split(name, bits, seen, unet)
    if name.endswith(SHORTCUT) and method.shortcuts == "equalized":
        factors, grid = _equalized(name, layer, bits, seen)
        return Equalized(factors, _by_row(layer, method, bits) if by_row else grid)
    if by_row:
        return _by_row(layer, method, bits)
    if method.inputs == "row":
        return PerSample(bits) if isinstance(layer, nn.Conv2d) else PerRow(bits)
    spares_first = name in text_layers and method.text_inputs == "protected"
    return _calibrated(name, method.inputs, bits, seen, spares_first and method.protected == "bos")


def _by_row(layer: nn.Linear | nn.Conv2d, method: Method, bits: int) -> Rounder:
    dim = _channels(layer)
    return PerGroup(bits, method.row_group, dim) if method.row_group else PerRow(bits, dim)


def _calibrated(
    point: str, kind: Inputs | Rows, bits: int, seen: Observations, spares_first: bool = False
) -> Rounder:
    if spares_first:
        # What is not rounded must not widen the ranges of what is.
        return AfterFirst(_calibrated(point + REST, kind, bits, seen))
    if kind == "static":
        return PerTensor([seen.searched(point, bits)], bits)
    if kind == "extremes":
        lows, highs = zip(*seen.ranges(point), strict=True)
        return PerTensor([(min(lows), max(highs))], bits)
    if kind == "step":
        return PerTensor(seen.ranges(point), bits)
    if kind in ("fitted", "fitted-step"):
        return PerTensor(seen.fitted(point, bits, by_step=kind == "fitted-step"), bits)
    return grouped(seen.at(point), bits)


def _split(name: str, bits: int, seen: Observations, unet: nn.Module) -> Rounder:
    """Return a rounder with a range for each half of a shortcut's input (Q-Diffusion, 3.3)."""
    split = own_channels(name, unet)
    whole: Any = unet.get_submodule(name)
    if split == whole.in_channels:
        return _calibrated(name, "static", bits, seen)
    return Split([PerTensor([seen.searched(name + half, bits)], bits) for half in HALVES], split)


def _equalized(
    name: str, layer: nn.Linear | nn.Conv2d, bits: int, seen: Observations
) -> tuple[Tensor, PerTensor]:
    low, high = _channel_extremes(name, layer, seen)
    channels = Range(low.min().item(), high.max().item(), tuple(low.tolist()), tuple(high.tolist()))
    factors, joint = equalize(channels, len(low))
    if isinstance(layer, nn.Conv2d):
        factors = factors.view(-1, 1, 1)
    return factors.to(layer.weight.device), PerTensor([(joint.low, joint.high)], bits)


def _channels(layer: nn.Linear | nn.Conv2d) -> int:
    """Return the dimension of the input's channels."""
    return 1 if isinstance(layer, nn.Conv2d) else -1


def _channel_extremes(
    name: str, layer: nn.Linear | nn.Conv2d, seen: Observations
) -> tuple[Tensor, Tensor]:
    by_step, dim = seen.at(name), _channels(layer)
    if dim not in by_step[0].by_index:
        raise MissingRangeError(f"{name} was observed without its channels.")
    lows, highs = zip(*(step.by_index[dim] for step in by_step), strict=True)
    return torch.stack(lows).amin(0).clamp(max=0), torch.stack(highs).amax(0).clamp(min=0)


def _simulate_attention(
    name: str, attn: Any, method: Method, seen: Observations, clock: Clock
) -> None:
    is_cross = bool(attn.is_cross_attention)
    bits = method.cross_row_bits if is_cross else method.self_row_bits
    a_bits = method.cross_bits if is_cross else method.self_bits
    spared = method.protects if is_cross and method.protected == "bos" else ()
    q, k, v = (_rows(f"{name}.{part}", method.rows, bits, seen, part in spared) for part in "qkv")
    if isinstance(v, PerRow) and not is_cross and method.self_values == "column":
        v = PerColumn(v.bits)
    a = _probabilities(f"{name}.a", method.probabilities, a_bits, seen)
    attn.set_processor(
        SimulatedAttention(
            name=name,
            is_cross=is_cross,
            rounders=AttentionRounders(q, k, v, a),
            clock=clock,
            protects=method.protects,
            ranges_without_protected=method.rows == "tensor-rest",
            projects_protected_precisely=method.text_inputs == "protected",
        )
    )


def _rows(
    point: str, kind: Rows, bits: int | None, seen: Observations, spares_first: bool
) -> Rounder:
    if bits is None:
        return Exactly()
    if kind == "row":
        return PerRow(bits)
    if kind in ("tensor", "tensor-rest"):
        return PerPrompt(bits)
    if kind == "log":
        return LogPerRow(bits)
    return _calibrated(point, kind, bits, seen, spares_first)


def _probabilities(
    point: str, kind: Probabilities, bits: int | None, seen: Observations
) -> Rounder:
    if bits is None:
        return Exactly()
    if kind == "row":
        return ZeroToRowMax(bits)
    if kind == "log2":
        return PowersOfTwo(bits)
    if kind == "log":
        return LogPerRow(bits)
    if kind == "static":
        return ZeroToMax([seen.searched(point, bits)[1]], bits)
    return ZeroToMax([high for _, high in seen.ranges(point)], bits)
