"""Cards are looked for while the phrases of the query are embedded."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from support.catalog_cards import card

from personalq.catalog.likeness import CardVectors
from personalq.catalog.paging import Page
from personalq.catalog.ports import Detail, Embedded, Model
from personalq.catalog.search import Hit, Hits, Query, search_checkpoints
from personalq.chassis.errors import Unavailable

X = (1.0, 0.0)
PHRASE = Query(phrases=("a chipped spout",))


class Embedder:
    """Begins, then waits until it may answer."""

    model = Model(id="m/2", dim=2)

    def __init__(self, *, away: bool = False) -> None:
        self.begun, self.may_answer = asyncio.Event(), asyncio.Event()
        self._away = away
        self.cancelled = False

    async def embed_documents(self, texts: Sequence[str]) -> list[Embedded]:
        """Cards are not embedded here."""
        raise NotImplementedError

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedded]:
        """X, and X as the only word."""
        self.begun.set()
        try:
            await self.may_answer.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        if self._away:
            raise Unavailable("no model")
        return [Embedded(vector=X, words=(X,)) for _ in texts]


class Reader:
    """Finds so many cards once the embedder has begun, which may answer then.

    Args:
        slow: it finds them, and does not say so.
        mute: it does not let the embedder answer.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        cards: int = 1,
        broken: bool = False,
        slow: bool = False,
        mute: bool = False,
    ) -> None:
        self._embedder, self._cards = embedder, cards
        self._broken, self._slow, self._mute = broken, slow, mute
        self.reached = asyncio.Event()
        self.detail: Detail | None = None

    async def search(self, _tenant: str, _query: Query, *, detail: Detail, **_values: Any) -> Hits:
        """Cards like X."""
        self.detail = detail
        await self._embedder.begun.wait()
        self.reached.set()
        if self._broken:
            raise Unavailable("no database")
        if self._slow:
            await asyncio.Event().wait()
        if not self._mute:
            self._embedder.may_answer.set()
        rows = np.array([X, X, X][: 3 if detail is Detail.WORDS else 2], np.float32)
        vectors = None if detail is Detail.NONE else CardVectors(rows=rows, phrases=1)
        hits = [
            Hit(
                card=card(f"bear-{n}"),
                score=0.0,
                similarity=None,
                dense_rank=0,
                sparse_rank=0,
                vectors=vectors,
            )
            for n in range(self._cards)
        ]
        return Hits(hits=hits, next_page_token="", total_matches=len(hits), dense=False)


async def _search(reader: Reader, embedder: Embedder, query: Query, size: int = 10) -> Hits:
    async with asyncio.timeout(10):
        return await search_checkpoints(
            query,
            tenant="red",
            page=Page(size=size, token=""),
            reader=reader,  # type: ignore[arg-type]
            embedder=embedder,
        )


async def test_neither_waits_for_the_other() -> None:
    """Each of these two answers only once the other has begun."""
    embedder = Embedder()
    [hit] = (await _search(Reader(embedder), embedder, PHRASE)).hits
    assert (hit.likeness, hit.text_likeness, hit.word_likeness) == ((1.0,), (1.0,), (1.0,))


async def test_a_text_is_embedded_first() -> None:
    """The search ranks by its vector."""
    embedder = Embedder()
    embedder.may_answer.set()
    reader = Reader(embedder)
    query = Query(text="teapot", phrases=("a chipped spout",))
    [hit] = (await _search(reader, embedder, query)).hits
    assert hit.likeness == (1.0,)


async def test_vectors_are_not_read_where_nothing_can_be_compared_with_them() -> None:
    """The model did not answer."""
    embedder = Embedder(away=True)
    embedder.may_answer.set()
    reader = Reader(embedder)
    query = Query(text="teapot", phrases=("a chipped spout",))
    [hit] = (await _search(reader, embedder, query)).hits
    assert (reader.detail, hit.likeness) == (Detail.NONE, ())


async def test_without_the_database_nothing_is_embedded_on() -> None:
    """Its error is what the caller hears."""
    embedder = Embedder()
    with pytest.raises(Unavailable, match="no database"):
        await _search(Reader(embedder, broken=True), embedder, PHRASE)
    await asyncio.sleep(0)
    assert embedder.cancelled


@pytest.mark.parametrize("slow", [True, False])
async def test_who_asked_has_gone(slow: bool) -> None:
    """Embedding stops, whether cards were found already or not."""
    embedder = Embedder()
    reader = Reader(embedder, slow=slow, mute=True)
    asking = asyncio.create_task(_search(reader, embedder, PHRASE))
    await reader.reached.wait()
    await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await asyncio.sleep(0)
    assert embedder.cancelled


@pytest.mark.parametrize(("size", "words"), [(100, (1.0,)), (101, ())])
@pytest.mark.parametrize("cards", [1, 100])
async def test_of_large_pages_words_are_not_compared(
    size: int, words: tuple[float, ...], cards: int
) -> None:
    """However many cards are found: by the size that was asked for."""
    embedder = Embedder()
    hits = (await _search(Reader(embedder, cards=cards), embedder, PHRASE, size)).hits
    assert {(hit.likeness, hit.word_likeness) for hit in hits} == {((1.0,), words)}


async def test_a_page_of_a_thousand_is_compared_as_well(beside: list[str]) -> None:
    """Beside the event loop, which has other requests."""
    embedder = Embedder()
    hits = (await _search(Reader(embedder, cards=1000), embedder, PHRASE, 1000)).hits
    assert [hit.likeness for hit in hits] == [(1.0,)] * 1000
    assert beside == ["likeness_of"]
