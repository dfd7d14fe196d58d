"""The quantizer's use case on the tiny model, without NATS: for tests that need artifacts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from support.tiny_sd import BASE_MODEL

from personalq.chassis.blobs import BlobStore
from personalq.quantizer import wire
from personalq.quantizer.bases import BaseModels
from personalq.quantizer.fetching import UriSources
from personalq.quantizer.jobs import Failed, Job, Published
from personalq.quantizer.ledger import Ledger
from personalq.quantizer.quantize import Tools
from personalq.quantizer.thread import TorchThread
from personalq.quantizer.workshop import Workshop
from personalq.v1.events_pb2 import ArtifactFailed, ArtifactReady


@dataclass
class ToldOutcomes:
    """Announcements kept in lists, as the events they stand for."""

    ready_events: list[ArtifactReady] = field(default_factory=list)
    failed_events: list[ArtifactFailed] = field(default_factory=list)

    async def ready(self, published: Published) -> None:
        """Keep an artifact."""
        self.ready_events.append(wire.to_artifact_ready(published))

    async def failed(self, failed: Failed) -> None:
        """Keep a failure."""
        self.failed_events.append(wire.to_artifact_failed(failed))


def make_tools(
    base: Path,
    work_dir: Path,
    blobs: BlobStore,
    told: ToldOutcomes,
    thread: TorchThread,
    *,
    profiles: tuple[str, ...] = ("full", "w8a8", "w4a8"),
) -> Tools:
    """Return what the quantizer works with; calibration is as short as it can be."""
    return Tools(
        sources=UriSources(bytes_max=2**30),
        announcements=told,
        blobs=blobs,
        ledger=Ledger(work_dir / "ledger"),
        bases=BaseModels({BASE_MODEL: base}),
        workshop=Workshop(work_dir / "calibrations", device="cpu", prompts=2, steps=2),
        torch=thread,
        profiles=profiles,
        work_dir=work_dir,
    )


def make_job(
    source: Path,
    *,
    checkpoint_id: str = "bear-v4",
    triggers: tuple[str, ...] = ("<bear-v4>",),
    profiles: tuple[str, ...] = (),
    sha256: str = "",
    base_model: str = BASE_MODEL,
    tenant: str = "default",
) -> Job:
    """Return the job of a checkpoint on this disk."""
    return Job(
        tenant=tenant,
        checkpoint_id=checkpoint_id,
        uri=source.as_uri(),
        source_sha256=sha256,
        source_size_bytes=0,
        base_model=base_model,
        triggers=triggers,
        profiles=profiles,
    )
