"""Writing a tenant's cards: one transaction, one writer per tenant at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from personalq.catalog.cards import Card, phrases_hash
from personalq.catalog.lifecycle import Outcome
from personalq.catalog.ports import Embedding
from personalq.catalog.store_names import (
    ADD_NAMES,
    COUNT_WORDS,
    DROP_NAMES,
    called,
    name_rows,
    renamed,
    word_changes,
)
from personalq.catalog.store_rows import (
    CARD_COLUMNS,
    card_values,
    get_card,
    labels_of,
    to_card,
    to_outcome,
    vector_text,
    vectors_text,
)
from personalq.catalog.words import vector_literal

#: Channel of NOTIFY; the payload is the tenant.
CHANNEL = "personalq_cards"

# The tenant's row is created with its first card.
_ADD_TENANT = "INSERT INTO tenants (tenant) VALUES (:tenant) ON CONFLICT DO NOTHING"

# Writers of a tenant go one after the other; see migrations for why.
_LOCK_TENANT = "SELECT 1 FROM tenants WHERE tenant = :tenant FOR UPDATE"

# The next revision; the vocabulary, words and names, has its own.
_NEXT_REVISION = """
UPDATE tenants SET revision = revision + 1 WHERE tenant = :tenant RETURNING revision
"""
_NEXT_VOCABULARY = """
UPDATE tenants SET vocabulary_revision = vocabulary_revision + 1 WHERE tenant = :tenant
"""

# Watchers wake up when the transaction commits.
_NOTIFY = "SELECT pg_notify(:channel, :tenant)"

# A registration, a change or a new state: the whole row. The quantizer's time starts anew with a
# new file and with new triggers; both are announced.
_PUT_CARD = """
INSERT INTO checkpoints AS c (
    tenant, checkpoint_id, name, aliases, triggers, subjects, styles, description, base_model,
    version,
    created_at, last_used_at, use_count, environments, owner,
    source_uri, source_sha256, source_size_bytes, source_format, lora_rank, cross_attention_width,
    state, state_reason, registered_at, updated_at, revision, registration_hash, text_hash)
VALUES (
    :tenant, :checkpoint_id, :name, :aliases, :triggers, :subjects, :styles, :description,
    :base_model, :version, :created_at, :last_used_at, :use_count, :environments, :owner,
    :source_uri, :source_sha256, :source_size_bytes, :source_format, :lora_rank,
    :cross_attention_width, :state, :state_reason, now(), now(), :revision, :registration_hash,
    :text_hash)
ON CONFLICT (tenant, checkpoint_id) DO UPDATE SET
    name = excluded.name, aliases = excluded.aliases, triggers = excluded.triggers,
    subjects = excluded.subjects, styles = excluded.styles, description = excluded.description,
    base_model = excluded.base_model, version = excluded.version,
    created_at = excluded.created_at, last_used_at = excluded.last_used_at,
    use_count = excluded.use_count, environments = excluded.environments, owner = excluded.owner,
    source_uri = excluded.source_uri, source_sha256 = excluded.source_sha256,
    source_size_bytes = excluded.source_size_bytes, source_format = excluded.source_format,
    lora_rank = excluded.lora_rank, cross_attention_width = excluded.cross_attention_width,
    state = excluded.state, state_reason = excluded.state_reason, updated_at = now(),
    revision = excluded.revision, registration_hash = excluded.registration_hash,
    text_hash = excluded.text_hash,
    requested_at = CASE WHEN c.source_sha256 = excluded.source_sha256
                         AND c.triggers = excluded.triggers THEN c.requested_at ELSE now() END,
    requests = CASE WHEN c.source_sha256 = excluded.source_sha256
                     AND c.triggers = excluded.triggers THEN c.requests ELSE 1 END
RETURNING {card}
"""

# What constraints look cards up by; most writes change nothing of it but the state.
_PUT_LABELS = """
WITH dropped AS (
    DELETE FROM labels
     WHERE tenant = :tenant AND checkpoint_id = :id
       AND (label <> ALL (:labels) OR created_at <> :created_at)
)
INSERT INTO labels AS l (tenant, label, created_at, checkpoint_id, state)
SELECT :tenant, label, :created_at, :id, :state
  FROM unnest(CAST(:labels AS text[])) AS label
ON CONFLICT (tenant, label, created_at, checkpoint_id) DO UPDATE SET state = excluded.state
 WHERE l.state <> excluded.state
