"""The paper's baselines (section III-C) on the same files: they choose, never ask, never refuse."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from personalq.bench.repo_prompts.asking import Asked, Reply
from personalq.bench.repo_prompts.files import Card, Query
from personalq.catalog.ports import Embedder

Matrix = NDArray[np.float64]

#: How many of the most similar cards a cross-encoder reads per query.
RERANKED = 20


def choose_randomly(queries: Sequence[Query], cards: Sequence[Card]) -> list[Asked]:
    """Uniformly among the cards of the category that is meant; any card where none is.

    The category is given away: it is the first subject of the card that was meant.
    """
    categories: dict[str, list[Card]] = defaultdict(list)
    for card in cards:
        categories[_category(card)].append(card)
    by_id = {card.checkpoint_id: card for card in cards}
    results = []
    for query in queries:
        meant = by_id.get(query.ground_truth.checkpoint_id or "")
        pool = _pool(query, categories[_category(meant)] if meant else cards)
        # A draw of its own per query: another query more changes none of the others.
        draw = random.Random(query.instance_id)
        results.append(_chosen(query, draw.choice(pool) if pool else None))
    return results


def choose_most_similar(
    queries: Sequence[Query], cards: Sequence[Card], similarities: Matrix
) -> list[Asked]:
    """The card whose text is most similar to the prompt.

    Args:
        similarities: (queries, cards).
    """
    return [
        _chosen(query, next(iter(_ranked(query, cards, row)), None))
        for query, row in zip(queries, similarities, strict=True)
    ]


def rerank(
    queries: Sequence[Query],
    cards: Sequence[Card],
    similarities: Matrix,
    *,
    model: str,
    done: Callable[[], object],
) -> list[Asked]:
    """The best of the most similar cards by a cross-encoder on (prompt, description)."""
    encoder = _cross_encoder(model)
    results = []
    for query, row in zip(queries, similarities, strict=True):
        pool = _ranked(query, cards, row)[:RERANKED]
        best = None
        if pool:
            pairs = [(query.query, card.description) for card in pool]
            best = pool[int(np.argmax(encoder.predict(pairs, show_progress_bar=False)))]
        results.append(_chosen(query, best))
        done()
    return results


async def _vectors(texts: Sequence[str], embedder: Embedder) -> Matrix:
    embedded = await embedder.embed_documents(texts)
    return np.asarray([each.vector for each in embedded], dtype=np.float64)


async def cosines(queries: Sequence[Query], texts: Sequence[str], embedder: Embedder) -> Matrix:
    """The cosine of every prompt with every text: (queries, texts)."""
    of_texts = await _vectors(texts, embedder)
    of_prompts = await _vectors([query.query for query in queries], embedder)
    product: Matrix = of_prompts @ of_texts.T
    return product


def whole_text(card: Card) -> str:
    """Everything a card says, for a model that reads the card and not only its description."""
    facts = [
        ", ".join(card.subjects),
        ", ".join(card.styles),
        card.description,
        f"Trained on: {', '.join(card.environments)}" if card.environments else "",
        f"Version {card.version}" if card.version is not None else "",
        f"Created {card.created_at:%B %Y}" if card.created_at else "",
    ]
    return ". ".join(fact.rstrip(".") for fact in facts if fact)


def _cross_encoder(model: str) -> Any:
    from sentence_transformers import CrossEncoder

    return CrossEncoder(model)


def _ranked(query: Query, cards: Sequence[Card], row: NDArray[np.float64]) -> list[Card]:
    allowed = set(query.candidate_pool)
    order = [cards[index] for index in np.argsort(-row, kind="stable")]
    return [card for card in order if not allowed or card.checkpoint_id in allowed]


def _pool(query: Query, cards: Sequence[Card]) -> Sequence[Card]:
    allowed = set(query.candidate_pool)
    return [card for card in cards if card.checkpoint_id in allowed] if allowed else cards


def _category(card: Card) -> str:
    return card.subjects[0].casefold() if card.subjects else ""


def _chosen(query: Query, card: Card | None) -> Asked:
    """A selection; no match where the pool leaves nothing to choose from."""
    if card is None:
        reply = Reply(outcome="no_match")
    else:
        reply = Reply(outcome="selection", checkpoint_id=card.checkpoint_id)
    return Asked(query=query, reply=reply, final=reply, latency_ms=0.0)
