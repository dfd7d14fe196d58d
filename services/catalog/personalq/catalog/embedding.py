"""The vector of a card, where a model is configured and answers."""

from __future__ import annotations

import logging

from personalq.catalog.cards import Card, embedding_text, text_hash
from personalq.catalog.ports import Embedder, Embedding
from personalq.chassis.errors import PersonalQError

log = logging.getLogger(__name__)


async def embedded(card: Card, embedder: Embedder | None) -> Embedding | None:
    """The card's vector; None when there is no model, or none that answers.

    Storing a card never waits for a model: the repair loop finds cards without a vector.
    """
    if embedder is None:
        return None
    try:
        [vector] = await embedder.embed_documents([embedding_text(card)])
    except PersonalQError as error:
        log.warning(
            "card not embedded yet",
            extra={
                "action": "embed_card",
                "checkpoint_id": card.checkpoint_id,
                "problem": str(error),
            },
        )
        return None
    return Embedding(model=embedder.model, text_hash=text_hash(card), vector=vector)
