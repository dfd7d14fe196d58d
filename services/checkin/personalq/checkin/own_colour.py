"""The colour right before a subject, where every card tells its own and none has that one.

A description that says nothing of a colour may still be of one that has it. Where all say another,
"a pink truck" is none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from personalq.checkin import lexicon
from personalq.checkin.cards import Card
from personalq.checkin.describe import concepts, profile
from personalq.checkin.intent import Attribute, Constraint, Intent

_FEWEST = 5
"""Cards that must tell: the only bear may well be wanted in blue."""
_ALIKE = (
    {"=tan", "=brown"},
    {"=tan", "=cream"},
    {"=tan", "=golden"},
    {"=golden", "=yellow"},
    {"=golden", "=orange"},
    {"=orange", "=brown"},
    {"=teal", "=blue"},
    {"=teal", "=green"},
    {"=cream", "=white"},
    {"=gray", "=black"},
)
"""Colours that people call by each other's names."""


def without_its_colour(intent: Intent, cards: Sequence[Card]) -> Intent | None:
    """The intent that says what nothing fits; None where some card may be of the colour."""
    colour = next((c for c in intent.described if _is_colour(c, intent)), None)
    named = intent.first(Attribute.VERSION) or intent.first(Attribute.IDENTITY)
    if colour is None or named is not None or len(cards) < _FEWEST:
        return None
    wanted = set(concepts(" ".join(colour.values)))
    meant = wanted.union(*(alike for alike in _ALIKE if alike & wanted))
    told = {f"={name}" for name in lexicon.words("colors")}
    shown = [profile(card) for card in cards]
    if any(not told & each.kind or meant & each.everything for each in shown):
        return None
    missing = replace(colour, hard=True)
    return replace(
        intent, constraints=tuple(missing if c is colour else c for c in intent.constraints)
    )


def _is_colour(constraint: Constraint, intent: Intent) -> bool:
    """Whether it is a plain colour that stands right before the subject."""
    subject = intent.first(Attribute.SUBJECT)
    if subject is None or subject.span is None or constraint.span is None or constraint.excluded:
        return False
    colours = lexicon.colours() - {"colorful"}
    plain = all(value in colours and not value.endswith("ish") for value in constraint.values)
    return plain and not constraint.hard and constraint.span.end + 1 == subject.span.start
