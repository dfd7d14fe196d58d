"""Tenants do not see each other, even if a query forgets to say whose rows it wants."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import sql
from support.catalog_cards import artifact, card, store_cards

from personalq.catalog.cards import Filter
from personalq.catalog.lifecycle import accept_artifact
from personalq.catalog.store import PostgresStore

RED, BLUE = "red", "blue"
TABLES = (
    *("checkpoints", "names", "words", "labels", "artifacts", "embeddings_384"),
    "card_counts",
)
#: Read through a view of the owner's, which has to keep tenants apart itself; see migrations.
WORDS = ("card_words", "tenant_words")


@pytest.fixture
async def two_tenants(fresh_store: PostgresStore) -> None:
    """Both have a card of the same id, with an artifact."""
    for tenant in (RED, BLUE):
        [bear] = await store_cards(fresh_store, tenant, [card("bear", description=tenant)])
        await accept_artifact(artifact(bear), tenant=tenant, store=fresh_store, profiles=("w8a8",))


async def test_the_same_id_is_two_cards(fresh_store: PostgresStore, two_tenants: None) -> None:
    """Each tenant reads and lists its own."""
    for tenant in (RED, BLUE):
        bear = await fresh_store.card(tenant, "bear")
        assert bear is not None
        assert bear.description == tenant
        assert len(bear.artifacts) == 1
        assert len(await fresh_store.page(tenant, Filter(), after=None, limit=10)) == 1
    assert await fresh_store.card("green", "bear") is None


def _as_app(postgres_url: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(
        postgres_url, options="-c role=personalq_app -c search_path=personalq,public"
    )


async def test_a_query_without_tenant_sees_nothing(postgres_url: str, two_tenants: None) -> None:
    """It fails closed: no setting, and the empty one that a transaction leaves behind."""
    with _as_app(postgres_url) as connection:
        for table in (*TABLES, *WORDS):
            count = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
            connection.execute("RESET app.tenant")
            assert connection.execute(count).fetchone() == (0,)
            connection.execute("SELECT set_config('app.tenant', 'red', true)")
            connection.commit()
            assert connection.execute("SELECT current_setting('app.tenant')").fetchone() == ("",)
            assert connection.execute(count).fetchone() == (0,)


async def test_a_query_sees_the_tenant_of_its_transaction(
    postgres_url: str, two_tenants: None
) -> None:
    """A query that forgets its WHERE returns one tenant's rows."""
    with _as_app(postgres_url) as connection:
        connection.execute("SELECT set_config('app.tenant', 'red', true)")
        for table in ("checkpoints", *WORDS):
            distinct = sql.SQL("SELECT DISTINCT tenant FROM {}").format(sql.Identifier(table))
            assert connection.execute(distinct).fetchall() == [("red",)]


async def test_writing_for_another_tenant_is_refused(postgres_url: str, two_tenants: None) -> None:
    """Neither insert nor move across the border."""
    with _as_app(postgres_url) as connection:
        connection.execute("SELECT set_config('app.tenant', 'red', true)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute("INSERT INTO card_words VALUES ('blue', 'cub', '')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute("UPDATE card_words SET tenant = 'blue'")
        changed = connection.execute("UPDATE checkpoints SET owner = 'x' WHERE tenant = 'blue'")
        assert changed.rowcount == 0


async def test_the_service_works_as_a_role_that_cannot_bypass(
    shared_database: str,
) -> None:
    """Whatever login connects, even the superuser of these tests."""
    with _as_app(shared_database) as connection:
        row = connection.execute(
            "SELECT rolsuper, rolbypassrls, rolcanlogin, rolcreaterole FROM pg_roles"
            " WHERE rolname = current_user"
        ).fetchone()
        assert row == (False, False, False, False)
        connection.execute("RESET ROLE")
        assert connection.execute("SELECT current_user").fetchone() == ("personalq_app",)
    with psycopg.connect(shared_database) as connection:
        forced = connection.execute(
            "SELECT relname FROM pg_class WHERE relforcerowsecurity AND relrowsecurity"
            " AND relnamespace = 'personalq'::regnamespace"
        ).fetchall()
    assert {name for (name,) in forced} >= set(TABLES)


async def test_the_application_role_cannot_change_the_schema(
    shared_database: str,
) -> None:
    """It may make room for another model's vectors, and nothing else."""
    with _as_app(shared_database) as connection:
        for statement in (
            "CREATE TABLE personalq.x (y int)",
            "DROP TABLE checkpoints",
            "ALTER TABLE checkpoints DISABLE ROW LEVEL SECURITY",
            "SELECT isolate_tenants('checkpoints')",
            "DELETE FROM tenants",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute(statement)
        connection.execute("SELECT ensure_embedding_table(16)")
        connection.execute("SELECT set_config('app.tenant', 'red', true)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(
                "INSERT INTO embeddings_16 VALUES ('blue', 'b', 'm', 'h', array_fill(1, '{16}'))"
            )
