"""The catalog's memory in PostgreSQL: every query of the service is in this file.

The service works as the role `personalq_app`, which row-level security binds to one tenant per
transaction; whichever login `postgres_url` names takes that role on as it connects. Tables are
described in migrations/versions.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.engine import RowMapping
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from personalq.catalog.cards import (
    SELECTABLE,
    Artifact,
    Card,
    Filter,
    Format,
    Origin,
    State,
    Vocabulary,
    text_hash,
)
from personalq.catalog.lifecycle import Outcome
from personalq.catalog.migrations import SCHEMA_VERSION, driver_url
from personalq.catalog.paging import Position
from personalq.catalog.ports import Embedding, Model, Vector
from personalq.catalog.search import Hit, Hits, Order, Query
from personalq.catalog.words import fold, key, vector_literal
from personalq.chassis.errors import PersonalQError, Unavailable

log = logging.getLogger(__name__)

# The pieces put together below are constants of this file; values are always bound.
# ruff: noqa: S608

#: Channel of NOTIFY; the payload is the tenant.
CHANNEL = "personalq_cards"

#: How far down a ranking still counts; also the largest page.
_LEG_DEPTH = 1000
#: Reciprocal rank fusion, score = sum of 1 / (k + rank).
_RRF_K = 60
#: Weights of the roles D, C, B, A in the sparse ranking.
_ROLE_WEIGHTS = "{0.2, 0.4, 0.6, 1.0}"

# Columns of a card; a query names its table `c`.
_CARD = """
    c.checkpoint_id, c.name, c.triggers, c.subjects, c.styles, c.description, c.base_model,
    c.version, c.created_at, c.last_used_at, c.use_count, c.environments, c.owner,
    c.source_uri, c.source_sha256, c.source_size_bytes, c.source_format,
    c.lora_rank, c.cross_attention_width, c.state, c.state_reason, c.registered_at, c.updated_at,
    c.revision, c.registration_hash,
    (SELECT jsonb_agg(to_jsonb(a) ORDER BY a.profile)
       FROM artifacts a
      WHERE a.tenant = c.tenant AND a.checkpoint_id = c.checkpoint_id
        AND a.source_sha256 = c.source_sha256 AND a.digest <> '') AS artifacts
"""

# Row-level security: what the rest of the transaction may see.
_SET_TENANT = "SELECT set_config('app.tenant', :tenant, true)"

# The tenant's row is created with its first card.
_ADD_TENANT = "INSERT INTO tenants (tenant) VALUES (:tenant) ON CONFLICT DO NOTHING"

# Writers of a tenant go one after the other; see migrations for why.
_LOCK_TENANT = "SELECT 1 FROM tenants WHERE tenant = :tenant FOR UPDATE"

# The next revision; the vocabulary has its own count.
_NEXT_REVISION = """
UPDATE tenants
   SET revision = revision + 1,
       vocabulary_revision = vocabulary_revision + CAST(:new_words AS integer)
 WHERE tenant = :tenant
RETURNING revision
"""

# Watchers wake up when the transaction commits.
_NOTIFY = "SELECT pg_notify(:channel, :tenant)"

_GET_CARD = f"SELECT {_CARD} FROM checkpoints c WHERE c.tenant = :tenant AND c.checkpoint_id = :id"

# A registration, a change or a new state: the whole row. The quantizer's time starts anew with a
# new file and with new triggers; both are announced.
_PUT_CARD = """
INSERT INTO checkpoints AS c (
    tenant, checkpoint_id, name, triggers, subjects, styles, description, base_model, version,
    created_at, last_used_at, use_count, environments, owner,
    source_uri, source_sha256, source_size_bytes, source_format, lora_rank, cross_attention_width,
    state, state_reason, registered_at, updated_at, revision, registration_hash, text_hash,
    subject_keys, style_keys, environment_keys, owner_key, lexemes)
