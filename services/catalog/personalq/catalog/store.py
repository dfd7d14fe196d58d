"""The catalog's memory in PostgreSQL: every query of the service is in the files store*.py.

The service works as the role `personalq_app`, which row-level security binds to one tenant per
transaction; whichever login `postgres_url` names takes that role on as it connects. Tables are
described in migrations/versions.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from personalq.catalog.cards import Card, Filter, Vocabulary, phrases_hash
from personalq.catalog.likeness import CardVectors
from personalq.catalog.migrations import SCHEMA_VERSION
from personalq.catalog.names import Name
from personalq.catalog.paging import Position
from personalq.catalog.ports import Claimed, Detail, Model, Tenant, Vector
from personalq.catalog.search import Hits, Query
from personalq.catalog.store_cards import FoundCards
from personalq.catalog.store_connections import SET_TENANT, ReadingConnections, Statement
from personalq.catalog.store_constraints import all_of, constraints_of
from personalq.catalog.store_engine import open_engine, outages
from personalq.catalog.store_names import (
    ALL_NAMES,
    FIND_NAMES,
    LISTED_NAMES,
    VOCABULARY,
    VOCABULARY_REVISION,
    all_values,
    find_values,
    to_name,
    to_names,
)
from personalq.catalog.store_rows import CARD_COLUMNS, GET_CARD, to_card
from personalq.catalog.store_search import SET_SCAN, Indexes, found, search_statement, to_hits
from personalq.catalog.store_vectors import FoundVectors
from personalq.catalog.store_write import PostgresWriter
from personalq.chassis.errors import PersonalQError, Unavailable

# The pieces put together below are constants of this file; values are always bound.
# ruff: noqa: S608

# Newest first; the index checkpoints_created serves it.
_PAGE = """
SELECT {card}
  FROM checkpoints c
 WHERE c.tenant = :tenant AND {constraints}
 ORDER BY c.created_at DESC, c.checkpoint_id
 LIMIT :limit
"""
_AFTER = "(c.created_at < :after_at OR (c.created_at = :after_at AND c.checkpoint_id > :after_id))"

# Changes after a revision. One statement, hence one snapshot: every card up to the tenant's
# revision is in it. Without a full page the next question starts from there.
_CHANGES = """
SELECT t.revision AS tenant_revision, changed.*
  FROM tenants t
  LEFT JOIN LATERAL (
        SELECT {card}
          FROM checkpoints c
         WHERE c.tenant = t.tenant AND c.revision > :after AND {constraints}
         ORDER BY c.revision
         LIMIT :limit) changed ON true
 WHERE t.tenant = :tenant
 ORDER BY changed.revision
"""

# The few tenants whose cards have indexes of their own.
_INDEXED = "SELECT tenant, model, common_words, cards FROM indexed_tenants"
_INDEXES_TTL_S = 30.0

_TENANTS = "SELECT tenant, revision FROM tenants ORDER BY tenant"

# Only one replica repairs a tenant at a time; the others go on to the next.
_REPAIR_LOCK = (
    "SELECT pg_try_advisory_xact_lock(hashtext('personalq.reconcile'), hashtext(:tenant))"
)

# Level-triggered repair: cards with a profile for which there is neither an artifact of the current
# recipe and triggers nor a failure under that recipe, and for which nobody asked lately.
_CLAIM_UNSERVED = f"""
WITH unserved AS MATERIALIZED (
        SELECT k.checkpoint_id, k.requested_at, k.requests, missing.profiles
          FROM checkpoints k
         CROSS JOIN LATERAL (
                SELECT array_agg(p ORDER BY p) AS profiles
                  FROM unnest(CAST(:profiles AS text[])) p
                 WHERE NOT EXISTS (
                        SELECT FROM artifacts a
                         WHERE a.tenant = k.tenant AND a.checkpoint_id = k.checkpoint_id
                           AND a.source_sha256 = k.source_sha256 AND a.profile = p
                           AND ((a.digest <> '' AND a.recipe_version >= :recipe_version
                                 AND a.triggers = k.triggers)
                                OR (a.failed_at IS NOT NULL
                                    AND a.failed_recipe_version >= :recipe_version)))) missing
         WHERE k.tenant = :tenant AND k.state <> 'archived' AND missing.profiles IS NOT NULL
), due AS (
        SELECT checkpoint_id, profiles
          FROM unserved
         WHERE requested_at
               + make_interval(secs => :patience_s * power(2, least(requests - 1, 6))) <= now()
         ORDER BY requested_at, checkpoint_id
         LIMIT :limit
), claimed AS (
        UPDATE checkpoints c
           SET requested_at = now(), requests = c.requests + 1
          FROM due
         WHERE c.tenant = :tenant AND c.checkpoint_id = due.checkpoint_id
     RETURNING due.profiles, c.requested_at, {CARD_COLUMNS}
)
SELECT NOT EXISTS (SELECT FROM unserved) AS complete, claimed.*
  FROM (VALUES (1)) AS always
  LEFT JOIN claimed ON true
