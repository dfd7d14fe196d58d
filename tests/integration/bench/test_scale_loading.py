"""The scale benchmark's cards are in the database as if they had been registered."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from personalq.bench.scale.cards import Tenant, make_cards, tenants_of
from personalq.bench.scale.loading import PROFILE, load_tenant
from personalq.bench.scale.vectors import mixed
from personalq.bench.scale.vocabulary import SUBJECTS
from personalq.catalog.cards import text_hash
from personalq.catalog.ports import Embedding, Model
from personalq.catalog.settings import CatalogSettings
from personalq.catalog.store import open_store

MODEL = Model(id="pool/8", dim=8)
#: What the loader adds or the time of storing decides.
NOT_COMPARED = {"registered_at", "updated_at", "requested_at"}
TABLES = ("checkpoints", "names", "labels", "card_words", "words", "card_counts", "embeddings_8")


def _pool() -> np.ndarray:
    return np.random.default_rng(0).random((len(SUBJECTS), 5, MODEL.dim), dtype=np.float32)


def _rows(url: str, table: str, tenant: str) -> list[dict[str, object]]:
    with psycopg.connect(url, row_factory=dict_row) as connection:
        query = sql.SQL("SELECT * FROM personalq.{} WHERE tenant = %s").format(
            sql.Identifier(table)
        )
        rows = connection.execute(query, [tenant]).fetchall()
    kept = [
        {name: value for name, value in row.items() if name not in {"tenant", *NOT_COMPARED}}
        for row in rows
    ]
    return sorted(kept, key=repr)


async def test_loading_leaves_what_registering_leaves(postgres_url: str) -> None:
    """Every table has the same rows, but for the times of storing."""
    copied, stored = Tenant(name="copied", cards=30), "stored"
    cards = list(make_cards(copied))
    vectors = mixed(cards, _pool(), copied.name)
    async with open_store(postgres_url) as store:
        await store.verify(MODEL)
        for card, vector in zip(cards, vectors.tolist(), strict=True):
            async with store.writing(stored) as writer:
                await writer.put_card(card)
                embedding = Embedding(model=MODEL, text_hash=text_hash(card), vector=vector)
                await writer.put_embedding(card.checkpoint_id, embedding)
        heard: list[int] = []
        await asyncio.to_thread(load_tenant, postgres_url, copied, _pool(), MODEL.id, heard.append)
        for table in TABLES:
            assert _rows(postgres_url, table, "copied") == _rows(postgres_url, table, stored)
        known = await store.card("copied", cards[3].checkpoint_id)
        assert known is not None
        assert replace(known, registered_at=None, updated_at=None, revision=0) == cards[3]
        recipe = CatalogSettings.model_fields["recipe_version"].default
        wanted = await store.claim_unserved(
            "copied", profiles=[PROFILE], recipe_version=recipe, patience_s=0, limit=5
        )
        assert wanted.complete  # nothing is made anew while it is measured
    assert sum(heard) == 30


async def test_loading_goes_on_where_it_broke_off(postgres_url: str) -> None:
    """What is there is counted and not loaded again."""
    async with open_store(postgres_url) as store:
        await store.verify(MODEL)
    for cards, new in ((20, [0, 20]), (30, [20, 10]), (30, [30])):
        heard: list[int] = []
        tenant = Tenant(name="t", cards=cards)
        await asyncio.to_thread(load_tenant, postgres_url, tenant, _pool(), MODEL.id, heard.append)
        assert heard == new
    assert len(_rows(postgres_url, "checkpoints", "t")) == 30


def test_one_tenant_is_the_largest_and_the_others_share_the_rest() -> None:
    """No card is lost in the division."""
    tenants = tenants_of(1000, 7, 400)
    assert tenants[0].cards == 400
    assert sum(tenant.cards for tenant in tenants) == 1000
    assert {tenant.cards for tenant in tenants[1:]} == {100}