VALUES (
    :tenant, :checkpoint_id, :name, :triggers, :subjects, :styles, :description, :base_model,
    :version, :created_at, :last_used_at, :use_count, :environments, :owner,
    :source_uri, :source_sha256, :source_size_bytes, :source_format, :lora_rank,
    :cross_attention_width, :state, :state_reason, now(), now(), :revision, :registration_hash,
    :text_hash, :subject_keys, :style_keys, :environment_keys, :owner_key,
    CAST(:lexemes AS tsvector))
ON CONFLICT (tenant, checkpoint_id) DO UPDATE SET
    name = excluded.name, triggers = excluded.triggers, subjects = excluded.subjects,
    styles = excluded.styles, description = excluded.description,
    base_model = excluded.base_model, version = excluded.version,
    created_at = excluded.created_at, last_used_at = excluded.last_used_at,
    use_count = excluded.use_count, environments = excluded.environments, owner = excluded.owner,
    source_uri = excluded.source_uri, source_sha256 = excluded.source_sha256,
    source_size_bytes = excluded.source_size_bytes, source_format = excluded.source_format,
    lora_rank = excluded.lora_rank, cross_attention_width = excluded.cross_attention_width,
    state = excluded.state, state_reason = excluded.state_reason, updated_at = now(),
    revision = excluded.revision, registration_hash = excluded.registration_hash,
    text_hash = excluded.text_hash, subject_keys = excluded.subject_keys,
    style_keys = excluded.style_keys, environment_keys = excluded.environment_keys,
    owner_key = excluded.owner_key, lexemes = excluded.lexemes,
    requested_at = CASE WHEN c.source_sha256 = excluded.source_sha256
                         AND c.triggers = excluded.triggers THEN c.requested_at ELSE now() END,
    requests = CASE WHEN c.source_sha256 = excluded.source_sha256
                     AND c.triggers = excluded.triggers THEN c.requests ELSE 1 END
RETURNING {card}
"""

# The lower-case lookup of a card's triggers follows the card.
_PUT_TRIGGERS = """
WITH dropped AS (
    DELETE FROM triggers
     WHERE tenant = :tenant AND checkpoint_id = :id AND trigger_key <> ALL (:trigger_keys)
)
INSERT INTO triggers (tenant, checkpoint_id, trigger_key)
SELECT :tenant, :id, trigger_key FROM unnest(CAST(:trigger_keys AS text[])) AS trigger_key
ON CONFLICT DO NOTHING
"""

# What became of each profile of one source.
_GET_OUTCOMES = """
SELECT * FROM artifacts
 WHERE tenant = :tenant AND checkpoint_id = :id AND source_sha256 = :source_sha256
"""

_PUT_OUTCOME = """
INSERT INTO artifacts (
    tenant, checkpoint_id, source_sha256, profile, digest, size_bytes, base_digest,
    base_size_bytes, base_model, recipe_version, triggers, created_at,
    failed_at, failed_reason, failed_recipe_version)
VALUES (
    :tenant, :checkpoint_id, :source_sha256, :profile, :digest, :size_bytes, :base_digest,
    :base_size_bytes, :base_model, :recipe_version, :triggers, :created_at,
    :failed_at, :failed_reason, :failed_recipe_version)
ON CONFLICT (tenant, checkpoint_id, source_sha256, profile) DO UPDATE SET
    digest = excluded.digest, size_bytes = excluded.size_bytes,
    base_digest = excluded.base_digest, base_size_bytes = excluded.base_size_bytes,
    base_model = excluded.base_model, recipe_version = excluded.recipe_version,
    triggers = excluded.triggers, created_at = excluded.created_at,
    failed_at = excluded.failed_at, failed_reason = excluded.failed_reason,
    failed_recipe_version = excluded.failed_recipe_version
"""

# An answer of the quantizer: patience with it starts anew.
_ANSWERED = """
UPDATE checkpoints SET requested_at = now(), requests = 1
 WHERE tenant = :tenant AND checkpoint_id = :id
