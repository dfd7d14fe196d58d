"""Following a tenant's cards without missing a change."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from personalq.catalog.cards import Card, Filter
from personalq.catalog.ports import CardReader, ChangeFeed

_BATCH = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """The state of one card; without a card it says that the first pass is complete."""

    card: Card | None = None


async def watch_checkpoints(
    constraints: Filter, *, tenant: str, reader: CardReader, feed: ChangeFeed
) -> AsyncGenerator[Change, None]:
    """The present state of every card, then `Change()` once, then each change as it happens.

    The first pass and the changes are one and the same question, "what is newer than revision n?",
    so nothing falls between them. The feed only says when to ask again. A card that changes several
    times in a moment may come once, in its last state; one that no longer satisfies the constraints
    is not mentioned.

    Raises:
        Unavailable: the database is out of reach.
    """
    revision = 0
    synced = False
    async with feed.subscribe(tenant) as ticks:
        async for _ in ticks:
            while True:
                cards, upto = await reader.changes(
                    tenant, constraints, after=revision, limit=_BATCH
                )
                for card in cards:
                    yield Change(card=card)
                revision = upto
                if len(cards) < _BATCH:
                    break
            if not synced:
                synced = True
                yield Change()
