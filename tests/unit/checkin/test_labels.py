"""What looks and places are called, and which of them something is near to."""

from __future__ import annotations

import pytest

from personalq.checkin.labels import (
    Label,
    look_labels,
    nearest,
    place_labels,
)
from personalq.checkin.lexicon import environment_groups, sayings, scenery

WOODCUT = Label(tags=frozenset({"woodcut"}), wordings=("woodcut", "block print"))
ANIME = Label(tags=frozenset({"anime"}), wordings=("anime",))


def test_a_look_is_called_what_the_lists_call_it() -> None:
    """Tags of one look are one label; a look nobody listed is called by its tag."""
    labels = look_labels(["Photorealistic", "realistic", "glitchcore"])
    assert {label.tags for label in labels} == {
        frozenset({"photorealistic", "realistic"}),
        frozenset({"glitchcore"}),
    }
    [unlisted] = [label for label in labels if "glitchcore" in label.tags]
    [real] = [label for label in labels if "realistic" in label.tags]
    assert unlisted.wordings == ("glitchcore",)
    assert {"photorealistic", "realistic", "lifelike"} <= set(real.wordings)


def test_places_of_one_kind_are_one_label() -> None:
    """Woods and a forest mean each other; a loft is in no list."""
    labels = place_labels(["forest", "woods", "loft", ""])
    assert {label.tags for label in labels} == {frozenset({"forest", "woods"}), frozenset({"loft"})}


def test_places_and_looks_are_called_what_is_told_of_them() -> None:
    """What is there, and what goes on there; how a picture looks, in other words."""
    [library] = place_labels(["library"])
    assert set(scenery()["library"]) <= set(library.wordings)
    [woodcut] = look_labels(["woodcut"], told=True)
    assert set(sayings()["woodcut"]) <= set(woodcut.wordings)
    [plain] = look_labels(["woodcut"])
    assert set(plain.wordings).isdisjoint(sayings()["woodcut"])
    for told in (*scenery().values(), *sayings().values()):
        assert all(0 < len(each) <= 60 for each in told)


def test_labels_stay_within_what_a_catalog_compares() -> None:
    """However many tags there are, and however long: none is missing, all are called less."""
    listed = [words[0] for group in environment_groups().values() if (words := sorted(group))]
    tags = [f"zone{n}q" for n in range(500)]
    labels = place_labels([*listed, *tags, "x" * 500])
    assert 500 < sum(len(label.wordings) for label in labels) <= 900
    assert {frozenset({tag}) for tag in tags} <= {label.tags for label in labels}
    assert all(len(wording) <= 60 for label in labels for wording in label.wordings)
    assert max(len(label.wordings) for label in labels) > 1


def test_too_many_labels_are_not_compared() -> None:
    """What was left out would be taken for another."""
    assert look_labels([f"look {n}" for n in range(1000)]) == ()


def test_a_tag_of_no_word_is_no_label() -> None:
    """A catalog compares no empty text."""
    assert [label.tags for label in look_labels(["-", "'", "anime"])] == [frozenset({"anime"})]
    assert place_labels(["-", "_"]) == ()


@pytest.mark.parametrize(
    ("likeness", "clearly", "found"),
    [
        ((0.8, 0.3), 0.9, WOODCUT),
        ((0.3, 0.8), 0.9, ANIME),
        ((0.8, 0.79), 0.9, None),  # near, but no nearer than the other
        ((0.4, 0.1), 0.9, None),  # apart, but near to nothing
    ],
)
def test_the_nearest_is_near_and_apart(
    likeness: tuple[float, ...], clearly: float, found: Label | None
) -> None:
    """What it is called and its lead over the next count together."""
    assert nearest((WOODCUT, ANIME), likeness, clearly=clearly) is found


def test_the_only_label_is_ahead_of_nobody() -> None:
    """It has to be near all by itself."""
    assert nearest((WOODCUT,), (0.6,), clearly=0.72) is None
    assert nearest((WOODCUT,), (0.8,), clearly=0.72) is WOODCUT


def test_nobody_can_tell() -> None:
    """Without a model there is nothing to compare."""
    assert nearest((), (), clearly=0.5) is None