"""

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

# Hybrid search in one statement. `matches` holds the hard constraints and nothing else decides
# what is returned; the two legs only rank it, by row_number so that ranks are unique, ties going to
# the smaller id. Each CTE is materialized: the planner must not mix constraint and ranking.
_SEARCH = """
WITH matches AS MATERIALIZED (
    SELECT c.checkpoint_id, c.created_at, c.last_used_at, c.use_count, c.lexemes
      FROM checkpoints c
     WHERE c.tenant = :tenant AND {constraints}
),
{dense},
{sparse},
fused AS MATERIALIZED (
    SELECT m.checkpoint_id, m.created_at, m.last_used_at, m.use_count, d.similarity,
           coalesce(d.rank, 0) AS dense_rank, coalesce(s.rank, 0) AS sparse_rank,
           coalesce(1.0 / (:k + d.rank), 0) + coalesce(1.0 / (:k + s.rank), 0) AS score
      FROM matches m
      LEFT JOIN dense d USING (checkpoint_id)
      LEFT JOIN sparse s USING (checkpoint_id)
),
page AS MATERIALIZED (
    SELECT f.*, row_number() OVER (ORDER BY {order} f.score DESC, f.created_at DESC,
                                   f.checkpoint_id) AS place
      FROM fused f
     ORDER BY place
     LIMIT :limit OFFSET :offset
)
SELECT (SELECT count(*) FROM matches) AS total_matches,
       p.place, p.score, p.similarity, p.dense_rank, p.sparse_rank, {card}
  FROM (VALUES (1)) AS always
  LEFT JOIN page p ON true
  LEFT JOIN checkpoints c ON c.tenant = :tenant AND c.checkpoint_id = p.checkpoint_id
 ORDER BY p.place
"""

# Exact nearest neighbours among the matches; `+ 0` keeps a future index from changing the order.
_DENSE = """
dense AS MATERIALIZED (
    SELECT checkpoint_id, similarity,
           row_number() OVER (ORDER BY similarity DESC, checkpoint_id) AS rank
      FROM (SELECT m.checkpoint_id,
                   1 - (e.embedding <=> CAST(:vector AS halfvec({dim}))) AS similarity
              FROM matches m
              JOIN embeddings_{dim} e ON e.tenant = :tenant AND e.model = :model
                                     AND e.checkpoint_id = m.checkpoint_id
             ORDER BY similarity DESC, checkpoint_id
             LIMIT :depth) nearest
)"""
_DENSE_OFF = """
dense AS MATERIALIZED (
    SELECT NULL::text AS checkpoint_id, NULL::float8 AS similarity, NULL::bigint AS rank
     WHERE false
)"""

# ts_rank_cd, because ts_rank forgets which roles a term may match.
_SPARSE = """
sparse AS MATERIALIZED (
    SELECT checkpoint_id, row_number() OVER (ORDER BY weight DESC, checkpoint_id) AS rank
      FROM (SELECT m.checkpoint_id,
                   ts_rank_cd(CAST(:weights AS float4[]), m.lexemes, q.terms) AS weight
              FROM matches m, (SELECT CAST(:terms AS tsquery) AS terms) q
             WHERE m.lexemes @@ q.terms
             ORDER BY weight DESC, checkpoint_id
             LIMIT :depth) weighed
     WHERE weight > 0
)"""
_SPARSE_OFF = """
sparse AS MATERIALIZED (
    SELECT NULL::text AS checkpoint_id, NULL::bigint AS rank WHERE false
)"""

_ORDERS: Mapping[Order, str] = {
    Order.RELEVANCE: "",
    Order.NEWEST: "f.created_at DESC,",
    Order.OLDEST: "f.created_at ASC,",
    Order.LAST_USED: "f.last_used_at DESC NULLS LAST,",
    Order.MOST_USED: "f.use_count DESC,",
}

# Words of the cards that can be selected; nothing is counted while the caller's are current.
_VOCABULARY_REVISION = (
    "SELECT epoch || '-' || vocabulary_revision FROM tenants WHERE tenant = :tenant"
)
_VOCABULARY = """
WITH selectable AS MATERIALIZED (
    SELECT checkpoint_id, triggers, subjects, styles, environments, owner
      FROM checkpoints WHERE tenant = :tenant AND state = ANY (:states)
)
SELECT (SELECT epoch || '-' || vocabulary_revision FROM tenants WHERE tenant = :tenant) AS revision,
       ARRAY(SELECT DISTINCT w FROM selectable, unnest(subjects) w ORDER BY w) AS subjects,
       ARRAY(SELECT DISTINCT w FROM selectable, unnest(styles) w ORDER BY w) AS styles,
       ARRAY(SELECT DISTINCT w FROM selectable, unnest(environments) w ORDER BY w) AS environments,
       ARRAY(SELECT DISTINCT owner FROM selectable WHERE owner <> '' ORDER BY owner) AS owners,
       ARRAY(SELECT DISTINCT w FROM selectable, unnest(triggers) w ORDER BY w) AS triggers,
       ARRAY(SELECT checkpoint_id FROM selectable ORDER BY checkpoint_id) AS checkpoint_ids
