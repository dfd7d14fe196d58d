"""What a person describes, compared phrase by phrase: all-MiniLM-L6-v2 on PostgreSQL."""

from __future__ import annotations

import statistics
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import psycopg
import pytest
from support.catalog_cards import card, store_cards
from support.embedding_server import embedding_server

from personalq.catalog.cards import MAX_PHRASES, Card, State, embedding_phrases
from personalq.catalog.embedders import open_embedder
from personalq.catalog.embedding import embed_cards, embedded
from personalq.catalog.lifecycle import update_checkpoint
from personalq.catalog.looks import Looks
from personalq.catalog.paging import Page
from personalq.catalog.ports import Embedded, Embedder, Model, Unembeddable, Vector
from personalq.catalog.reconcile import embed_missing
from personalq.catalog.search import Hit, Hits, Order, Query, search_checkpoints
from personalq.catalog.store import PostgresStore
from personalq.chassis.errors import InvalidInput

ODDITIES = (
    "a chipped spout", "a bamboo handle", "gold stars on the lid", "a crack down one side",
    "a knitted cosy", "a missing lid", "a dragon for a handle", "three little feet",
)  # fmt: skip
TEAPOTS = [
    card(
        f"pot-{number}",
        subjects=("teapot",),
        description=f"A round blue teapot with {oddity}. Learned from kitchen scenes.",
        environments=("kitchen",),
    )
    for number, oddity in enumerate(ODDITIES)
]


@pytest.fixture
async def minilm() -> AsyncIterator[Embedder]:
    """The model that ships with the catalog."""
    async with open_embedder("minilm") as embedder:
        assert embedder is not None
        yield embedder


async def _search(
    store: PostgresStore, tenant: str, embedder: Embedder | None, *, size: int = 20, **query: object
) -> Hits:
    return await search_checkpoints(
        Query(**query),  # type: ignore[arg-type]
        tenant=tenant,
        page=Page(size=size),
        reader=store,
        embedder=embedder,
    )


def _likest(hits: Hits, place: int) -> str:
    return max(hits.hits, key=lambda hit: hit.likeness[place]).card.checkpoint_id


def _ranking(hits: Hits) -> tuple[list[Hit], int, bool]:
    return (
        [replace(hit, likeness=(), text_likeness=(), word_likeness=()) for hit in hits.hits],
        hits.total_matches,
        hits.dense,
    )


async def test_the_likest_phrase_tells_one_teapot_from_another(
    store: PostgresStore, tenant: str, minilm: Embedder
) -> None:
    """No word of the first phrase is on the card; each phrase is answered in its place."""
    await store_cards(store, tenant, TEAPOTS, embedder=minilm)
    phrases = ("damaged spout", "wooden grip", "a knitted cosy")
    hits = await _search(store, tenant, minilm, text="the teapot", phrases=phrases)
    assert [_likest(hits, place) for place in range(3)] == ["pot-0", "pot-1", "pot-4"]
    for hit in hits.hits:
        assert len(hit.likeness) == 3
        assert all(-1 <= cosine <= 1.001 for cosine in hit.likeness)
        assert len(hit.text_likeness) == 3
    whole = max(hits.hits, key=lambda hit: hit.text_likeness[0])
    assert whole.card.checkpoint_id == "pot-0"
    same = next(hit for hit in hits.hits if hit.card.checkpoint_id == "pot-4")
    assert same.likeness[2] > 0.99


async def test_words_are_compared_in_their_context(
    store: PostgresStore, tenant: str, minilm: Embedder
) -> None:
    """The mean over the words said of the likest on the card; a word alone is enough."""
    await store_cards(store, tenant, TEAPOTS, embedder=minilm)
    phrases = ("wooden", "the damaged spout", "of the")
    hits = await _search(store, tenant, minilm, phrases=phrases)
    wooden = max(hits.hits, key=lambda hit: hit.word_likeness[0])
    assert wooden.card.checkpoint_id == "pot-1"
    damaged = max(hits.hits, key=lambda hit: hit.word_likeness[1])
    assert damaged.card.checkpoint_id == "pot-0"
    for hit in hits.hits:
        assert len(hit.word_likeness) == 3
        assert all(-1 <= cosine <= 1.001 for cosine in hit.word_likeness)


