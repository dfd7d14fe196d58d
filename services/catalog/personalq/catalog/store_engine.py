"""The pool of connections to PostgreSQL, and when one is doubted."""

from __future__ import annotations

import logging
import select
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import psycopg
from sqlalchemy import event
from sqlalchemy.exc import InterfaceError, InvalidatePoolError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from personalq.catalog.migrations import driver_url
from personalq.chassis.errors import Unavailable

log = logging.getLogger(__name__)

#: Longest time for which a connection that was just used is taken to be alive.
TRUSTED_S = 10.0
_RETURNED_AT = "personalq_returned_at"

_OUTAGES = (
    OperationalError,
    InterfaceError,
    psycopg.OperationalError,
    psycopg.InterfaceError,
    PoolTimeout,
    OSError,
)


@asynccontextmanager
async def open_engine(postgres_url: str, *, pool_size: int) -> AsyncIterator[AsyncEngine]:
    """A pool of connections that connect when first used, and are closed with the block.

    Raises:
        PersonalQError: the URL cannot be read.
    """
    engine = create_async_engine(
        driver_url(postgres_url),
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=10,
        # Whoever was used last has the plans and the caches.
        pool_use_lifo=True,
        connect_args={
            "options": " ".join(
                f"-c {setting}"
                for setting in (
                    # A login may do more; the service never does.
                    "role=personalq_app",
                    "search_path=personalq,public",
                    "timezone=UTC",
                    "statement_timeout=30000",
                    "idle_in_transaction_session_timeout=60000",
                    # One tenant's plan is not another's, and indexes of a tenant's are only seen
                    # by plans made for it: psycopg prepares what is asked often, and PostgreSQL
                    # would soon plan it for everybody.
                    "plan_cache_mode=force_custom_plan",
                    # Searches are short: compiling them, or starting workers, takes longer.
                    "jit=off",
                    "max_parallel_workers_per_gather=0",
                    "work_mem=16MB",
                    # The cards of whoever is active are in memory.
                    "random_page_cost=1.1",
                    "enable_memoize=off",
                )
            ),
            "connect_timeout": 10,
            "application_name": "personalq-catalog",
        },
    )
    _ping_the_doubtful(engine)
    try:
        yield engine
    finally:
        await engine.dispose()


@contextmanager
def outages() -> Iterator[None]:
    """Tell what a caller can only wait out from what it did wrong."""
    try:
        yield
    except _OUTAGES as error:
        log.warning(
            "database out of reach", extra={"action": "use_database", "problem": str(error)}
        )
        raise Unavailable("the catalog's database is out of reach; try again later") from error


def _ping_the_doubtful(engine: AsyncEngine) -> None:
    """Have the pool ask a connection whether it lives only when that is in doubt.

    It is after a while without use, and when there is something to read on a connection that has
    nothing outstanding: a server that stops or drops it says so and closes it.
    """

    @event.listens_for(engine.sync_engine, "checkin")
    def returned(_connection: object, entry: ConnectionPoolEntry) -> None:
        entry.info[_RETURNED_AT] = time.monotonic()

    @event.listens_for(engine.sync_engine, "checkout")
    def taken(connection: Any, entry: ConnectionPoolEntry, _proxy: object) -> None:
        returned_at = entry.info.get(_RETURNED_AT)
        if returned_at is None:
            return
        if time.monotonic() - returned_at < TRUSTED_S and not _has_news(entry.driver_connection):
            return
        try:
            engine.dialect.do_ping(connection)
        except (psycopg.Error, OSError) as error:
            raise InvalidatePoolError from error


def _has_news(driver: Any) -> bool:
    if driver.closed:
        return True
    poll = select.poll()
    poll.register(driver.fileno(), select.POLLIN)
    return bool(poll.poll(0))