"""

_TENANTS = "SELECT tenant FROM tenants ORDER BY tenant"

# Only one replica repairs a tenant at a time; the others go on to the next.
_REPAIR_LOCK = (
    "SELECT pg_try_advisory_xact_lock(hashtext('personalq.reconcile'), hashtext(:tenant))"
)

# Level-triggered repair: cards with a profile for which there is neither an artifact of the current
# recipe and triggers nor a failure under that recipe, and for which nobody asked lately.
_CLAIM_UNSERVED = f"""
UPDATE checkpoints c
   SET requested_at = now(), requests = c.requests + 1
  FROM (SELECT k.checkpoint_id, missing.profiles
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
           AND k.requested_at
               + make_interval(secs => :patience_s * power(2, least(k.requests - 1, 6))) <= now()
         ORDER BY k.requested_at, k.checkpoint_id
         LIMIT :limit) due
 WHERE c.tenant = :tenant AND c.checkpoint_id = due.checkpoint_id
RETURNING due.profiles, c.requested_at, {_CARD}
"""

# A vector is out of date when its text is.
_UNEMBEDDED = f"""
SELECT {_CARD}
  FROM checkpoints c
 WHERE c.tenant = :tenant AND c.state <> 'archived' AND c.checkpoint_id > :after
   AND NOT EXISTS (SELECT FROM embeddings_{{dim}} e
                    WHERE e.tenant = c.tenant AND e.checkpoint_id = c.checkpoint_id
                      AND e.model = :model AND e.text_hash = c.text_hash)
 ORDER BY c.checkpoint_id
 LIMIT :limit
