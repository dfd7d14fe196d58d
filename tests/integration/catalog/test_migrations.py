"""Bringing a database up to date."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path

import psycopg
import pytest
from alembic import command
from alembic.config import Config
from psycopg import sql
from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import create_async_engine
from support.catalog_cards import card, store_cards
from support.embedding_server import embedding_server
from support.ports import free_port

from personalq.catalog import migrations
from personalq.catalog.cards import SELECTABLE, Filter, text_hash
from personalq.catalog.migrations import SCHEMA_VERSION, driver_url, migrate
from personalq.catalog.ports import Embedding, Model
from personalq.catalog.search import Order, Query
from personalq.catalog.store import PostgresStore, open_store
from personalq.chassis.errors import PersonalQError, Unavailable


async def test_migrating_again_changes_nothing(postgres_url: str) -> None:
    """Cards stay, and a wider model's table is added beside the first."""
    async with open_store(postgres_url) as store:
        await store_cards(store, "default", [card("bear")])
        migrate(postgres_url, embedding_dim=1024)
        assert await store.card("default", "bear") is not None
        await store.verify(Model(id="m", dim=1024))
    with psycopg.connect(postgres_url) as connection:
        tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relname LIKE 'embeddings_%' AND relkind = 'r'"
        ).fetchall()
    assert {name for (name,) in tables} == {"embeddings_384", "embeddings_1024"}


def test_statistics_follow_a_new_tenant(postgres_url: str) -> None:
    """Of tables with other tenants' rows too: a tenth of them is more than one tenant has."""
    with psycopg.connect(postgres_url) as connection:
        rows = connection.execute(
            "SELECT relname, reloptions FROM pg_class"
            " WHERE relnamespace = 'personalq'::regnamespace AND relkind = 'r'"
        ).fetchall()
    told = {name: options or [] for name, options in rows}
    for name in ("checkpoints", "labels", "names", "card_words"):
        assert "autovacuum_analyze_scale_factor=0" in told[name]


def test_the_newest_migration_is_the_one_the_code_needs(postgres_url: str) -> None:
    """Whoever adds a migration raises the number the service checks at start."""
    with psycopg.connect(postgres_url) as connection:
        row = connection.execute("SELECT version_num FROM personalq.alembic_version").fetchone()
    assert row == (SCHEMA_VERSION,)


async def test_a_database_of_an_earlier_version_is_refused(postgres_url: str) -> None:
    """The message names the command."""
    with psycopg.connect(postgres_url) as connection:
        connection.execute("UPDATE personalq.alembic_version SET version_num = '0000'")
    async with open_store(postgres_url) as store:
        with pytest.raises(PersonalQError, match="catalog migrate"):
            await store.verify(None)


async def test_a_connection_that_lost_its_role_is_refused(postgres_url: str) -> None:
    """Behind a pooler that drops start-up options a superuser would see every tenant."""
    engine = create_async_engine(driver_url(postgres_url))
    try:
        with pytest.raises(PersonalQError, match="keeps tenants apart"):
            await PostgresStore(engine).verify(None)
    finally:
        await engine.dispose()


async def test_a_login_that_may_not_take_on_the_role_is_told_so(postgres_url: str) -> None:
    """It cannot even connect, which is no outage: waiting would not help."""
    login = f"stranger_{uuid.uuid4().hex}"
    create = sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'x'").format(sql.Identifier(login))
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(create)
    url = driver_url(postgres_url).set(username=login, password="x")
    async with open_store(url.render_as_string(hide_password=False)) as store:
        with pytest.raises(PersonalQError, match="catalog migrate"):
            await store.verify(None)


async def test_a_database_out_of_reach_is_an_outage() -> None:
    """Something that may work later, for the service as for the command."""
    url = f"postgresql://postgres@127.0.0.1:{free_port()}/x"
    async with open_store(url) as store:
        with pytest.raises(Unavailable):
            await store.ready()
    with pytest.raises(Unavailable):
        migrate(url)


@pytest.mark.parametrize("url", ["mysql://x/y", "nonsense", ""])
def test_only_postgres_will_do(url: str) -> None:
    """Any other URL is refused with an example of a good one."""
    with pytest.raises(PersonalQError, match="postgresql://"):
        migrate(url)


def _command(
    environment: Mapping[str, str], task: str = "migrate"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "personalq.catalog", task],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=150,
    )


def test_the_command_reports_success_failure_and_mistakes(postgres_url: str) -> None:
    """Exit codes 0, 1 and 2; a failure is one line, not a traceback."""
    good = _command({"PERSONALQ_CATALOG_POSTGRES_URL": postgres_url})
    assert good.returncode == 0, good.stderr
    away = _command({"PERSONALQ_CATALOG_POSTGRES_URL": f"postgresql://127.0.0.1:{free_port()}/x"})
    assert away.returncode == 1
    assert "Traceback" not in away.stdout + away.stderr
    assert "out of reach" in away.stdout + away.stderr
    assert _command({}).returncode == 2


async def test_cards_can_be_embedded_before_a_new_model_serves(postgres_url: str) -> None:
    """The command fills in what is missing and says so when there is no model."""
    async with open_store(postgres_url) as store:
        await store_cards(store, "red", [card(f"c{i}") for i in range(40)])
        environment = {"PERSONALQ_CATALOG_POSTGRES_URL": postgres_url}
        missing = _command(environment, "embed")
        assert missing.returncode == 1
        assert "PERSONALQ_CATALOG_EMBEDDING_MODEL" in missing.stdout + missing.stderr
        with embedding_server() as server:
            model = {
                "PERSONALQ_CATALOG_EMBEDDING_MODEL": "m",
                "PERSONALQ_CATALOG_EMBEDDING_URL": server.url,
                "PERSONALQ_CATALOG_EMBEDDING_DIM": "4",
            }
            done = _command(environment | model, "embed")
        assert done.returncode == 0, done.stderr
        assert await store.count_unembedded("red", Model(id="m/4", dim=4)) == 0


