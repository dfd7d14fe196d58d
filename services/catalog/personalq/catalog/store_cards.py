"""Cards as searches need them: what lies in memory is not read again.

A search says which cards it found, and of which revision. Writing a card, or an artifact of it,
gives it the next one, so that a card of the same revision is the same card.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime

from personalq.catalog.cards import Card
from personalq.catalog.store_connections import Row, Statement
from personalq.catalog.store_rows import CARD_COLUMNS, to_card

#: Cards that are kept for all tenants together, 10 kB each with their messages and three artifacts:
#: the latest that were found or written.
_KEPT = 8192

#: Tenant, id, revision, and the time of the last change: a database that was restored counts its
#: revisions again.
_Key = tuple[str, str, int, datetime | None]

_GET_CARDS = f"""
SELECT {CARD_COLUMNS} FROM checkpoints c
 WHERE c.tenant = :tenant AND c.checkpoint_id = ANY (:ids)
"""  # noqa: S608 - constants of this file


class FoundCards:
    """The cards of rows with checkpoint_id, revision and updated_at."""

    def __init__(
        self, read: Callable[[str, Statement], Awaitable[Sequence[Sequence[Row]]]]
    ) -> None:
        self._read = read
        self._known: OrderedDict[_Key, Card] = OrderedDict()

    async def of(self, tenant: str, rows: Sequence[Row]) -> list[Card] | None:
        """The cards in the rows' order; None when one of them has changed since."""
        keys = [_key(tenant, row) for row in rows]
        cards = {key: self._known[key] for key in keys if key in self._known}
        unknown = [key[1] for key in keys if key not in cards]
        if unknown:
            [read] = await self._read(tenant, (_GET_CARDS, {"ids": unknown}))
            cards |= {_key(tenant, row): to_card(row) for row in read}
        self._remember(cards)
        return [cards[key] for key in keys] if all(key in cards for key in keys) else None

    def keep(self, tenant: str, cards: Iterable[Card]) -> None:
        """Remember cards as they are stored."""
        self._remember(
            {(tenant, card.checkpoint_id, card.revision, card.updated_at): card for card in cards}
        )

    def _remember(self, cards: Mapping[_Key, Card]) -> None:
        for key, card in cards.items():
            self._known[key] = card
            self._known.move_to_end(key)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)


def _key(tenant: str, row: Row) -> _Key:
    return tenant, row["checkpoint_id"], row["revision"], row["updated_at"]
