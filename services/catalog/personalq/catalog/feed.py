"""PostgreSQL's NOTIFY as a ChangeFeed.

A notification is only a hint: it can be lost with the connection, and a pooler may swallow it. So
every subscriber also ticks when the connection is made anew and after a while of silence.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg

from personalq.catalog.migrations import driver_url
from personalq.catalog.store_write import CHANNEL

log = logging.getLogger(__name__)

_RECONNECT_S = 2.0
#: A dead connection is noticed by the question that is asked this often.
_PROBE_S = 20.0


class PostgresFeed:
    """Ticks for subscribers, from one connection that listens for all of them."""

    def __init__(self, *, silence_s: float) -> None:
        self._silence_s = silence_s
        self._subscribers: defaultdict[str, set[asyncio.Event]] = defaultdict(set)

    @asynccontextmanager
    async def subscribe(self, tenant: str) -> AsyncIterator[AsyncIterator[None]]:
        """Tick at once, after each change, and after `silence_s` without one."""
        changed = asyncio.Event()
        changed.set()
        self._subscribers[tenant].add(changed)
        try:
            yield self._ticks(changed)
        finally:
            self._subscribers[tenant].discard(changed)
            if not self._subscribers[tenant]:
                del self._subscribers[tenant]

    async def _ticks(self, changed: asyncio.Event) -> AsyncIterator[None]:
        while True:
            try:
                async with asyncio.timeout(self._silence_s):
                    await changed.wait()
            except TimeoutError:
                pass
            # Before the question, so that a change during it ticks again.
            changed.clear()
            yield

    def wake(self, tenant: str) -> None:
        """Tick for the subscribers of a tenant."""
        for changed in self._subscribers.get(tenant, ()):
            changed.set()

    def wake_all(self) -> None:
        """Tick for everybody: notifications may have been missed."""
        for tenant in list(self._subscribers):
            self.wake(tenant)

    async def listen(self, postgres_url: str) -> None:
        """Pass notifications on until cancelled; reconnects for ever."""
        address = driver_url(postgres_url).set(drivername="postgresql")
        conninfo = address.render_as_string(hide_password=False)
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    conninfo, autocommit=True, application_name="personalq-catalog-feed"
                ) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    self.wake_all()
                    while True:
                        async for notification in connection.notifies(timeout=_PROBE_S):
                            self.wake(notification.payload)
                        await connection.execute("SELECT 1")
            except (psycopg.Error, OSError) as error:
                log.warning(
                    "not listening for changes",
                    extra={"action": "listen", "problem": str(error), "retry_in_s": _RECONNECT_S},
                )
                await asyncio.sleep(_RECONNECT_S)


@asynccontextmanager
async def open_feed(postgres_url: str, *, silence_s: float = 10.0) -> AsyncIterator[PostgresFeed]:
    """A feed that listens while the block runs."""
    feed = PostgresFeed(silence_s=silence_s)
    task = asyncio.create_task(feed.listen(postgres_url))
    try:
        yield feed
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
