"""What observation sees, and that nobody notices it."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn
from unit.taq.models import inputs, predict, tiny_unet
from unit.taq.simulations import TIMESTEPS, calls, observations, picture, precise_unet, random

from personalq.taq import MissingRangeError
from personalq.taq.attention import is_attention
from personalq.taq.rounding import UNetCall
from personalq.taq.simulation import Observations, observe
from personalq.taq.simulation.observe import MOMENTUM, Observation


def test_observing_leaves_the_unet_as_it_was() -> None:
    """The same processors, no hook, the same output bit by bit."""
    unet = copy.deepcopy(precise_unet())
    before, processors = predict(unet, picture()), unet.attn_processors
    observe(unet, calls(1), TIMESTEPS)
    assert torch.equal(predict(unet, picture()), before)
    assert unet.attn_processors == processors
    for module in unet.modules():
        assert not module._forward_pre_hooks
        assert not module._forward_hooks


def test_a_failure_leaves_the_unet_as_it_was_too() -> None:
    """An interrupted calibration takes its hooks with it."""
    unet = copy.deepcopy(precise_unet())
    processors = unet.attn_processors
    with pytest.raises(IndexError):
        observe(unet, (list(calls(1))[i] for i in (0, 99)), TIMESTEPS)
    assert unet.attn_processors == processors
    assert not any(module._forward_pre_hooks for module in unet.modules())


def test_every_tensor_is_seen_as_it_is() -> None:
    """The input of every layer and Q, K, V, A of every attention, with their extremes by index."""
    unet, x = tiny_unet(), inputs()
    x = (x[0], torch.tensor(TIMESTEPS[0]), x[2])
    captured: dict[str, Tensor] = {}
    handles = [
        module.register_forward_pre_hook(
            lambda _, args, name=name: captured.__setitem__(name, args[0])
        )
        for name, module in unet.named_modules()
        if isinstance(module, nn.Linear | nn.Conv2d)
    ]
    seen = observe(unet, [UNetCall(*x)], TIMESTEPS[:1])
    for handle in handles:
        handle.remove()
    for name, value in captured.items():
        step = seen.at(name)[0]
        assert step.low == pytest.approx(min(value.min().item(), 0.0))
        assert step.high == pytest.approx(max(value.max().item(), 0.0))
        dim, other = (1, (0, 2, 3)) if value.ndim == 4 else (-1, tuple(range(value.ndim - 1)))
        assert torch.allclose(step.by_index[dim][1], value.amax(other))
        assert set(step.by_index) == ({1} if value.ndim == 4 else {-1, -2} if other[1:] else {-1})
    for name, module in unet.named_modules():
        if is_attention(module):
            assert all(seen.at(f"{name}.{part}")[0].high > 0 for part in "qkva")
            assert 0 < seen.at(f"{name}.a")[0].high <= 1


def test_text_is_also_seen_without_its_first_token() -> None:
    """The start token is an outlier: what keeps it precise has ranges of the others alone."""
    attn = "mid_block.attentions.0.transformer_blocks.0.attn2"
    for point in (f"{attn}.to_k", f"{attn}.to_v", f"{attn}.k", f"{attn}.v"):
        low, high = observations().ranges(point)[0]
        rest_low, rest_high = observations().ranges(f"{point}.rest")[0]
        assert rest_high - rest_low < 0.7 * (high - low)
        tokens = observations().at(f"{point}.rest")[0].by_index[-2][0]
        assert torch.equal(tokens, observations().at(point)[0].by_index[-2][0][1:])
    with pytest.raises(MissingRangeError):
        observations().at("mid_block.attentions.0.transformer_blocks.0.attn1.k.rest")


def test_running_extremes_and_extremes_by_index() -> None:
    """Running extremes move by a twentieth, those of indices only outwards."""
    seen = Observation()
    seen.add(torch.tensor([[-1.0, 2.0]]), (-1,))
    seen.add(torch.tensor([[-3.0, 1.0]]), (-1,))
    assert seen.low == pytest.approx(-1 * MOMENTUM - 3 * (1 - MOMENTUM))
    assert seen.high == pytest.approx(2 * MOMENTUM + 1 * (1 - MOMENTUM))
    assert [t.tolist() for t in seen.by_index[-1]] == [[-3.0, 1.0], [-1.0, 2.0]]


def test_tails_count_as_often_as_they_occur() -> None:
    """One value of a million that is far out does not widen a range; a per cent of them does."""
    rare, often = random(200_000), random(200_000)
    rare[0], often[:2000] = 40.0, 40.0
    seen = Observations(TIMESTEPS[:1])
    seen.add("rare", 0, rare, ())
    seen.add("often", 0, often, ())
    assert seen.fitted("rare", 4, by_step=False)[0][1] < 10
    assert seen.fitted("often", 4, by_step=False)[0][1] > 30


def test_steps_that_were_not_seen_are_named() -> None:
    """A point needs all steps."""
    seen = Observations(TIMESTEPS)
    with pytest.raises(MissingRangeError, match="conv_in was not observed"):
        seen.at("conv_in")
    seen.add("conv_in", 0, random(2, 3), ())
    with pytest.raises(MissingRangeError, match="conv_in was not observed at every step"):
        seen.ranges("conv_in")


def test_steps_are_kept_apart() -> None:
    """Time's own layers see another input at every step."""
    time = observations().at("time_embedding.linear_2")
    lows, highs = zip(*observations().ranges("time_embedding.linear_2"), strict=True)
    assert len(time) == len(TIMESTEPS)
    assert len(set(highs)) == len(TIMESTEPS)
    low, high = observations().searched("time_embedding.linear_2", 8)
    assert min(lows) * 1.01 <= low <= high <= max(highs) * 1.01
    few = Observations(TIMESTEPS[:1])
    few.add("conv_in", 0, random(2, 3), ())
    assert few.search(4, 8).searched("conv_in", 4) == few.searched("conv_in", 4)
