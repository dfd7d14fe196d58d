"""A method put into a UNet, and the UNet that is served."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from unit.taq.configurations import NARROW_TEXT, SD15, build, narrow
from unit.taq.models import TOKENS, assert_similar, predict, relative_error
from unit.taq.simulations import (
    TEXT_WIDTH,
    TIMESTEPS,
    nearest_weights,
    observations,
    picture,
    precise_unet,
    predicted,
    psnr,
    random,
    shared,
    simulation,
)

from personalq.taq import PROFILES, MissingRangeError, Range, quantize_
from personalq.taq.attention import is_attention
from personalq.taq.kernels import use_kernel
from personalq.taq.modules import QuantModule
from personalq.taq.quantize import Places, plan
from personalq.taq.recipe import equalized
from personalq.taq.simulation import METHODS, Observations, method, simulate_
from personalq.taq.simulation.layers import Simulated, own_channels
from personalq.taq.simulation.nf4 import nf4
from personalq.taq.simulation.rounders import Equalized, Exactly, PerRow, PerTensor, Split
from personalq.taq.simulation.simulate import _channel_extremes, nearest

TRIGGER = torch.zeros(2, TOKENS, dtype=torch.bool)
TRIGGER[:, 3:5] = True


def _served_ranges() -> dict[str, Range]:
    """Ranges that calibration would give, from what the simulation has seen."""
    ranges = {}
    for name, module in precise_unet().named_modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            [fitted] = observations().fitted(name, 8, by_step=False)
            ranges[name] = Range(*fitted)
            if equalized(name):
                seen = _channel_extremes(name, module, observations())
                low, high = (tuple(t.tolist()) for t in seen)
                ranges[name] = replace(ranges[name], channel_low=low, channel_high=high)
    return ranges


@pytest.mark.parametrize("profile", ["w8a8", "w4a8"])
def test_taq_is_simulated_as_it_is_served(profile: str) -> None:
    """The same ranges and weights: integers and their simulation predict the same noise.

    Each layer and each attention agrees to rounding errors of float32. Over the whole UNet these
    move a value across a tie here and there, and every value that moves makes others move: the
    two end up closer to each other than to full precision, but not as close as their parts are.
    """
    recipe, x = PROFILES[profile], picture()
    served = copy.deepcopy(precise_unet())
    quantize_(served, recipe, _served_ranges())
    simulated = shared(method("taq", recipe.weight_bits, recipe.activation_bits))
    for name, layer in served.named_modules():
        if isinstance(layer, QuantModule):
            weight = simulated.get_submodule(name).weight
            assert isinstance(weight, Tensor)
            expected = layer.dequantize()
            if layer.input_factors is not None:
                factors = layer.input_factors
                expected = expected * factors.view(1, -1, *[1] * (expected.ndim - 2))
            assert_similar(weight, expected, within=1e-6)
    errors = {}

    def compare(_: nn.Module, args: Any, kwargs: dict[str, Any], output: Tensor, name: str) -> None:
        same = simulated.get_submodule(name)(*args, **kwargs)
        errors[name] = relative_error(same, output)

    for name, layer in served.named_modules():
        if isinstance(layer, QuantModule) or is_attention(layer):
            layer.register_forward_hook(partial(compare, name=name), with_kwargs=True)
    simulated.get_submodule("mid_block.resnets.0.conv1").clock.step = 1
    reference = predict(precise_unet(), x)
    with use_kernel("reference"):
        integers = predicted(served, x, TRIGGER)
    floats = predicted(simulated, x, TRIGGER)
    assert len(errors) > 50
    assert sum(error < 1e-6 for error in errors.values()) > 0.9 * len(errors)
    assert max(errors.values()) < 5e-3  # a tie
    lost = psnr(integers, reference)
    assert psnr(floats, integers) > max(45, lost + 4)
    assert lost > (35 if profile == "w8a8" else 25)


def test_full_precision_changes_nothing() -> None:
    """No weight, no input, no attention; nearly the same bits, since only sums differ."""
    simulated, x = simulation(method("full", None, None)), picture()
    assert set(simulated.bits.values()) == {(32, 32)}
    assert not any(isinstance(module, Simulated) for module in simulated.unet.modules())
    assert_similar(predicted(simulated.unet, x), predict(precise_unet(), x))
    assert torch.equal(predict(precise_unet(), x), predict(precise_unet(), x))


@pytest.mark.parametrize("name", METHODS)
def test_bits_are_those_of_the_plan(name: str) -> None:
    """Which layers are quantized and how is the serving walker's decision, for all methods."""
    of = method(name, 4, 8)
    simulated = simulation(of)
    unet, places = precise_unet(), Places.of(precise_unet())
    layers = {n: m for n, m in unet.named_modules() if isinstance(m, nn.Linear | nn.Conv2d)}
    assert simulated.bits.keys() == layers.keys()
    for layer_name, layer in layers.items():
        scheme, _ = plan(layer_name, layer, PROFILES["w4a8"], places)
        kept = bool(of.precise_layers) and layer_name.endswith(of.precise_layers)
        after = simulated.unet.get_submodule(layer_name)
        if scheme is None or kept:
            assert simulated.bits[layer_name] == (32, 32)
            assert not isinstance(after, Simulated)
            assert torch.equal(after.get_parameter("weight"), layer.weight)
            continue
        is_precise = layer_name in places.text and of.text_inputs == "precise"
        assert simulated.bits[layer_name] == (scheme.weight_bits, 32 if is_precise else 8)
        assert isinstance(after, Simulated)
        assert isinstance(after.rounder, Exactly) == is_precise
        assert not torch.equal(after.get_parameter("weight"), layer.weight)


