"""The calibration set: captions and the sampler's calls."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from unit.taq.models import TEXT_WIDTH, TOKENS, tiny_unet

from personalq.taq import ContextError
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


def test_calls_are_uniform_over_the_timesteps() -> None:
    """Every second step of each trajectory; first the unconditional samples."""
    from diffusers import DDIMScheduler

    unet, scheduler = tiny_unet(), DDIMScheduler()
    g = torch.Generator().manual_seed(0)
    states = torch.randn(3, TOKENS, TEXT_WIDTH, generator=g)
    empty = torch.zeros(1, TOKENS, TEXT_WIDTH)
    calls = list(
        sampler_calls(
            unet, scheduler, states, empty, latent_shape=(4, 8, 8), steps=4, every=2, batch=2
        )
    )
    assert [int(call.timestep) for call in calls] == [750, 250] * 2
    assert [len(call.sample) for call in calls] == [4, 4, 2, 2]
    first = calls[0]
    assert torch.equal(first.sample[:2], first.sample[2:])
    assert torch.equal(first.encoder_hidden_states, torch.cat([empty, empty, states[:2]]))
    assert not torch.equal(first.sample, calls[1].sample)
    with pytest.raises(ContextError):
        list(sampler_calls(unet, scheduler, states, states, latent_shape=(4, 8, 8)))
