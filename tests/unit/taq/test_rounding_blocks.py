"""BRECQ on real diffusers UNets: units, targets, and what becomes of the result."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from unit.taq.models import inputs, predict, ranges_of, relative_error, tiny_unet

from personalq.taq import (
    PROFILES,
    ArtifactMismatchError,
    ContextError,
    IntegrityError,
    RecipeError,
    quantize_,
)
from personalq.taq.errors import TaqError
from personalq.taq.modules import QuantModule
from personalq.taq.quantize import Places, plan
from personalq.taq.quantizers import quantize
from personalq.taq.rounding import (
    Settings,
    UNetCall,
    apply_,
    load_rounded,
    reconstruct,
    save_rounded,
)
from personalq.taq.rounding.blocks import Unit, find_units, round_unit
from personalq.taq.rounding.samples import Samples, collect, places
from personalq.taq.scheme import RoundedWeight, weight_grid

RECIPE = PROFILES["w4a8"]
SETTINGS = Settings(iterations=40, batch=8, learning_rate=2e-2, samples=16)


def _calls(count: int) -> list[UNetCall]:
    """Random calls of a `tiny_unet`, four samples each."""
    calls = []
    for seed in range(count):
        sample, timestep, text = inputs(batch=4, seed=seed + 100)
        calls.append(UNetCall(sample, timestep, text))
    return calls


def _nearest(unet: nn.Module) -> dict[str, RoundedWeight]:
    """What `quantize_` would round to, without equalization."""
    places, rounded = Places.of(unet), {}
    for name, layer in unet.named_modules():
        if isinstance(layer, nn.Linear | nn.Conv2d):
            scheme, _ = plan(name, layer, RECIPE, places)
            if scheme is not None:
                grid = weight_grid(layer.weight.detach(), scheme.weight_bits, 80)
                codes = quantize(layer.weight.detach(), grid).to(torch.int8)
                rounded[name] = RoundedWeight(codes, grid)
    return rounded


@pytest.fixture(scope="module")
def unet() -> Any:
    """A small random UNet in full precision."""
    return tiny_unet()


@pytest.fixture(scope="module")
def rounded(unet: Any) -> dict[str, RoundedWeight]:
    """Its weights with learned rounding."""
    return reconstruct(unet, _calls(4), RECIPE, SETTINGS)


def test_every_layer_is_in_one_unit_in_network_order() -> None:
    """The miniature's UNet: down, middle, up; a ResNet and its attention in turn."""
    from personalq.miniature.unet import build_unet

    unet = build_unet().eval()
    call = UNetCall(torch.randn(1, 4, 16, 16), 5, torch.randn(1, 7, 192))
    units = find_units(unet, RECIPE, call, by_layer=False)
    layers = [name for unit in units for name in unit.layers]
    assert sorted(layers) == sorted(_nearest(unet))
    names = [unit.name for unit in units]
    assert names[0] == "time_embedding.linear_2"
    assert [n.split(".")[0] for n in names if n.endswith("resnets.0")] == [
        "down_blocks", "down_blocks", "mid_block", "up_blocks", "up_blocks",
    ]  # fmt: skip
    first = names.index("down_blocks.0.resnets.0")
    assert names[first : first + 5] == [
        "down_blocks.0.resnets.0",
        "down_blocks.0.attentions.0.proj_in",
        "down_blocks.0.attentions.0.transformer_blocks.0",
        "down_blocks.0.attentions.0.proj_out",
        "down_blocks.0.downsamplers.0.conv",
    ]
    alone = find_units(unet, RECIPE, call, by_layer=True)
    assert sorted(unit.name for unit in alone) == sorted(layers)


def test_reconstruction_mends_the_prediction(unet: Any, rounded: dict[str, RoundedWeight]) -> None:
    """On inputs it has not seen, the 4-bit UNet is closer to full precision than by nearest."""
    x = inputs(batch=8, seed=5)
    expected = predict(unet, x)
    errors = []
    for weights in (_nearest(unet), rounded):
        simulated = copy.deepcopy(unet)
        apply_(simulated, weights)
        errors.append(relative_error(predict(simulated, x), expected))
    assert errors[1] < 0.9 * errors[0]


def test_quantize_executes_these_codes(unet: Any, rounded: dict[str, RoundedWeight]) -> None:
    """The packed integers are the learned ones, but for shortcuts, which are equalized."""
    quantized = copy.deepcopy(unet)
    quantize_(quantized, RECIPE, ranges_of(unet), rounded=rounded)
    for name, (codes, grid) in rounded.items():
        layer = quantized.get_submodule(name)
        assert isinstance(layer, QuantModule)
        if layer.input_factors is None:
            assert torch.equal(layer.integers().float(), codes.float() - grid.zero_point)
            assert torch.equal(layer.weight_scale, grid.scale.flatten())
    plain = copy.deepcopy(unet)
    quantize_(plain, RECIPE, ranges_of(unet))
    shortcut = "up_blocks.0.resnets.0.conv_shortcut"
    assert torch.equal(
        plain.get_submodule(shortcut).weight, quantized.get_submodule(shortcut).weight
    )


def test_codes_of_another_model_are_refused(unet: Any, rounded: dict[str, RoundedWeight]) -> None:
    """A layer that is not there, of another shape, of other bits."""
    name = "mid_block.resnets.0.conv1"
    codes, grid = rounded[name]
    ranges = ranges_of(unet)
    wrong: list[dict[str, RoundedWeight]] = [
        {"mid_block.nothing": rounded[name]},
        {name: RoundedWeight(codes[:, :1], grid)},
    ]
    for given in wrong:
        with pytest.raises(ArtifactMismatchError):
            quantize_(copy.deepcopy(unet), RECIPE, ranges, rounded=given)
        with pytest.raises(ArtifactMismatchError):
            apply_(copy.deepcopy(unet), given)
    with pytest.raises(ArtifactMismatchError, match="8 bits"):
        quantize_(copy.deepcopy(unet), PROFILES["w8a8"], ranges, rounded={name: rounded[name]})
    with pytest.raises(ArtifactMismatchError, match="no layer"):
        quantize_(copy.deepcopy(unet), RECIPE, ranges, rounded={"conv_in": rounded[name]})


