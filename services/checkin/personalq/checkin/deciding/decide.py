"""Select, or ask the one question that helps most, when several intents stay plausible.

Ask if the expected gain in choosing right exceeds the cost of asking. The attribute asked about is
the one with the highest expected gain among those the person did not state, weighted by how easily
a person can answer: kind before look before month before place; never an id. Candidates that differ
in nothing a person could name are one intent: the newest is taken, and the reasons say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from personalq.checkin import calendar, lexicon
from personalq.checkin.cards import Card
from personalq.checkin.intent import Attribute, Intent
from personalq.checkin.outcome import Candidate, Option
from personalq.checkin.reasoning.few_words import kind_key, kind_of
from personalq.checkin.reasoning.plausible import plausible

ANY = "any of them"
_MOST_OPTIONS = 4
_MOST_TAGS = 3
"""Looks or places of one option; a card may have thirty."""
_EASE = {
    Attribute.SUBJECT: 3.0,
    Attribute.DESCRIPTION: 1.0,
    Attribute.STYLE: 0.95,
    Attribute.CREATED_AT: 0.8,
    Attribute.ENVIRONMENT: 0.7,
}
"""How easily a person can answer a question about an attribute."""
_HINTED = 1.5
"""A month question is worth more when the person spoke of a season or a year."""
_EPOCH = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Choose:
    """Select this candidate."""

    candidate: Candidate
    confidence: float
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Ask:
    """Ask about an attribute."""

    attribute: Attribute
    question: str
    options: tuple[Option, ...]
    confidence: float
    plausible: tuple[Candidate, ...]


@dataclass(frozen=True, kw_only=True)
class _Value:
    """A value of an attribute: its key, what to show, and the probability behind it."""

    value: str
    label: str
    mass: float
    best: float


def decide(
    intent: Intent,
    candidates: Sequence[Candidate],
    *,
    ask_cost: float,
    zone: ZoneInfo,
    prefer: Attribute | None = None,
) -> Choose | Ask:
    """Choose among candidates, likeliest first; there is at least one. Pure.

    `prefer` is the attribute to ask about when there has to be a question and it has one.
    """
    first = candidates[0]
    if len(candidates) == 1:
        return Choose(candidate=first, confidence=max(first.probability, 0.99))
    if intent.contradiction is not None and not intent.answered:
        asked = _contradiction(intent, candidates, zone)
        if asked is not None:
            return asked
    if intent.order is not None:
        return Choose(candidate=first, confidence=first.probability)
    likely = plausible(candidates, answered=intent.answered)
    if intent.settled:
        return _newest(likely, "any of them will do: the newest is taken")
    confidence = first.probability / sum(c.probability for c in likely)
    if len(likely) == 1 or 1 - confidence <= ask_cost:
        return Choose(candidate=first, confidence=first.probability)
    found = questions(intent, likely, zone)
    if not found:
        return _newest(
            likely,
            f"{len(likely)} versions differ in nothing that can be named: the newest is taken",
        )
    return max(found, key=lambda scored: (scored[1].attribute is prefer, scored[0]))[1]


def _newest(plausible: Sequence[Candidate], why: str) -> Choose:
    best = max(c.probability for c in plausible)
    ties = [c for c in plausible if c.probability >= 0.5 * best]
    ties.sort(key=lambda c: c.card.checkpoint_id)
    newest = max(ties, key=lambda c: c.card.created_at or _EPOCH)
    return Choose(candidate=newest, confidence=0.9, reasons=(why,) if len(ties) > 1 else ())


def questions(
    intent: Intent, plausible: Sequence[Candidate], zone: ZoneInfo
) -> list[tuple[float, Ask]]:
    """(worth, question) for every attribute that tells the candidates apart."""
    found = []
    for attribute, read in _readers(intent, plausible, zone):
        values = _values(plausible, read)
        if len(values) < 2:
            continue
        shown = values[:_MOST_OPTIONS]
        worth = _worth(plausible, shown) * _EASE[attribute]
        if attribute is Attribute.CREATED_AT and any(
            c.coarse for c in intent.all(Attribute.CREATED_AT)
        ):
            worth *= _HINTED
        found.append((worth, _ask(attribute, shown, plausible)))
    return found


_Read = Callable[[Card], tuple[str, str]]


def _readers(
    intent: Intent, plausible: Sequence[Candidate], zone: ZoneInfo
) -> list[tuple[Attribute, _Read]]:
    """Readers (value, label) of the attributes that were not stated."""
    years = {
        c.card.created_at.astimezone(zone).year for c in plausible if c.card.created_at is not None
    }

    def month(card: Card) -> tuple[str, str]:
        if card.created_at is None:
            return "", ""
        local = card.created_at.astimezone(zone)
        name = calendar.name_of_month(card.created_at, zone)
        return f"{local:%Y-%m}", name if len(years) == 1 else f"{name} {local.year}"

    def subject(card: Card) -> tuple[str, str]:
        name = card.subjects[0] if card.subjects else ""
        return name, f"the {name}"

    tags: dict[str, set[str]] = {}
    for candidate in plausible:
        for tag in candidate.card.styles:
            tags.setdefault(lexicon.look_of(tag), set()).add(tag)

    def style(card: Card) -> tuple[str, str]:
        names = list(dict.fromkeys(map(lexicon.look_of, card.styles)))[:_MOST_TAGS]
        looks = [sorted(tags[look]) for look in names]
        return ", ".join("|".join(look) for look in looks), ", ".join(look[0] for look in looks)

    def place(card: Card) -> tuple[str, str]:
        named = ", ".join(card.environments[:_MOST_TAGS])
        return named, named

    def kind(card: Card) -> tuple[str, str]:
        return kind_key(card), kind_of(card)

    readers: list[tuple[Attribute, _Read]] = []
    stated = intent.first(Attribute.SUBJECT)
    if stated is None or stated.coarse:
        readers.append((Attribute.SUBJECT, subject))
    readers.append((Attribute.DESCRIPTION, kind))
    styles = [c for c in intent.all(Attribute.STYLE) if not c.excluded]
    if not any(c.hard and len(set(map(lexicon.look_of, c.values))) == 1 for c in styles):
        readers.append((Attribute.STYLE, style))
    created = [c for c in intent.all(Attribute.CREATED_AT) if not c.excluded]
    if not created or any(c.coarse for c in created):
        readers.append((Attribute.CREATED_AT, month))
    if not any(c.hard and not c.excluded for c in intent.all(Attribute.ENVIRONMENT)):
        readers.append((Attribute.ENVIRONMENT, place))
    return readers


def _values(plausible: Sequence[Candidate], read: _Read) -> list[_Value]:
    """Values by falling probability; an empty value cannot be offered."""
    groups: dict[str, list[Candidate]] = {}
    labels: dict[str, str] = {}
    for candidate in plausible:
        value, label = read(candidate.card)
        if value:
            groups.setdefault(value, []).append(candidate)
            labels[value] = label
    values = [
        _Value(
            value=value,
            label=labels[value],
            mass=sum(c.probability for c in group),
            best=max(c.probability for c in group),
        )
        for value, group in groups.items()
    ]
    return sorted(values, key=lambda v: (-round(v.mass, 9), v.value))


def _worth(plausible: Sequence[Candidate], shown: Sequence[_Value]) -> float:
    """Expected top-1 gain plus information gained (both 0-1), over the options shown."""
    total = sum(c.probability for c in plausible)
    top = max(c.probability for c in plausible)
    rest = max(total - sum(value.mass for value in shown), 0.0)
    after = sum(value.best for value in shown) + (min(top, rest) if rest > 1e-9 else 0.0)
    gain = (after - top) / total
    parts = [value.mass / total for value in shown] + ([rest / total] if rest > 1e-9 else [])
    information = -sum(part * math.log(part) for part in parts if part > 0)
    return 0.5 * gain + 0.5 * information / math.log(max(len(plausible), 2))


_QUESTIONS = {
    Attribute.SUBJECT: "Do you mean {}?",
    Attribute.DESCRIPTION: "Do you mean {}?",
    Attribute.STYLE: "Which look do you want: {}?",
    Attribute.CREATED_AT: "Which month do you mean, {}?",
    Attribute.ENVIRONMENT: "Trained with which pictures: {}?",
    Attribute.VERSION: "Which version do you mean, {}?",
}


def _ask(attribute: Attribute, shown: Sequence[_Value], plausible: Sequence[Candidate]) -> Ask:
    if attribute is Attribute.CREATED_AT:
        shown = sorted(shown, key=lambda v: v.value)
    options = [Option(label=v.label, attribute=attribute, value=v.value) for v in shown]
    labels = [option.label for option in options]
    listed = ", ".join(labels[:-1]) + f" or {labels[-1]}"
    total = sum(c.probability for c in plausible)
    return Ask(
        attribute=attribute,
        question=_QUESTIONS[attribute].format(listed),
        options=(*options, Option(label=ANY, attribute=attribute, value="")),
        confidence=max(c.probability for c in plausible) / total,
        plausible=tuple(plausible),
    )


def _contradiction(intent: Intent, candidates: Sequence[Candidate], zone: ZoneInfo) -> Ask | None:
    """The question that settles two values asked for at once; None when one is left."""
    attribute = intent.contradiction

    def read(card: Card) -> tuple[str, str]:
        if attribute is Attribute.VERSION:
            return (str(card.version), str(card.version)) if card.version is not None else ("", "")
        if card.created_at is None:
            return "", ""
        local = card.created_at.astimezone(zone)
        return f"{local:%Y-%m}", f"{calendar.name_of_month(card.created_at, zone)} {local.year}"

    values = _values(candidates, read)
    if attribute is None or len(values) < 2:
        return None
    return _ask(attribute, values[:_MOST_OPTIONS], candidates)
