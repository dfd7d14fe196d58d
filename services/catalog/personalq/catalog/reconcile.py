"""Level-triggered repair: what should be there and is not is asked for again.

A lost event, a new profile, a new recipe version, an emptied stream, another embedding model: none
needs a procedure of its own. Each round looks at what is, and asks for what is missing. Several
replicas may run it: the store hands each card to one of them, and not again for a while.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from personalq.catalog.cards import embedding_text, text_hash
from personalq.catalog.ports import Announcer, Embedder, Embedding, Upkeep
from personalq.chassis.errors import PersonalQError

log = logging.getLogger(__name__)

#: Cards of a tenant asked for in one round; the rest has its turn in the next.
_MOST_PER_ROUND = 500
_EMBED_BATCH = 32


async def request_missing_artifacts(
    *,
    upkeep: Upkeep,
    announce: Announcer,
    profiles: Sequence[str],
    recipe_version: int,
    patience_s: float,
) -> int:
    """Ask for every artifact that should exist and does not; returns for how many cards.

    Raises:
        Unavailable: the database or the bus is out of reach; the next round goes on.
    """
    asked = 0
    for tenant in await upkeep.tenants():
        claimed = await upkeep.claim_unserved(
            tenant,
            profiles=profiles,
            recipe_version=recipe_version,
            patience_s=patience_s,
            limit=_MOST_PER_ROUND,
        )
        for card, missing, asked_at in claimed:
            await announce.wanted(tenant, card, missing, asked_at=asked_at)
            log.info(
                "artifacts missing",
                extra={
                    "action": "reconcile",
                    "tenant": tenant,
                    "checkpoint_id": card.checkpoint_id,
                    "profiles": list(missing),
                },
            )
        asked += len(claimed)
    return asked


async def embed_missing(*, upkeep: Upkeep, embedder: Embedder) -> int:
    """Embed every card whose vector is missing or of an earlier text; returns how many.

    Raises:
        Unavailable: the database or the model is out of reach; the next round goes on.
    """
    embedded = 0
    for tenant in await upkeep.tenants():
        last = ""
        while cards := await upkeep.unembedded(tenant, embedder.model, _EMBED_BATCH, after=last):
            last = cards[-1].checkpoint_id
            vectors = await embedder.embed_documents([embedding_text(card) for card in cards])
            async with upkeep.writing(tenant) as writer:
                for card, vector in zip(cards, vectors, strict=True):
                    # A card that changed meanwhile keeps a hash of the former text, and has its
                    # turn in the next round.
                    embedding = Embedding(
                        model=embedder.model, text_hash=text_hash(card), vector=vector
                    )
                    await writer.put_embedding(card.checkpoint_id, embedding)
            embedded += len(cards)
            log.info(
                "cards embedded",
                extra={"action": "embed_cards", "tenant": tenant, "count": len(cards)},
            )
    return embedded


async def repeat(action: Callable[[], Awaitable[int]], *, every_s: float, name: str) -> None:
    """Do it again and again until cancelled; what fails in one round is left to the next."""
    while True:
        try:
            await action()
        except PersonalQError as error:
            log.warning("round failed", extra={"action": name, "problem": str(error)})
        except Exception:
            log.exception("round failed", extra={"action": name})
        await asyncio.sleep(every_s)
