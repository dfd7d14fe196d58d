"""What cards of a subject have one by one, and none has together."""

from __future__ import annotations

import pytest
from support.checkin_cards import card
from support.checkin_session import Session

from personalq.checkin.outcome import Clarification, NoMatch, Selection

CHAIRS = [
    card(
        f"chair-v{n}",
        "chair",
        "anime",
        f"2026-0{n}-01",
        f"A {colour} {kind} chair with {thing}.",
        version=n,
        environments=place,
    )
    for n, (colour, kind, thing, place) in enumerate(
        [
            ("red", "wicker", "a cushion", "beach"),
            ("blue", "wicker", "lion feet", "forest"),
            ("green", "throne", "a cushion", "living room"),
            ("white", "rocking", "a cup holder", "living room"),
            ("red", "folding", "a side pocket", "beach"),
            ("black", "deck", "a cushion", "garden"),
            ("red", "deck", "lion feet", "garden"),
        ],
        1,
    )
]


@pytest.mark.parametrize(
    ("prompt", "failed"),
    [
        ("the wicker chair trained in the living room, beside a fox", "trained in the living room"),
        ("the newest wicker chair trained in the living room", "trained in the living room"),
        ("the wicker one trained in the living room, a chair in the rain", "living room"),
        ("the green chair with lion feet, in the rain", "lion feet"),
        ("a deck chair with a side pocket, on a lawn", "side pocket"),
        ("the white wicker chair on a lawn", "white wicker"),
        ("the white chair from versions 5 to 7, on a lawn", "versions 5 to 7"),
    ],
)
def test_no_card_has_both(prompt: str, failed: str) -> None:
    """Though some card has each: the answer says which one fails beside the rest."""
    outcome = Session(CHAIRS).ask(prompt)
    assert isinstance(outcome, NoMatch)
    assert failed in outcome.explanation
    assert outcome.alternatives


def test_the_nearest_have_one_of_them() -> None:
    """What is offered has one of what was asked for."""
    for prompt, near in (
        ("the wicker chair trained in the living room", {"chair-v1", "chair-v2"}),
        ("the white wicker chair", {"chair-v4", "chair-v1", "chair-v2"}),
    ):
        outcome = Session(CHAIRS).ask(prompt)
        assert isinstance(outcome, NoMatch)
        assert {each.card.checkpoint_id for each in outcome.alternatives} == near


@pytest.mark.parametrize(
    ("prompt", "meant"),
    [
        ("the blue wicker chair", "chair-v2"),
        ("the red chair with lion feet", "chair-v7"),
        ("the beige rocking chair", "chair-v4"),
        ("version 4, the wicker chair", "chair-v4"),
        ("the chair trained in the forest, with a cushion nearby", "chair-v2"),
    ],
)
def test_what_one_card_has(prompt: str, meant: str) -> None:
    """A colour by its other name; a number says which; what is nearby is the scene."""
    cards = [
        each if each.version != 4 else card(
            "chair-v4", "chair", "anime", "2026-04-01", "A cream rocking chair.", version=4
        )
        for each in CHAIRS
    ]  # fmt: skip
    outcome = Session(cards).ask(prompt)
    assert isinstance(outcome, Selection)
    assert outcome.candidate.card.checkpoint_id == meant


def test_a_thing_that_no_card_has_is_the_scene() -> None:
    """Of the picture nothing is required."""
    outcome = Session(CHAIRS).ask("the wicker chair with a balloon")
    assert isinstance(outcome, Clarification)


def test_a_word_of_two_is_looked_for_as_a_whole() -> None:
    """That one is covered in moss says nothing of dust."""
    mossy = card("chair-v9", "chair", "anime", "2026-09-01", "A deck chair covered in moss.")
    outcome = Session([*CHAIRS, mossy]).ask("the dust-covered chair trained in the forest")
    assert isinstance(outcome, Selection)
    assert outcome.candidate.card.checkpoint_id == "chair-v2"


def test_what_names_nothing_is_not_looked_for() -> None:
    """Though a card has the word: "as seen" on one is not what "that's seen use" asks for."""
    seen = card("chair-v9", "chair", "anime", "2026-09-01", "A red deck chair, as seen on stage.")
    outcome = Session([*CHAIRS, seen]).ask("the chair trained in the forest that's seen use")
    assert isinstance(outcome, Selection)
    assert outcome.candidate.card.checkpoint_id == "chair-v2"


def test_a_card_that_tells_nothing_may_be_meant() -> None:
    """A card without a description may have whatever was described."""
    silent = card("chair-v8", "chair", "anime", "2026-08-01", "", version=8, environments="attic")
    outcome = Session([*CHAIRS, silent]).ask("the wicker chair trained in the attic")
    assert isinstance(outcome, Selection)
    assert outcome.candidate.card.checkpoint_id == "chair-v8"
