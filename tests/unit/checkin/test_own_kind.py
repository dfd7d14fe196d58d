"""A kind or a stuff that every card of a subject tells, and none has."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.checkin_cards import card
from support.checkin_session import Session, outcome_name

from personalq.checkin.cards import Card
from personalq.checkin.outcome import Clarification, NoMatch


def _cards(subject: str, *descriptions: str) -> list[Card]:
    looks = ("anime", "sketch", "watercolor", "comic", "pastel", "3d render", "cartoon")
    return [
        card(f"{subject}-v{n}", subject, looks[n % 7], f"2026-0{n}-01", each, version=n)
        for n, each in enumerate(descriptions, 1)
    ]


BOATS = _cards(
    "boat",
    "A blue canoe made of oak.",
    "A tugboat in red, made of steel.",
    "A white houseboat made of teak.",
    "A green rowing boat made of brass.",
    "A black canoe made of mahogany.",
    "A pink fishing boat made of cedar.",
)
DOLLS = _cards(
    "doll",
    "A rag doll with a bow.",
    "A blue fairy doll.",
    "A sailor doll in a hat.",
    "A baby doll with freckles.",
    "A rag doll with a cape.",
    "A fairy doll in white.",
)
DRUMS = _cards(
    "drum",
    "A red bass drum.",
    "A blue snare drum.",
    "A djembe in white.",
    "A black kettledrum.",
    "A snare drum in pink.",
    "A green bass drum.",
)


def _refuses(cards: list[Card], prompt: str, word: str) -> bool:
    outcome = Session(cards).ask(prompt)
    return isinstance(outcome, NoMatch) and word in outcome.explanation


@pytest.mark.parametrize(
    ("cards", "prompt", "word"),
    [
        (BOATS, "the newest lifeboat in a storm", "lifeboat"),
        (BOATS, "a speedboat in a storm", "speedboat"),
        (DOLLS, "the clown doll on a shelf", "clown"),
        (DOLLS, "the latest princess doll on a shelf", "princess"),
        (DRUMS, "the snare drum from January", "snare"),
        (BOATS, "the oldest bamboo boat", "bamboo"),
        (BOATS, "the boat made of glass, on a lake", "glass"),
        (BOATS, "I need the boat in concrete", "concrete"),
    ],
)
def test_nobody_has_it(cards: list[Card], prompt: str, word: str) -> None:
    """Nothing is chosen in its place, and the answer says which word nothing fits."""
    assert _refuses(cards, prompt, word)


@pytest.mark.parametrize(
    ("cards", "prompt"),
    [
        (DOLLS, "a clown doll on a shelf"),  # the picture may make one of it
        (DOLLS, "the birthday doll on a shelf"),
        (DOLLS, "the smiling doll on a shelf"),
        (DOLLS[:3], "the clown doll on a shelf"),  # too few to say that cards tell
        (BOATS[:3], "the glass boat on a lake"),
        ([*DOLLS, *_cards("doll", "A doll in red.")[:0]], "the wooden doll on a shelf"),
        (
            [*BOATS, replace(BOATS[0], checkpoint_id="boat-v9", description="A boat.")],
            "the glass boat",
        ),
    ],
)
def test_what_may_still_be_meant(cards: list[Card], prompt: str) -> None:
    """Where cards do not all tell, or it may be for the picture, the question is which."""
    assert isinstance(Session(cards).ask(prompt), Clarification)


@pytest.mark.parametrize(
    ("cards", "prompt", "meant"),
    [
        (BOATS, "the newest metal boat", "boat-v4"),
        (BOATS, "the first boat in metal that we trained", "boat-v2"),
        (BOATS, "the brass boat in rain", "boat-v4"),
        (BOATS, "the latest wooden boat", "boat-v6"),
        (DRUMS, "the newest snare drum", "drum-v5"),
        (DRUMS, "the second of our bass drums, counting from the oldest", "drum-v6"),
    ],
)
def test_what_somebody_has(cards: list[Card], prompt: str, meant: str) -> None:
    """A stuff by its family, a kind by the word before the noun."""
    assert outcome_name(Session(cards).ask(prompt)) == meant


def test_another_word_for_the_kind() -> None:
    """A rocker is a rocking chair, and no other one."""
    chairs = _cards(
        "chair",
        "A red rocking chair.",
        "A dining chair in blue.",
        "A white office chair.",
        "A black high chair.",
        "A rocking chair in pink.",
    )
    assert outcome_name(Session(chairs).ask("the newest rocker on a porch")) == "chair-v5"
    assert _refuses(chairs, "the latest wheelchair", "wheelchair")


def test_a_noun_of_the_sort() -> None:
    """A bird plushie is a penguin, whatever else is plush."""
    plush = _cards("plushie", "A penguin plushie.", "A rabbit plushie.", "An octopus plushie.")
    assert outcome_name(Session(plush).ask("the bird plushie on a bed")) == "plushie-v1"
