"""Search: hard constraints decide what is returned, a text decides only in which order."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from personalq.catalog.cards import NO_CONSTRAINTS, SELECTABLE, Card, Filter
from personalq.catalog.metrics import SPARSE_SEARCHES
from personalq.catalog.paging import Page, offset_of, offset_token
from personalq.catalog.ports import CardReader, Embedder, Vector
from personalq.catalog.words import query_terms
from personalq.chassis.errors import InvalidInput, PersonalQError

log = logging.getLogger(__name__)

DEFAULT_HITS = 10
#: Longest text that is searched for; Check-in allows prompts of 2000 characters.
MAX_TEXT = 10_000


class Order(StrEnum):
    """What matches are sorted by before relevance."""

    RELEVANCE = "relevance"
    NEWEST = "newest"
    OLDEST = "oldest"
    LAST_USED = "last_used"
    MOST_USED = "most_used"
    LEAST_USED = "least_used"
    LEAST_RECENTLY_USED = "least_recently_used"


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """What is looked for."""

    #: Plain words; "" ranks by `order` alone.
    text: str = ""
    filter: Filter = NO_CONSTRAINTS
    order: Order = Order.RELEVANCE


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """One card found."""

    card: Card
    #: Reciprocal rank fusion; comparable within one response only.
    score: float
    #: Cosine, -1 to 1; None when the dense leg did not rank it.
    similarity: float | None
    #: 1 is best; 0 when the leg did not rank it.
    dense_rank: int
    sparse_rank: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Hits:
    """A page of hits, best first."""

    hits: Sequence[Hit]
    next_page_token: str
    #: How many cards satisfy the constraints.
    total_matches: int
    #: Whether vectors took part in the ranking.
    dense: bool


async def search_checkpoints(
    query: Query,
    *,
    tenant: str,
    page: Page,
    reader: CardReader,
    embedder: Embedder | None,
) -> Hits:
    """Find the cards that satisfy the constraints, the most relevant first.

    Without a text, or without an embedder that answers, the dense ranking is off, and the answer
    says so.

    Raises:
        InvalidInput: the text is too long, or the page token belongs to another search.
        Unavailable: the database is out of reach.
    """
    if len(query.text) > MAX_TEXT:
        raise InvalidInput(
            f"text has {len(query.text)} characters, at most {MAX_TEXT} are searched for",
            field="text",
        )
    offset = offset_of(page, query)
    states = query.filter.states or SELECTABLE
    dense = await _vector(query.text, embedder)
    found = await reader.search(
        tenant,
        replace(query, filter=replace(query.filter, states=tuple(states))),
        terms=query_terms(query.text),
        dense=dense,
        model=embedder.model if embedder else None,
        limit=page.size,
        offset=offset,
    )
    end = offset + len(found.hits)
    more = bool(found.hits) and end < found.total_matches
    return replace(found, next_page_token=offset_token(end, query) if more else "")


async def _vector(text: str, embedder: Embedder | None) -> Vector | None:
    """The vector of what is looked for, if there is a model and it answers."""
    if embedder is None or not text.strip():
        return None
    try:
        return await embedder.embed_query(text)
    except PersonalQError as error:
        SPARSE_SEARCHES.inc()
        log.warning(
            "searched without vectors", extra={"action": "search", "problem": error.message}
        )
        return None
