"""The scene in the very words of cards."""

from __future__ import annotations

import pytest
from support.checkin_cards import NOW, card
from support.checkin_session import Session

from personalq.checkin.outcome import Clarification, Selection

CLOCKS = [
    card("clock-v1", "clock", "anime", "2026-01-01", "A green clock flanked by cherubs."),
    card("clock-v2", "clock", "oil painting", "2026-02-01", "A red clock flanked by cherubs."),
    card("clock-v3", "clock", "anime", "2026-03-01", "A red clock on a candle warmer."),
    card("clock-v4", "clock", "sketch", "2026-04-01", "A white clock with a bell."),
    card("clock-v5", "clock", "sketch", "2026-05-01", "A black clock with a chain."),
    card("clock-v6", "clock", "anime", "2026-06-01", "A pink clock with cherubs."),
]


@pytest.fixture
def session() -> Session:
    """Check-in over six clocks."""
    return Session(CLOCKS, now=NOW)


def asked_about(session: Session, prompt: str) -> set[str]:
    """The ids in question."""
    asked = session.ask(prompt)
    assert isinstance(asked, Clarification)
    return {each.card.checkpoint_id for each in asked.candidates}


def test_cards_that_say_the_same_are_asked_about(session: Session) -> None:
    """Two clocks are flanked by cherubs; one with cherubs is not."""
    assert asked_about(session, "the clock flanked by cherubs") == {"clock-v1", "clock-v2"}


def test_an_answer_chooses_among_them(session: Session) -> None:
    """The question is not asked anew about all clocks of that look."""
    prompt = "in a hut at dusk, the clock flanked by cherubs"
    asked = session.ask(prompt)
    assert isinstance(asked, Clarification)
    chosen = session.answer(prompt, asked, "the anime one")
    assert isinstance(chosen, Selection)
    assert chosen.candidate.card.checkpoint_id == "clock-v1"


def test_one_card_that_says_the_same_is_chosen(session: Session) -> None:
    """Nobody else stands on one."""
    chosen = session.ask("the clock on a candle warmer, by a lake")
    assert isinstance(chosen, Selection)
    assert chosen.candidate.card.checkpoint_id == "clock-v3"


@pytest.mark.parametrize(
    "prompt",
    [
        "not the clock on a candle warmer",
        "the clock not flanked by cherubs",
        "any clock except those flanked by cherubs",
        "the clock near a candle warmer",
        "put the clock on a candle warmer",
        "the clock beside a door flanked by cherubs",
    ],
)
def test_what_is_unwanted_or_elsewhere_narrows_nothing(session: Session, prompt: str) -> None:
    """Neither is what stands in another relation, nor what is told of another thing."""
    asked = asked_about(session, prompt)
    assert asked - {"clock-v1", "clock-v2"}
    assert len(asked) > 1


@pytest.mark.parametrize("prompt", ["the clock by a lake", "the clock among cherubs"])
def test_a_single_word_tells_nobody(session: Session, prompt: str) -> None:
    """One word that cards have too may as well be the scene's."""
    assert len(asked_about(session, prompt)) == len(CLOCKS)
