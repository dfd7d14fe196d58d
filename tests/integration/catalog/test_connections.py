"""Reads in one round trip, on connections that may have died: on a real PostgreSQL."""

from __future__ import annotations

import asyncio
import gc
import warnings

import psycopg
import pytest
from support.catalog_cards import card, store_cards

from personalq.catalog import store_engine
from personalq.catalog.store import PostgresStore
from personalq.catalog.store_connections import Statement

_WHOSE: Statement = ("SELECT DISTINCT tenant FROM checkpoints", {})
_SETTING: Statement = ("SELECT current_setting('app.tenant', true) AS tenant", {})


async def test_a_read_sees_one_tenant(fresh_store: PostgresStore) -> None:
    """Also one that forgets its WHERE, and on a connection another tenant was served on."""
    for tenant in ("red", "blue"):
        await store_cards(fresh_store, tenant, [card("bear")])
    for tenant in ("red", "blue", "red"):
        rows = await fresh_store._read(tenant, _WHOSE, _SETTING, _WHOSE)
        assert rows == [[{"tenant": tenant}]] * 3
    assert await fresh_store._read("", _WHOSE) == [[]]


async def test_a_connection_leaves_no_tenant_behind(fresh_store: PostgresStore) -> None:
    """Neither a read that succeeded nor one that failed."""
    await store_cards(fresh_store, "red", [card("bear")])
    async with fresh_store._engine.connect() as warm:
        await warm.exec_driver_sql("SELECT 1")
    await fresh_store._read("red", _WHOSE)
    with pytest.raises(psycopg.errors.DivisionByZero):
        await fresh_store._read("red", _WHOSE, ("SELECT 1 / 0", {}), _WHOSE)
    for _ in range(5):
        async with fresh_store._transaction() as connection:
            rows = await connection.exec_driver_sql("SELECT tenant FROM checkpoints")
            assert rows.all() == []


async def test_a_read_writes_nothing(store: PostgresStore, tenant: str) -> None:
    """What was meant to be read only is, also in the database's eyes."""
    await store_cards(store, tenant, [card("bear")])
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        await store._read(tenant, ("UPDATE checkpoints SET owner = 'x'", {}))
    assert [row["tenant"] for row in (await store._read(tenant, _WHOSE))[0]] == [tenant]


async def test_a_read_that_was_given_up_disturbs_no_other(
    store: PostgresStore, tenant: str
) -> None:
    """Its connection is not handed on with half of its answers outstanding."""
    await store_cards(store, tenant, [card("bear")])
    slow: Statement = ("SELECT pg_sleep(30)", {})
    for _ in range(6):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(store._read(tenant, slow, _WHOSE), 0.05)
    assert await store._read(tenant, _WHOSE) == [[{"tenant": tenant}]]


async def test_a_read_given_up_at_its_first_step_gives_its_connection_back(
    store: PostgresStore,
    tenant: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """While a connection is being prepared, too: none is left to the garbage collector."""

    async def cancelled(connection: object, value: bool) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    monkeypatch.setattr(psycopg.AsyncConnection, "set_autocommit", cancelled)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the pool says the same in its own words
        for _ in range(5):
            read = asyncio.create_task(store._read(tenant, _WHOSE))
            await asyncio.wait([read])
            assert read.cancelled()
        del read
        gc.collect()
    assert [r for r in caplog.records if r.name.startswith("sqlalchemy.pool")] == []
    monkeypatch.undo()
    assert await store._read(tenant, _WHOSE) == [[]]


async def test_connections_that_were_cut_are_replaced(
    fresh_store: PostgresStore, postgres_url: str
) -> None:
    """No request notices, though none of them is pinged that was just used."""
    await store_cards(fresh_store, "red", [card("bear")])
    for _ in range(3):
        await asyncio.gather(*(fresh_store.card("red", "bear") for _ in range(4)))
        _cut(postgres_url)
        found = await asyncio.gather(*(fresh_store.card("red", "bear") for _ in range(4)))
        assert all(found)
        _cut(postgres_url)
        await store_cards(fresh_store, "red", [card("bear", owner="ann")])


async def test_a_connection_is_pinged_after_a_while(
    fresh_store: PostgresStore, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have gone without a word."""
    monkeypatch.setattr(store_engine, "TRUSTED_S", 0.0)
    monkeypatch.setattr(store_engine, "_has_news", lambda driver: False)
    await store_cards(fresh_store, "red", [card("bear")])
    _cut(postgres_url)
    assert await fresh_store.card("red", "bear") is not None


def _cut(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        cut = connection.execute(
            "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'personalq-catalog'"
        ).fetchone()
        assert cut is not None
        assert cut[0] > 0
