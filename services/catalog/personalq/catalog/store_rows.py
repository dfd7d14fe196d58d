"""Rows of the catalog's tables and the domain's values, one made from the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from personalq.catalog.cards import Artifact, Card, Format, Origin, State, text_hash
from personalq.catalog.lifecycle import Outcome
from personalq.catalog.ports import Vector
from personalq.catalog.store_connections import Row
from personalq.catalog.words import key
from personalq.chassis.names import fold

# Columns of a card; a query names its table `c`.
CARD_COLUMNS = """
    c.checkpoint_id, c.name, c.aliases, c.triggers, c.subjects, c.styles, c.description,
    c.base_model, c.version, c.created_at, c.last_used_at, c.use_count, c.environments, c.owner,
    c.source_uri, c.source_sha256, c.source_size_bytes, c.source_format,
    c.lora_rank, c.cross_attention_width, c.state, c.state_reason, c.registered_at, c.updated_at,
    c.revision, c.registration_hash,
    (SELECT jsonb_agg(to_jsonb(a) ORDER BY a.profile)
       FROM artifacts a
      WHERE a.tenant = c.tenant AND a.checkpoint_id = c.checkpoint_id
        AND a.source_sha256 = c.source_sha256 AND a.digest <> '') AS artifacts
"""

GET_CARD = f"""
SELECT {CARD_COLUMNS} FROM checkpoints c WHERE c.tenant = :tenant AND c.checkpoint_id = :id
"""  # noqa: S608 - constants of this file


async def get_card(connection: AsyncConnection, tenant: str, checkpoint_id: str) -> Card | None:
    """One card with its artifacts; None when there is none."""
    rows = await connection.execute(text(GET_CARD), {"tenant": tenant, "id": checkpoint_id})
    row = rows.mappings().one_or_none()
    return to_card(row) if row is not None else None


def card_values(card: Card) -> dict[str, Any]:
    """The columns of a card's row, but for tenant, revision and times of storing."""
    return {
        "checkpoint_id": card.checkpoint_id,
        "name": card.name,
        "aliases": list(card.aliases),
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
    }


def labels_of(card: Card) -> list[str]:
    """What constraints find the card by, as the table `labels` has it."""
    labels = [label_of("subject", subject) for subject in card.subjects]
    labels += [label_of("style", style) for style in card.styles]
    labels += [label_of("environment", environment) for environment in card.environments]
    if card.owner:
        labels.append(label_of("owner", card.owner))
    if card.version is not None:
        labels.append(label_of("version", str(card.version)))
    return list(dict.fromkeys(labels))


def label_of(role: str, word: str) -> str:
    """A word in a role; subjects, styles and environments compare by their stems."""
    return f"{role}:{fold(word) if role in ('owner', 'version') else key(word)}"


def to_card(row: Row) -> Card:
    """The card of a row of CARD_COLUMNS."""
    return Card(
        checkpoint_id=row["checkpoint_id"],
        name=row["name"],
        aliases=tuple(row["aliases"]),
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


def to_outcome(row: Row) -> Outcome:
    """What became of a profile, of a row of `artifacts`."""
    return Outcome(
        profile=row["profile"],
        artifact=_to_artifact(dict(row)) if row["digest"] else None,
        failed_at=row["failed_at"],
        failed_reason=row["failed_reason"],
        failed_recipe_version=row["failed_recipe_version"],
    )


def vector_text(vector: Vector) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(["%.6g"] * len(vector)) % tuple(vector) + "]"


def vectors_text(vectors: Sequence[Vector]) -> str:
    """An array of vectors as PostgreSQL reads it."""
    return "{" + ",".join(f'"{vector_text(vector)}"' for vector in vectors) + "}"