"""

# The card's words, apart from it.
_PUT_WORDS = """
INSERT INTO card_words AS w (tenant, checkpoint_id, lexemes)
VALUES (:tenant, :id, CAST(:lexemes AS tsvector))
ON CONFLICT (tenant, checkpoint_id) DO UPDATE SET lexemes = excluded.lexemes
 WHERE w.lexemes <> excluded.lexemes
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

_PUT_EMBEDDING = """
INSERT INTO embeddings_{dim} (
    tenant, checkpoint_id, model, text_hash, embedding, phrases_hash, phrases, words)
VALUES (
    :tenant, :id, :model, :text_hash, CAST(:vector AS halfvec({dim})), :phrases_hash,
    CAST(:phrases AS halfvec({dim})[]), CAST(:words AS halfvec({dim})[]))
ON CONFLICT (tenant, checkpoint_id, model) DO UPDATE SET
    text_hash = excluded.text_hash, embedding = excluded.embedding,
    phrases_hash = excluded.phrases_hash, phrases = excluded.phrases, words = excluded.words
"""


class PostgresWriter:
    """CardWriter on one transaction."""

    def __init__(self, connection: AsyncConnection, tenant: str) -> None:
        self._connection = connection
        self._tenant = tenant
        self._locked = False
        self._notified = False
        self._read: dict[str, Card | None] = {}
        self._words: Counter[tuple[str, str]] = Counter()
        self._renamed = False

    @property
    def cards(self) -> list[Card]:
        """Those that were read or written, as they are when the transaction ends."""
        return [card for card in self._read.values() if card is not None]

    async def card(self, checkpoint_id: str) -> Card | None:
        """One card with its artifacts; None when there is none."""
        await self._lock()
        card = await get_card(self._connection, self._tenant, checkpoint_id)
        self._read[checkpoint_id] = card
        return card

    async def outcomes(self, card: Card) -> list[Outcome]:
        """What became of each profile of the card's present source."""
        rows = await self._execute(
            _GET_OUTCOMES, id=card.checkpoint_id, source_sha256=card.source.sha256
        )
        return [to_outcome(row) for row in rows]

    async def put_card(self, card: Card) -> Card:
        """Insert or replace a card; returns it with its new revision."""
        if card.checkpoint_id not in self._read:
            await self.card(card.checkpoint_id)
        before = self._read[card.checkpoint_id]
        self._words.update(word_changes(before, card))
        self._renamed |= called(before) != called(card)
        [counted] = await self._execute(_NEXT_REVISION)
        [row] = await self._execute(
            _PUT_CARD.format(card=CARD_COLUMNS), **card_values(card), revision=counted["revision"]
        )
        await self._execute(
            _PUT_LABELS,
            id=card.checkpoint_id,
            labels=labels_of(card),
            created_at=card.created_at,
            state=str(card.state),
        )
        await self._execute(_PUT_WORDS, id=card.checkpoint_id, lexemes=vector_literal(card))
        gone, added = renamed(before, card)
        if gone:
            await self._execute(DROP_NAMES, id=card.checkpoint_id, **name_rows(gone))
        if added:
            await self._execute(ADD_NAMES, id=card.checkpoint_id, **name_rows(added))
        if not self._notified:
            await self._execute(_NOTIFY, channel=CHANNEL)
            self._notified = True
        self._read[card.checkpoint_id] = stored = to_card(row)
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
        """Insert or replace the vectors of one model."""
        await self._execute(
            _PUT_EMBEDDING.format(dim=embedding.model.dim),
            id=checkpoint_id,
            model=embedding.model.id,
            text_hash=embedding.text_hash,
            vector=vector_text(embedding.vector),
            phrases_hash=phrases_hash(embedding.text_hash),
            phrases=vectors_text(embedding.phrases),
            words=vectors_text(embedding.words),
        )

    async def finish(self) -> None:
        """Count the words of what was written, once for all of it."""
        vocabulary_changed = self._renamed
        changes = {word: delta for word, delta in self._words.items() if delta}
        if changes:
            [counted] = await self._execute(
                COUNT_WORDS,
                kinds=[kind for kind, _ in changes],
                words=[word for _, word in changes],
                deltas=list(changes.values()),
            )
            vocabulary_changed |= counted["vocabulary_changed"]
        if vocabulary_changed:
            await self._execute(_NEXT_VOCABULARY)

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
