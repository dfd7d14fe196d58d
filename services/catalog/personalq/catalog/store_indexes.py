"""Indexes of single tenants: made beside reading and writing, by the owner of the tables.

An index over everybody's vectors would be of no use: what it finds nearest is mostly other
tenants'. So a tenant with enough cards gets two of its own, over its vectors and over its words.
The service's role owns nothing and cannot make any; its login may, where it is the owner.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg import sql

from personalq.catalog.migrations import driver_url
from personalq.catalog.ports import LargeTenant, Model
from personalq.chassis.errors import PersonalQError, Unavailable

log = logging.getLogger(__name__)

#: A word that more cards have is not worth looking up: reading them takes too long.
_COMMON = 2_000
#: Share of the cards that may lack a vector; with more of them vectors rank nothing anyway.
_GAPS = 0.1
#: Settings of the connection. A graph that outgrows its memory takes ten times as long to build;
#: one process builds it, so that the other cores go on answering.
_OPTIONS = (
    "-c search_path=personalq,public -c statement_timeout=0 -c lock_timeout=0 "
    "-c maintenance_work_mem=512MB -c max_parallel_maintenance_workers=0"
)

_IS_OWNER = "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass(%s)"
_LOCK = "SELECT pg_try_advisory_lock(hashtext('personalq.index'))"
# Revisions count changes, so there are never more cards than that.
_LARGE = """
SELECT t.tenant, counted.cards
  FROM tenants t
 CROSS JOIN LATERAL (SELECT count(*) AS cards FROM card_words w WHERE w.tenant = t.tenant) counted
 WHERE t.revision >= %(cards)s AND counted.cards >= %(cards)s
   AND NOT EXISTS (SELECT FROM indexed_tenants i
                    WHERE i.tenant = t.tenant AND i.model = %(model)s
                      AND i.cards * 2 > counted.cards)
 ORDER BY counted.cards DESC, t.tenant
"""
# Row-level security binds the owner too.
_SET_TENANT = "SELECT set_config('app.tenant', %s, true)"
_WAITING = """
SELECT count(*) FROM checkpoints c
 WHERE c.tenant = %(tenant)s AND c.state <> 'archived'
   AND NOT EXISTS (SELECT FROM {table} e
                    WHERE e.tenant = c.tenant AND e.checkpoint_id = c.checkpoint_id
                      AND e.model = %(model)s)
"""
_IS_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
# Twice pgvector's own care in building: a third longer, and half of what is missed is found.
_VECTORS = """
CREATE INDEX CONCURRENTLY {index} ON {table} USING hnsw (embedding halfvec_cosine_ops)
  WITH (ef_construction = 200)
 WHERE tenant = {tenant} AND model = {model}
"""
# Without a list of pending entries, which each search would have to read.
_WORDS = """
CREATE INDEX CONCURRENTLY {index} ON card_words USING gin (lexemes) WITH (fastupdate = off)
 WHERE tenant = {tenant}
"""
_COMMON_WORDS = """
SELECT coalesce(array_agg(word), '{{}}') FROM ts_stat({query}) WHERE ndoc > {common}
"""
_PUT = """
INSERT INTO indexed_tenants (tenant, model, common_words, cards) VALUES (%s, %s, %s, %s)
ON CONFLICT (tenant, model) DO UPDATE SET
    common_words = excluded.common_words, cards = excluded.cards, indexed_at = now()
