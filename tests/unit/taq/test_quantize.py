"""The walker on a real diffusers UNet."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn
from unit.taq.models import assert_similar, inputs, predict, ranges_of, relative_error, tiny_unet

from personalq.taq import (
    PROFILES,
    Calibration,
    MissingRangeError,
    Range,
    Recipe,
    RecipeError,
    quantize_,
    ranges_from_json,
    ranges_to_json,
)
from personalq.taq.kernels import use_kernel
from personalq.taq.modules import QuantConv2d, QuantLinear
from personalq.taq.recipe import ROW_SCALED_LAYERS


@pytest.fixture(scope="module")
def unet() -> Any:
    """A small random UNet in full precision; tests quantize copies of it."""
    return tiny_unet()


@pytest.fixture(scope="module")
def ranges(unet: Any) -> dict[str, Range]:
    """Its activation ranges."""
    return ranges_of(unet)


@pytest.mark.parametrize("kernel", ["reference", None])
def test_w8a8_stays_close_to_full_precision(
    unet: Any, ranges: dict[str, Range], kernel: str | None
) -> None:
    """A W8A8 UNet predicts what the float one does, by the reference and by integers."""
    quantized = copy.deepcopy(unet)
    quantize_(quantized, PROFILES["w8a8"], ranges)
    x = inputs()
    if kernel is None:
        output = predict(quantized, x)
    else:
        with use_kernel(kernel):
            output = predict(quantized, x)
    assert_similar(output, predict(unet, x), within=0.05)


def test_fewer_bits_cost_more(unet: Any, ranges: dict[str, Range]) -> None:
    """The error grows from full over W8A8 to W4A8, and W4A8 is still the same picture."""
    x = inputs()
    expected = predict(unet, x)
    errors = []
    for profile in ("full", "w8a8", "w4a8"):
        quantized = copy.deepcopy(unet)
        quantize_(quantized, PROFILES[profile], ranges)
        errors.append(relative_error(predict(quantized, x), expected))
    assert errors[0] < 2e-3
    assert errors == sorted(errors)
    assert errors[2] < 0.4


def test_every_exception_is_listed(unet: Any, ranges: dict[str, Range]) -> None:
    """What deviates from the recipe's bits does so by a rule that the report names."""
    quantized = copy.deepcopy(unet)
    report = quantize_(quantized, PROFILES["w4a8"], ranges)
    by_name = {layer.name: layer for layer in report.layers}
    linear_or_conv = [n for n, m in unet.named_modules() if isinstance(m, nn.Linear | nn.Conv2d)]
    assert list(by_name) == linear_or_conv
    for layer in report.layers:
        normal = (layer.weight_bits, layer.activation_bits) == (4, 8)
        assert normal == (layer.reason is None), layer
        assert (layer.weight_error_db is None) == (layer.weight_bits == 16)
    for name in PROFILES["w4a8"].precise_layers:
        assert by_name[name].weight_bits == 16
    text = by_name["down_blocks.0.attentions.0.transformer_blocks.0.attn2.to_k"]
    assert (text.weight_bits, text.activation_bits) == (16, None)  # 32 × 48: too few weights
    small = replace(PROFILES["w4a8"], min_weights=1000)
    again = {r.name: r for r in quantize_(copy.deepcopy(unet), small, ranges).layers}
    assert (again[text.name].weight_bits, again[text.name].activation_bits) == (8, None)
    assert isinstance(quantized.get_submodule("mid_block.resnets.0.conv1"), QuantConv2d)
    assert isinstance(quantized.get_submodule("mid_block.resnets.0.time_emb_proj"), QuantLinear)
    assert report.packed_bytes < report.full_bytes
    shortcuts = [layer for layer in report.layers if layer.equalized]
    packed = [layer for layer in report.layers if layer.weight_bits < 16]
    assert shortcuts == [layer for layer in packed if layer.name.endswith("conv_shortcut")]
    assert {layer.weight_bits for layer in shortcuts} == {8}
    by_row = [layer for layer in packed if layer.row_scaled]
    assert by_row == [layer for layer in packed if layer.name.endswith(ROW_SCALED_LAYERS)]
    assert {"linear", "conv2d"} == {layer.kind for layer in by_row}
    for layer in packed:
        if layer.name.startswith(("down_blocks.0.", "up_blocks.1.")):
            assert layer.weight_bits == 8, layer
    assert any(layer.weight_bits == 4 for layer in packed)
    smaller = by_name["down_blocks.0.downsamplers.0.conv"]
    assert (smaller.weight_bits, smaller.activation_bits, smaller.equalized) == (8, 8, False)


