"""SD1.5, SDXL and SDXL-Turbo: every layer of the real UNets has a plan, narrow ones are run."""

from __future__ import annotations

import copy
import logging
import os
import time
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from unit.taq.configurations import (
    NARROW_TEXT,
    POOLED,
    SD15,
    SDXL,
    SDXL_TURBO,
    TIME_IDS,
    build,
    named,
    narrow,
)
from unit.taq.models import assert_similar, relative_error

from personalq.taq import PROFILES, Calibration, Range, Recipe, TextContext, quantize_
from personalq.taq.attention import TriggerAttention, install_attention_, is_attention
from personalq.taq.modules import QuantModule
from personalq.taq.quantize import Places, plan

log = logging.getLogger(__name__)

CONFIGURATIONS = {"sd15": SD15, "sdxl": SDXL, "sdxl-turbo": SDXL_TURBO}
#: SDXL-Turbo is SDXL with other weights: once is enough
RUNS = [(n, p) for n in ("sd15", "sdxl") for p in ("w8a8", "w4a8")] + [("sdxl-turbo", "w4a8")]
TOKENS = 77
TEXT_WEIGHT_ONLY = "text projection: weight-only"
#: what sees the latents' full size
OUTERMOST = {
    "sd15": ("down_blocks.0.", "up_blocks.3."),
    "sdxl": ("down_blocks.0.", "up_blocks.2."),
    "sdxl-turbo": ("down_blocks.0.", "up_blocks.2."),
}
ADDED = {"add_embedding.linear_1": "pooled text and picture size enter there"}


@cache
def _real(name: str) -> Any:
    """Return the full-size UNet without memory."""
    with torch.device("meta"):
        return build(CONFIGURATIONS[name])


