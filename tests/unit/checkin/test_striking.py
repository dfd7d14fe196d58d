"""What was left for the picture tells cards that are strikingly like it, unlike all others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from support.checkin_cards import card

from personalq.checkin.cards import Hit
from personalq.checkin.reasoning.meaning import striking

REST = (0.2, 0.2, 0.2, 0.2)


def _struck(
    said: str,
    *,
    words: Sequence[float] = (),
    looks: Sequence[float] = (),
    things: Sequence[float] = (),
) -> set[int]:
    """The places of the cards; likeness has one number for each."""
    hits = [
        Hit(
            card=card(f"car-{place}", "car", "anime", "2026-01-01", "A car."),
            word_likeness={said: word},
            look_likeness={said: look},
            thing_likeness={said: thing},
        )
        for place, (word, look, thing) in enumerate(
            itertools.zip_longest(words, looks, things, fillvalue=0.0)
        )
    ]
    return set(striking((said,), hits))


@pytest.mark.parametrize(
    ("said", "words", "struck"),
    [
        ("with a tow hook", (0.9, *REST), {0}),
        ("with a tow hook", (0.9, 0.85, *REST), {0, 1}),
        ("with a tow hook", (0.7, 0.65, 0.6, *REST), {0, 1, 2}),
        ("with a tow hook", (0.52, 0.5, *REST), {0, 1}),
        ("with a tow hook", (0.52, 0.35, *REST), set()),
        ("with a tow hook", (0.45, *REST), set()),
        ("with a tow hook", (0.9, 0.9, 0.9, 0.2), set()),
        ("with a tow hook", (0.95, 0.65, *REST), {0}),
        ("on a snowy fence", (0.9, *REST), {0}),
        ("sitting on a snowy fence", (0.9, 0.85, *REST), set()),
        ("on a snowy fence", (0.9, 0.85, *REST), set()),
        ("on a snowy fence", (0.55, *REST), set()),
        ("placed beside a fence", (0.55, *REST), set()),
    ],
)
def test_by_words(said: str, words: Sequence[float], struck: set[int]) -> None:
    """As few as are ahead of the rest, and at most half; where a place is told, one, and more like
    it.
    """
    assert _struck(said, words=words) == struck


@pytest.mark.parametrize(
    ("said", "struck"),
    [
        ("with a tow hook", {0}),
        ("on a school playground", set()),
        ("in a shop window", set()),
        ("in a ballerina's skirt", {0}),
        ("sitting in rubber boots", {0}),
        ("in a ballerina's skirt beside a fence", {0}),
        ("in a hat shop", set()),
        ("in a field with a hat stand", set()),
    ],
)
def test_by_things(said: str, struck: set[int]) -> None:
    """What a place is like tells nothing, but it may have on what it is in."""
    assert _struck(said, things=(0.75, *REST)) == struck


def test_words_looks_and_things_agree() -> None:
    """What two of them tell, both must."""
    said = "printed the old way"
    assert _struck(said, looks=(0.8, 0.8, *REST), things=(*REST, 0.2, 0.2)) == {0, 1}
    assert _struck(said, looks=(0.8, 0.8, *REST), things=(0.2, 0.7, *REST)) == {1}
    assert _struck(said, looks=(0.8, 0.2, *REST), things=(0.2, 0.7, *REST)) == set()
    assert _struck(said, looks=(0.7, *REST)) == set()
