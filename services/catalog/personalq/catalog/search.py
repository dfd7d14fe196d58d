"""Search: hard constraints decide what is returned, a text decides only in which order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from personalq.catalog.cards import MAX_PHRASE, NO_CONSTRAINTS, SELECTABLE, Card, Filter
from personalq.catalog.likeness import CardVectors, likeness_of
from personalq.catalog.metrics import SPARSE_SEARCHES
from personalq.catalog.paging import Page, offset_of, offset_token
from personalq.catalog.ports import CardReader, Detail, Embedded, Embedder, Unembeddable, Vector
from personalq.catalog.words import query_terms
from personalq.chassis.errors import InvalidInput, PersonalQError

log = logging.getLogger(__name__)

DEFAULT_HITS = 10
#: Longest text that is searched for; Check-in allows prompts of 2000 characters.
MAX_TEXT = 10_000
#: Most phrases that hits are compared with.
MAX_QUERY_PHRASES = 8
#: Largest page whose cards are compared word by word as well, which costs as much as a card has
#: words; a larger one is compared beside the event loop, which has other requests.
_WORDS_PAGE = 100


class Order(StrEnum):
    """What matches are sorted by before relevance."""

    RELEVANCE = "relevance"
    NEWEST = "newest"
    OLDEST = "oldest"
    LAST_USED = "last_used"
    MOST_USED = "most_used"
    LEAST_USED = "least_used"
    LEAST_RECENTLY_USED = "least_recently_used"
    HIGHEST_VERSION = "highest_version"
    LOWEST_VERSION = "lowest_version"


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """What is looked for."""

    #: Plain words; "" ranks by `order` alone.
    text: str = ""
    filter: Filter = NO_CONSTRAINTS
    order: Order = Order.RELEVANCE
    #: What the person describes, a phrase each. They rank nothing, so a page of a search is a page
    #: of the same search with others: left out of what page tokens are bound to, which is the repr.
    phrases: tuple[str, ...] = field(default=(), repr=False)


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
    #: The card's, where the query has phrases.
    vectors: CardVectors | None = field(default=None, repr=False, compare=False)
    #: For each phrase of the query, the highest cosine among the phrases of the card's description;
    #: empty when there are no vectors to tell.
    likeness: tuple[float, ...] = ()
    #: The same for the whole text of the card.
    text_likeness: tuple[float, ...] = ()
    #: The same word by word: the mean, over the first words of the query's phrase, of the highest
    #: cosine among the words of the description's phrases, each in its context.
    word_likeness: tuple[float, ...] = ()


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
    says so. Phrases are compared with those of the cards on the page, and change nothing else.

    Raises:
        InvalidInput: the text or a phrase is too long, there are too many phrases, or the page
            token belongs to another search.
        Unavailable: the database is out of reach.
    """
    if len(query.text) > MAX_TEXT:
        raise InvalidInput(
            f"text has {len(query.text)} characters, at most {MAX_TEXT} are searched for",
            field="text",
        )
    _check_phrases(query.phrases)
    offset = offset_of(page, query)
    states = tuple(query.filter.states or SELECTABLE)
    selectable = replace(query, filter=replace(query.filter, states=states))

    async def read(dense: Vector | None, detail: Detail) -> Hits:
        return await reader.search(
            tenant,
            selectable,
            terms=ranking_terms(query),
            dense=dense,
            model=embedder.model if embedder else None,
            limit=page.size,
            offset=offset,
            detail=detail,
        )

    detail = Detail.WORDS if page.size <= _WORDS_PAGE else Detail.PHRASES
    found, phrases = await _found(query, embedder, detail, read)
    found = replace(found, hits=await _compared(found.hits, phrases, detail))
    end = offset + len(found.hits)
    more = bool(found.hits) and end < found.total_matches
    return replace(found, next_page_token=offset_token(end, query) if more else "")


def ranking_terms(query: Query) -> dict[str, str]:
    """The lexemes that matches are ranked by: not those that all of them have in their subjects."""
    terms = query_terms(query.text)
    named = [frozenset(query_terms(subject)) for subject in query.filter.subjects]
    of_all = frozenset.intersection(*named) if named else frozenset()
    return {lexeme: roles for lexeme, roles in terms.items() if lexeme not in of_all}


def _check_phrases(phrases: Sequence[str]) -> None:
    if len(phrases) > MAX_QUERY_PHRASES:
        raise InvalidInput(
            f"there are {len(phrases)} phrases, at most {MAX_QUERY_PHRASES} are compared",
            field="phrases",
        )
    for place, phrase in enumerate(phrases):
        if not phrase.strip():
            raise InvalidInput("the phrase is empty", field=f"phrases[{place}]")
        if len(phrase) > MAX_PHRASE:
            raise InvalidInput(
                f"the phrase has {len(phrase)} characters, at most {MAX_PHRASE} are compared",
                field=f"phrases[{place}]",
            )


async def _found(
    query: Query,
    embedder: Embedder | None,
    detail: Detail,
    read: Callable[[Vector | None, Detail], Awaitable[Hits]],
) -> tuple[Hits, Sequence[Embedded]]:
    """The hits, and the phrases as vectors; at the same time where no text is ranked by."""
    if query.text.strip() or not query.phrases:
        dense, phrases = await _vectors(query.text, query.phrases, embedder)
        return await read(dense, detail if phrases else Detail.NONE), phrases
    embedding = asyncio.create_task(_vectors("", query.phrases, embedder))
    try:
        found = await read(None, detail)
    except BaseException:
        embedding.cancel()
        raise
    _, phrases = await embedding
    return found, phrases


async def _compared(
    hits: Sequence[Hit], phrases: Sequence[Embedded], detail: Detail
) -> Sequence[Hit]:
    """The hits with how like they are to the phrases; as they are where nothing can tell."""
    if not phrases:
        return hits
    if detail is not Detail.WORDS:
        phrases = [Embedded(vector=phrase.vector) for phrase in phrases]
    vectors = [hit.vectors for hit in hits]
    many = len(hits) > _WORDS_PAGE
    found = (
        await asyncio.to_thread(likeness_of, vectors, phrases)
        if many
        else likeness_of(vectors, phrases)
    )
    return [
        replace(hit, likeness=like.phrases, text_likeness=like.text, word_likeness=like.words)
        for hit, like in zip(hits, found, strict=True)
    ]


async def _vectors(
    text: str, phrases: Sequence[str], embedder: Embedder | None
) -> tuple[Vector | None, Sequence[Embedded]]:
    """The vectors of what is looked for, if there is a model and it answers."""
    texts = [text] if text.strip() else []
    if embedder is None or not (texts or phrases):
        return None, ()
    try:
        try:
            found = await embedder.embed_queries([*texts, *phrases])
        except Unembeddable:
            if not (texts and phrases):
                raise
            # A phrase the model refuses must not cost the ranking its vectors.
            found = await embedder.embed_queries(texts)
    except PersonalQError as error:
        if texts:
            SPARSE_SEARCHES.inc()
        log.warning(
            "searched without vectors", extra={"action": "search", "problem": error.message}
        )
        return None, ()
    return (found[0].vector if texts else None), found[len(texts) :]
