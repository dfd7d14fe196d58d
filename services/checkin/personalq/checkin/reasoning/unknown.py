"""A head noun that is no subject: it may still be what some card says it is ("siamese")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from personalq.checkin.cards import Card, Hit
from personalq.checkin.intent import Attribute, Constraint, Intent, Mention, Span
from personalq.checkin.lexicon import canonical, wordnet
from personalq.checkin.reasoning.describe import concepts, profile
from personalq.checkin.reasoning.kinds import name_of, names

_STYLE = frozenset(["style", "art style", "look"])
"""Subjects of a card that stand for no thing."""


def by_description(intent: Intent, hits: Sequence[Hit]) -> tuple[Intent, tuple[Hit, ...]]:
    """Cards whose kind ("Siamese cats with blue eyes") names the noun, and the intent for them."""
    unknown = intent.unknown_subject
    if unknown is None:
        return intent, tuple(hits)
    wanted = set(concepts(" ".join(unknown.values)))
    found = tuple(
        hit for hit in hits if _is_kind(wanted, hit.card) and _calls(hit.card, unknown.text)
    )
    return _named(intent, unknown, found) if found else _by_style(intent, hits)


def _is_kind(wanted: set[str], card: Card) -> bool:
    """Whether a card's kind is what was said: a can "of paint" is a paint can."""
    shown = profile(card)
    own = wanted - {concept for noun in shown.nouns for concept in concepts(noun)}
    return bool(own) and own <= shown.kind


def _calls(card: Card, said: str) -> bool:
    """Whether a card is called by the noun said: no "horse-drawn tram" is a horse, and no horse a
    rocking horse, which is a word of its own.
    """
    phrase = canonical(said)
    text = card.description.casefold()
    if " " in phrase and wordnet.senses(phrase, said=False):
        return phrase in canonical(text)
    word = re.escape(phrase.rpartition(" ")[2])
    return (
        re.search(rf"\b{word}-\w", text) is None or re.search(rf"\b{word}\b(?!-)", text) is not None
    )


def told_subject(intent: Intent, hits: Sequence[Hit]) -> tuple[Intent, tuple[Hit, ...]]:
    """Cards that a description calls by the subject asked for, where no subject of theirs does.

    "The grizzly" is also a bear "shown as a grizzly", when no card with the subject fits.

    Args:
        hits: what fits the intent without its subject.
    """
    subject = intent.first(Attribute.SUBJECT)
    if subject is None or subject.excluded:
        return intent, ()
    wanted = set(concepts(canonical(name_of(subject))))
    found = tuple(
        hit
        for hit in hits
        if wanted and wanted <= profile(hit.card).kind and names(hit.card, name_of(subject))
    )
    return _named(intent.without(subject), subject, found)


def _named(
    intent: Intent, unknown: Constraint, found: tuple[Hit, ...]
) -> tuple[Intent, tuple[Hit, ...]]:
    """The intent with the noun as a description of the cards found."""
    described = Constraint(
        attribute=Attribute.DESCRIPTION,
        values=unknown.values,
        hard=False,
        span=unknown.span,
        text=unknown.text,
        label=unknown.label,
    )
    named = Mention(
        span=unknown.span or Span(0, 0),
        subjects=tuple(dict.fromkeys(s for hit in found for s in hit.card.subjects)),
        weight=2,
    )
    changed = replace(
        intent,
        constraints=(*intent.constraints, described),
        mentions=(*intent.mentions, *((named,) if unknown.span else ())),
        unknown_subject=None,
    )
    return changed, found


def _by_style(intent: Intent, hits: Sequence[Hit]) -> tuple[Intent, tuple[Hit, ...]]:
    """A checkpoint of a style alone draws anything in it: "a heron, stained glass"."""
    styled = any(c.hard and not c.excluded for c in intent.all(Attribute.STYLE))
    found = tuple(hit for hit in hits if styled and _STYLE.issuperset(hit.card.subjects))
    return (replace(intent, unknown_subject=None), found) if found else (intent, ())
