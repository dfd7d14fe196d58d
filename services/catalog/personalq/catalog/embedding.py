"""The vectors of cards, where a model is configured and answers."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from personalq.catalog.cards import (
    MAX_WORDS,
    Card,
    embedding_phrases,
    embedding_text,
    text_hash,
)
from personalq.catalog.ports import Embedded, Embedder, Embedding, Model, Unembeddable
from personalq.chassis.errors import PersonalQError

log = logging.getLogger(__name__)


async def embedded(card: Card, embedder: Embedder | None) -> Embedding | None:
    """The card's vectors; None when there is no model, or none that answers.

    Storing a card never waits for a model: the repair loop finds cards without vectors.
    """
    if embedder is None:
        return None
    try:
        [embedding] = await embed_cards([card], embedder)
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
    return embedding


async def embed_cards(cards: Sequence[Card], embedder: Embedder) -> list[Embedding]:
    """The vectors of each card: of its text, and of the phrases of its description and their words.

    Raises:
        Unembeddable: the model refuses a text; a single card whose phrases alone are refused does
            without them.
        Unavailable: the model is out of reach.
    """
    phrases = [embedding_phrases(card) for card in cards]
    texts = [
        text
        for card, of_card in zip(cards, phrases, strict=True)
        for text in (embedding_text(card), *of_card)
    ]
    try:
        found = iter(await embedder.embed_documents(texts))
    except Unembeddable:
        if len(cards) > 1 or not phrases[0]:
            raise
        found, phrases = iter(await embedder.embed_documents(texts[:1])), [()]
    return [
        _embedding(card, next(found), [next(found) for _ in of_card], embedder.model)
        for card, of_card in zip(cards, phrases, strict=True)
    ]


def _embedding(card: Card, text: Embedded, phrases: Sequence[Embedded], model: Model) -> Embedding:
    words = [word for phrase in phrases for word in phrase.words]
    return Embedding(
        model=model,
        text_hash=text_hash(card),
        vector=text.vector,
        phrases=[phrase.vector for phrase in phrases],
        words=words[:MAX_WORDS],
    )