"""

# Vectors are out of date when their text is, those of phrases also when these are made otherwise.
_WITHOUT_VECTOR = """
  FROM checkpoints c
 WHERE c.tenant = :tenant AND c.state <> 'archived' AND c.checkpoint_id > :after
   AND NOT EXISTS (SELECT FROM embeddings_{dim} e
                    WHERE e.tenant = c.tenant AND e.checkpoint_id = c.checkpoint_id
                      AND e.model = :model AND e.text_hash = c.text_hash
                      AND e.phrases_hash = CAST(:phrases_of AS text) || c.text_hash)
"""
_UNEMBEDDED = f"""
SELECT {CARD_COLUMNS}
{_WITHOUT_VECTOR}
 ORDER BY c.checkpoint_id
 LIMIT :limit
"""
_COUNT_UNEMBEDDED = f"SELECT count(*) {_WITHOUT_VECTOR}"
_ENSURE_EMBEDDINGS = "SELECT ensure_embedding_table(:dim)"
# What `verify` asks; `is_app` is false where a pooler has dropped our start-up options.
_SCHEMA_VERSION = """
SELECT version_num, current_user = 'personalq_app' AS is_app FROM personalq.alembic_version
"""


class PostgresStore:
    """CardStore and Upkeep on PostgreSQL with pgvector."""

    def __init__(self, engine: AsyncEngine, *, listed_names: int = LISTED_NAMES) -> None:
        self._engine = engine
        self._listed_names = listed_names
        self._reading = ReadingConnections(engine)
        self._found = FoundCards(self._read)
        self._vectors = FoundVectors(self._read)
        self._indexes: dict[tuple[str, str], Indexes] = {}
        self._indexes_read_at = -_INDEXES_TTL_S

    async def verify(self, model: Model | None) -> None:
        """Check that the schema is there; make room for the model's vectors.

        Raises:
            PersonalQError: the database was not migrated, or is of an earlier version.
            Unavailable: the database is out of reach.
        """
        try:
            async with self._transaction() as connection:
                version, is_app = (await connection.execute(text(_SCHEMA_VERSION))).one()
        except DBAPIError as error:
            raise _not_migrated(str(error.orig).strip()) from error
        except Unavailable as error:
            # Before the first migration there is no such role, so that nothing connects at all.
            reason = str(getattr(error.__cause__, "orig", "")).strip()
            if "personalq_app" in reason:
                raise _not_migrated(reason) from error
            raise
        if version < SCHEMA_VERSION:
            raise _not_migrated(f"it is at version {version}, {SCHEMA_VERSION} is needed")
        if not is_app:
            raise PersonalQError(
                "the connection does not work as personalq_app, the role that keeps tenants apart; "
                "connect without a pooler, or ALTER ROLE login SET role = personalq_app"
            )
        if model is not None:
            async with self._transaction() as connection:
                await connection.execute(text(_ENSURE_EMBEDDINGS), {"dim": model.dim})

    async def ready(self) -> bool:
        """Whether the database answers; raises Unavailable when it cannot be reached."""
        async with self._transaction() as connection:
            await connection.execute(text("SELECT 1"))
        return True

    async def card(self, tenant: str, checkpoint_id: str) -> Card | None:
        """One card with its artifacts; None when there is none."""
        [rows] = await self._read(tenant, (GET_CARD, {"id": checkpoint_id}))
        return to_card(rows[0]) if rows else None

    async def page(
        self, tenant: str, constraints: Filter, *, after: Position | None, limit: int
    ) -> list[Card]:
        """The newest cards that satisfy the constraints, after a position."""
        found = constraints_of(constraints)
        where, values = [found.sql], found.values
        if after is not None:
            where.append(_AFTER)
            values |= {"after_at": after.created_at, "after_id": after.checkpoint_id}
        statement = _PAGE.format(card=CARD_COLUMNS, constraints=all_of(where))
        [rows] = await self._read(tenant, (statement, values | {"limit": limit}))
        return [to_card(row) for row in rows]

    async def changes(
        self, tenant: str, constraints: Filter, *, after: int, limit: int
    ) -> tuple[list[Card], int]:
        """Cards changed after a revision, in order, and the revision to go on from."""
        found = constraints_of(constraints)
        statement = _CHANGES.format(card=CARD_COLUMNS, constraints=found.sql)
        [rows] = await self._read(
            tenant, (statement, found.values | {"after": after, "limit": limit})
        )
        if not rows:
            return [], after
        cards = [to_card(row) for row in rows if row["checkpoint_id"] is not None]
        if len(cards) == limit:
            return cards, cards[-1].revision
        return cards, max(after, rows[0]["tenant_revision"])

    async def search(
        self,
        tenant: str,
        query: Query,
        *,
        terms: Mapping[str, str],
        dense: Vector | None,
        model: Model | None,
        limit: int,
        offset: int,
        detail: Detail = Detail.NONE,
    ) -> Hits:
        """Rank the cards that satisfy the constraints."""
        search = search_statement(
            query,
            terms=terms,
            dense=dense,
            model=model,
            limit=limit,
            offset=offset,
            indexes=await self._indexes_of(tenant, model),
            detail=detail,
        )
        scan: list[Statement] = [(SET_SCAN, {})] if search.indexed else []
        while True:
            *_, rows = await self._read(tenant, *scan, (search.statement, search.values))
            cards = await self._found.of(tenant, found(rows))
            if cards is None:
                continue  # One has changed in between: it may not satisfy the constraints any more.
            vectors: Sequence[CardVectors | None] = [None] * len(cards)
            if detail is not Detail.NONE and model is not None:
                vectors = await self._vectors.of(tenant, model, detail, found(rows))
            return to_hits(rows, cards, vectors)

    async def vocabulary(self, tenant: str, known_revision: str) -> Vocabulary:
        """The words of selectable cards and their names, unless the caller has them already."""
        # What comes between the two reads is listed before its revision is.
        [current] = await self._read(tenant, (VOCABULARY_REVISION, {}))
        revision: str = current[0]["revision"] if current else "none"
        cards: int = current[0]["cards"] if current else 0
        if revision == known_revision:
            return Vocabulary(revision=revision, modified=False, cards=cards)
        rows, called = await self._read(
            tenant, (VOCABULARY, {}), (ALL_NAMES, all_values(self._listed_names))
        )
        words = {row["kind"]: tuple(row["words"]) for row in rows}
        names, complete = to_names(called)
        return Vocabulary(
            revision=revision,
            modified=True,
            names=names,
            names_complete=complete,
            cards=cards,
            **words,
        )

    async def names(self, tenant: str, keys: Sequence[str]) -> list[Name]:
        """The names of selectable cards that have one of these keys, each spelling once."""
        [rows] = await self._read(tenant, (FIND_NAMES, find_values(keys)))
        return [to_name(row) for row in rows]

    @asynccontextmanager
    async def writing(self, tenant: str) -> AsyncIterator[PostgresWriter]:
        """Open a transaction; it commits when the block ends without an exception."""
        async with self._transaction(tenant) as connection:
            writer = PostgresWriter(connection, tenant)
            yield writer
            await writer.finish()
        self._found.keep(tenant, writer.cards)

    async def tenants(self) -> list[Tenant]:
        """All tenants that ever had a card."""
        async with self._transaction() as connection:
            rows = (await connection.execute(text(_TENANTS))).all()
        return [Tenant(name=name, revision=revision) for name, revision in rows]

    async def claim_unserved(
        self,
        tenant: str,
        *,
        profiles: Sequence[str],
        recipe_version: int,
        patience_s: float,
        limit: int,
    ) -> Claimed:
        """Cards whose artifacts are missing and were not asked for lately."""
        values = {
            "tenant": tenant,
            "profiles": list(profiles),
            "recipe_version": recipe_version,
            "patience_s": patience_s,
            "limit": limit,
        }
        async with self._transaction(tenant) as connection:
            free = await connection.execute(text(_REPAIR_LOCK), {"tenant": tenant})
            if not free.scalar_one():
                return Claimed()
            rows = (await connection.execute(text(_CLAIM_UNSERVED), values)).mappings().all()
        return Claimed(
            cards=[
                (to_card(row), row["profiles"], row["requested_at"])
                for row in rows
                if row["checkpoint_id"] is not None
            ],
            complete=rows[0]["complete"],
        )

    async def unembedded(
        self, tenant: str, model: Model, limit: int, *, after: str = ""
    ) -> list[Card]:
        """Cards without up-to-date vectors of the model, by id, from behind an id."""
        async with self._transaction(tenant) as connection:
            rows = await connection.execute(
                text(_UNEMBEDDED.format(dim=model.dim)),
                _without_vector(tenant, model, after) | {"limit": limit},
            )
            return [to_card(row) for row in rows.mappings()]

    async def count_unembedded(self, tenant: str, model: Model) -> int:
        """How many cards have no up-to-date vectors of the model."""
        async with self._transaction(tenant) as connection:
            found = await connection.execute(
                text(_COUNT_UNEMBEDDED.format(dim=model.dim)),
                _without_vector(tenant, model, ""),
            )
            return int(found.scalar_one())

    async def _indexes_of(self, tenant: str, model: Model | None) -> Indexes | None:
        """The indexes of a tenant's for a model, as of half a minute ago at most.

        While those over the vectors of another model wait for their vectors, words and time serve.
        """
        if model is None:
            return None
        if time.monotonic() - self._indexes_read_at > _INDEXES_TTL_S:
            [rows] = await self._read(tenant, (_INDEXED, {}))
            self._indexes = {
                (row["tenant"], row["model"]): Indexes(
                    common_words=frozenset(row["common_words"]), cards=row["cards"]
                )
                for row in rows
            }
            self._indexes |= {
                (name, ""): replace(known, vectors=False)
                for (name, _), known in self._indexes.items()
            }
            self._indexes_read_at = time.monotonic()
        return self._indexes.get((tenant, model.id)) or self._indexes.get((tenant, ""))

    async def _read(self, tenant: str, *statements: Statement) -> list[list[dict[str, Any]]]:
        """The rows of statements that write nothing, in one transaction and one round trip."""
        with outages():
            return await self._reading.read(tenant, *statements)

    @asynccontextmanager
    async def _transaction(self, tenant: str = "") -> AsyncIterator[AsyncConnection]:
        """A transaction that sees one tenant; without one it sees no tenant's rows."""
        with outages():
            async with self._engine.begin() as connection:
                if tenant:
                    await connection.execute(text(SET_TENANT), {"tenant": tenant})
                yield connection


@asynccontextmanager
async def open_store(
    postgres_url: str, *, pool_size: int = 10, listed_names: int = LISTED_NAMES
) -> AsyncIterator[PostgresStore]:
    """A store with a pool of connections; connects when first used.

    Args:
        listed_names: of a tenant with more names, none come with the vocabulary.

    Raises:
        PersonalQError: the URL cannot be read.
    """
    async with open_engine(postgres_url, pool_size=pool_size) as engine:
        yield PostgresStore(engine, listed_names=listed_names)


def _without_vector(tenant: str, model: Model, after: str) -> dict[str, str]:
    return {"tenant": tenant, "model": model.id, "after": after, "phrases_of": phrases_hash("")}


def _not_migrated(why: str) -> PersonalQError:
    return PersonalQError(
        f"the database is not ready ({why}); run `python -m personalq.catalog migrate` first, and "
        "see that the login is a member of the role personalq_app"
    )
