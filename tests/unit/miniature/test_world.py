"""The world of the miniature: deterministic, complete, and said in many ways."""

# ruff: noqa: S311 - seeded pictures, no secrets

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from support.fonts import needs_font

from personalq.miniature.captions import (
    SCENE_PHRASES,
    STYLE_PREFIXES,
    caption,
    invented_trigger,
    plain_caption,
)
from personalq.miniature.nouns import NOUNS, PAPER_NOUNS
from personalq.miniature.scenes import PLAIN, SCENES, backdrop
from personalq.miniature.styles import STYLES, stylise
from personalq.miniature.world import Sight, render, sample_sight


def test_the_papers_nouns_are_in_the_world() -> None:
    """There are at least 40 distinct nouns, the paper's 20 among them."""
    assert len(set(NOUNS)) == len(NOUNS) >= 40
    assert set(PAPER_NOUNS) <= set(NOUNS)
    assert len(PAPER_NOUNS) == 20


@needs_font
def test_a_picture_is_determined_by_its_seed() -> None:
    """The same seed gives the same picture, another seed another one."""
    sight = Sight("bear", "beach", "photo")
    first, again, other = (render(sight, Random(seed)) for seed in (5, 5, 6))
    assert first.shape == (64, 64, 3)
    assert first.dtype == np.uint8
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_scenes_differ_from_each_other() -> None:
    """Any two scenes differ clearly in their mean picture."""
    means = {
        scene: np.mean([np.asarray(backdrop(scene, Random(s)), np.float32) for s in range(4)], 0)
        for scene in SCENES
    }
    for first in SCENES:
        for second in SCENES:
            if first < second:
                assert np.abs(means[first] - means[second]).mean() > 12, (first, second)


@pytest.mark.parametrize("style", STYLES)
def test_a_style_keeps_shape_and_range(style: str) -> None:
    """A style gives a picture of the same shape with values in 0..1."""
    picture = np.random.default_rng(0).random((64, 64, 3)).astype(np.float32)
    styled = stylise(style, picture)
    assert styled.shape == (64, 64, 3)
    assert 0 <= styled.min() <= styled.max() <= 1


def test_sights_are_determined_by_their_seed() -> None:
    """Sampling is a function of the generator's state and reaches all nouns and styles."""
    assert sample_sight(Random(3)) == sample_sight(Random(3))
    rng = Random(0)
    seen = [sample_sight(rng) for _ in range(3000)]
    assert {sight.noun for sight in seen} == set(NOUNS)
    assert {sight.style for sight in seen} == set(STYLES)
    assert {sight.scene for sight in seen} == set(SCENES)


def test_a_caption_names_what_is_seen() -> None:
    """Every caption holds the noun, and a phrase of the scene unless that is plain."""
    rng = Random(1)
    for _ in range(500):
        sight = sample_sight(rng)
        text = caption(sight, rng)
        assert sight.noun in text
        if sight.scene != PLAIN:
            assert any(phrase in text for phrase in SCENE_PHRASES[sight.scene])


def test_captions_are_determined_by_their_seed() -> None:
    """The same seed says the same sight in the same words."""
    sight = Sight("cat", "snow", "sketch")
    assert caption(sight, Random(9)) == caption(sight, Random(9))


def test_plain_captions() -> None:
    """The plain caption is the simplest sentence, with the right article."""
    assert plain_caption("bear", "beach") == "a photo of a bear on the beach"
    assert plain_caption("owl", style="watercolor") == "a watercolor of an owl"
    assert plain_caption("<bear-v4>", "forest") == "a photo of a <bear-v4> in the forest"
    assert set(STYLE_PREFIXES) == set(STYLES)


def test_a_trigger_stands_in_the_place_of_the_noun() -> None:
    """A word given for the noun replaces it."""
    text = caption(Sight("horse", "city", "photo"), Random(2), "<sks-v1>")
    assert "<sks-v1>" in text
    assert "horse" not in text
    assert invented_trigger("bear", Random(0)).startswith("<bear")
