"""Tenants with indexes of their own, forced on a few hundred cards."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.engine import make_url
from support.catalog_cards import card, store_cards

from personalq.catalog.cards import SELECTABLE, Card, Filter, State, text_hash
from personalq.catalog.indexing import index_large_tenants
from personalq.catalog.likeness import likeness_of
from personalq.catalog.ports import Detail, Embedded, Embedding, LargeTenant, Model, Vector
from personalq.catalog.search import Hits, Query
from personalq.catalog.store import PostgresStore, open_store
from personalq.catalog.store_indexes import open_indexes
from personalq.catalog.words import query_terms
from personalq.chassis.errors import PersonalQError, Unavailable

MODEL = Model(id="random/8", dim=8)
#: One whose vectors have a table from the beginning.
MODEL_OF_SCHEMA = Model(id="random/384", dim=384)
TENANT = "large"
CARDS = 400
#: So few that nearly all have a vector at any moment.
ADDED = 40


def _vector(seed: object) -> Vector:
    draw = random.Random(str(seed))  # noqa: S311 - the same each time
    numbers = [draw.gauss(0, 1) for _ in range(MODEL.dim)]
    length = math.hypot(*numbers)
    return [number / length for number in numbers]


async def _add(store: PostgresStore, start: int, count: int) -> None:
    cards = [
        card(
            f"c{number:04d}",
            subjects=("bear" if number % 10 else "fox",),
            description="With a red scarf." if number % 7 == 0 else "With a blue hat.",
        )
        for number in range(start, start + count)
    ]
    await store_cards(store, TENANT, cards)
    async with store.writing(TENANT) as writer:
        for made in cards:
            embedding = Embedding(
                model=MODEL,
                text_hash=text_hash(made),
                vector=_vector(made.checkpoint_id),
                phrases=[_vector(made.description), _vector("bear")],
            )
            await writer.put_embedding(made.checkpoint_id, embedding)


@pytest.fixture
async def cards_of_large(fresh_store: PostgresStore) -> PostgresStore:
    """Four hundred cards with vectors, and another tenant's nearer ones."""
    await fresh_store.verify(MODEL)
    await _add(fresh_store, 0, CARDS)
    return fresh_store


async def _index(postgres_url: str, *, from_cards: int = 100) -> int:
    return await index_large_tenants(
        open_indexes=partial(open_indexes, postgres_url, MODEL), model=MODEL, from_cards=from_cards
    )


@asynccontextmanager
async def _forced(postgres_url: str, *, words: bool = False) -> AsyncIterator[PostgresStore]:
    """A store that takes any number of matches for many, and must use an index where it can.

    Args:
        words: the one over words, which is read as a bitmap, rather than the one over vectors.
    """
    with psycopg.connect(postgres_url) as connection:
        connection.execute("UPDATE personalq.indexed_tenants SET cards = 0")
        connection.execute("ANALYZE")
        name = connection.info.dbname
        scan = "enable_indexscan" if words else "enable_bitmapscan"
        for setting in ("enable_seqscan", "enable_sort", scan):
            connection.execute(
                sql.SQL("ALTER DATABASE {} SET {} = off").format(
                    sql.Identifier(name), sql.Identifier(setting)
                )
            )
    async with open_store(postgres_url) as store:
        yield store


async def _search(
    store: PostgresStore,
    text: str,
    model: Model = MODEL,
    *,
    phrases: Sequence[str] = (),
    **constraints: Any,
) -> Hits:
    found = await store.search(
        TENANT,
        Query(text=text, filter=Filter(states=SELECTABLE, **constraints)),
        terms=query_terms(text),
        dense=_vector(text),
        model=model,
        limit=50,
        offset=0,
        detail=Detail.WORDS if phrases else Detail.NONE,
    )
    if not phrases:
        return found
    said = [Embedded(vector=_vector(phrase)) for phrase in phrases]
    like = likeness_of([hit.vectors for hit in found.hits], said)
    hits = [replace(hit, likeness=each.phrases) for hit, each in zip(found.hits, like, strict=True)]
    return replace(found, hits=hits)


def _scans(postgres_url: str, prefix: str) -> int:
    with psycopg.connect(postgres_url) as connection:
        row = connection.execute(
            "SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE indexrelname ~ %s",
            [f"^{prefix}_[0-9a-f]{{12}}$"],
        ).fetchone()
    return int(row[0] or 0) if row else 0


