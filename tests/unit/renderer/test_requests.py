"""What the renderer accepts and how it fills in what is left open."""

from __future__ import annotations

import math
from typing import Any

import pytest

from personalq.chassis.errors import InvalidInput
from personalq.renderer.requests import (
    PROMPT_CHARACTERS_MAX,
    SEED_MAX,
    Defaults,
    Geometry,
    RenderRequest,
    check,
    check_checkpoint,
    plan,
)

KNOWN = frozenset({"full", "w8a8"})
DEFAULTS = Defaults(profile="w8a8", steps=30, guidance_scale=7.5, side_max=128)
GEOMETRY = Geometry(side=64, pixels_per_latent=4)


def make(**fields: Any) -> RenderRequest:
    """Return a good request with some fields replaced."""
    return RenderRequest(**{"checkpoint_id": "bear-v4", "prompt": "a bear"} | fields)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("checkpoint_id", ""),
        ("prompt", ""),
        ("prompt", " \n"),
        ("prompt", "x" * 10_000),
        ("negative_prompt", "x" * (PROMPT_CHARACTERS_MAX + 1)),
        ("profile", "w2a2"),
        ("seed", -1),
        ("seed", SEED_MAX + 1),
        ("steps", 0),
        ("steps", -3),
        ("steps", 10_000),
        ("guidance_scale", -0.5),
        ("guidance_scale", 51.0),
        ("guidance_scale", math.nan),
        ("count", 9),
        ("count", -1),
        ("preview_every", -1),
    ],
)
def test_a_bad_field_is_refused_by_its_name(field: str, value: object) -> None:
    """Each field out of bounds is named in the violations."""
    with pytest.raises(InvalidInput) as caught:
        check(make(**{field: value}), known_profiles=KNOWN)
    assert list(caught.value.violations) == [field]


def test_all_problems_are_told_at_once() -> None:
    """A request with three problems is answered with three violations."""
    with pytest.raises(InvalidInput) as caught:
        check(make(prompt="", steps=0, count=99), known_profiles=KNOWN)
    assert set(caught.value.violations) == {"prompt", "steps", "count"}


@pytest.mark.parametrize("prompt", ["🐻🌲", "x" * PROMPT_CHARACTERS_MAX, "<bear-v4>"])
def test_unusual_prompts_are_accepted(prompt: str) -> None:
    """Only emoji, only a trigger, or as long as allowed: all can be rendered."""
    assert check(make(prompt=prompt), known_profiles=KNOWN).prompt == prompt


def test_open_choices_get_the_defaults() -> None:
    """Steps, guidance and size come from the settings and the base; a seed is drawn."""
    chosen = plan(make(), geometry=GEOMETRY, defaults=DEFAULTS)
    assert (chosen.steps, chosen.guidance_scale) == (30, 7.5)
    assert (chosen.width, chosen.height) == (64, 64)
    assert 0 <= chosen.seed < 2**31


def test_made_choices_are_kept() -> None:
    """Zero guidance and seed zero are choices, not gaps; picture i has seed + i."""
    request = make(seed=0, guidance_scale=0.0, steps=1, count=3, width=96)
    chosen = plan(request, geometry=GEOMETRY, defaults=DEFAULTS)
    assert (chosen.steps, chosen.guidance_scale, chosen.width) == (1, 0.0, 96)
    assert list(chosen.seeds) == [0, 1, 2]
    assert not chosen.guided


@pytest.mark.parametrize("width", [63, 48, -32, 160])
def test_a_size_the_base_cannot_render_is_refused(width: int) -> None:
    """Sides are multiples of eight latents and within the renderer's limit."""
    with pytest.raises(InvalidInput) as caught:
        plan(make(width=width), geometry=GEOMETRY, defaults=DEFAULTS)
    assert list(caught.value.violations) == ["width"]


def test_warming_needs_a_checkpoint_and_a_known_profile() -> None:
    """The same two checks hold where there is no prompt."""
    check_checkpoint("bear-v4", "", known_profiles=KNOWN)
    with pytest.raises(InvalidInput) as caught:
        check_checkpoint("", "w2a2", known_profiles=KNOWN)
    assert set(caught.value.violations) == {"checkpoint_id", "profile"}