async def test_word_likeness_is_maxsim(store: PostgresStore, tenant: str, minilm: Embedder) -> None:
    """As computed here from the vectors that the model makes."""
    [card] = TEAPOTS[:1]
    await store_cards(store, tenant, [card], embedder=minilm)
    [hit] = (await _search(store, tenant, minilm, phrases=("a damaged old spout",))).hits
    [said] = await minilm.embed_queries(["a damaged old spout"])
    described = await minilm.embed_documents(embedding_phrases(card))
    words = [word for phrase in described for word in phrase.words]
    likest = [max(_cosine(one, word) for word in words) for one in said.words]
    assert hit.word_likeness[0] == pytest.approx(statistics.fmean(likest), abs=2e-3)


async def test_a_model_without_words_has_no_word_likeness(
    store: PostgresStore, tenant: str
) -> None:
    """An embedding server knows whole texts only."""
    await store.verify(Other.model)
    await store_cards(store, tenant, TEAPOTS, embedder=Other())
    hits = await _search(store, tenant, Other(), phrases=("damaged spout",))
    assert all(len(hit.likeness) == 1 and hit.word_likeness == () for hit in hits.hits)


@pytest.mark.parametrize("order", [Order.RELEVANCE, Order.NEWEST])
async def test_phrases_change_neither_the_hits_nor_their_order(
    store: PostgresStore, tenant: str, minilm: Embedder, order: Order
) -> None:
    """Also page by page, and a page's token serves with other phrases."""
    await store_cards(store, tenant, TEAPOTS, embedder=minilm)
    for text in ("blue teapot", ""):
        plain = await _search(store, tenant, minilm, text=text, order=order)
        told = await _search(
            store, tenant, minilm, text=text, order=order, phrases=("damaged spout",)
        )
        assert _ranking(told) == _ranking(plain)
        assert all(
            hit.likeness == hit.text_likeness == hit.word_likeness == () for hit in plain.hits
        )
        assert all(len(hit.likeness) == 1 for hit in told.hits)
        assert told.dense == bool(text)
        first = await _search(store, tenant, minilm, size=3, text=text, order=order)
        second = await search_checkpoints(
            Query(text=text, order=order, phrases=("a crack", "no lid")),
            tenant=tenant,
            page=Page(size=20, token=first.next_page_token),
            reader=store,
            embedder=minilm,
        )
        found = [hit.card.checkpoint_id for hit in (*first.hits, *second.hits)]
        assert found == [hit.card.checkpoint_id for hit in plain.hits]
        assert all(len(hit.likeness) == 2 for hit in second.hits)


async def test_phrases_are_compared_within_a_tenant(
    store: PostgresStore, tenant: str, minilm: Embedder
) -> None:
    """A card of the same id elsewhere neither answers nor shows."""
    await store_cards(store, tenant, [TEAPOTS[1]], embedder=minilm)
    other = replace(TEAPOTS[0], checkpoint_id="pot-1")
    await store_cards(store, f"{tenant}-other", [other], embedder=minilm)
    mine = await _search(store, tenant, minilm, phrases=("a chipped spout",))
    theirs = await _search(store, f"{tenant}-other", minilm, phrases=("a chipped spout",))
    assert len(mine.hits) == len(theirs.hits) == 1
    assert theirs.hits[0].likeness[0] > 0.99
    assert mine.hits[0].likeness[0] < 0.8