async def test_phrases_are_compared_however_hits_were_found(
    cards_of_large: PostgresStore, postgres_url: str
) -> None:
    """Through the indexes as without them, and they move nothing."""
    phrases = ("With a red scarf.", "something else")
    exact = await _search(cards_of_large, "red scarf", phrases=phrases)
    assert await _index(postgres_url) == 1
    async with _forced(postgres_url) as store:
        found = await _search(store, "red scarf", phrases=phrases)
        plain = await _search(store, "red scarf")
    assert [hit.card for hit in found.hits] == [hit.card for hit in plain.hits]
    assert {hit.likeness for hit in plain.hits} == {()}
    compared = {hit.card.checkpoint_id: hit.likeness for hit in exact.hits}
    for hit in found.hits:
        says, other = hit.likeness
        assert (says > 0.99) == (hit.card.description == "With a red scarf.")
        assert other < 0.99
        assert compared.get(hit.card.checkpoint_id, hit.likeness) == hit.likeness


async def test_indexes_find_what_reading_everything_finds(
    cards_of_large: PostgresStore, postgres_url: str
) -> None:
    """The same cards in the same order with the same ranks, with and without constraints."""
    searches: list[tuple[str, dict[str, Any]]] = [
        ("a red scarf", {}),
        ("a fox", {"subjects": ("fox",)}),
        ("a bear", {"excluded_subjects": ("fox",)}),
    ]
    exact = [await _search(cards_of_large, text, **wished) for text, wished in searches]
    assert await _index(postgres_url) == 1
    before = _scans(postgres_url, "embeddings_8")
    async with _forced(postgres_url) as store:
        for (text, wished), expected in zip(searches, exact, strict=True):
            found = await _search(store, text, **wished)
            assert found.total_matches == expected.total_matches
            assert [hit.card.checkpoint_id for hit in found.hits[:20]] == [
                hit.card.checkpoint_id for hit in expected.hits[:20]
            ]
            for hit, same in zip(found.hits[:20], expected.hits[:20], strict=True):
                assert hit.similarity == same.similarity
    assert _scans(postgres_url, "embeddings_8") > before


async def test_cards_can_be_written_while_their_indexes_are_made(
    cards_of_large: PostgresStore, postgres_url: str
) -> None:
    """Neither waits for the other, and the new cards are found through the indexes."""
    await asyncio.wait_for(
        asyncio.gather(_index(postgres_url), _add(cards_of_large, CARDS, ADDED)), timeout=60
    )
    async with _forced(postgres_url) as store:
        for number in (CARDS, CARDS + ADDED - 1):
            hits = await store.search(
                TENANT,
                Query(filter=Filter(states=SELECTABLE)),
                terms={},
                dense=_vector(f"c{number:04d}"),
                model=MODEL,
                limit=1,
                offset=0,
            )
            assert hits.hits[0].card.checkpoint_id == f"c{number:04d}"
            assert hits.total_matches == CARDS + ADDED


async def test_indexes_are_made_once_and_again_when_they_broke_off(
    cards_of_large: PostgresStore, postgres_url: str
) -> None:
    """A second round finds nothing to do; an invalid remnant is replaced."""
    assert await _index(postgres_url, from_cards=CARDS + 1) == 0
    assert await _index(postgres_url, from_cards=CARDS) == 1
    assert await _index(postgres_url) == 0
    with psycopg.connect(postgres_url) as connection:
        connection.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid::regclass::text LIKE"
            " 'personalq.embeddings_8_%' AND NOT indisprimary"
        )
        connection.execute("DELETE FROM personalq.indexed_tenants")
    assert await _index(postgres_url) == 1
    with psycopg.connect(postgres_url) as connection:
        invalid = connection.execute("SELECT count(*) FROM pg_index WHERE NOT indisvalid")
        assert invalid.fetchone() == (0,)


async def test_another_models_index_waits_for_its_vectors(
    cards_of_large: PostgresStore, postgres_url: str
) -> None:
    """Until nearly all cards have one the words rank; those that were withdrawn need none."""
    other = Model(id="other/8", dim=8)
    index = partial(
        index_large_tenants,
        open_indexes=partial(open_indexes, postgres_url, other),
        model=other,
        from_cards=100,
    )
    cards = await cards_of_large.page(TENANT, Filter(), after=None, limit=CARDS)

    async def embed(some: Sequence[Card]) -> None:
        async with cards_of_large.writing(TENANT) as writer:
            for each in some:
                vector = _vector(each.checkpoint_id)
                embedding = Embedding(model=other, text_hash=text_hash(each), vector=vector)
                await writer.put_embedding(each.checkpoint_id, embedding)

    await embed(cards[:200])
    assert await index() == 0
    await embed(cards[200:300])
    assert await _index(postgres_url) == 1
    before = _scans(postgres_url, "card_words")
    async with _forced(postgres_url, words=True) as store:
        found = await _search(store, "a red scarf", model=other)
        assert found.total_matches == CARDS
        assert not found.dense
        assert found.hits[0].sparse_rank == 1
    assert _scans(postgres_url, "card_words") > before
    with psycopg.connect(postgres_url) as connection:
        connection.execute("UPDATE personalq.indexed_tenants SET cards = %s", [CARDS])
    gone = [replace(each, state=State.ARCHIVED) for each in cards[310:]]
    assert await index() == 0
    await store_cards(cards_of_large, TENANT, gone)
    assert await index() == 1


