"""What a card lacks, in words for a person: "trained on 12 May 2026, not “April”"."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from personalq.checkin import calendar
from personalq.checkin.cards import Card
from personalq.checkin.intent import Attribute, Constraint, OrderKey
from personalq.checkin.reasoning.descriptions.fits import share
from personalq.checkin.reasoning.profiles.profile import profile


def missed(card: Card, constraint: Constraint, zone: ZoneInfo) -> str:
    """How the card misses a constraint that it does not satisfy, or an order it is not first in."""
    said = f"“{constraint.quoted}”" if constraint.text else constraint.label
    if constraint.attribute is Attribute.DESCRIPTION:
        return f"has that, but {said}" if constraint.excluded else f"no {said}"
    has = _ORDERS[constraint.order] if constraint.order else _HAS[constraint.attribute]
    return f"{has(card, zone)}, {'but' if constraint.excluded else 'not'} {said}"


def distance(card: Card, constraint: Constraint) -> float:
    """How far a card is from a version, a time or a description (0-1) that was asked for; 0 for all
    else.
    """
    if constraint.excluded:
        return 0.0
    match constraint.attribute:
        case Attribute.VERSION:
            if card.version is None:
                return float("inf")
            return float(min((abs(card.version - int(v)) for v in constraint.values), default=0))
        case Attribute.CREATED_AT:
            return _seconds(card.created_at, constraint)
        case Attribute.LAST_USED_AT:
            return _seconds(card.last_used_at, constraint)
        case Attribute.DESCRIPTION:
            return 1.0 - share(constraint, profile(card))
        case _:
            return 0.0


def _seconds(moment: datetime | None, constraint: Constraint) -> float:
    if moment is None:
        return float("inf")
    stamp, distances = moment.timestamp(), []
    for interval in constraint.intervals:
        early = interval.start.timestamp() - stamp if interval.start else 0.0
        late = stamp - interval.end.timestamp() if interval.end else 0.0
        distances.append(max(early, late, 0.0))
    return min(distances, default=0.0)


def _listed(values: tuple[str, ...], otherwise: str) -> str:
    return ", ".join(values) or otherwise


def _created(card: Card, zone: ZoneInfo) -> str:
    return _when("trained", card.created_at, zone, "no date of training")


def _used(card: Card, zone: ZoneInfo) -> str:
    return _when("last used", card.last_used_at, zone, "never used")


def _when(verb: str, moment: datetime | None, zone: ZoneInfo, otherwise: str) -> str:
    return f"{verb} on {calendar.day_of(moment.astimezone(zone))}" if moment else otherwise


def _use_count(card: Card, _: ZoneInfo) -> str:
    return f"used {card.use_count} time{'' if card.use_count == 1 else 's'}"


def _version(card: Card, _: ZoneInfo) -> str:
    return "no version" if card.version is None else f"version {card.version}"


_Say = Callable[[Card, ZoneInfo], str]
_ORDERS: dict[OrderKey, _Say] = {
    OrderKey.NEWEST: _created,
    OrderKey.OLDEST: _created,
    OrderKey.LAST_USED: _used,
    OrderKey.LEAST_RECENTLY_USED: _used,
    OrderKey.MOST_USED: _use_count,
    OrderKey.LEAST_USED: _use_count,
    OrderKey.HIGHEST_VERSION: _version,
    OrderKey.LOWEST_VERSION: _version,
}
_HAS: dict[Attribute, _Say] = {
    Attribute.SUBJECT: lambda card, _: _listed(card.subjects[:1], "of nothing named"),
    Attribute.STYLE: lambda card, _: _listed(card.styles, "no style"),
    Attribute.CREATED_AT: _created,
    Attribute.LAST_USED_AT: _used,
    Attribute.USE_COUNT: _use_count,
    Attribute.VERSION: _version,
    Attribute.ENVIRONMENT: lambda card, _: _listed(card.environments, "no place of training"),
    Attribute.OWNER: lambda card, _: f"owned by {card.owner}" if card.owner else "no owner",
    Attribute.ORDER: _created,
    Attribute.IDENTITY: lambda card, _: card.checkpoint_id,
}
