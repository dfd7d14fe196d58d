"""A second subject of a card: a kind ("top hat"), or another name ("rucksack").

Only some cards list it, and the descriptions tell which it is. Cards that list a kind describe
themselves as one, and so does many a card that only lists "hat"; cards that list a mere name are
described in other words ("a hiking pack"), and a card without it may be meant as well.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from personalq.checkin.cards import Card, CardFilter, Hit, Query
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.lexicon import canonical
from personalq.checkin.lexicon.stems import stem
from personalq.checkin.ports import Catalog
from personalq.checkin.reasoning.profiles.profile import pieces_of, profile
from personalq.checkin.reasoning.profiles.traits import trait

Search = Callable[[Intent], Awaitable[tuple[Hit, ...]]]
"""The cards that an intent allows."""
_SAMPLE = 50
"""Cards looked at to tell a kind from a name."""


async def widened(
    intent: Intent, hits: Sequence[Hit], *, catalog: Catalog, search: Search
) -> tuple[Intent, tuple[Hit, ...]]:
    """The intent and the hits with cards that only list what the subject asked for is a kind of.

    Args:
        hits: what the intent finds; without any, cards of the subject alone tell what it is.

    Raises:
        Unavailable: the catalog cannot be reached.
    """
    subject = intent.first(Attribute.SUBJECT)
    if subject is None or subject.excluded or subject.coarse or subject.broader:
        return intent, tuple(hits)
    cards = [hit.card for hit in hits]
    if hits and not _broader(subject, cards):
        return intent, tuple(hits)
    if not any(names(card, name_of(subject)) for card in cards):
        alone = CardFilter(subjects=subject.values)
        cards = [hit.card for hit in (await catalog.search(_sample(alone))).hits]
    general = _broader(subject, cards)
    wider = _wider(subject, general, cards) if general else subject
    if wider is subject:
        return intent, tuple(hits)
    read = _replaced(intent, subject, wider)
    found = {hit.card.checkpoint_id: hit for hit in (*hits, *await search(read))}
    return read, tuple(found.values())


def carried(intent: Intent, read: Intent) -> Intent:
    """The intent with its subject as it was read of the cards."""
    subject, wider = intent.first(Attribute.SUBJECT), read.first(Attribute.SUBJECT)
    if subject is None or wider is None or subject.text != wider.text:
        return intent
    return _replaced(intent, subject, wider)


def called(name: str, cards: Sequence[Card]) -> list[bool] | None:
    """Which cards are of a kind, by subject or description; None for a mere name."""
    lists = [lists_subject(card, name) for card in cards]
    if not is_kind(name, [card for card, has in zip(cards, lists, strict=True) if has]):
        return None
    return [has or is_described_as(card, name) for card, has in zip(cards, lists, strict=True)]


def name_of(subject: Constraint) -> str:
    """What the catalog calls a subject: "limousine" for "limo", but "corgi" for a kind of dog."""
    listed = subject.narrower or lists(subject.values, subject.text)
    return subject.text if listed or not subject.values else subject.values[0]


def is_kind(name: str, cards: Iterable[Card]) -> bool:
    """Whether cards that list a name are described by it."""
    said = [names(card, name) for card in cards if card.description]
    return 2 * sum(said) >= len(said) > 0


def is_described_as(card: Card, name: str) -> bool:
    """Whether a card's description calls its subject so: "a red velvet top hat"."""
    wanted = trait(canonical(name))
    if wanted is None or not names(card, name):  # a cap is no top hat, though both are hats
        return False
    return set(wanted.concepts) <= profile(card).kind


@lru_cache(maxsize=16384)
def names(card: Card, name: str) -> bool:
    """Whether the very words stand in a card's description, or in what it is read as.

    A "parrot of the cockatoo kind" is a cockatoo parrot.
    """
    said = f" {_stems(name)} "
    if said in f" {_stems(card.description)} ":
        return True
    return any(said in f" {_stems(piece)} " for piece in pieces_of(card))


def lists_subject(card: Card, name: str) -> bool:
    """Whether a card lists a name among its subjects, in any number."""
    return lists(card.subjects, name)


def lists(subjects: Iterable[str], name: str) -> bool:
    """Whether a name is one of some subjects, in any number."""
    return any(_stems(subject) == _stems(name) for subject in subjects)


@lru_cache(maxsize=16384)
def _stems(text: str) -> str:
    return " ".join(stem(word) for word in re.findall(r"\w+", canonical(text)))


def _sample(alone: CardFilter) -> Query:
    return Query(text="", filter=alone, order=None, limit=_SAMPLE)


def _broader(subject: Constraint, cards: Sequence[Card]) -> tuple[str, ...]:
    """The subjects that all of the cards list besides the one asked for."""
    own = {canonical(value) for value in subject.values}
    shared = [{s for s in card.subjects if canonical(s) not in own} for card in cards]
    return tuple(sorted(set.intersection(*shared))) if shared else ()


def _wider(subject: Constraint, general: tuple[str, ...], cards: Sequence[Card]) -> Constraint:
    """The constraint that cards of the general subject may satisfy too."""
    if is_kind(name_of(subject), cards) or _is_told_apart(name_of(subject), general, cards):
        return replace(subject, broader=general)
    main = tuple(s for s in general if all(_is_mainly(card, s) for card in cards))
    others = [card for card in cards if any(names(card, word) for word in main)]
    name = next((v for v in subject.values if canonical(v) == canonical(subject.text)), "")
    if 2 * len(others) > len(cards) and name.islower():
        return replace(subject, values=(*subject.values, *main))
    return subject


def _is_told_apart(name: str, general: tuple[str, ...], cards: Sequence[Card]) -> bool:
    """Whether some card is described by a compound of the general word: "soda can" among cans."""
    longer = any(canonical(name).endswith(f" {canonical(word)}") for word in general)
    return longer and any(names(card, name) for card in cards)


def _is_mainly(card: Card, subject: str) -> bool:
    """Whether a card is of a subject first of all: of "dog, animal", an animal is no other name."""
    return canonical(card.subjects[0]) == canonical(subject)


def _replaced(intent: Intent, subject: Constraint, wider: Constraint) -> Intent:
    """The intent with another subject, and with the words that name it."""
    meant = (*wider.values, *wider.broader)
    return replace(
        intent,
        constraints=tuple(wider if c is subject else c for c in intent.constraints),
        mentions=tuple(
            replace(m, subjects=meant) if m.subjects == subject.values else m
            for m in intent.mentions
        ),
    )