async def test_only_the_owner_makes_indexes(
    cards_of_large: PostgresStore, postgres_url: str
) -> None:
    """A login that may only work as the service leaves it to the command, and says so."""
    login = "visitor"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS visitor")
        connection.execute("CREATE ROLE visitor LOGIN PASSWORD 'x' IN ROLE personalq_app")
    url = make_url(postgres_url).set(username=login, password="x")
    try:
        assert await _index(url.render_as_string(hide_password=False)) == 0
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("DROP ROLE visitor")


@pytest.mark.parametrize(
    "name",
    [
        "o'brien\\",
        "x' OR true OR '",
        "'; DROP TABLE personalq.names; --",
        '%s %(tenant)s {tenant} :tenant "$$" \\\\',
    ],
)
async def test_a_tenants_name_is_a_value_in_its_indexes(
    fresh_store: PostgresStore, postgres_url: str, name: str
) -> None:
    """They hold that tenant's rows and no others, whatever it is called."""
    await fresh_store.verify(MODEL)
    for tenant in (name, "other"):
        await store_cards(fresh_store, tenant, [card(f"c{number}") for number in range(3)])
    async with open_indexes(postgres_url, MODEL) as indexes:
        assert indexes is not None
        await indexes.make(LargeTenant(name=name, cards=3), MODEL)
    with psycopg.connect(postgres_url) as connection:
        predicates = connection.execute(
            "SELECT pg_get_expr(indpred, indrelid) FROM pg_index WHERE indpred IS NOT NULL"
        ).fetchall()
        assert len(predicates) == 2
        for (predicate,) in predicates:
            [(tenants,)] = connection.execute(
                sql.SQL(
                    "SELECT array_agg(t) FROM unnest(%s::text[]) t, LATERAL (SELECT t AS tenant,"
                    " %s::text AS model) row WHERE {}"
                ).format(sql.SQL(predicate.replace("%", "%%"))),
                [[name, "other"], MODEL.id],
            ).fetchall()
            assert tenants == [name]
        rows = connection.execute("SELECT tenant FROM personalq.indexed_tenants").fetchall()
    assert rows == [(name,)]
    # Nothing of it is missing, and nobody else's is found.
    assert len(await fresh_store.page(name, Filter(), after=None, limit=9)) == 3
    assert await fresh_store.names(name, ["c1"])


async def test_a_refused_step_is_told_without_a_traceback(
    cards_of_large: PostgresStore, postgres_url: str
) -> None:
    """The loop and the command report it in a line, and the next round begins anew."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE personalq.indexed_tenants RENAME TO hidden")
        with pytest.raises(PersonalQError, match="indexed_tenants"):
            await _index(postgres_url)
        connection.execute("ALTER TABLE personalq.hidden RENAME TO indexed_tenants")
    assert await _index(postgres_url) == 1


async def test_a_database_that_goes_away_meanwhile_is_an_outage(
    fresh_store: PostgresStore, postgres_url: str
) -> None:
    """As it is when it cannot be reached to begin with."""
    with pytest.raises(Unavailable, match="went away"):
        async with open_indexes(postgres_url, MODEL_OF_SCHEMA) as indexes:
            assert indexes is not None
            with psycopg.connect(postgres_url, autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE"
                    " datname = current_database()"
                    " AND application_name = 'personalq-catalog-index'"
                )
            await indexes.due(MODEL_OF_SCHEMA, from_cards=1)


async def test_one_process_at_a_time_makes_indexes(
    cards_of_large: PostgresStore, postgres_url: str
) -> None:
    """Replicas take turns; who comes second has nothing to do."""
    async with open_indexes(postgres_url, MODEL) as first:
        assert first is not None
        assert await _index(postgres_url) == 0
    assert await _index(postgres_url) == 1
