"""Words that only lead to the subject: stories, heroes, questions with "can", headings."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from support.checkin_cards import NOW, card
from support.fake_catalog import vocabulary_of

from personalq.checkin.intent import Attribute, Intent
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.vocabulary import compile_lexicon

LEXICON = compile_lexicon(
    vocabulary_of(
        [
            card("owl-v1", "owl", "woodcut", "2026-05-01", "A gray owl.", environments="garden"),
            card("chair-v1", "easy chair", "anime", "2026-05-02", "A silk chair."),
        ]
    )
)


def read(prompt: str) -> Intent:
    """A prompt as an intent."""
    return parse(prompt, LEXICON, Context(now=NOW, zone=ZoneInfo("UTC")))


def described(prompt: str) -> list[str]:
    """What is described, in order."""
    return [each.text for each in read(prompt).described]


@pytest.mark.parametrize(
    "prompt",
    [
        "The hero must be the owl.",
        "The hero of the page is the owl, on a step",
        "The story opens with the woodcut owl in a train",
        "My story is about the owl with garden training, please draw it.",
        "Once upon a time there was an owl beside a lake; take the one trained in the garden.",
        "Let the curtain rise on the gray owl, at midnight",
        "My picture book has a page with an owl, the model for it is the one made in May.",
        "Funny story, I drew an owl on a napkin, now I want the woodcut one.",
        "Can an owl stand on a roof, the one made in May?",
        "can the owl be put on a roof?",
        "A calendar page showing the owl with one covered eye, in a booth",
        "the pirate-like owl with one covered eye",
        "The one a sparrow has nested in. An owl in a breeze, please.",
    ],
)
def test_what_leads_to_a_subject(prompt: str) -> None:
    """A subject that the catalog has is asked for, and not the story about it."""
    intent = read(prompt)
    assert intent.unknown_subject is None
    [subject] = intent.all(Attribute.SUBJECT)
    assert subject.values == ("owl",)


@pytest.mark.parametrize(
    ("prompt", "thing"),
    [
        ("The hero must be a violin.", "hero"),
        ("Can, dented, on a shelf", "can"),
        ("the can, dented, on a shelf", "can"),
        ("a book beside the lake", "book"),
        ("Could you kindly bring up the violin in anime, please?", "violin"),
        ("call up the sloop", "sloop"),
        ("the book made in May, with an owl on it", "book"),
        ("the can I trained last week", "can"),
    ],
)
def test_a_subject_nobody_has(prompt: str, thing: str) -> None:
    """Where no known subject follows, or it is brought up itself."""
    missing = read(prompt).unknown_subject
    assert missing is not None
    assert missing.values == (thing,)


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("Test input: the owl that is gray", ["gray"]),
        ("Regression run: the owl with a bell", ["bell"]),
        ("Oh dear, the owl with a bell", ["bell"]),
        ("the owl with little round gems in the ears", ["little round gems in the ears"]),
        ("the owl with a bell round its neck", ["bell round its neck"]),
        ("easy chair, pink silk with a tall back", ["pink silk", "tall back"]),
        ("easy chair, shabby from years of use", ["shabby"]),
        ("the owl, funny", ["funny"]),
        ("the owl in the same size", []),
        ("the owl made in May, that is all", []),
    ],
)
def test_what_is_described(prompt: str, found: list[str]) -> None:
    """Headings and sighs describe nothing; what is silk, or has become shabby, is described."""
    assert described(prompt) == found