"""
_PUT_EMBEDDING = """
INSERT INTO embeddings_{dim} (tenant, checkpoint_id, model, text_hash, embedding)
VALUES (:tenant, :id, :model, :text_hash, CAST(:vector AS halfvec({dim})))
ON CONFLICT (tenant, checkpoint_id, model)
DO UPDATE SET text_hash = excluded.text_hash, embedding = excluded.embedding
"""

_ENSURE_EMBEDDINGS = "SELECT ensure_embedding_table(:dim)"
# What `verify` asks; `is_app` is false where a pooler has dropped our start-up options.
_SCHEMA_VERSION = """
SELECT version_num, current_user = 'personalq_app' AS is_app FROM personalq.alembic_version
"""


class PostgresStore:
    """CardStore and Upkeep on PostgreSQL with pgvector."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

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
        async with self._transaction(tenant) as connection:
            return await _get_card(connection, tenant, checkpoint_id)

    async def page(
        self, tenant: str, constraints: Filter, *, after: Position | None, limit: int
    ) -> list[Card]:
        """The newest cards that satisfy the constraints, after a position."""
        where, values = _conditions(constraints)
        if after is not None:
            where.append(_AFTER)
            values |= {"after_at": after.created_at, "after_id": after.checkpoint_id}
        statement = _PAGE.format(card=_CARD, constraints=_all(where))
        async with self._transaction(tenant) as connection:
            rows = await connection.execute(
                text(statement), values | {"tenant": tenant, "limit": limit}
            )
            return [_to_card(row) for row in rows.mappings()]

    async def changes(
        self, tenant: str, constraints: Filter, *, after: int, limit: int
    ) -> tuple[list[Card], int]:
        """Cards changed after a revision, in order, and the revision to go on from."""
        where, values = _conditions(constraints)
        statement = _CHANGES.format(card=_CARD, constraints=_all(where))
        async with self._transaction(tenant) as connection:
            result = await connection.execute(
                text(statement), values | {"tenant": tenant, "after": after, "limit": limit}
            )
            rows = result.mappings().all()
        if not rows:
            return [], after
        cards = [_to_card(row) for row in rows if row["checkpoint_id"] is not None]
        if len(cards) == limit:
            return cards, cards[-1].revision
        return cards, max(after, rows[0]["tenant_revision"])

    async def search(
        self,
        tenant: str,
        query: Query,
        *,
        sparse: str,
        dense: Vector | None,
        model: Model | None,
        limit: int,
        offset: int,
    ) -> Hits:
        """Rank the cards that satisfy the constraints."""
        where, values = _conditions(query.filter)
        values |= {"tenant": tenant, "k": _RRF_K, "limit": limit, "offset": offset}
        ranked_densely = dense is not None and model is not None
        dense_leg, sparse_leg = _DENSE_OFF, _SPARSE_OFF
        if dense is not None and model is not None:
            dense_leg = _DENSE.format(dim=model.dim)
            values |= {"vector": _vector(dense), "model": model.id, "depth": _LEG_DEPTH}
        if sparse:
            sparse_leg = _SPARSE
            values |= {"terms": sparse, "weights": _ROLE_WEIGHTS, "depth": _LEG_DEPTH}
        statement = _SEARCH.format(
            card=_CARD,
            constraints=_all(where),
            dense=dense_leg,
            sparse=sparse_leg,
            order=_ORDERS[query.order],
        )
        async with self._transaction(tenant) as connection:
            rows = (await connection.execute(text(statement), values)).mappings().all()
        return Hits(
            hits=[_to_hit(row) for row in rows if row["checkpoint_id"] is not None],
            next_page_token="",
            total_matches=rows[0]["total_matches"],
            dense=ranked_densely,
        )

    async def vocabulary(self, tenant: str, known_revision: str) -> Vocabulary:
        """The words of selectable cards, unless the caller has them already."""
        async with self._transaction(tenant) as connection:
            current = await connection.execute(text(_VOCABULARY_REVISION), {"tenant": tenant})
            revision = current.scalar() or "none"
            if revision == known_revision:
                return Vocabulary(revision=revision, modified=False)
            rows = await connection.execute(
                text(_VOCABULARY), {"tenant": tenant, "states": [str(s) for s in SELECTABLE]}
            )
            row = rows.mappings().one()
        words = {name: tuple(row[name]) for name in row if name != "revision"}
        return Vocabulary(revision=row["revision"] or "none", modified=True, **words)

    @asynccontextmanager
    async def writing(self, tenant: str) -> AsyncIterator[PostgresWriter]:
        """Open a transaction; it commits when the block ends without an exception."""
        async with self._transaction(tenant) as connection:
            yield PostgresWriter(connection, tenant)

    async def tenants(self) -> list[str]:
        """All tenants that ever had a card."""
        async with self._transaction() as connection:
            return list((await connection.execute(text(_TENANTS))).scalars())

    async def claim_unserved(
        self,
        tenant: str,
        *,
        profiles: Sequence[str],
        recipe_version: int,
        patience_s: float,
        limit: int,
    ) -> list[tuple[Card, Sequence[str], datetime]]:
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
                return []
            rows = (await connection.execute(text(_CLAIM_UNSERVED), values)).mappings().all()
        return [(_to_card(row), row["profiles"], row["requested_at"]) for row in rows]

    async def unembedded(
        self, tenant: str, model: Model, limit: int, *, after: str = ""
    ) -> list[Card]:
        """Cards without an up-to-date vector of the model, by id, from behind an id."""
        async with self._transaction(tenant) as connection:
            rows = await connection.execute(
                text(_UNEMBEDDED.format(dim=model.dim)),
                {"tenant": tenant, "model": model.id, "limit": limit, "after": after},
            )
            return [_to_card(row) for row in rows.mappings()]

    @asynccontextmanager
    async def _transaction(self, tenant: str = "") -> AsyncIterator[AsyncConnection]:
        """A transaction that sees one tenant; without one it sees no tenant's rows."""
        try:
            async with self._engine.begin() as connection:
                if tenant:
                    await connection.execute(text(_SET_TENANT), {"tenant": tenant})
                yield connection
        except (OperationalError, InterfaceError, PoolTimeout, OSError) as error:
            log.warning(
                "database out of reach", extra={"action": "use_database", "problem": str(error)}
            )
            raise Unavailable("the catalog's database is out of reach; try again later") from error


