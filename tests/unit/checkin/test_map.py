"""The mapping stage: what gives way to the trigger, what is rendered."""

# ruff: noqa: E501 - one request per line reads best

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.checkin_cards import card, studio
from support.checkin_session import Session

from personalq.checkin.outcome import Rewrite, Selection

CARDS = [
    card("bear-v4", "bear, teddy bear", "photorealistic", "2026-04-11", "A tan teddy bear with a red scarf.", version=4, used="2026-11-19T09:30:00+00:00", use_count=40, owner="studio-a", environments="beach"),
    card("dog-v2", "dog", "sketch", "2026-05-11", "A brown dog.", version=2, owner="studio-b"),
    card("owl-v1", "owl", "watercolor", "2026-11-13", "A barn owl.", version=1, aliases="Archimedes"),
    card("car-v1", "sports car, car", "photorealistic", "2026-06-11", "A fast car.", version=1),
    card("ink-v1", "style", "ink", "2026-03-11", "Ink strokes.", version=1),
    card("two", "chair", "photorealistic", "2026-03-11", "A chair.", triggers=("<seat>", "sks chair")),
    card("mute", "lamp", "photorealistic", "2026-08-11", "A lamp.", triggers=()),
]  # fmt: skip
DOCUMENT = Path(__file__).parents[3] / "docs" / "prompt-rewriting.md"
_ROW = re.compile(r"^\| `(.+)` \| `(.+)` \| `(.+)` \|$", re.MULTILINE)
TABLE = [match.groups() for match in _ROW.finditer(DOCUMENT.read_text("utf-8"))]
"""(prompt, rewritten, rendered): the examples of the documentation."""


@pytest.fixture(scope="module")
def session() -> Session:
    """Check-in over cards that are easy to tell apart."""
    return Session(CARDS)


def rewritten(session: Session, prompt: str) -> Rewrite:
    """The rewrite of a prompt that selects."""
    outcome = session.ask(prompt)
    assert isinstance(outcome, Selection), outcome
    return outcome.rewrite


def test_the_document_has_examples() -> None:
    """The table is found: a change of its form would otherwise run nothing."""
    assert len(TABLE) > 50


@pytest.mark.parametrize(("prompt", "rewrite", "render"), TABLE, ids=[row[0] for row in TABLE])
def test_table(session: Session, prompt: str, rewrite: str, render: str) -> None:
    """The noun gives way, everything else stays; selecting words are not rendered."""
    found = rewritten(session, prompt)
    assert found.rewritten_prompt == rewrite
    assert found.render_prompt == render


@pytest.mark.parametrize("prompt", [row[0] for row in TABLE])
def test_spans_hold_the_trigger(session: Session, prompt: str) -> None:
    """Trigger spans slice a trigger of the card out of both prompts."""
    found = rewritten(session, prompt)
    triggers = {trigger.casefold() for c in CARDS for trigger in c.triggers}
    assert bool(found.trigger_spans) == ("lamp" not in prompt)
    for span in found.trigger_spans:
        assert span.of(found.rewritten_prompt).casefold() in triggers
    for span in found.render_trigger_spans:
        assert span.of(found.render_prompt).casefold() in triggers


def test_card_without_trigger(session: Session) -> None:
    """Nothing is replaced, and the note says so."""
    found = rewritten(session, "a lamp on a desk")
    assert found.rewritten_prompt == "a lamp on a desk"
    assert found.trigger_spans == ()
    assert "no trigger" in "".join(found.notes)


def test_other_triggers_are_named(session: Session) -> None:
    """A client learns of the other triggers of a checkpoint, and how to use one."""
    found = rewritten(session, "a chair by a window")
    assert any("“sks chair”" in note for note in found.notes)
    assert rewritten(session, "a bear").notes == ()


def test_replaced_words_are_named() -> None:
    """Each replacement names its place and its words in the prompt."""
    prompt = "the puppy and the dog from May, in the snow"
    outcome = Session(studio()).ask(prompt)
    assert isinstance(outcome, Selection)
    assert [item.text for item in outcome.rewrite.replaced] == ["puppy", "dog"]
    assert all(item.span.of(prompt) == item.text for item in outcome.rewrite.replaced)
