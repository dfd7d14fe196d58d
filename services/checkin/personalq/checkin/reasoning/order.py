"""Cards in an order: newest first, most used first, by version."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TypeVar

from personalq.checkin.cards import Card
from personalq.checkin.intent import OrderKey

EPOCH = datetime.min.replace(tzinfo=UTC)
"""When cards were made that do not say so."""
_T = TypeVar("_T")


def in_order(items: Iterable[_T], key: OrderKey | None, card: Callable[[_T], Card]) -> list[_T]:
    """Those that can be sorted, first to last; of equal ones the newest, then by id."""
    found = [item for item in items if _sortable(card(item), key)]
    found.sort(key=lambda item: card(item).checkpoint_id)
    found.sort(key=lambda item: card(item).created_at or EPOCH, reverse=True)
    found.sort(key=lambda item: sort_key(card(item), key), reverse=True)
    return found


def _sortable(card: Card, key: OrderKey | None) -> bool:
    if key in (OrderKey.LAST_USED, OrderKey.LEAST_RECENTLY_USED):
        return card.last_used_at is not None
    if key is OrderKey.LEAST_USED:
        return True
    if key is OrderKey.MOST_USED:
        return card.use_count > 0
    if key in (OrderKey.HIGHEST_VERSION, OrderKey.LOWEST_VERSION):
        return card.version is not None
    return card.created_at is not None


def sort_key(card: Card, key: OrderKey | None) -> float:
    """What cards are sorted by, greatest first."""
    if key is OrderKey.MOST_USED:
        return float(card.use_count)
    if key is OrderKey.LEAST_USED:
        return -float(card.use_count)
    if key is OrderKey.HIGHEST_VERSION:
        return float(card.version or 0)
    if key is OrderKey.LOWEST_VERSION:
        return -float(card.version or 0)
    by_use = key in (OrderKey.LAST_USED, OrderKey.LEAST_RECENTLY_USED)
    moment = card.last_used_at if by_use else card.created_at
    seconds = moment.timestamp() if moment else 0.0
    return -seconds if key in (OrderKey.OLDEST, OrderKey.LEAST_RECENTLY_USED) else seconds
