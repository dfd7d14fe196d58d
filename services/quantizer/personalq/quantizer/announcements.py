"""Outcomes as events: the adapter of `ports.Announcements` on the bus."""

from __future__ import annotations

from personalq.chassis.events import Bus
from personalq.quantizer import wire
from personalq.quantizer.jobs import Failed, Published


class BusAnnouncements:
    """Publishes ArtifactReady and ArtifactFailed; their ids follow from their content."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def ready(self, published: Published) -> None:
        """Publish ArtifactReady; see `ports.Announcements`."""
        job = published.job
        name = f"{job.tenant}/{job.checkpoint_id}/{published.profile}/{published.made.digest}"
        await self._bus.publish(wire.to_artifact_ready(published), msg_id=f"ready/{name}")

    async def failed(self, failed: Failed) -> None:
        """Publish ArtifactFailed; see `ports.Announcements`."""
        job = failed.job
        name = f"{job.tenant}/{job.checkpoint_id}/{failed.profile}/{job.source_sha256}"
        await self._bus.publish(wire.to_artifact_failed(failed), msg_id=f"failed/{name}")
