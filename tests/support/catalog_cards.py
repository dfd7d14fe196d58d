"""Cards for the catalog's tests, stored without a file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from personalq.catalog.cards import (
    Artifact,
    Card,
    Format,
    Origin,
    registration_hash,
)
from personalq.catalog.embedding import embed_cards
from personalq.catalog.lifecycle import Failure
from personalq.catalog.ports import CardStore, Embedder
from personalq.chassis.errors import Unavailable

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
PROFILES = ("full", "w8a8")


class RecordingAnnouncer:
    """Keeps what was announced; optionally fails as when NATS is away."""

    def __init__(self) -> None:
        self.announced: list[tuple[str, str, tuple[str, ...]]] = []
        self.away = False
        self.refused = 0

    async def registered(self, tenant: str, card: Card) -> None:
        """Keep it."""
        self._keep("registered", card)

    async def wanted(
        self, tenant: str, card: Card, profiles: Sequence[str], *, asked_at: datetime
    ) -> None:
        """Keep it."""
        self._keep("wanted", card, *profiles)

    async def archived(self, tenant: str, card: Card) -> None:
        """Keep it."""
        self._keep("archived", card)

    def _keep(self, what: str, card: Card, *profiles: str) -> None:
        if self.away:
            self.refused += 1
            raise Unavailable("no bus")
        self.announced.append((what, card.checkpoint_id, profiles))


def card(checkpoint_id: str, **fields: Any) -> Card:
    """A card that could be stored; without fields, a photorealistic bear called by its id."""
    values: dict[str, Any] = {
        "checkpoint_id": checkpoint_id,
        "name": checkpoint_id,
        "triggers": (f"<{checkpoint_id}>",),
        "subjects": ("bear",),
        "styles": ("photorealistic",),
        "description": "A brown bear.",
        "base_model": "tiny",
        "created_at": NOW - timedelta(days=30),
        "source": origin(checkpoint_id),
    } | fields
    made = Card(**values)
    return replace(made, registration_hash=registration_hash(made))


def origin(content: str) -> Origin:
    """A source whose digest follows from a text."""
    return Origin(
        uri=f"file:///models/{content}.safetensors",
        sha256=hashlib.sha256(content.encode()).hexdigest(),
        size_bytes=1000,
        format=Format.LORA,
    )


async def store_cards(
    store: CardStore, tenant: str, cards: Sequence[Card], *, embedder: Embedder | None = None
) -> list[Card]:
    """Put cards into the store as a registration would, without looking at files."""
    stored = []
    async with store.writing(tenant) as writer:
        for made in cards:
            stored.append(await writer.put_card(made))
            if embedder is not None:
                [embedding] = await embed_cards([made], embedder)
                await writer.put_embedding(made.checkpoint_id, embedding)
    return stored


def artifact(of: Card, profile: str = "w8a8", **fields: Any) -> Artifact:
    """An artifact made from the card's present source."""
    values: dict[str, Any] = {
        "checkpoint_id": of.checkpoint_id,
        "profile": profile,
        "digest": hashlib.sha256(f"{of.checkpoint_id} {profile}".encode()).hexdigest(),
        "size_bytes": 10,
        "base_digest": "b" * 64,
        "base_size_bytes": 100,
        "base_model": of.base_model,
        "recipe_version": 1,
        "triggers": of.triggers,
        "source_sha256": of.source.sha256,
        "created_at": NOW,
    } | fields
    return Artifact(**values)


def failure(of: Card, profile: str = "w8a8", **fields: Any) -> Failure:
    """A failure to quantize the card's present source."""
    values: dict[str, Any] = {
        "checkpoint_id": of.checkpoint_id,
        "profile": profile,
        "source_sha256": of.source.sha256,
        "reason": "out of memory",
        "failed_at": NOW,
        "recipe_version": 1,
    } | fields
    return Failure(**values)