_FIRST_CARD = """
INSERT INTO personalq.checkpoints (
    tenant, checkpoint_id, name, triggers, subjects, styles, description, base_model, version,
    created_at, use_count, environments, owner, source_uri, source_sha256, source_size_bytes,
    source_format, state, state_reason, registered_at, updated_at, revision, registration_hash,
    text_hash, subject_keys, style_keys, environment_keys, owner_key, lexemes)
VALUES (
    'red', 'bear-1', 'Old bear', ARRAY['<b>'], ARRAY['bear'], ARRAY['sketch'], 'A bear', 'tiny', 1,
    now(), 0, ARRAY['snow'], 'ann', 'file:///x', repeat('a', 64), 1,
    'lora', 'registered', '', now(), now(), 1, 'h',
    't', ARRAY['bear'], ARRAY['sketch'], ARRAY['snow'], 'ann', to_tsvector('simple', 'bear'))
"""


@pytest.mark.usefixtures("migrated_template")
async def test_cards_of_the_first_version_are_found_by_label_and_name(postgres_server: str) -> None:
    """Also when the owner of the tables is no superuser, whom row-level security binds too."""
    name, owner = f"old_{uuid.uuid4().hex}", f"owner_{uuid.uuid4().hex}"
    statement = sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'x' CREATEROLE")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(statement.format(sql.Identifier(owner)))
        connection.execute(
            sql.SQL("CREATE DATABASE {} OWNER {}").format(
                sql.Identifier(name), sql.Identifier(owner)
            )
        )
        # Whoever creates the role may grant it; here it is the superuser's already.
        connection.execute(
            sql.SQL("GRANT personalq_app TO {} WITH ADMIN OPTION").format(sql.Identifier(owner))
        )
    url = driver_url(postgres_server).set(database=name)
    with psycopg.connect(url.set(drivername="postgresql").render_as_string(False)) as connection:
        connection.execute("CREATE EXTENSION vector")
    owned = url.set(username=owner, password="x").render_as_string(hide_password=False)
    engine = create_engine(owned)
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    with engine.begin() as first:
        config.attributes["connection"] = first
        command.upgrade(config, "0001")
        first.execute(text("INSERT INTO personalq.tenants (tenant) VALUES ('red')"))
        first.execute(text("SELECT set_config('app.tenant', 'red', true)"))
        first.execute(text(_FIRST_CARD))
    engine.dispose()
    migrate(owned)
    async with open_store(owned) as store:
        found = Filter(subjects=("bear",), owners=("ann",), triggers=("<B>",), names=("old bear",))
        assert [c.checkpoint_id for c in await store.page("red", found, after=None, limit=9)] == [
            "bear-1"
        ]
        everything = Query(order=Order.NEWEST, filter=Filter(states=SELECTABLE))
        hits = await store.search(
            "red", everything, terms={}, dense=None, model=None, limit=9, offset=0
        )
        assert hits.total_matches == 1
        words = await store.vocabulary("red", "")
        assert (words.subjects, words.styles) == (("bear",), ("sketch",))
        resolved = await store.names("red", ["bear-1", "b", "old bear"])
        assert {(str(each.kind), each.spelling) for each in resolved} == {
            ("id", "bear-1"), ("trigger", "<b>"), ("name", "Old bear"),
        }  # fmt: skip


async def test_vectors_serve_while_room_is_made_for_phrases_and_words(postgres_url: str) -> None:
    """Beside the vectors there are and those to come; the way back keeps the vectors."""
    count = "SELECT count(*) FROM personalq.embeddings_8"
    columns = """
    SELECT attrelid::regclass::text, attname, attstorage FROM pg_attribute
     WHERE attrelid IN (to_regclass('personalq.embeddings_8'),
                        to_regclass('personalq.embeddings_16'))
                       AND (attname LIKE 'phrases%' OR attname = 'words')
     ORDER BY 1, 2
    """
    model = Model(id="m", dim=8)
    async with open_store(postgres_url) as store:
        await store.verify(model)
        async with store.writing("red") as writer:
            made = await writer.put_card(card("bear"))
            embedding = Embedding(model=model, text_hash=text_hash(made), vector=[1.0] * 8)
            await writer.put_embedding("bear", embedding)
        assert await store.count_unembedded("red", model) == 0
        engine = create_engine(driver_url(postgres_url))
        config = Config()
        config.set_main_option("script_location", str(Path(migrations.__file__).parent))
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.downgrade(config, "0004")
            assert {row[1] for row in connection.execute(text(columns))} == {
                "phrases", "phrases_hash",
            }  # fmt: skip
            command.downgrade(config, "0003")
            assert connection.execute(text(columns)).all() == []
            assert connection.execute(text(count)).scalar() == 1
        engine.dispose()
        migrate(postgres_url, embedding_dim=16)
        with psycopg.connect(postgres_url) as connection:
            # Out of line and uncompressed; a hash is short.
            assert connection.execute(columns).fetchall() == [
                (f"personalq.embeddings_{dim}", name, storage)
                for dim in (16, 8)
                for name, storage in (("phrases", "e"), ("phrases_hash", "x"), ("words", "e"))
            ]
            assert connection.execute(count).fetchone() == (1,)
        assert await store.count_unembedded("red", model) == 1