"""


class TenantIndexes:
    """Indexer on a connection of the owner's."""

    def __init__(self, connection: psycopg.AsyncConnection[tuple[Any, ...]]) -> None:
        self._connection = connection

    async def due(self, model: Model, *, from_cards: int) -> list[LargeTenant]:
        """Tenants without indexes, or that have doubled since: the largest first.

        One whose cards wait for vectors of this model has to wait too: filling an index takes
        longer than making it, and it would propose none but the cards that have one.
        """
        values = {"cards": from_cards, "model": model.id}
        rows = await self._connection.execute(_LARGE, values)
        large = [LargeTenant(name=name, cards=cards) for name, cards in await rows.fetchall()]
        return [each for each in large if await self._waiting(each, model) <= _GAPS * each.cards]

    async def make(self, tenant: LargeTenant, model: Model) -> None:
        """Make a tenant's indexes; what is there stays, what broke off is made again."""
        table = f"embeddings_{model.dim}"
        parts = {"tenant": sql.Literal(tenant.name), "model": sql.Literal(model.id)}
        name = f"{table}_{_digest(tenant.name, model.id)}"
        await self._create(name, _VECTORS, table=sql.Identifier(table), **parts)
        await self._create(f"card_words_{_digest(tenant.name)}", _WORDS, **parts)
        query = sql.SQL("SELECT lexemes FROM personalq.card_words WHERE tenant = {tenant}")
        statement = sql.SQL(_COMMON_WORDS).format(
            query=sql.Literal(query.format(**parts).as_string(self._connection)),
            common=sql.Literal(_COMMON),
        )
        row = await (await self._connection.execute(statement)).fetchone()
        words = row[0] if row else []
        await self._connection.execute(_PUT, (tenant.name, model.id, words, tenant.cards))

    async def _waiting(self, tenant: LargeTenant, model: Model) -> int:
        """How many of the tenant's cards have no vector of the model yet."""
        waiting = sql.SQL(_WAITING).format(table=sql.Identifier(f"embeddings_{model.dim}"))
        async with self._connection.transaction():
            await self._connection.execute(_SET_TENANT, [tenant.name])
            values = {"tenant": tenant.name, "model": model.id}
            row = await (await self._connection.execute(waiting, values)).fetchone()
        return int(row[0]) if row else 0

    async def _create(self, name: str, statement: str, **parts: sql.Composable) -> None:
        index = sql.Identifier(name)
        row = await (await self._connection.execute(_IS_VALID, [name])).fetchone()
        if row is not None and row[0]:
            return
        if row is not None:
            await self._connection.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(index))
        await self._connection.execute(sql.SQL(statement).format(index=index, **parts))


@asynccontextmanager
async def open_indexes(postgres_url: str, model: Model) -> AsyncIterator[TenantIndexes | None]:
    """A maker of indexes; None when another process is at it, or the login owns no tables.

    Raises:
        Unavailable: the database is out of reach.
        PersonalQError: it refused a step, for instance because its disk is full.
    """
    url = driver_url(postgres_url).set(drivername="postgresql")
    try:
        connection = await psycopg.AsyncConnection.connect(
            url.render_as_string(hide_password=False),
            autocommit=True,
            options=_OPTIONS,
            application_name="personalq-catalog-index",
        )
    except psycopg.OperationalError as error:
        raise Unavailable("the catalog's database is out of reach; try again later") from error
    try:
        async with connection:
            yield await _maker(connection, model)
    except psycopg.Error as error:
        reason = (str(error).strip() or "no reason given").splitlines()[0]
        if connection.broken:
            raise Unavailable(f"the catalog's database went away: {reason}") from error
        raise PersonalQError(f"the database refused to make an index: {reason}") from error


async def _maker(
    connection: psycopg.AsyncConnection[tuple[Any, ...]], model: Model
) -> TenantIndexes | None:
    owner = await (await connection.execute(_IS_OWNER, [f"embeddings_{model.dim}"])).fetchone()
    if owner is None or not owner[0]:
        log.info(
            "large tenants get their indexes from `python -m personalq.catalog index`, run by "
            "the owner of the tables",
            extra={"action": "index_tenants"},
        )
        return None
    free = await (await connection.execute(_LOCK)).fetchone()
    return TenantIndexes(connection) if free and free[0] else None


def _digest(*names: str) -> str:
    return hashlib.sha256("\0".join(names).encode()).hexdigest()[:12]