def test_weights_of_four_bits_are_half_of_those_of_eight(
    unet: Any, ranges: dict[str, Range]
) -> None:
    """The report's bytes are bits × weights plus scales."""
    everything = {
        "precise_layers": (), "min_weights": 0, "min_channels": 0, "eight_bit_layers": (),
        "outermost_eight_bits": False,
    }  # fmt: skip
    for bits in (8, 4):
        recipe = replace(PROFILES["w8a8"], weight_bits=bits, **everything)  # type: ignore[arg-type]
        report = quantize_(copy.deepcopy(unet), recipe, ranges)
        channels = sum(layer.shape[0] for layer in report.layers)
        expected = report.weights * bits / 8 + channels * 4
        assert report.packed_bytes == pytest.approx(expected, rel=0.03)


def test_a_missing_range_is_an_error(unet: Any, ranges: dict[str, Range]) -> None:
    """A layer that calibration did not reach is named."""
    name = "mid_block.resnets.0.conv1"
    with pytest.raises(MissingRangeError, match=f"1 layers.*{name}"):
        quantize_(
            copy.deepcopy(unet), PROFILES["w8a8"], {n: r for n, r in ranges.items() if n != name}
        )


def test_calibration_leaves_the_unet_alone(unet: Any) -> None:
    """Observing changes no output and leaves no hook behind."""
    before = predict(unet, inputs())
    with Calibration(unet) as calibration:
        assert torch.equal(predict(unet, inputs()), before)
    assert all(not module._forward_pre_hooks for module in unet.modules())
    assert calibration.ranges(8).keys() == calibration.ranges(4).keys()


def test_ranges_cover_what_was_seen() -> None:
    """Of all passes; a search may give up outliers, never zero."""
    layer = nn.Sequential(nn.Linear(8, 4))
    values = torch.randn(4, 3000, 8, generator=torch.Generator().manual_seed(0))
    values[1, 7, 3] = 100.0
    with Calibration(layer) as calibration:
        for batch in values:
            layer(batch)
    fine, coarse = (calibration.ranges(bits)["0"] for bits in (8, 4))
    assert values.min() * 1.1 < fine.low <= 0
    assert 4 < fine.high <= 101
    assert coarse.low <= 0 <= coarse.high < 100
    with pytest.raises(MissingRangeError):
        Calibration(layer).ranges()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_no_range_covers_what_is_no_number(number: float) -> None:
    """The first layer that was given some is named, however much it was given besides."""
    model = nn.Sequential(nn.Identity(), nn.Linear(8, 4), nn.Linear(4, 4))
    with Calibration(model) as calibration:
        for _ in range(40):
            model(torch.randn(500, 8))
        model(torch.full((1, 8), number))
        for _ in range(40):
            model(torch.randn(500, 8))
    with pytest.raises(MissingRangeError, match="1 was given numbers that are infinite"):
        calibration.ranges()


def test_ranges_and_recipes_survive_json(ranges: dict[str, Range]) -> None:
    """What is written is what is read."""
    assert ranges_from_json(ranges_to_json(ranges)) == ranges
    for recipe in PROFILES.values():
        assert Recipe.from_json(recipe.to_json()) == recipe


def test_impossible_recipes_are_refused() -> None:
    """Bits that cannot be executed, and fields that do not exist."""
    with pytest.raises(RecipeError):
        replace(PROFILES["w8a8"], weight_bits=5)
    with pytest.raises(RecipeError):
        replace(PROFILES["w8a8"], activation_bits=16)
    with pytest.raises(RecipeError, match="unknown fields: speed"):
        Recipe.from_json(PROFILES["full"].to_json() | {"speed": 1})
    earlier = {k: v for k, v in PROFILES["w4a8"].to_json().items() if k != "outermost_eight_bits"}
    assert not Recipe.from_json(earlier | {"version": 5}).outermost_eight_bits
    with pytest.raises(RecipeError, match="incomplete"):
        Recipe.from_json({"name": "x"})


def test_linear_projections_are_quantized_too() -> None:
    """SDXL's UNets project by Linear where SD1.5 convolves."""
    unet = tiny_unet(linear=True)
    x = inputs()
    expected = predict(unet, x)
    quantize_(unet, PROFILES["w8a8"], ranges_of(unet))
    assert_similar(predict(unet, x), expected, within=0.05)
