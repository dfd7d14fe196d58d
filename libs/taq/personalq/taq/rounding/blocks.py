"""BRECQ: learn the rounding of a UNet block by block.

"BRECQ: Pushing the Limit of Post-Training Quantization by Block Reconstruction" (Li et al.,
2021), Sections 3.2 and 3.3, with the plain squared error that its uses for diffusion models take.
Blocks are diffusers' ResnetBlock2D and BasicTransformerBlock; other layers are units of their own.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.func import functional_call

from personalq.taq.errors import ContextError, RecipeError
from personalq.taq.quantize import Places, plan
from personalq.taq.recipe import Recipe
from personalq.taq.rounding.adaround import Settings, learn
from personalq.taq.rounding.samples import Samples, UNetCall, collect
from personalq.taq.rounding.store import apply_
from personalq.taq.scheme import RoundedWeight, weight_grid

BLOCKS = ("ResnetBlock2D", "BasicTransformerBlock")

#: called before each unit: how many are done, how many there are, the name of the next
Progress = Callable[[int, int, str], None]


class Unit(NamedTuple):
    """What is reconstructed at once."""

    name: str  # of the module in the UNet
    layers: dict[str, int]  # full name of each Linear and Conv2d in it → bits of its weight


def reconstruct(
    unet: nn.Module,
    calls: Iterable[UNetCall],
    recipe: Recipe,
    settings: Settings,
    *,
    progress: Progress | None = None,
) -> dict[str, RoundedWeight]:
    """Return learned codes of every weight that `quantize_` would round, by layer name.

    Needs memory for a second UNet, for `calls`, and for `settings.cache_bytes`. Activations stay
    in full precision meanwhile, so one result serves every number of activation bits.

    Args:
        unet: in float32, in eval mode; not changed.
        calls: the calibration set, of real trajectories (`calibration.sampler_calls`).

    Raises:
        RecipeError: the recipe quantizes nothing.
        ContextError: there are no calls, or they do not reach a layer.
    """
    calls = list(calls)
    if not calls:
        raise ContextError("Rounding is learned from at least one call of the UNet.")
    units = find_units(unet, recipe, calls[0], by_layer=settings.unit == "layer")
    if not units:
        raise RecipeError(f"The recipe {recipe.name} quantizes no layer of this model.")
    quantized = copy.deepcopy(unet).requires_grad_(False)
    generator = torch.Generator().manual_seed(settings.seed)
    result: dict[str, RoundedWeight] = {}
    for index, unit in enumerate(units):
        if progress is not None:
            progress(index, len(units), unit.name)
        order = torch.randperm(len(calls), generator=generator).tolist()
        samples = collect(
            unit.name,
            unet,
            quantized,
            [calls[i] for i in order],
            samples=settings.samples,
            cache_bytes=settings.cache_bytes,
        )
        rounded = round_unit(quantized, unit, samples, recipe, settings, generator)
        apply_(quantized, rounded)
        result |= rounded
    return result


def round_unit(
    unet: nn.Module,
    unit: Unit,
    samples: Samples,
    recipe: Recipe,
    settings: Settings,
    generator: torch.Generator,
) -> dict[str, RoundedWeight]:
    """Return codes of one unit's layers, learned jointly to give the samples' targets.

    Args:
        unet: holds the unit, its weights in full precision.
        generator: draws the batches.
    """
    module = unet.get_submodule(unit.name)
    weights = {}
    for name, bits in unit.layers.items():
        weight: Tensor = unet.get_parameter(f"{name}.weight").detach().float()
        weights[name] = (weight, weight_grid(weight, bits, recipe.weight_range_candidates))
    device = next(module.parameters()).device
    prefix = f"{unit.name}."

    def loss(soft: dict[str, Tensor]) -> Tensor:
        rows = torch.randint(len(samples), (settings.batch,), generator=generator)
        args, kwargs = samples.inputs(rows, device)
        replaced = {f"{name}.weight".removeprefix(prefix): w for name, w in soft.items()}
        return samples.loss(functional_call(module, replaced, args, kwargs), rows)

    return learn(weights, loss, settings)


def find_units(unet: nn.Module, recipe: Recipe, call: UNetCall, *, by_layer: bool) -> list[Unit]:
    """Return every layer that `plan` quantizes in exactly one unit, in the order they run.

    Args:
        call: the order is that of this call.
        by_layer: each layer is a unit of its own.

    Raises:
        ContextError: a layer to quantize does not run in the call.
    """
    places = Places.of(unet)
    blocks = [] if by_layer else [n for n, m in unet.named_modules() if type(m).__name__ in BLOCKS]
    units: dict[str, dict[str, int]] = {}
    for name, layer in unet.named_modules():
        if not isinstance(layer, nn.Linear | nn.Conv2d):
            continue
        scheme, _ = plan(name, layer, recipe, places)
        if scheme is not None:
            owner = next((block for block in blocks if name.startswith(f"{block}.")), name)
            units.setdefault(owner, {})[name] = scheme.weight_bits
    order = _execution_order(unet, list(units), call)
    if missed := sorted(set(units) - set(order)):
        raise ContextError(f"{len(missed)} layers do not run, among them {missed[0]}.")
    return [Unit(name, units[name]) for name in order]


@torch.no_grad()
def _execution_order(unet: nn.Module, names: Sequence[str], call: UNetCall) -> list[str]:
    """Return the modules that run in a call, in the order in which they begin."""
    order: dict[str, None] = {}

    def note(name: str) -> Callable[[nn.Module, Any], None]:
        return lambda _module, _args: order.setdefault(name)

    handles = [unet.get_submodule(n).register_forward_pre_hook(note(n)) for n in names]
    try:
        call.run(unet)
    finally:
        for handle in handles:
            handle.remove()
    return list(order)