async def test_rows_without_phrases_are_filled_while_they_serve(
    fresh_store: PostgresStore, postgres_url: str, minilm: Embedder
) -> None:
    """As they are after the migration: until then vectors rank, and nothing is said of phrases."""
    await store_cards(fresh_store, "red", TEAPOTS, embedder=minilm)
    before = await _search(fresh_store, "red", minilm, text="teapot")
    with psycopg.connect(postgres_url) as connection:
        connection.execute(
            "UPDATE personalq.embeddings_384 SET phrases_hash = NULL, phrases = NULL"
        )
    waiting = await _search(fresh_store, "red", minilm, text="teapot", phrases=("damaged spout",))
    assert waiting.dense
    assert [hit.likeness for hit in waiting.hits] == [()] * len(TEAPOTS)
    assert _ranking(waiting) == _ranking(before)
    assert await fresh_store.count_unembedded("red", minilm.model) == len(TEAPOTS)
    assert await embed_missing(upkeep=fresh_store, embedder=minilm, looks=Looks()) == len(TEAPOTS)
    assert await embed_missing(upkeep=fresh_store, embedder=minilm, looks=Looks()) == 0
    filled = await _search(fresh_store, "red", minilm, text="teapot", phrases=("damaged spout",))
    assert _likest(filled, 0) == "pot-0"


async def test_vectors_written_anew_for_the_same_description_are_compared(
    store: PostgresStore, tenant: str, minilm: Embedder
) -> None:
    """As when the model had refused its phrases before; what was kept of them is not compared."""
    await store_cards(store, tenant, TEAPOTS[:1], embedder=minilm)
    [before] = (await _search(store, tenant, minilm, phrases=("damaged spout",))).hits
    [whole] = await embed_cards(TEAPOTS[:1], minilm)
    async with store.writing(tenant) as writer:
        await writer.put_embedding("pot-0", replace(whole, phrases=(), words=()))
    [refused] = (await _search(store, tenant, minilm, phrases=("damaged spout",))).hits
    async with store.writing(tenant) as writer:
        await writer.put_embedding("pot-0", whole)
    [after] = (await _search(store, tenant, minilm, phrases=("damaged spout",))).hits
    assert refused.likeness == ()
    assert refused.text_likeness == pytest.approx(before.text_likeness)
    assert (after.likeness, after.word_likeness) == (before.likeness, before.word_likeness)


async def test_phrases_made_otherwise_or_left_behind_are_made_anew(
    fresh_store: PostgresStore, postgres_url: str, minilm: Embedder
) -> None:
    """By an earlier version of them, or by a process that replaced the card's vector alone."""
    await store_cards(fresh_store, "red", TEAPOTS[:3], embedder=minilm)
    with psycopg.connect(postgres_url) as connection:
        connection.execute(
            "UPDATE personalq.embeddings_384 SET phrases_hash = '0:' || text_hash "
            "WHERE checkpoint_id = 'pot-0'"
        )
        connection.execute(
            "UPDATE personalq.embeddings_384 SET phrases_hash = '1:of an earlier text' "
            "WHERE checkpoint_id = 'pot-1'"
        )
    stale = await fresh_store.unembedded("red", minilm.model, 9)
    assert [each.checkpoint_id for each in stale] == ["pot-0", "pot-1"]


async def test_a_changed_description_has_other_phrases(
    store: PostgresStore, tenant: str, minilm: Embedder, announce: object
) -> None:
    """At once, as its vector; without a description there is nothing to compare."""
    await store_cards(store, tenant, TEAPOTS[:1], embedder=minilm)
    for description, likeness in (("A teapot with a knitted cosy.", 1.0), ("", None)):
        await update_checkpoint(
            "pot-0",
            card("pot-0", description=description),
            ["description"],
            tenant=tenant,
            store=store,
            embedder=minilm,
            announce=announce,  # type: ignore[arg-type]
        )
        [hit] = (await _search(store, tenant, minilm, phrases=("knitted cosy",))).hits
        assert [round(each, 1) for each in hit.likeness] == ([likeness] if likeness else [])
    assert await store.count_unembedded(tenant, minilm.model) == 0


