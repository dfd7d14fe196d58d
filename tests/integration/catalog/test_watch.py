"""Following changes: none is lost, whatever happens at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import psycopg
import pytest
from support.catalog_cards import card, store_cards
from support.polling import eventually

from personalq.catalog.cards import Filter, State
from personalq.catalog.feed import PostgresFeed, open_feed
from personalq.catalog.store import PostgresStore, open_store
from personalq.catalog.watch import watch_checkpoints


@pytest.fixture
async def feed(shared_database: str) -> AsyncIterator[PostgresFeed]:
    """Notifications of the database; silence is long, so that a test relies on them."""
    async with open_feed(shared_database, silence_s=60.0) as opened:
        yield opened


class Watcher:
    """Collects what a watch sends."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        self.synced = asyncio.Event()

    async def sees(self, checkpoint_id: str, description: str) -> None:
        """Wait for a card in a state."""

        async def probe() -> bool:
            return (checkpoint_id, description) in self.seen

        await eventually(probe, timeout_s=60)


@asynccontextmanager
async def watching(
    store: PostgresStore, feed: PostgresFeed, tenant: str, constraints: Filter | None = None
) -> AsyncIterator[Watcher]:
    """A watch that runs while the block does."""
    watcher = Watcher()

    async def follow() -> None:
        changes = watch_checkpoints(constraints or Filter(), tenant=tenant, reader=store, feed=feed)
        async with aclosing(changes):
            async for change in changes:
                if change.card is None:
                    watcher.synced.set()
                else:
                    watcher.seen.append((change.card.checkpoint_id, change.card.description))

    task = asyncio.create_task(follow())
    try:
        yield watcher
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_the_present_comes_first_then_what_changes(
    store: PostgresStore, feed: PostgresFeed, tenant: str
) -> None:
    """Every card once, "synced", and each change after it; other tenants stay out."""
    await store_cards(store, tenant, [card("a"), card("b", state=State.ARCHIVED)])
    await store_cards(store, f"{tenant}-other", [card("c")])
    async with watching(store, feed, tenant) as watcher:
        await asyncio.wait_for(watcher.synced.wait(), 60)
        assert [name for name, _ in watcher.seen] == ["a", "b"]
        await store_cards(store, tenant, [card("a", description="changed")])
        await store_cards(store, f"{tenant}-other", [card("c", description="changed")])
        await store_cards(store, tenant, [card("d", description="new")])
        await watcher.sees("a", "changed")
        await watcher.sees("d", "new")
        assert "c" not in {name for name, _ in watcher.seen}


async def test_an_empty_tenant_is_synced_at_once(
    store: PostgresStore, feed: PostgresFeed, tenant: str
) -> None:
    """And its first card is seen, although the tenant did not exist."""
    async with watching(store, feed, tenant) as watcher:
        await asyncio.wait_for(watcher.synced.wait(), 60)
        await store_cards(store, tenant, [card("a", description="first")])
        await watcher.sees("a", "first")


async def test_only_cards_that_satisfy_the_constraints_are_sent(
    store: PostgresStore, feed: PostgresFeed, tenant: str
) -> None:
    """What misses them is passed over, and does not hold up what follows."""
    async with watching(store, feed, tenant, Filter(subjects=("dog",))) as watcher:
        await asyncio.wait_for(watcher.synced.wait(), 60)
        await store_cards(store, tenant, [card("a"), card("rex", subjects=("dog",))])
        await watcher.sees("rex", "A brown bear.")
        assert watcher.seen == [("rex", "A brown bear.")]


async def test_nothing_is_lost_while_many_write(
    store: PostgresStore, feed: PostgresFeed, tenant: str, shared_database: str
) -> None:
    """Watchers that start in the middle of concurrent writes end with the final state of all.

    Transactions that commit in another order than they began are what a plain sequence would lose.
    """
    writers, rounds = 4, 6
    async with open_store(shared_database, pool_size=4) as others:

        async def write(writer: int) -> None:
            for turn in range(rounds):
                await store_cards(others, tenant, [card(f"w{writer}", description=f"turn {turn}")])

        work = [asyncio.create_task(write(writer)) for writer in range(writers)]
        async with watching(store, feed, tenant) as early:
            await asyncio.gather(*work)
            async with watching(store, feed, tenant) as late:
                for watcher in (early, late):
                    for writer in range(writers):
                        await watcher.sees(f"w{writer}", f"turn {rounds - 1}")


async def test_revisions_become_visible_in_their_order(store: PostgresStore, tenant: str) -> None:
    """A writer that began first and commits last does not slip a lower revision in."""
    await store_cards(store, tenant, [card("seed")])
    entered, leave = asyncio.Event(), asyncio.Event()

    async def slow() -> None:
        async with store.writing(tenant) as writer:
            await writer.put_card(card("slow"))
            entered.set()
            await leave.wait()

    first = asyncio.create_task(slow())
    await entered.wait()
    second = asyncio.create_task(store_cards(store, tenant, [card("fast")]))
    seen, upto = await store.changes(tenant, Filter(), after=0, limit=10)
    assert [each.checkpoint_id for each in seen] == ["seed"]
    leave.set()
    await asyncio.gather(first, second)
    newer, _ = await store.changes(tenant, Filter(), after=upto, limit=10)
    assert [each.checkpoint_id for each in newer] == ["slow", "fast"]


async def test_a_full_page_goes_on_where_it_stopped(store: PostgresStore, tenant: str) -> None:
    """Pages of changes neither skip nor repeat; a filter does not stall them."""
    await store_cards(store, tenant, [card(f"c{i}") for i in range(5)])
    names: list[str] = []
    upto = 0
    for _ in range(3):
        cards, upto = await store.changes(tenant, Filter(), after=upto, limit=2)
        names += [each.checkpoint_id for each in cards]
    assert names == [f"c{i}" for i in range(5)]
    none, end = await store.changes(tenant, Filter(subjects=("dog",)), after=0, limit=2)
    assert (none, end) == ([], upto)


async def test_a_cut_connection_loses_no_change(
    store: PostgresStore, feed: PostgresFeed, tenant: str, shared_database: str
) -> None:
    """The feed listens again and wakes everybody, for what it did not hear."""
    async with watching(store, feed, tenant) as watcher:
        await asyncio.wait_for(watcher.synced.wait(), 60)
        with psycopg.connect(shared_database, autocommit=True) as connection:

            async def cut() -> bool:
                ended = connection.execute(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                    " WHERE application_name = 'personalq-catalog-feed'"
                    " AND datname = current_database()"
                ).fetchone()
                return ended is not None and ended[0] == 1

            await eventually(cut)
        await store_cards(store, tenant, [card("a", description="unheard")])
        await watcher.sees("a", "unheard")


async def test_silence_is_not_trusted(store: PostgresStore, tenant: str) -> None:
    """Where notifications do not come through at all, watchers ask now and then."""
    deaf = PostgresFeed(silence_s=0.05)
    async with watching(store, deaf, tenant) as watcher:
        await asyncio.wait_for(watcher.synced.wait(), 60)
        [stored] = await store_cards(store, tenant, [card("a", description="one")])
        await watcher.sees("a", "one")
        async with store.writing(tenant) as writer:
            await writer.card("a")
            await writer.put_card(replace(stored, description="two"))
        await watcher.sees("a", "two")
