"""One database for all of the catalog's tests: each test is a tenant of its own."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest
from psycopg import sql
from support.catalog_cards import RecordingAnnouncer

from personalq.catalog.store import PostgresStore, open_store


@pytest.fixture(scope="session")
def shared_database(postgres_server: str, migrated_template: str) -> Iterator[str]:
    """URL of a database that all tests share; row-level security keeps them apart."""
    name = f"catalog_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                sql.Identifier(name), sql.Identifier(migrated_template)
            )
        )
        yield postgres_server.rpartition("/")[0] + "/" + name
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
async def store(shared_database: str) -> AsyncIterator[PostgresStore]:
    """The catalog's store."""
    async with open_store(shared_database, pool_size=4) as opened:
        yield opened


@pytest.fixture
async def fresh_store(postgres_url: str) -> AsyncIterator[PostgresStore]:
    """A store on a database of its own, for what goes through all tenants."""
    async with open_store(postgres_url, pool_size=4) as opened:
        yield opened


@pytest.fixture
def tenant() -> str:
    """A tenant nobody else uses."""
    return f"t-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def announce() -> RecordingAnnouncer:
    """Keeps what was announced."""
    return RecordingAnnouncer()