async def test_without_an_embedder_nothing_is_said_of_phrases(
    store: PostgresStore, tenant: str, minilm: Embedder, caplog: pytest.LogCaptureFixture
) -> None:
    """None is configured, it is another model, or it is away."""
    await store_cards(store, tenant, TEAPOTS, embedder=minilm)
    phrases = ("damaged spout",)
    for embedder in (None, Other(), Other(away=True)):
        hits = await _search(store, tenant, embedder, text="teapot", phrases=phrases)
        assert len(hits.hits) == len(TEAPOTS)
        assert {hit.likeness for hit in hits.hits} == {()}
    with embedding_server() as server:
        server.answer = lambda _: (503, b"")
        async with open_embedder("m", url=server.url, dim=384) as away:
            hits = await _search(store, tenant, away, text="teapot", phrases=phrases)
            assert not hits.dense
            assert {hit.likeness for hit in hits.hits} == {()}
    assert "searched without vectors" in caplog.messages


async def test_a_phrase_the_model_refuses_does_not_cost_the_ranking(
    store: PostgresStore, tenant: str
) -> None:
    """Neither in a search, nor on a card."""
    embedder = Other()
    await store_cards(store, tenant, TEAPOTS, embedder=embedder)
    hits = await _search(store, tenant, embedder, text="teapot", phrases=("refused",))
    assert hits.dense
    assert {hit.likeness for hit in hits.hits} == {()}
    odd = await embedded(card("odd", description="A mug. A refused one."), embedder)
    assert odd is not None
    assert odd.phrases == []


@pytest.mark.parametrize(
    ("phrases", "field", "says"),
    [
        (("x",) * 9, "phrases", "at most 8"),
        (("a spout", "x" * 201), r"phrases[1]", "201 characters, at most 200"),
        (("a spout", " "), r"phrases[1]", "empty"),
    ],
)
async def test_too_much_is_refused(
    store: PostgresStore, tenant: str, phrases: tuple[str, ...], field: str, says: str
) -> None:
    """With the field that is meant."""
    with pytest.raises(InvalidInput, match=says) as refused:
        await _search(store, tenant, None, text="teapot", phrases=phrases)
    assert list(refused.value.violations) == [field]


async def test_a_long_description_has_its_first_phrases_compared() -> None:
    """Each once, and none longer than a phrase is."""
    long = card("long", description=", ".join(["Lid", "lid", "x" * 300, *map(str, range(40))]))
    assert len(embedding_phrases(long)) == MAX_PHRASES
    assert embedding_phrases(long)[1:3] == ("x" * 200, "0")
    [embedding] = await embed_cards([long], Other())
    assert len(embedding.phrases) == MAX_PHRASES


async def test_archived_cards_are_not_embedded_for_their_phrases(
    fresh_store: PostgresStore, minilm: Embedder
) -> None:
    """Nobody can find them."""
    gone: Card = replace(TEAPOTS[0], state=State.ARCHIVED)
    await store_cards(fresh_store, "red", [gone])
    assert await embed_missing(upkeep=fresh_store, embedder=minilm, looks=Looks()) == 0


def _cosine(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


class Other:
    """An embedder of one direction that refuses a phrase; optionally away."""

    model = Model(id="other", dim=384)

    def __init__(self, *, away: bool = False) -> None:
        self._away = away

    async def embed_documents(self, texts: Sequence[str]) -> list[Embedded]:
        """The first axis; a card's whole text is never refused."""
        if self._away or any("refused" in text and ". " not in text for text in texts):
            raise Unembeddable("not this one")
        return [Embedded(vector=[1.0, *[0.0] * 383]) for _ in texts]

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedded]:
        """The same."""
        return await self.embed_documents(texts)