def test_what_is_saved_is_what_is_loaded(rounded: dict[str, RoundedWeight], tmp_path: Path) -> None:
    """The same weights give the same bytes; a broken file is refused."""
    path, again = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    save_rounded(rounded, path)
    loaded = load_rounded(path)
    save_rounded(dict(reversed(loaded.items())), again)
    assert path.read_bytes() == again.read_bytes()
    assert loaded.keys() == rounded.keys()
    for name, (codes, grid) in rounded.items():
        assert torch.equal(loaded[name].codes, codes)
        assert torch.equal(loaded[name].grid.scale, grid.scale)
        assert torch.equal(loaded[name].grid.zero_point, grid.zero_point)
        assert loaded[name].grid[2:] == grid[2:]
    again.write_bytes(path.read_bytes()[:-5])
    for broken in (again, tmp_path / "none.safetensors"):
        with pytest.raises(IntegrityError):
            load_rounded(broken)


def test_a_stopped_save_leaves_what_was_there(
    rounded: dict[str, RoundedWeight], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a file would be found, and refused, by every later run."""

    def stopped(_: object, path: Path) -> None:
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    path = tmp_path / "a.safetensors"
    save_rounded(rounded, path)
    monkeypatch.setattr("personalq.taq.rounding.store.save_file", stopped)
    with pytest.raises(KeyboardInterrupt):
        save_rounded(rounded, path)
    assert load_rounded(path).keys() == rounded.keys()


def test_the_same_seed_gives_the_same_codes(unet: Any) -> None:
    """Twice the same run, and the UNet it ran on is untouched."""
    before = {name: p.clone() for name, p in unet.named_parameters()}
    settings = replace(SETTINGS, iterations=3, batch=2, samples=4)
    first, again = (reconstruct(unet, _calls(3), RECIPE, settings) for _ in range(2))
    assert all(torch.equal(first[name].codes, again[name].codes) for name in first)
    assert all(torch.equal(before[name], p) for name, p in unet.named_parameters())
    assert all(not m._forward_hooks and not m._forward_pre_hooks for m in unet.modules())


def test_weighted_places_are_spared() -> None:
    """Where only the left half counts, the left half loses less, whatever the right half does."""
    conv = nn.Sequential(nn.Conv2d(32, 32, 1)).requires_grad_(False)
    g = torch.Generator().manual_seed(3)
    for parameter in conv.parameters():
        nn.init.uniform_(parameter, -0.2, 0.2, generator=g)
    halves = [torch.randn(16, 8, 8, 4, generator=g) for _ in range(2)]
    mixing = [torch.randn(16, 32, generator=g) for _ in range(2)]
    x = torch.cat(
        [torch.einsum("kbhw,kd->bdhw", h, m) for h, m in zip(halves, mixing, strict=True)], -1
    )
    weight = torch.zeros(8, 8, 8)
    weight[..., :4] = 2
    unit, settings = Unit("0", {"0": 4}), replace(SETTINGS, iterations=200)
    errors = []
    for given in (None, weight):
        samples = Samples({0: x}, {}, conv(x), given)
        rounded = round_unit(
            conv, unit, samples, RECIPE, settings, torch.Generator().manual_seed(0)
        )
        simulated = copy.deepcopy(conv)
        apply_(simulated, rounded)
        errors.append(relative_error(simulated(x)[..., :4], conv(x)[..., :4]))
    assert errors[1] < 0.9 * errors[0]


def test_weights_take_the_resolution_of_the_block() -> None:
    """Pixels, tokens and vectors without places; the mean stays what it was."""
    weight = torch.zeros(2, 8, 8)
    weight[:, :, :4] = 2.0
    assert places(weight, torch.empty(2, 4, 4))[0, 0].tolist() == [2, 2, 0, 0]
    assert places(weight, torch.empty(2, 16))[1].tolist() == [2, 2, 0, 0] * 4
    assert places(weight, torch.empty(2)).tolist() == [1, 1]
    assert places(weight, torch.empty(2, 7)).tolist() == [[1], [1]]


def test_the_cache_is_bounded(unet: Any) -> None:
    """Calls are taken until there are enough samples or bytes."""
    name, calls = "mid_block.resnets.0", _calls(5)
    limits = {"samples": 10, "cache_bytes": 1 << 30}
    assert len(collect(name, unet, unet, calls, **limits)) == 12
    assert len(collect(name, unet, unet, calls, **limits | {"cache_bytes": 1})) == 4


def test_bad_inputs_are_named(unet: Any) -> None:
    """No calls, weights that are all zero, a recipe that rounds nothing, an unused layer."""
    dark = replace(_calls(1)[0], weight=torch.zeros(4, 8, 8))
    cases: list[tuple[list[UNetCall], str, type[TaqError]]] = [
        ([], "w4a8", ContextError),
        ([dark], "w4a8", ContextError),
        (_calls(1), "full", RecipeError),
    ]
    for calls, profile, expected in cases:
        with pytest.raises(expected):
            reconstruct(unet, calls, PROFILES[profile], SETTINGS)
    extended = copy.deepcopy(unet)
    extended.unused = nn.Linear(128, 128)
    with pytest.raises(ContextError, match=r"1 layers do not run.*unused"):
        reconstruct(extended, _calls(1), RECIPE, SETTINGS)