@cache
def _narrow(name: str) -> Any:
    """Return the narrow UNet with random weights; tests change copies of it."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return build(narrow(CONFIGURATIONS[name]))


def _layers(unet: nn.Module) -> dict[str, Any]:
    return named(unet, nn.Linear) | named(unet, nn.Conv2d)


@pytest.mark.parametrize(
    ("name", "parameters", "linear", "convolutions", "transformer_blocks"),
    [
        ("sd15", 859_520_964, 184, 98, 16),
        ("sdxl", 2_567_463_684, 743, 51, 70),
        ("sdxl-turbo", 2_567_463_684, 743, 51, 70),
    ],
)
def test_every_layer_of_the_real_unet_has_a_plan(
    name: str, parameters: int, linear: int, convolutions: int, transformer_blocks: int
) -> None:
    """The model is the published one, and what is left out is what the recipe names."""
    unet = _real(name)
    assert sum(p.numel() for p in unet.parameters()) == parameters
    assert len(named(unet, nn.Linear)) == linear
    assert len(named(unet, nn.Conv2d)) == convolutions
    recipe, places = PROFILES["w4a8"], Places.of(unet)
    text, outermost = places.text, OUTERMOST[name]
    assert len(text) == 2 * transformer_blocks
    plans = {n: plan(n, layer, recipe, places) for n, layer in _layers(unet).items()}
    precise = {n: reason for n, (scheme, reason) in plans.items() if scheme is None}
    ends = dict.fromkeys(("conv_in", "conv_out", "time_embedding.linear_1"), "first or last layer")
    added = {} if name == "sd15" else ADDED
    assert precise == ends | added
    schemes = {n: scheme for n, (scheme, _) in plans.items() if scheme is not None}
    for n, scheme in schemes.items():
        assert scheme.activation_bits == (None if n in text else 8), n
        assert scheme.equalized == n.endswith("conv_shortcut"), n
        row_scaled = ("ff.net.2", "conv_shortcut", "proj_in", "proj_out")
        assert scheme.row_scaled == n.endswith(row_scaled), n
        steering = (*recipe.eight_bit_layers, "add_embedding.linear_2")
        eight = n.startswith(outermost) or any(part in n for part in steering)
        assert (scheme.weight_bits == 8) == eight, n
    assert {reason for n, (_, reason) in plans.items() if n in text} == {TEXT_WEIGHT_ONLY}
    sizes = Counter[int | None]()
    for n, layer in _layers(unet).items():
        planned = plans[n][0]
        sizes[None if planned is None else planned.weight_bits] += layer.weight.numel()
    at_full_size = [m for n, m in _layers(unet).items() if n.startswith(outermost)]
    outer = sum(layer.weight.numel() for layer in at_full_size)
    assert outer < 0.035 * parameters
    assert sizes[None] < 0.002 * parameters
    assert sizes[4] > 0.8 * parameters


def test_a_model_of_one_level_has_no_outermost_one() -> None:
    """All of it would keep 8 bits."""
    one = nn.ModuleDict({"down_blocks": nn.ModuleList([nn.Linear(8, 8)]),
                         "up_blocks": nn.ModuleList([nn.Linear(8, 8)])})  # fmt: skip
    assert Places.of(one).outermost == ()
    assert Places.of(nn.Linear(8, 8)) == Places(frozenset(), ())


@pytest.mark.parametrize(
    ("name", "transformer_blocks", "heads", "width"),
    [("sd15", 16, {8}, 768), ("sdxl", 70, {10, 20}, 2048), ("sdxl-turbo", 70, {10, 20}, 2048)],
)
def test_text_of_the_real_unet_is_projected_everywhere(
    name: str, transformer_blocks: int, heads: set[int], width: int
) -> None:
    """Every attention layer is trigger-aware; the context has 77 rows for each."""
    unet = copy.deepcopy(_real(name))
    install_attention_(unet, PROFILES["w8a8"])
    attention = {n: m for n, m in unet.named_modules() if is_attention(m)}
    assert all(isinstance(m.processor, TriggerAttention) for m in attention.values())
    assert all(m.processor.name == n for n, m in attention.items())
    crosses = [n for n, m in attention.items() if m.processor.is_cross]
    assert len(attention) == 2 * transformer_blocks
    assert sorted(crosses) == sorted(n for n in attention if n.endswith("attn2"))
    with torch.device("meta"):
        context = TextContext.project(unet, torch.empty(2, TOKENS, width))
    assert list(context.keys) == crosses
    assert {tuple(k.shape[i] for i in (0, 2)) for k in context.keys.values()} == {(2, TOKENS)}
    assert {k.shape[1] for k in context.keys.values()} == heads
    for n, k in context.keys.items():
        out_features = attention[n].to_k.out_features
        assert k.shape == context.values[n].shape == (2, k.shape[1], TOKENS, k.shape[3])
        assert k.shape[1] * k.shape[3] == out_features


def _inputs(name: str, *, seed: int = 1) -> tuple[Tensor, ...]:
    """Return (latents, timesteps, text states) of two prompts for a narrow UNet."""
    g = torch.Generator().manual_seed(seed)
    return (
        torch.randn(2, 4, 8, 8, generator=g),
        torch.tensor([999, 250]),
        torch.randn(2, TOKENS, NARROW_TEXT, generator=g),
    )


def _conditions(name: str, *, seed: int = 1) -> dict[str, Any]:
    """Return SDXL's added conditions of two prompts; SD1.5 has none."""
    if name == "sd15":
        return {}
    g = torch.Generator().manual_seed(seed)
    size = CONFIGURATIONS[name]["sample_size"] * 8.0
    added = {
        "text_embeds": torch.randn(2, POOLED, generator=g),
        "time_ids": torch.tensor([[size, size, 0, 0, size, size]] * 2),
    }
    assert added["time_ids"].shape[1] == TIME_IDS
    return {"added_cond_kwargs": added}


@torch.no_grad()
def _predict(
    unet: nn.Module, name: str, context: TextContext | None = None, **conditions: Any
) -> Tensor:
    latents, t, text = _inputs(name)
    kwargs = {} if context is None else {"cross_attention_kwargs": {"text": context}}
    return_value: Tensor = unet(
        latents, t, encoder_hidden_states=text, **(_conditions(name) | conditions), **kwargs
    ).sample
    return return_value


@cache
def _ranges(name: str) -> dict[str, Range]:
    unet = _narrow(name)
    with Calibration(unet) as calibration:
        _predict(unet, name)
    return calibration.ranges()


def _recipe(profile: str, **changes: Any) -> Recipe:
    """Return a profile that leaves out no layer for being small: these are."""
    return replace(
        PROFILES[profile], min_channels=1, min_weights=1, weight_range_candidates=4, **changes
    )


