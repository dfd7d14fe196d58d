"""What a request asks for, and which cards satisfy it: the ground truth is computed here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

from personalq.bench.dataset.cards import Card

FOREVER = datetime(9999, 1, 1, tzinfo=UTC)
LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)
ORDER_KEYS = ("created", "used", "use_count", "version")
OTHER_ORDER = {"created": "version", "version": "created"}


class InvalidAsks(ValueError):
    """The specification of a request does not hold together."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """A stretch of time, `start` included, `end` excluded; None is open."""

    start: datetime | None = None
    end: datetime | None = None

    def __contains__(self, moment: datetime | None) -> bool:
        if moment is None:
            return False
        return (self.start or LONG_AGO) <= moment < (self.end or FOREVER)


@dataclass(frozen=True, kw_only=True)
class Order:
    """One end of an order: the `rank`-th from the last (newest, most) or the first."""

    by: str
    end: str = "last"
    rank: int = 1


@dataclass(frozen=True, kw_only=True)
class Asks:
    """The constraints of one request; None or empty leaves an attribute open."""

    category: str | None = None
    kind: str | None = None
    styles: tuple[str, ...] = ()
    not_styles: tuple[str, ...] = ()
    created: Span | None = None
    used: Span | None = None
    never_used: bool = False
    version: int | None = None
    environment: str | None = None
    owner: str | None = None
    colour: str | None = None
    accessory: str | None = None
    material: str | None = None
    order: Order | None = None

    def named(self) -> frozenset[str]:
        """The names of the attributes that are constrained."""
        empty = Asks()
        return frozenset(
            field.name
            for field in fields(self)
            if getattr(self, field.name) != getattr(empty, field.name)
        )


def satisfies(card: Card, asks: Asks) -> bool:
    """Whether the card has everything asked for, its place in an order aside."""
    plain = ("category", "kind", "version", "owner", "colour", "accessory", "material")
    return (
        all(getattr(asks, name) in (None, getattr(card, name)) for name in plain)
        and set(asks.styles) <= set(card.styles)
        and not set(asks.not_styles) & set(card.styles)
        and (asks.created is None or card.created_at in asks.created)
        and (asks.used is None or card.last_used_at in asks.used)
        and (not asks.never_used or card.last_used_at is None)
        and (asks.environment is None or asks.environment in card.environments)
    )


def meant_by(asks: Asks, cards: Iterable[Card]) -> list[Card]:
    """The cards a request leaves: all that satisfy it, or the one its order word picks."""
    found = [card for card in cards if satisfies(card, asks)]
    if asks.order is None:
        return found
    return _ranked(found, asks.order)


def is_fair(asks: Asks, cards: Sequence[Card]) -> bool:
    """Whether an order word picks the same card however a person may read it.

    By date and by version the order has to agree, and no other card may be used as often.
    """
    if asks.order is None:
        return True
    found = [card for card in cards if satisfies(card, asks)]
    if len(found) < 2 or len(found) < asks.order.rank + 1:
        return False
    by = asks.order.by
    if by == "use_count":
        # Whether a card nobody used is the least used one is a matter of taste.
        counts = [card.use_count for card in found]
        best = max(counts) if asks.order.end == "last" else min(counts)
        return counts.count(best) == 1 and best > 0
    other = Order(by=OTHER_ORDER.get(by, by), end=asks.order.end, rank=asks.order.rank)
    return _ranked(found, asks.order) == _ranked(found, other)


def _ranked(cards: Sequence[Card], order: Order) -> list[Card]:
    known = [card for card in cards if order.by != "used" or card.last_used_at is not None]
    known.sort(key=lambda card: _order_value(card, order.by), reverse=order.end == "last")
    return known[order.rank - 1 : order.rank]


def _order_value(card: Card, by: str) -> float:
    if by == "created":
        return card.created_at.timestamp()
    if by == "used":
        return card.last_used_at.timestamp() if card.last_used_at else 0.0
    return float(card.use_count if by == "use_count" else card.version)


def read_asks(table: dict[str, Any]) -> Asks:
    """A specification written as JSON: days as `2026-04-01`, an order as `last 2 created`.

    Raises:
        InvalidAsks: a key or an order is unknown.
    """
    values = dict(table)
    for name in ("styles", "not_styles"):
        values[name] = tuple(values.get(name, ()))
    for name in ("created", "used"):
        if name in values:
            start, end = (
                day and datetime.fromisoformat(f"{day}T00:00+00:00") for day in values[name]
            )
            values[name] = Span(start=start, end=end)
    if "order" in values:
        end, rank, by = values["order"].split()
        if end not in ("first", "last") or by not in ORDER_KEYS:
            raise InvalidAsks(f"unknown order: {values['order']}")
        values["order"] = Order(by=by, end=end, rank=int(rank))
    unknown = set(values) - {field.name for field in fields(Asks)}
    if unknown:
        raise InvalidAsks(f"unknown attributes: {', '.join(sorted(unknown))}")
    return Asks(**values)


def write_asks(asks: Asks) -> dict[str, Any]:
    """The inverse of `read_asks`; open attributes are left out."""
    table: dict[str, Any] = {name: getattr(asks, name) for name in sorted(asks.named())}
    for name in ("created", "used"):
        if name in table:
            span: Span = table[name]
            table[name] = [_day(span.start), _day(span.end)]
    for name in ("styles", "not_styles"):
        if name in table:
            table[name] = list(table[name])
    if asks.order is not None:
        table["order"] = f"{asks.order.end} {asks.order.rank} {asks.order.by}"
    return table


def _day(moment: datetime | None) -> str | None:
    return moment.date().isoformat() if moment else None