class PostgresWriter:
    """CardWriter on one transaction."""

    def __init__(self, connection: AsyncConnection, tenant: str) -> None:
        self._connection = connection
        self._tenant = tenant
        self._locked = False
        self._notified = False
        self._read: dict[str, Card | None] = {}

    async def card(self, checkpoint_id: str) -> Card | None:
        """One card with its artifacts; None when there is none."""
        await self._lock()
        card = await _get_card(self._connection, self._tenant, checkpoint_id)
        self._read[checkpoint_id] = card
        return card

    async def outcomes(self, card: Card) -> list[Outcome]:
        """What became of each profile of the card's present source."""
        rows = await self._execute(
            _GET_OUTCOMES, id=card.checkpoint_id, source_sha256=card.source.sha256
        )
        return [_to_outcome(row) for row in rows]

    async def put_card(self, card: Card) -> Card:
        """Insert or replace a card; returns it with its new revision."""
        if card.checkpoint_id not in self._read:
            await self.card(card.checkpoint_id)
        before = self._read[card.checkpoint_id]
        new_words = int(_words(card) != (_words(before) if before else None))
        [counted] = await self._execute(_NEXT_REVISION, new_words=new_words)
        [row] = await self._execute(
            _PUT_CARD.format(card=_CARD), **_card_values(card), revision=counted["revision"]
        )
        if before is None or before.triggers != card.triggers:
            keys = list(dict.fromkeys(fold(trigger) for trigger in card.triggers))
            await self._execute(_PUT_TRIGGERS, id=card.checkpoint_id, trigger_keys=keys)
        if not self._notified:
            await self._execute(_NOTIFY, channel=CHANNEL)
            self._notified = True
        self._read[card.checkpoint_id] = stored = _to_card(row)
        return stored

    async def put_outcome(self, checkpoint_id: str, source_sha256: str, outcome: Outcome) -> None:
        """Insert or replace what became of one profile of one source."""
        artifact = outcome.artifact
        await self._execute(
            _PUT_OUTCOME,
            checkpoint_id=checkpoint_id,
            source_sha256=source_sha256,
            profile=outcome.profile,
            digest=artifact.digest if artifact else "",
            size_bytes=artifact.size_bytes if artifact else 0,
            base_digest=artifact.base_digest if artifact else "",
            base_size_bytes=artifact.base_size_bytes if artifact else 0,
            base_model=artifact.base_model if artifact else "",
            recipe_version=artifact.recipe_version if artifact else 0,
            triggers=list(artifact.triggers) if artifact else [],
            created_at=artifact.created_at if artifact else None,
            failed_at=outcome.failed_at,
            failed_reason=outcome.failed_reason,
            failed_recipe_version=outcome.failed_recipe_version,
        )
        await self._execute(_ANSWERED, id=checkpoint_id)

    async def put_embedding(self, checkpoint_id: str, embedding: Embedding) -> None:
        """Insert or replace the vector of one model."""
        await self._execute(
            _PUT_EMBEDDING.format(dim=embedding.model.dim),
            id=checkpoint_id,
            model=embedding.model.id,
            text_hash=embedding.text_hash,
            vector=_vector(embedding.vector),
        )

    async def _lock(self) -> None:
        if self._locked:
            return
        if not await self._execute(_LOCK_TENANT):
            await self._execute(_ADD_TENANT)
            await self._execute(_LOCK_TENANT)
        self._locked = True

    async def _execute(self, statement: str, **values: Any) -> Sequence[RowMapping]:
        result = await self._connection.execute(text(statement), values | {"tenant": self._tenant})
        return result.mappings().all() if result.returns_rows else []