def test_shared_weights_are_taken_as_they_are() -> None:
    """Ŵ from elsewhere, rounded to nearest where there is none, absorbed where equalized."""
    name, shortcut = "mid_block.resnets.0.conv1", "up_blocks.0.resnets.0.conv_shortcut"
    layers = precise_unet()
    given = {n: torch.full_like(layers.get_submodule(n).weight, 0.01) for n in (name, shortcut)}
    for of in (method("taq-paper", 4, 8), method("taq", 4, 8)):
        unet = simulation(of, nearest_weights(4) | given).unet
        assert torch.equal(unet.get_submodule(name).get_parameter("weight"), given[name])
        taken = torch.equal(unet.get_submodule(shortcut).get_parameter("weight"), given[shortcut])
        assert taken == (of.shortcuts == "whole")
    assert not nearest_weights(4).keys() - {n for n, _ in layers.named_modules()}
    four = simulation(method("nf4", 4, None), given).unet
    weight = layers.get_submodule(name).weight
    assert torch.equal(four.get_submodule(name).get_parameter("weight"), nf4(weight))


@pytest.mark.parametrize("bits", [4, 8])
def test_nearest_weights_have_their_codes_by_output_channel(bits: int) -> None:
    """At most 2^b values per channel and an error of half a step."""
    weight = random(5, 40, 3, 3) * torch.logspace(-2, 1, 5).view(5, 1, 1, 1)
    rounded = nearest(weight, bits)
    for channel, of in zip(rounded, weight, strict=True):
        values = channel.unique()
        assert len(values) <= 2**bits
        step = values.diff().min()
        assert bool((values / step - (values / step).round()).abs().max() < 1e-3)
        inside = (of > values.min()) & (of < values.max())
        assert (channel - of)[inside].abs().max() <= step / 2 * 1.001


