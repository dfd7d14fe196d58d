"""Level-triggered repair: what should be there and is not is asked for again.

A lost event, a new profile, a new recipe version, an emptied stream, another embedding model: none
needs a procedure of its own. Each round looks at what is, and asks for what is missing; a tenant
in which nothing was is looked at again when its cards change (`looks.py`). Several replicas may run
it: the store hands each card to one of them, and not again for a while.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence

from personalq.catalog.cards import Card
from personalq.catalog.embedding import embed_cards
from personalq.catalog.looks import Looks
from personalq.catalog.metrics import CARDS_EMBEDDED, CARDS_TO_EMBED
from personalq.catalog.ports import Announcer, Embedder, Embedding, Unembeddable, Upkeep
from personalq.chassis.errors import PersonalQError

log = logging.getLogger(__name__)

#: Cards whose artifacts are asked for in one round, of a tenant and of all; the rest has its turn
#: in the next.
_MOST_OF_TENANT = 500
_MOST_PER_ROUND = 5000
_EMBED_BATCH = 32
#: Cards embedded between two log lines.
_LOG_EVERY = 1000


async def request_missing_artifacts(
    *,
    upkeep: Upkeep,
    announce: Announcer,
    profiles: Sequence[str],
    recipe_version: int,
    patience_s: float,
    looks: Looks,
) -> int:
    """Ask for every artifact that should exist and does not; returns for how many cards.

    A new recipe makes every artifact of every tenant a missing one: a round asks for some, of the
    tenants in turn.

    Args:
        looks: what the rounds of this loop saw before; `recipe_version` and `profiles` were these.

    Raises:
        Unavailable: the database or the bus is out of reach; the next round goes on.
    """
    asked = 0
    for tenant in looks.due(await upkeep.tenants()):
        if asked >= _MOST_PER_ROUND:
            break
        began = time.perf_counter()
        looks.note(tenant, complete=False)  # whoever breaks the round off has had its turn
        claimed = await upkeep.claim_unserved(
            tenant.name,
            profiles=profiles,
            recipe_version=recipe_version,
            patience_s=patience_s,
            limit=min(_MOST_OF_TENANT, _MOST_PER_ROUND - asked),
        )
        looks.note(tenant, complete=claimed.complete)
        if not claimed.cards:
            await looks.rest(time.perf_counter() - began)
        for card, missing, asked_at in claimed.cards:
            await announce.wanted(tenant.name, card, missing, asked_at=asked_at)
            log.info(
                "artifacts missing",
                extra={
                    "action": "reconcile",
                    "tenant": tenant.name,
                    "checkpoint_id": card.checkpoint_id,
                    "profiles": list(missing),
                },
            )
        asked += len(claimed.cards)
    return asked


async def embed_missing(*, upkeep: Upkeep, embedder: Embedder, looks: Looks) -> int:
    """Embed every card whose vectors are missing or of an earlier text; returns how many.

    Tenants take turns, a batch each, so that a large one keeps nobody waiting. What is stored
    stays: a round that breaks off is taken up by the next. Several replicas may do the same card,
    to no harm.

    Args:
        looks: what the rounds of this loop saw before, with this embedder.

    Raises:
        Unavailable: the database or the model is out of reach; the next round goes on.
    """
    model = embedder.model
    total = logged = 0
    remaining: Counter[str] = Counter()
    turns = deque((tenant, "") for tenant in looks.due(await upkeep.tenants()))
    while turns:
        listed, after = turns.popleft()
        tenant = listed.name
        began = time.perf_counter()
        if not after:
            looks.note(listed, complete=False)  # whoever breaks the round off has had its turn
        # A card that changed meanwhile keeps a hash of the former text, and has its turn in the
        # next round.
        cards = await upkeep.unembedded(tenant, model, _EMBED_BATCH, after=after)
        if not (after or cards):
            looks.note(listed, complete=True)
        if not cards:
            await looks.rest(time.perf_counter() - began)
        more = len(cards) == _EMBED_BATCH
        if more and not after:
            remaining[tenant] = await upkeep.count_unembedded(tenant, model)
        embeddings = await _embeddings(cards, embedder, tenant)
        if embeddings:
            async with upkeep.writing(tenant) as writer:
                for checkpoint_id, embedding in embeddings.items():
                    await writer.put_embedding(checkpoint_id, embedding)
        total += len(embeddings)
        remaining[tenant] = max(0, remaining[tenant] - len(cards)) if more else 0
        CARDS_EMBEDDED.inc(len(embeddings))
        CARDS_TO_EMBED.set(remaining.total())
        if more:
            turns.append((listed, cards[-1].checkpoint_id))
        if cards and (not more or total - logged >= _LOG_EVERY):
            logged = total
            log.info(
                "cards embedded",
                extra={
                    "action": "embed_cards",
                    "tenant": tenant,
                    "model": model.id,
                    "done": total,
                    "remaining": remaining.total(),
                },
            )
    return total


async def _embeddings(
    cards: Sequence[Card], embedder: Embedder, tenant: str
) -> dict[str, Embedding]:
    """The vectors of each card; those whose text the model refuses are left out, and logged."""
    if not cards:
        return {}
    try:
        embeddings = await embed_cards(cards, embedder)
    except Unembeddable as error:
        if len(cards) > 1:
            apart = [await _embeddings([card], embedder, tenant) for card in cards]
            return {name: embedding for one in apart for name, embedding in one.items()}
        log.warning(
            "card cannot be embedded",
            extra={
                "action": "embed_cards",
                "tenant": tenant,
                "checkpoint_id": cards[0].checkpoint_id,
                "problem": error.message,
            },
        )
        return {}
    return {
        card.checkpoint_id: embedding for card, embedding in zip(cards, embeddings, strict=True)
    }


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