@asynccontextmanager
async def open_store(postgres_url: str, *, pool_size: int = 10) -> AsyncIterator[PostgresStore]:
    """A store with a pool of connections; connects when first used.

    Raises:
        PersonalQError: the URL cannot be read.
    """
    engine = create_async_engine(
        driver_url(postgres_url),
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=10,
        pool_pre_ping=True,
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
                )
            ),
            "connect_timeout": 10,
            "application_name": "personalq-catalog",
        },
    )
    try:
        yield PostgresStore(engine)
    finally:
        await engine.dispose()


async def _get_card(connection: AsyncConnection, tenant: str, checkpoint_id: str) -> Card | None:
    rows = await connection.execute(text(_GET_CARD), {"tenant": tenant, "id": checkpoint_id})
    row = rows.mappings().one_or_none()
    return _to_card(row) if row is not None else None


def _not_migrated(why: str) -> PersonalQError:
    return PersonalQError(
        f"the database is not ready ({why}); run `python -m personalq.catalog migrate` first, and "
        "see that the login is a member of the role personalq_app"
    )


def _conditions(constraints: Filter) -> tuple[list[str], dict[str, Any]]:
    """SQL conditions for the constraints that are set, and their values."""
    where: list[str] = []
    values: dict[str, Any] = {}

    def add(condition: str, name: str, value: object) -> None:
        if value:
            where.append(condition)
            values[name] = value

    add("c.state = ANY (:states)", "states", [str(state) for state in constraints.states])
    for column, wanted, unwanted in (
        ("subject", constraints.subjects, constraints.excluded_subjects),
        ("style", constraints.styles, constraints.excluded_styles),
        ("environment", constraints.environments, constraints.excluded_environments),
    ):
        any_of = f"c.{column}_keys && CAST(:{column}s AS text[])"
        add(any_of, f"{column}s", [key(label) for label in wanted])
        none_of = f"NOT c.{column}_keys && CAST(:no_{column}s AS text[])"
        add(none_of, f"no_{column}s", [key(label) for label in unwanted])
    for column, interval in (
        ("created_at", constraints.created),
        ("last_used_at", constraints.last_used),
    ):
        add(f"c.{column} >= :{column}_start", f"{column}_start", interval.start)
        add(f"c.{column} < :{column}_end", f"{column}_end", interval.end)
    add("c.version = ANY (:versions)", "versions", list(constraints.versions))
    add("c.owner_key = ANY (:owners)", "owners", [fold(owner) for owner in constraints.owners])
    # PostgreSQL has no texts with a zero byte; no id has one either.
    ids = [checkpoint_id.replace("\0", "\ufffd") for checkpoint_id in constraints.checkpoint_ids]
    add("c.checkpoint_id = ANY (:ids)", "ids", ids)
    add(
        """c.checkpoint_id IN (SELECT t.checkpoint_id FROM triggers t
                                WHERE t.tenant = :tenant AND t.trigger_key = ANY (:triggers))""",
        "triggers",
        [fold(trigger) for trigger in constraints.triggers],
    )
    return where, values


def _all(conditions: Sequence[str]) -> str:
    return "\n       AND ".join(conditions) or "true"