@pytest.mark.parametrize("topology", ["sd15", "tiny"])
def test_shortcuts_are_split_where_the_skip_begins(topology: str) -> None:
    """A block's own channels come first, then the skip's: seen while the UNet runs."""
    unet: Any = build(narrow(SD15)) if topology == "sd15" else copy.deepcopy(precise_unet())
    skips: list[Tensor] = []
    checked = []

    def enter(_: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        skips[:] = kwargs["res_hidden_states_tuple"]

    def check(name: str, x: Tensor) -> None:
        skip = skips.pop()
        if isinstance(unet.get_submodule(name).conv_shortcut, nn.Module):
            own = own_channels(f"{name}.conv_shortcut", unet)
            assert own + skip.shape[1] == x.shape[1]
            assert torch.equal(x[:, own:], skip)
            checked.append(name)

    for number, block in enumerate(unet.up_blocks):
        block.register_forward_pre_hook(enter, with_kwargs=True)
        for index, resnet in enumerate(block.resnets):
            name = f"up_blocks.{number}.resnets.{index}"
            resnet.register_forward_pre_hook(lambda _, args, name=name: check(name, args[0]))
    text = random(1, TOKENS, NARROW_TEXT if topology == "sd15" else TEXT_WIDTH)
    with torch.no_grad():
        unet(random(1, 4, 8, 8), 500, text)
    assert len(checked) == sum(len(block.resnets) for block in unet.up_blocks)
    for name, module in unet.down_blocks.named_modules():
        if name.endswith("conv_shortcut"):  # no skip enters there
            assert own_channels(f"down_blocks.{name}", unet) == module.in_channels


def test_shortcuts_are_rounded_as_the_method_says() -> None:
    """Split in two, equalized, precise, or whole."""
    name = "up_blocks.0.resnets.0.conv_shortcut"
    kinds = {n: shared(method(n, 8, 8)).get_submodule(name) for n in METHODS}
    of: dict[str, Any] = {n: getattr(layer, "rounder", None) for n, layer in kinds.items()}
    assert isinstance(of["q-diffusion"], Split)
    assert isinstance(of["mixdq-bos"], Split)
    assert isinstance(of["taq"], Equalized)
    assert of["tfmq-dm"] is of["ptqd"] is None
    low, high = _channel_extremes(name, precise_unet().get_submodule(name), observations())
    assert bool((low <= 0).all())
    assert bool((high >= 0).all())
    x = random(2, len(low), 4, 4)
    own = own_channels(name, precise_unet())
    rounded = of["q-diffusion"](x, 0)
    for part, half in (("own", slice(own)), ("skip", slice(own, None))):
        alone = PerTensor([observations().searched(f"{name}.{part}", 8)], 8)
        assert torch.equal(rounded[:, half], alone(x[:, half], 0))
        seen = observations().ranges(f"{name}.{part}")
        assert low[half].min() <= min(a for a, _ in seen)
        assert high[half].max() >= max(b for _, b in seen)


def test_tokens_and_pixels_have_scales_of_their_own() -> None:
    """Where a method says so and a layer's sums run over one of them."""
    taq = method("taq", 4, 8)
    unet = shared(taq)
    block = "down_blocks.0.attentions.0"
    for name, dim in (
        (f"{block}.transformer_blocks.0.ff.net.2", -1),
        ("mid_block.attentions.0.proj_in", 1),
    ):
        rounder: Any = unet.get_submodule(name).rounder
        assert isinstance(rounder, PerRow)
        x = random(2, 8, 4, 4)
        x[0, :, 1] *= 100
        [step] = (x.abs().amax(dim, keepdim=True) / 127)[None]
        assert ((rounder(x, 0) - x).abs() <= step / 2 * 1.0001).all()
    other: Any = unet.get_submodule(f"{block}.transformer_blocks.0.ff.net.0.proj").rounder
    assert isinstance(other, PerTensor)
    convolution: Any = unet.get_submodule("down_blocks.0.resnets.0.conv1").rounder
    assert isinstance(convolution, PerTensor)


def test_precise_inputs_and_layers_by_the_ends_of_names() -> None:
    """Two ways to spare a layer: its input alone, or all of it."""
    of = method("taq-paper", 8, 8).but(precise_inputs=("ff.net.2",), precise_layers=("to_q",))
    simulated = simulation(of)
    ends = {
        end: {bits for name, bits in simulated.bits.items() if name.endswith(end)}
        for end in ("ff.net.2", "to_q", "proj_in")
    }
    assert ends["ff.net.2"] == {(8, 32)}
    assert ends["to_q"] == {(32, 32)}
    assert (8, 8) in ends["proj_in"] or ends["proj_in"] == {(32, 32)}


def test_the_clock_runs_inside_the_unet() -> None:
    """Ranges by step: a simulated UNet reads the step of every call."""
    of = method("tfmq-dm", 8, 4)
    unet = shared(of)
    layer = unet.get_submodule("mid_block.resnets.0.conv1")
    for step, timestep in enumerate(TIMESTEPS):
        predict(unet, picture(timestep=timestep))
        assert layer.clock.step == step
    copied = copy.deepcopy(unet)
    predict(copied, picture(timestep=TIMESTEPS[0]))
    assert copied.get_submodule("mid_block.resnets.0.conv1").clock.step == 0
    assert layer.clock.step == 2


def test_what_was_not_observed_is_named() -> None:
    """Without observations only run-time scales could be used."""
    with pytest.raises(MissingRangeError, match="was not observed"):
        simulate_(
            copy.deepcopy(precise_unet()), method("q-diffusion", 8, 8), Observations(TIMESTEPS)
        )
