"""Whether a card satisfies a constraint: checked again after every search."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from personalq.checkin import lexicon
from personalq.checkin.cards import Card, Hit
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.lexicon import canonical
from personalq.checkin.lexicon.stems import stem
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.reasoning.descriptions.fits import says
from personalq.checkin.reasoning.few_words import kind_key
from personalq.checkin.reasoning.kinds import is_described_as, names
from personalq.checkin.reasoning.order import in_order
from personalq.checkin.reasoning.profiles.concepts import concepts, shades_in
from personalq.checkin.reasoning.profiles.profile import pieces_of, profile


def satisfies(card: Card, constraint: Constraint, zone: ZoneInfo) -> bool:
    """Whether `card` is acceptable; an order constrains no single card."""
    if constraint.attribute is Attribute.ORDER:
        return True
    if constraint.attribute is Attribute.DESCRIPTION and not constraint.hard:
        return True
    return _has(card, constraint, zone) is not constraint.excluded


def satisfying(intent: Intent, hits: Sequence[Hit], zone: ZoneInfo) -> list[Hit]:
    """The hits that are acceptable for all that an intent insists on.

    Of "the red one of the three newest" those are the three.
    """
    hard = [c for c in intent.constraints if c.hard]
    kept = [hit for hit in hits if all(satisfies(hit.card, c, zone) for c in hard)]
    window = intent.window
    if window is None:
        return kept
    return in_order(kept, window.order, lambda hit: hit.card)[: window.among]


def _has(card: Card, constraint: Constraint, zone: ZoneInfo) -> bool:
    match constraint.attribute:
        case Attribute.SUBJECT:
            described = constraint.broader and is_described_as(card, constraint.text)
            accepted = (*constraint.values, *(constraint.broader if described else ()))
            return _shares(card.subjects, accepted)
        case Attribute.STYLE:
            return _shares(card.styles, constraint.values, alone=constraint.alone)
        case Attribute.ENVIRONMENT:
            return _shares(card.environments, constraint.values, alone=constraint.alone)
        case Attribute.OWNER:
            return card.owner in constraint.values
        case Attribute.VERSION:
            return card.version is not None and str(card.version) in constraint.values
        case Attribute.CREATED_AT:
            return _within(card.created_at, constraint, zone)
        case Attribute.LAST_USED_AT:
            return _within(card.last_used_at, constraint, zone)
        case Attribute.USE_COUNT:
            fewest, most = constraint.uses
            uses = max(card.use_count, int(card.last_used_at is not None))
            return uses >= fewest and (most is None or uses <= most)
        case Attribute.IDENTITY if constraint.by_trigger:
            triggers = {trigger.casefold() for trigger in card.triggers}
            return any(value.casefold() in triggers for value in constraint.values)
        case Attribute.IDENTITY if constraint.by_name:
            return _shares((card.name, *card.aliases), constraint.values)
        case Attribute.IDENTITY:
            return card.checkpoint_id in constraint.values
        case Attribute.DESCRIPTION:
            if kind_key(card) in constraint.values:
                return True
            if constraint.excluded and constraint.span is None and _is_shade(constraint.values):
                return all(names(card, word) for word in constraint.values)
            said = set(concepts(" ".join(constraint.values)))
            shades = shades_in(" ".join(constraint.values))
            if shades and not constraint.excluded:
                return shades <= profile(card).own_shades
            if not constraint.excluded and lexicon.colours().issuperset(constraint.values):
                return said <= profile(card).kind
            if not constraint.excluded:
                return says(constraint, profile(card))
            if lexicon.colours().issuperset(constraint.values):
                return said <= profile(card).kind
            if said <= set(concepts(" ".join(card.subjects))):
                return names(card, " ".join(constraint.values))  # a cap is a hat: the very word
            if constraint.span is None and _is_one_of(card, constraint.values):
                return True
            tags = concepts(" ".join((*card.styles, *card.environments)))
            return said <= {*profile(card).everything, *tags}
        case _:
            return True


def _is_shade(words: tuple[str, ...]) -> bool:
    """Whether an answer turns a shade down, and not all of its colour: "slate", but not "gray"."""
    groups = lexicon.description_groups()
    colours = lexicon.colours().issuperset(words)
    return colours and any(groups.get(word, word) != word for word in words)


def _is_one_of(card: Card, values: tuple[str, ...]) -> bool:
    """Whether the subject is called by a compound of a word: "ships" of a lightship."""
    last = stem(values[-1])
    named = (word for piece in pieces_of(card)[:1] for word in canonical(piece).split())
    compounds = (word for word in named if len(last) > 3 and stem(word).endswith(last))
    return len(values) == 1 and any(is_kind_of(word, values[-1]) for word in compounds)


def _shares(tags: tuple[str, ...], values: tuple[str, ...], *, alone: bool = False) -> bool:
    wanted = {canonical(value) for value in values}
    found = [canonical(tag) in wanted for tag in tags]
    return any(found) and (all(found) or not alone)


def _within(moment: datetime | None, constraint: Constraint, zone: ZoneInfo) -> bool:
    if moment is None:
        return False
    if constraint.months and moment.astimezone(zone).month not in constraint.months:
        return False
    return any(interval.holds(moment) for interval in constraint.intervals)
