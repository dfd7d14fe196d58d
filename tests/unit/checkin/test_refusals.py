"""Answers that turn something down: what they leave, and what is none of that."""

from __future__ import annotations

from collections.abc import Sequence
from zoneinfo import ZoneInfo

import pytest
from support.checkin_cards import NOW, card
from support.checkin_session import Session, outcome_name
from support.fake_catalog import vocabulary_of

from personalq.checkin.answering.refusals import turned_down
from personalq.checkin.cards import Card
from personalq.checkin.outcome import Clarification
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.vocabulary import compile_lexicon

LIGHTS = [
    card("light-v1", "lighthouse", "comic", "2026-03-01", "A white lightship with stripes.",
         environments="harbor"),
    card("light-v2", "lighthouse", "anime", "2026-04-01", "A slate keep with a foghorn.",
         environments="mountain"),
    card("light-v3", "lighthouse", "sketch", "2026-05-01", "A charcoal tower with a helipad.",
         environments="mountain"),
]  # fmt: skip
CONTEXT = Context(now=NOW, zone=ZoneInfo("UTC"))
PROMPT = "a lighthouse in a storm"


def _answered(reply: str, cards: Sequence[Card] = LIGHTS, prompt: str = PROMPT) -> str:
    session = Session(cards)
    asked = session.ask(prompt)
    assert isinstance(asked, Clarification)
    return outcome_name(session.answer(prompt, asked, reply))


@pytest.mark.parametrize(
    ("reply", "chosen"),
    [
        ("not the two from the mountains", "light-v1"),
        ("neither the tower nor the keep", "light-v1"),
        ("no tower this time, and not the ship", "light-v2"),
        ("from the mountains, but without a foghorn", "light-v3"),
        ("the one with a helipad, not the ship", "light-v3"),
        ("the keep and the tower are wrong, so the other one", "light-v1"),
        ("anything but a ship, and no foghorn", "light-v3"),
        ("not the ship and not the slate one", "light-v3"),
        ("not the sketch, and it isn't the slate one", "light-v1"),
        ("not white or slate", "light-v3"),
        ("all but the tower, the keep and the foghorn", "light-v1"),
        # What was wanted is said last, or nothing was refused.
        ("no, the slate one", "light-v2"),
        ("not the newest", "light-v1"),
        ("no give me the slate one", "light-v2"),
        ("no actually the slate one", "light-v2"),
        ("no slate one please", "light-v2"),
        ("without a doubt the slate one", "light-v2"),
        ("not from 01.03.2026, and no foghorn", "light-v3"),
    ],
)
def test_what_is_turned_down_is_left_out(reply: str, chosen: str) -> None:
    """The others stay, by kind, colour, part, look or place."""
    assert _answered(reply) == chosen


@pytest.mark.parametrize(
    "reply",
    ["not sure", "the one not used yet", "not the newest", "not the red one from May", "no"],
)
def test_what_turns_nothing_down(reply: str) -> None:
    """It is read as a whole."""
    lexicon = compile_lexicon(vocabulary_of(LIGHTS))
    intent = parse(PROMPT, lexicon, CONTEXT)
    assert turned_down(reply, intent, lexicon, CONTEXT) == (reply, ())


def test_a_wider_subject_that_somebody_has() -> None:
    """A parrot is a bird; but where a seagull is one, that may be meant instead."""
    birds = [
        *(card(f"parrot-v{n}", "parrot", "anime", f"2026-0{n}-01", f"A {c} parrot.")
          for n, c in enumerate(("red", "green"), 1)),
        card("gull-v1", "bird", "anime", "2026-04-01", "A gray seagull."),
    ]  # fmt: skip
    session = Session(birds)
    asked = session.ask("a parrot on a fence")
    assert isinstance(asked, Clarification)
    for reply, chosen in (("no, a bird", "gull-v1"), ("the green bird", "parrot-v2")):
        assert outcome_name(session.answer("a parrot on a fence", asked, reply)) == chosen


def test_an_answer_in_the_words_of_a_card_that_was_not_offered() -> None:
    """Four are shown; the fifth is meant by its very words, and not what is somewhat like it."""
    colours = ("mint", "peach", "slate", "lemon", "plum")
    macaws = [
        card(f"parrot-v{n}", "parrot", "anime", f"2026-0{n}-01", f"A {colour} macaw.")
        for n, colour in enumerate(colours, 1)
    ]
    session = Session(macaws)
    asked = session.ask("a macaw on a cake")
    assert isinstance(asked, Clarification)
    for n, colour in enumerate(colours, 1):
        bird = session.answer("a macaw on a cake", asked, f"the {colour} bird")
        assert outcome_name(bird) == f"parrot-v{n}"
        assert outcome_name(session.answer("a macaw on a cake", asked, colour)) == f"parrot-v{n}"


@pytest.mark.parametrize(
    ("reply", "chosen"),
    [
        ("no windows!", "van-v2"),
        ("without windows please", "van-v2"),
        ("anime", "van-v1"),
        ("the anime one", "van-v1"),
        ("sketch", "van-v2"),
    ],
)
def test_what_an_answer_says_of_cards_that_say_less(reply: str, chosen: str) -> None:
    """A card that says that it lacks a thing comes before one that says nothing; one that has the
    look alone before one that has others too.
    """
    vans = [
        card("van-v1", "van", "anime", "2026-01-01", "A mustard van with a luggage rack."),
        card("van-v2", "van", "sketch, anime", "2026-02-01", "A mustard van with no windows."),
        card("van-v3", "van", "comic", "2026-03-01", "A mustard van with a striped awning."),
    ]
    assert _answered(reply, vans, "a mustard van on a hill") == chosen


@pytest.mark.parametrize(
    "reply", ["sketch and anime", "the one with both sketch and anime", "anime, but also sketch"]
)
def test_two_looks_of_an_answer_must_both_hold(reply: str) -> None:
    """Who names two means the card that has both."""
    vans = [
        card("van-v1", "van", "anime", "2026-01-01", "A red van."),
        card("van-v2", "van", "sketch, anime", "2026-02-01", "A red van."),
        card("van-v3", "van", "sketch", "2026-03-01", "A red van."),
        card("van-v4", "van", "comic", "2026-04-01", "A red van."),
    ]
    assert _answered(reply, vans, "a van on a hill") == "van-v2"


def test_the_latest_month_of_a_name_is_meant() -> None:
    """Of two Aprils the latest, as in a prompt; the one before where the latest has no card."""
    vans = [
        card("van-v1", "van", "anime", "2025-04-09", "A red van."),
        card("van-v2", "van", "sketch", "2026-04-09", "A red van."),
        card("van-v3", "van", "comic", "2025-05-09", "A red van."),
    ]
    for reply, chosen in (("whichever was built in April", "van-v2"), ("the May one", "van-v3")):
        assert _answered(reply, vans, "a van on a hill") == chosen
