"""Real servers for the tests: one PostgreSQL per session, one nats-server per test."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from hypothesis import settings
from psycopg import sql
from support.ports import free_port

from personalq.sdk.embedded.nats import run_nats
from personalq.sdk.embedded.postgres import data_directory, run_postgres

# Nothing is asserted on time: a busy machine is no failure.
settings.register_profile("personalq", deadline=None)
settings.load_profile("personalq")

# What a developer has exported must not leak into a test.
for variable in [name for name in os.environ if name.startswith("PERSONALQ_")]:
    del os.environ[variable]
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# Read when torch is imported: threads that spin while they wait starve the servers under test.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Superuser URL of a PostgreSQL 18 with pgvector that lives as long as the session."""
    import shutil

    directory = tmp_path_factory.mktemp("postgres")
    options = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=300"]
    with asyncio.Runner() as runner:
        server = run_postgres(directory, port=free_port(), options=options)
        url = runner.run(server.__aenter__())
        yield url
        runner.run(server.__aexit__(None, None, None))
    shutil.rmtree(data_directory(directory), ignore_errors=True)


@pytest.fixture(scope="session")
def migrated_template(postgres_server: str) -> str:
    """Name of a database that has every migration and no rows."""
    from personalq.catalog.migrations import migrate

    name = "personalq_template"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    migrate(_in_database(postgres_server, name))
    return name


@pytest.fixture
def postgres_url(postgres_server: str, migrated_template: str) -> Iterator[str]:
    """URL of a fresh, migrated database."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
                sql.Identifier(name), sql.Identifier(migrated_template)
            )
        )
        yield _in_database(postgres_server, name)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
async def nats_url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """URL of a JetStream of this test alone that holds PersonalQ's streams, all empty.

    A server for each test takes 50 ms. One for all with its streams deleted in between does not
    do: nats-server 2.15 sometimes finds the messages of a deleted stream again when it is made anew
    at once.
    """
    from personalq.chassis.events import bootstrap_streams, open_bus

    async with run_nats(tmp_path_factory.mktemp("nats"), port=free_port()) as url:
        async with open_bus(url, name="test-fixture") as bus:
            await bootstrap_streams(bus)
        yield url


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real-world checkpoint files; the test is skipped where it is absent."""
    folder = Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the folder ../shared/data with real-world files is not beside this checkout")
    return folder


def _in_database(url: str, name: str) -> str:
    return url.rpartition("/")[0] + "/" + name
