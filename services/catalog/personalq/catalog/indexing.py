"""Indexes for tenants that have grown large: searches of theirs that constrain little need them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from personalq.catalog.ports import Indexer, Model

log = logging.getLogger(__name__)


async def index_large_tenants(
    *,
    open_indexes: Callable[[], AbstractAsyncContextManager[Indexer | None]],
    model: Model,
    from_cards: int,
) -> int:
    """Make what is due, one tenant after the other; returns for how many.

    Cards can be read and written meanwhile. Until it is done, searches read every card that
    satisfies their constraints.

    Raises:
        Unavailable: the database is out of reach; the next round goes on.
        PersonalQError: the database refused to make one.
    """
    async with open_indexes() as indexes:
        if indexes is None:
            return 0
        due = await indexes.due(model, from_cards=from_cards)
        for tenant in due:
            began = time.monotonic()
            await indexes.make(tenant, model)
            log.info(
                "tenant indexed",
                extra={
                    "action": "index_tenants",
                    "tenant": tenant.name,
                    "cards": tenant.cards,
                    "seconds": round(time.monotonic() - began, 1),
                },
            )
    return len(due)
