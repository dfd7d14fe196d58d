"""The calibration set: captions and the sampler's calls."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
import torch
from diffusers import DDIMScheduler
from torch import Tensor, nn
from unit.taq.models import TEXT_WIDTH, TOKENS, tiny_unet

from personalq.taq import ContextError, TextStates
from personalq.taq.rounding import captions, sampler_calls
from personalq.taq.rounding.calibration import ACTIONS, SCENES, STYLES, TIMES


def test_captions_follow_the_template() -> None:
    """64 captions of the paper's four pools, each value as often as the others."""
    texts = captions(["<bear-v4> bear"])
    assert len(texts) == 64
    counts: Counter[str] = Counter()
    for text in texts:
        start, *parts = text.split(", ")
        assert start == "a photo of a <bear-v4> bear"
        for part, pool in zip(parts, (SCENES, TIMES, STYLES, ACTIONS), strict=True):
            assert part in pool
        counts.update(parts)
    assert {counts[scene] for scene in SCENES} == {4}
    assert {counts[style] for style in STYLES} == {4, 5}
    assert captions(["dog"], seed=1) == captions(["dog"], seed=1) != captions(["dog"])


def test_captions_take_other_pools() -> None:
    """The caller's words, and as many captions as asked for."""
    texts = captions(["dog", "cat"], pools=[["in the snow"]], count=3)
    assert set(texts) == {"a photo of a dog, in the snow", "a photo of a cat, in the snow"}
    for subjects, pools in (([], [["x"]]), (["dog"], [[]])):
        with pytest.raises(ContextError):
            captions(subjects, pools=pools)


def _told(count: int) -> TextStates:
    generator = torch.Generator().manual_seed(count)
    return TextStates(states=torch.randn(count, TOKENS, TEXT_WIDTH, generator=generator))


def test_calls_are_uniform_over_the_timesteps() -> None:
    """Every second step of each trajectory; first the unconditional samples."""
    unet, scheduler, told, empty = tiny_unet(), DDIMScheduler(), _told(3), _told(1)
    sizes: Any = {"latent_shape": (4, 8, 8), "picture": (64, 64)}
    calls = list(sampler_calls(unet, scheduler, told, empty, **sizes, steps=4, every=2, batch=2))
    assert [int(call.timestep) for call in calls] == [750, 250] * 2
    assert [len(call.sample) for call in calls] == [4, 4, 2, 2]
    first = calls[0]
    assert torch.equal(first.sample[:2], first.sample[2:])
    states = torch.cat([empty.states, empty.states, told.states[:2]])
    assert torch.equal(first.encoder_hidden_states, states)
    assert not torch.equal(first.sample, calls[1].sample)
    with pytest.raises(ContextError):
        list(sampler_calls(unet, scheduler, told, told, **sizes))


@pytest.mark.parametrize("guidance", [0.0, 1.0])
def test_calls_without_guidance_are_of_captions_only(guidance: float) -> None:
    """As diffusers draws then: the guided trajectory of the same noise at guidance 1."""
    unet, told, empty = tiny_unet(), _told(2), _told(1)
    sizes: Any = {"latent_shape": (4, 8, 8), "picture": (64, 64), "steps": 3}
    calls = sampler_calls(unet, DDIMScheduler(), told, empty, **sizes, guidance=guidance)
    nearly = sampler_calls(unet, DDIMScheduler(), told, empty, **sizes, guidance=1 + 1e-6)
    for alone, both in zip(calls, nearly, strict=True):
        assert torch.equal(alone.encoder_hidden_states, told.states)
        torch.testing.assert_close(alone.sample, both.sample[2:], rtol=1e-3, atol=1e-3)


def test_calls_tell_sdxl_the_pooled_state_and_the_size() -> None:
    """A row for each sample: first of the empty caption, then of the captions."""
    unet, told, empty = _Recorder(), _pooled(3), _pooled(1)
    calls = list(
        sampler_calls(
            unet,
            DDIMScheduler(),
            told,
            empty,
            latent_shape=(4, 8, 8),
            picture=(64, 32),
            steps=1,
            batch=2,
        )
    )
    assert len(calls) == len(unet.added) == 2
    for call, given, rows in zip(calls, unet.added, ([0, 1], [2]), strict=True):
        added = call.kwargs["added_cond_kwargs"]
        assert torch.equal(given["text_embeds"], added["text_embeds"])
        assert empty.pooled is not None
        assert told.pooled is not None
        expected = [*[empty.pooled] * len(rows), told.pooled[rows]]
        assert torch.equal(added["text_embeds"], torch.cat(expected))
        assert added["time_ids"].tolist() == [[64, 32, 0, 0, 64, 32]] * (2 * len(rows))


def _pooled(count: int) -> TextStates:
    return replace(_told(count), pooled=torch.arange(count * 5.0).view(count, 5) + count)


class _Recorder(nn.Module):
    """Predicts no noise, and keeps the added conditions that it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.added: list[dict[str, Tensor]] = []

    def forward(
        self,
        sample: Tensor,
        timestep: Tensor,
        encoder_hidden_states: Tensor,
        return_dict: bool,
        added_cond_kwargs: dict[str, Tensor],
    ) -> tuple[Tensor]:
        """Return zeros."""
        self.added.append(added_cond_kwargs)
        return (torch.zeros_like(sample),)