@cache
def _quantized(name: str, profile: str) -> Any:
    unet = copy.deepcopy(_narrow(name))
    quantize_(unet, _recipe(profile), _ranges(name))
    return unet


@pytest.mark.parametrize(("name", "profile"), RUNS)
def test_the_narrow_unet_runs_quantized(name: str, profile: str) -> None:
    """It has every layer of the real one, and computes what full precision does, roughly."""
    unet, within = _quantized(name, profile), {"w8a8": 0.05, "w4a8": 0.4}[profile]
    real, precise = _layers(_real(name)), {*PROFILES[profile].precise_layers, *ADDED}
    assert set(named(unet, QuantModule)) == set(real) - precise
    assert_similar(_predict(unet, name), _predict(_narrow(name), name), within=within)


@pytest.mark.parametrize(("name", "profile"), RUNS)
def test_reused_text_equals_text_projected_anew(name: str, profile: str) -> None:
    """One context serves every step."""
    unet = _quantized(name, profile)
    context = TextContext.project(unet, _inputs(name)[2])
    assert_similar(_predict(unet, name, context), _predict(unet, name))


@pytest.mark.parametrize("name", ["sdxl", "sdxl-turbo"])
def test_added_conditions_reach_the_quantized_unet(name: str) -> None:
    """Pooled text and picture size change the outcome, each for its own prompt."""
    unet = _quantized(name, "w4a8")
    before = _predict(unet, name)
    for key in ("text_embeds", "time_ids"):
        added = _conditions(name)["added_cond_kwargs"]
        added[key] = torch.cat([added[key][:1], added[key][1:] + 100])
        after = _predict(unet, name, added_cond_kwargs=added)
        assert_similar(after[0], before[0])
        assert relative_error(after[1], before[1]) > 1e-3


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_masks_change_only_what_they_should(name: str) -> None:
    """Masked rows are exact, others as without a mask, and other prompts' pictures untouched."""
    unet, text = _quantized(name, "w4a8"), _inputs(name)[2]
    mask = torch.zeros(2, TOKENS, dtype=torch.bool)
    mask[0, 5:9] = True
    plain, masked, whole = (
        TextContext.project(unet, text, m) for m in (None, mask, torch.ones_like(mask))
    )
    rows = mask[:, None, :, None]
    for layer in plain.keys:
        for kind in ("keys", "values"):
            without, some, every = (getattr(c, kind)[layer] for c in (plain, masked, whole))
            assert torch.equal(some, torch.where(rows, every, without))
            assert not torch.equal(some, without)
    before, after = (_predict(unet, name, context) for context in (plain, masked))
    assert_similar(after[1], before[1])
    assert relative_error(after[0], before[0]) > 1e-5


@pytest.mark.skipif(
    not os.environ.get("TAQ_FULL_SIZE"), reason="minutes and 5 GB; set TAQ_FULL_SIZE=1 to run it"
)
def test_sd15_at_full_size() -> None:
    """The whole walk at the real size; `--log-cli-level=INFO` shows times and error."""
    torch.manual_seed(0)
    unet = build(SD15)
    g = torch.Generator().manual_seed(1)
    x = (
        torch.randn(2, 4, 32, 32, generator=g),
        torch.tensor([900, 300]),
        torch.randn(2, TOKENS, 768, generator=g),
    )
    seconds: list[float] = []
    started = time.perf_counter()

    def lap() -> None:
        seconds.append(time.perf_counter() - started - sum(seconds))

    with torch.no_grad(), Calibration(unet) as calibration:
        reference = unet(x[0], x[1], encoder_hidden_states=x[2]).sample
    ranges = calibration.ranges()
    lap()
    report = quantize_(unet, PROFILES["w8a8"], ranges)
    lap()
    with torch.no_grad():
        context = TextContext.project(unet, x[2])
        kwargs = {"cross_attention_kwargs": {"text": context}}
        outcome = unet(x[0], x[1], encoder_hidden_states=x[2], **kwargs).sample
    lap()
    error = relative_error(outcome, reference)
    times = ", ".join(f"{s:.1f} s" for s in seconds)
    log.info("calibrate, quantize, run: %s; relative error %.4f", times, error)
    assert len(report.layers) == 184 + 98
    assert report.packed_bytes < 0.51 * report.full_bytes
    assert error < 0.1