def _words(card: Card) -> tuple[object, ...] | None:
    """What a card adds to the vocabulary; None when it cannot be selected."""
    if card.state not in SELECTABLE:
        return None
    return (card.triggers, card.subjects, card.styles, card.environments, card.owner)


def _card_values(card: Card) -> dict[str, Any]:
    return {
        "checkpoint_id": card.checkpoint_id,
        "name": card.name,
        "triggers": list(card.triggers),
        "subjects": list(card.subjects),
        "styles": list(card.styles),
        "description": card.description,
        "base_model": card.base_model,
        "version": card.version,
        "created_at": card.created_at,
        "last_used_at": card.last_used_at,
        "use_count": card.use_count,
        "environments": list(card.environments),
        "owner": card.owner,
        "source_uri": card.source.uri,
        "source_sha256": card.source.sha256,
        "source_size_bytes": card.source.size_bytes,
        "source_format": str(card.source.format),
        "lora_rank": card.lora_rank,
        "cross_attention_width": card.cross_attention_width,
        "state": str(card.state),
        "state_reason": card.state_reason,
        "registration_hash": card.registration_hash,
        "text_hash": text_hash(card),
        "subject_keys": [key(subject) for subject in card.subjects],
        "style_keys": [key(style) for style in card.styles],
        "environment_keys": [key(environment) for environment in card.environments],
        "owner_key": fold(card.owner),
        "lexemes": vector_literal(card),
    }


def _to_card(row: RowMapping) -> Card:
    return Card(
        checkpoint_id=row["checkpoint_id"],
        name=row["name"],
        triggers=tuple(row["triggers"]),
        subjects=tuple(row["subjects"]),
        styles=tuple(row["styles"]),
        description=row["description"],
        base_model=row["base_model"],
        version=row["version"],
        created_at=row["created_at"],
        last_used_at=row["last_used_at"],
        use_count=row["use_count"],
        environments=tuple(row["environments"]),
        owner=row["owner"],
        source=Origin(
            uri=row["source_uri"],
            sha256=row["source_sha256"],
            size_bytes=row["source_size_bytes"],
            format=Format(row["source_format"]),
        ),
        lora_rank=row["lora_rank"],
        cross_attention_width=row["cross_attention_width"],
        state=State(row["state"]),
        state_reason=row["state_reason"],
        registered_at=row["registered_at"],
        updated_at=row["updated_at"],
        revision=row["revision"],
        registration_hash=row["registration_hash"],
        artifacts=tuple(_to_artifact(artifact) for artifact in row["artifacts"] or ()),
    )


def _to_artifact(row: Mapping[str, Any]) -> Artifact:
    created_at = row["created_at"]
    return Artifact(
        checkpoint_id=row["checkpoint_id"],
        profile=row["profile"],
        digest=row["digest"],
        size_bytes=row["size_bytes"],
        base_digest=row["base_digest"],
        base_size_bytes=row["base_size_bytes"],
        base_model=row["base_model"],
        recipe_version=row["recipe_version"],
        triggers=tuple(row["triggers"]),
        source_sha256=row["source_sha256"],
        # Within JSON it is a text.
        created_at=datetime.fromisoformat(created_at)
        if isinstance(created_at, str)
        else created_at,
    )


def _to_outcome(row: RowMapping) -> Outcome:
    return Outcome(
        profile=row["profile"],
        artifact=_to_artifact(dict(row)) if row["digest"] else None,
        failed_at=row["failed_at"],
        failed_reason=row["failed_reason"],
        failed_recipe_version=row["failed_recipe_version"],
    )


def _to_hit(row: RowMapping) -> Hit:
    return Hit(
        card=_to_card(row),
        score=float(row["score"]),
        similarity=row["similarity"],
        dense_rank=row["dense_rank"],
        sparse_rank=row["sparse_rank"],
    )


def _vector(vector: Vector) -> str:
    return "[" + ",".join(f"{number:.6g}" for number in vector) + "]"
