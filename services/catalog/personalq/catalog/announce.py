"""Publish what happened, on the bus."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

from personalq.catalog import wire
from personalq.catalog.cards import Card, content_hash
from personalq.chassis.events import Bus
from personalq.v1 import events_pb2


class BusAnnouncer:
    """Announcer over JetStream; the message ids make repetitions harmless."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def registered(self, tenant: str, card: Card) -> None:
        """The card is stored: quantize it for all profiles. Raises Unavailable."""
        await self._bus.publish(
            events_pb2.CheckpointRegistered(tenant=tenant, checkpoint=wire.card_to_wire(card)),
            msg_id=f"registered-{tenant}-{card.checkpoint_id}-{content_hash(card)}",
        )

    async def wanted(
        self, tenant: str, card: Card, profiles: Sequence[str], *, asked_at: datetime
    ) -> None:
        """Artifacts for these profiles are missing. `asked_at` tells one asking from the next."""
        missing = hashlib.sha256(" ".join([content_hash(card), *profiles]).encode()).hexdigest()
        await self._bus.publish(
            events_pb2.CheckpointRegistered(
                tenant=tenant, checkpoint=wire.card_to_wire(card), profiles=profiles
            ),
            # The time makes it another message than the one that was lost or not answered.
            msg_id=(
                f"wanted-{tenant}-{card.checkpoint_id}-{missing}-"
                f"{asked_at.astimezone(UTC):%Y%m%dT%H%M%S}"
            ),
        )

    async def archived(self, tenant: str, card: Card) -> None:
        """The checkpoint was withdrawn. Raises Unavailable."""
        event = events_pb2.CheckpointArchived(tenant=tenant, checkpoint_id=card.checkpoint_id)
        if card.updated_at is not None:
            event.archived_at.FromDatetime(card.updated_at)
        await self._bus.publish(
            event, msg_id=f"archived-{tenant}-{card.checkpoint_id}-{card.revision}"
        )
