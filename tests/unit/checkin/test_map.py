"""The mapping stage: what gives way to the trigger, what is rendered."""

# ruff: noqa: E501 - one request per line reads best

from __future__ import annotations

import pytest
from support.checkin_cards import card, studio
from support.checkin_session import Session

from personalq.checkin.outcome import Rewrite, Selection

CARDS = [
    card("bear-v4", "bear, teddy bear", "photorealistic", "2026-04-11", "A tan teddy bear.", version=4),
    card("dog-v2", "dog", "sketch", "2026-05-11", "A brown dog.", version=2),
    card("ink-v1", "style", "ink", "2026-03-11", "Ink strokes.", version=1),
    card("two", "chair", "photorealistic", "2026-03-11", "A chair.", triggers=("<seat>", "sks chair")),
    card("mute", "lamp", "photorealistic", "2026-03-11", "A lamp.", triggers=()),
]  # fmt: skip


@pytest.fixture(scope="module")
def session() -> Session:
    """Check-in over cards that are easy to tell apart."""
    return Session(CARDS)


def rewritten(session: Session, prompt: str) -> Rewrite:
    """The rewrite of a prompt that selects."""
    outcome = session.ask(prompt)
    assert isinstance(outcome, Selection), outcome
    return outcome.rewrite


TABLE = [
    ("a bear on a hill", "a <bear-v4> on a hill", "a <bear-v4> on a hill"),
    ("two bears, one hill", "two <bear-v4>, one hill", "two <bear-v4>, one hill"),
    ("the bear's hat", "the <bear-v4>'s hat", "the <bear-v4>'s hat"),
    ("the bear’s hat", "the <bear-v4>’s hat", "the <bear-v4>’s hat"),
    ("Teddy bear at sea", "<bear-v4> at sea", "<bear-v4> at sea"),
    ("my TEDDY at sea", "my <bear-v4> at sea", "my <bear-v4> at sea"),
    ("a puppy in the  snow", "a <dog-v2> in the  snow", "a <dog-v2> in the  snow"),
    ("a dog, then the dog again", "a <dog-v2>, then the <dog-v2> again", "a <dog-v2>, then the <dog-v2> again"),
    ("a bear chasing a dog, the April build", "a <bear-v4> chasing a dog, the April build", "a <bear-v4> chasing a dog"),
    ("the latest bear model on a beach", "the latest <bear-v4> model on a beach", "the <bear-v4> on a beach"),
    ("v4 of the bear at night", "v4 of the <bear-v4> at night", "<bear-v4> at night"),
    ("a photo of the April bear", "a photo of the April <bear-v4>", "a photo of <bear-v4>"),
    ("April-trained version of bear", "April-trained version of <bear-v4>", "<bear-v4>"),
    ("bear on grass using the April-trained version", "<bear-v4> on grass using the April-trained version", "<bear-v4> on grass"),
    ("my most realistic, recently created bear on forest grass", "my most realistic, recently created <bear-v4> on forest grass", "my most realistic <bear-v4> on forest grass"),
    ("Bear on a balcony, the April build", "<bear-v4> on a balcony, the April build", "<bear-v4> on a balcony"),
    ("the dog I made in May, asleep", "the <dog-v2> I made in May, asleep", "the <dog-v2>, asleep"),
    ("<BEAR-V4> and a bear", "<bear-v4> and a bear", "<bear-v4> and a bear"),
    ("bear-v4 asleep", "<bear-v4> asleep", "<bear-v4> asleep"),
    ("sks chair by a window", "sks chair by a window", "sks chair by a window"),
    ("a chair by a window", "a <seat> by a window", "a <seat> by a window"),
]  # fmt: skip


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
    assert found.trigger_spans
    for span in found.trigger_spans:
        assert span.of(found.rewritten_prompt).casefold() in triggers
    for span in found.render_trigger_spans:
        assert span.of(found.render_prompt).casefold() in triggers


def test_style_without_noun(session: Session) -> None:
    """A style checkpoint is inserted where it reads naturally."""
    found = rewritten(session, "an ink harbor")
    assert found.rewritten_prompt == "an ink harbor in the style of <ink-v1>"
    assert found.replaced == ()


def test_card_without_trigger(session: Session) -> None:
    """Nothing is replaced, and the note says so."""
    found = rewritten(session, "a lamp on a desk")
    assert found.rewritten_prompt == "a lamp on a desk"
    assert found.trigger_spans == ()
    assert "no trigger" in "".join(found.notes)


@pytest.mark.parametrize(
    ("prompt", "kept"),
    [
        ("a bear next to Bear Grylls", "Bear Grylls"),
        ("a bear with cat-eye sunglasses", "cat-eye"),
        ("a bear in front of a dog house", "dog house"),
        ("a bear eating a hot dog", "hot dog"),
        ("a bear at the Golden Bear Casino", "Golden Bear Casino"),
    ],
)
def test_other_nouns_stay(session: Session, prompt: str, kept: str) -> None:
    """Proper nouns, compounds and other subjects are not replaced."""
    found = rewritten(session, prompt)
    assert found.rewritten_prompt == prompt.replace("a bear", "a <bear-v4>", 1)
    assert kept in found.rewritten_prompt


def test_replaced_words_are_named() -> None:
    """Each replacement names its place and its words in the prompt."""
    prompt = "the puppy and the dog from May, in the snow"
    outcome = Session(studio()).ask(prompt)
    assert isinstance(outcome, Selection)
    assert [item.text for item in outcome.rewrite.replaced] == ["puppy", "dog"]
    assert all(item.span.of(prompt) == item.text for item in outcome.rewrite.replaced)
