"""Cards into the database by COPY, row for row what registering them would have left there."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import sql

from personalq.bench.scale.cards import NOW, Tenant, make_cards
from personalq.bench.scale.vectors import Pool, mixed
from personalq.catalog.cards import SELECTABLE, Card, phrases_hash, text_hash
from personalq.catalog.names import names_of
from personalq.catalog.settings import CatalogSettings
from personalq.catalog.store_names import name_rows, word_changes
from personalq.catalog.store_rows import card_values, labels_of
from personalq.catalog.words import vector_literal

#: The one profile the cards have an artifact for; the catalog is told to want no other.
PROFILE = "w8a8"
#: Cards per transaction.
_BATCH = 2_500

_ADD_TENANT = "INSERT INTO tenants (tenant) VALUES (%s) ON CONFLICT DO NOTHING"
_LOADED = "SELECT revision FROM tenants WHERE tenant = %s"
_COUNT_WORD = """
INSERT INTO words AS w (tenant, kind, word, cards) VALUES (%s, %s, %s, %s)
ON CONFLICT (tenant, kind, word) DO UPDATE SET cards = w.cards + excluded.cards
"""
# The triggers that count cards do not fire here; see `connect`.
_COUNT_CARDS = """
INSERT INTO card_counts AS k (tenant, selectable) VALUES (%s, %s)
ON CONFLICT (tenant) DO UPDATE SET selectable = k.selectable + excluded.selectable
"""
_RAISE_REVISION = """
UPDATE tenants SET revision = %s, vocabulary_revision = vocabulary_revision + 1 WHERE tenant = %s
"""

Rows = Iterator[Sequence[Any]]


def connect(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    """A superuser's connection that loads in bulk.

    Row-level security does not bind it, and references are not checked row by row: both ends are
    written here.
    """
    return psycopg.connect(
        url, options="-c search_path=personalq,public -c session_replication_role=replica"
    )


def load_tenant(
    url: str, tenant: Tenant, pool: Pool, model: str, loaded: Callable[[int], None]
) -> None:
    """Load the cards of a tenant that are not there yet; `loaded` hears of each batch."""
    with connect(url) as connection:
        connection.execute(_ADD_TENANT, [tenant.name])
        row = connection.execute(_LOADED, [tenant.name]).fetchone()
        start: int = row[0] if row else 0
        loaded(start)
        connection.commit()
        batch: list[Card] = []
        for card in make_cards(tenant, start=start):
            batch.append(card)
            if len(batch) == _BATCH or start + len(batch) == tenant.cards:
                load_cards(connection, tenant.name, batch, pool, model, start=start)
                connection.commit()
                loaded(len(batch))
                start += len(batch)
                batch = []


def load_cards(
    connection: psycopg.Connection[tuple[Any, ...]],
    tenant: str,
    cards: Sequence[Card],
    pool: Pool,
    model: str,
    *,
    start: int,
) -> None:
    """Write one batch into every table."""
    values = [card_values(card) for card in cards]
    columns = ["tenant", *values[0], "registered_at", "updated_at", "revision"]
    _copy(
        connection,
        "checkpoints",
        columns,
        (
            [tenant, *row.values(), NOW, NOW, start + index]
            for index, row in enumerate(values, start=1)
        ),
    )
    _copy(connection, "names", _NAME_COLUMNS, _name_rows(tenant, cards))
    _copy(connection, "labels", _LABEL_COLUMNS, _label_rows(tenant, cards))
    _copy(
        connection,
        "card_words",
        ["tenant", "checkpoint_id", "lexemes"],
        ([tenant, card.checkpoint_id, vector_literal(card)] for card in cards),
    )
    _copy(connection, "artifacts", _ARTIFACT_COLUMNS, _artifact_rows(tenant, cards))
    _copy_vectors(connection, tenant, cards, mixed(cards, pool, tenant), model)
    counts: Counter[tuple[str, str]] = Counter()
    for card in cards:
        counts.update(word_changes(None, card))
    with connection.cursor() as cursor:
        rows = [(tenant, kind, word, count) for (kind, word), count in sorted(counts.items())]
        cursor.executemany(_COUNT_WORD, rows)
    selectable = sum(card.state in SELECTABLE for card in cards)
    connection.execute(_COUNT_CARDS, [tenant, selectable])
    connection.execute(_RAISE_REVISION, [start + len(cards), tenant])


_NAME_COLUMNS = ("tenant", "checkpoint_id", "name_key", "kind", "folded")
_LABEL_COLUMNS = ("tenant", "checkpoint_id", "label", "created_at", "state")
_ARTIFACT_COLUMNS = (
    *("tenant", "checkpoint_id", "source_sha256", "profile", "digest", "size_bytes"),
    *("base_digest", "base_model", "recipe_version", "triggers", "created_at"),
)


def _name_rows(tenant: str, cards: Sequence[Card]) -> Rows:
    for card in cards:
        rows = name_rows(names_of(card))
        for key, kind, folded in zip(rows["keys"], rows["codes"], rows["folded"], strict=True):
            yield tenant, card.checkpoint_id, key, kind, folded


def _label_rows(tenant: str, cards: Sequence[Card]) -> Rows:
    for card in cards:
        for label in labels_of(card):
            yield tenant, card.checkpoint_id, label, card.created_at, str(card.state)


def _artifact_rows(tenant: str, cards: Sequence[Card]) -> Rows:
    # Of an earlier recipe the catalog would ask for all of them anew while it is measured.
    recipe = CatalogSettings.model_fields["recipe_version"].default
    for card in cards:
        sha256 = card.source.sha256
        digest = sha256[::-1]  # of a manifest that nobody reads
        yield (
            *(tenant, card.checkpoint_id, sha256, PROFILE, digest, 1_000_000),
            *(sha256, card.base_model, recipe, list(card.triggers), card.created_at),
        )


def _copy(
    connection: psycopg.Connection[tuple[Any, ...]],
    table: str,
    columns: Sequence[str],
    rows: Rows,
) -> None:
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def _copy_vectors(
    connection: psycopg.Connection[tuple[Any, ...]],
    tenant: str,
    cards: Sequence[Card],
    vectors: NDArray[np.float32],
    model: str,
) -> None:
    """Vectors in PostgreSQL's binary format: as texts they would be four times as large.

    The cards have no vectors of phrases or words: a search compares those of the hits of a page,
    whatever the size of the catalog.
    """
    dim = vectors.shape[1]
    table = sql.Identifier(f"embeddings_{dim}")
    statement = sql.SQL(
        "COPY {} (tenant, checkpoint_id, model, text_hash, embedding, phrases_hash, "
        "phrases, words) "
        "FROM STDIN (FORMAT binary)"
    ).format(table)
    [halfvec] = (
        connection.execute("SELECT CAST('halfvec' AS regtype)::oid::bigint").fetchone() or ()
    )
    # An array without dimensions or NULLs, and of what.
    nothing = struct.pack(">iiI", 0, 0, halfvec)
    rows = bytearray(b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0))
    for card, vector in zip(cards, vectors.astype(">f2"), strict=True):
        fields = [text.encode() for text in (tenant, card.checkpoint_id, model, text_hash(card))]
        # A halfvec: its width, two bytes unused, its numbers.
        fields.append(struct.pack(">HH", dim, 0) + vector.tobytes())
        fields += [phrases_hash(text_hash(card)).encode(), nothing, nothing]
        rows += struct.pack(">h", len(fields))
        for field in fields:
            rows += struct.pack(">i", len(field)) + field
    rows += struct.pack(">h", -1)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(rows)
