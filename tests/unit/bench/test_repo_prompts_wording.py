"""Requests of the development half mean the same however carelessly they are typed."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from support.fake_catalog import vocabulary_of

from personalq.bench.repo_prompts.files import OWN, read_cards, read_queries
from personalq.checkin.intent import Attribute, Intent
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.vocabulary import compile_lexicon

_CARDS = read_cards(OWN / "cards.jsonl")
_QUERIES = read_queries(OWN / "queries-dev.jsonl", _CARDS)
_LEXICON = compile_lexicon(
    vocabulary_of(
        [
            cast(
                "Any",
                SimpleNamespace(
                    subjects=each.subjects,
                    styles=each.styles,
                    environments=each.environments,
                    owner=each.owner,
                ),
            )
            for each in _CARDS
        ]
    )
)


def _meaning(intent: Intent) -> tuple[object, ...]:
    """What is asked for; of descriptions only their words."""
    unknown = intent.unknown_subject
    told = [
        (
            c.attribute,
            tuple(sorted(value.casefold() for value in c.values)),
            c.excluded,
            c.intervals,
            c.uses,
            c.order,
            c.rank,
        )
        for c in intent.constraints
        if c.attribute is not Attribute.DESCRIPTION
    ]
    return told, unknown.text.casefold() if unknown else None


@pytest.mark.parametrize(
    ("reword", "allowed"),
    [
        (str.lower, 0),
        (str.upper, 0),
        (lambda said: said.replace(" ", "  "), 0),
        (lambda said: said.replace("'", "’"), 0),
        (lambda said: f"Hi! {said}", 0),
        (lambda said: f"hey there, {said}", 0),
        (lambda said: f"{said.rstrip('.!?')}, please", 0),
        (lambda said: f"{said} Thanks!", 0),
        (lambda said: f'"{said}"', 2),
        (lambda said: f"{said.rstrip('.!?')}, holding a red balloon", 2),
        (lambda said: said.replace("trained", "fine-tuned"), 0),
        (lambda said: said.replace(", ", " - "), 3),
    ],
    ids=[
        "lower", "upper", "spaces", "curly", "hi", "hey", "please", "thanks", "quoted", "scene",
        "fine-tuned", "dashes",
    ],
)  # fmt: skip
def test_reworded(reword: Callable[[str], str], allowed: int) -> None:
    """All but a few, counted: what a dash or a quotation mark splits may be read in two."""
    changed = []
    for query in _QUERIES:
        assert query.now is not None
        context = Context(now=query.now, zone=ZoneInfo("UTC"))
        reworded = reword(query.query)
        as_written = _meaning(parse(query.query, _LEXICON, context))
        if as_written != _meaning(parse(reworded, _LEXICON, context)):
            changed.append(reworded)
    assert len(changed) <= allowed, changed
