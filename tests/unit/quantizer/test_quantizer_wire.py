"""Protobuf ⇄ domain in the quantizer."""

from __future__ import annotations

from datetime import UTC, datetime

from personalq.quantizer import wire
from personalq.quantizer.jobs import Failed, Made, Published
from personalq.v1 import events_pb2

NOW = datetime(2026, 11, 20, 10, 30, tzinfo=UTC)


def registered() -> events_pb2.CheckpointRegistered:
    """Return an event with everything the quantizer reads."""
    event = events_pb2.CheckpointRegistered(tenant="acme", profiles=["w8a8"])
    card = event.checkpoint
    card.checkpoint_id, card.base_model = "bear-v4", "m"
    card.triggers.extend(["<bear-v4>", "sks"])
    card.subjects.extend(["bear", "toy"])
    card.source.uri, card.source.sha256, card.source.size_bytes = "file:///a", "5" * 64, 7
    return event


def test_a_job_has_what_the_event_says() -> None:
    """Tenant, id, source, base, triggers in order, and the profiles that are missing."""
    job = wire.to_job(registered())
    assert (job.tenant, job.checkpoint_id, job.base_model) == ("acme", "bear-v4", "m")
    assert (job.uri, job.source_sha256, job.source_size_bytes) == ("file:///a", "5" * 64, 7)
    assert (job.triggers, job.profiles) == (("<bear-v4>", "sks"), ("w8a8",))
    assert job.noun == "bear"
    event = registered()
    event.checkpoint.ClearField("subjects")
    assert wire.to_job(event).noun == ""


def test_an_artifact_is_announced_with_every_field() -> None:
    """ArtifactReady of a LoRA leaves no field of Artifact out."""
    made = Made(
        digest="d",
        size_bytes=1,
        base_digest="b",
        base_size_bytes=2,
        blobs=("d", "b"),
        made_at=NOW,
    )
    published = Published(
        job=wire.to_job(registered()), profile="w8a8", made=made, recipe_version=3
    )
    event = wire.to_artifact_ready(published)
    assert event.tenant == "acme"
    assert len(event.artifact.ListFields()) == len(event.artifact.DESCRIPTOR.fields)
    assert event.artifact.created_at.ToDatetime(UTC) == NOW


def test_a_failure_is_announced_with_every_field() -> None:
    """ArtifactFailed names what failed, why and when."""
    failed = Failed(
        job=wire.to_job(registered()),
        profile="w8a8",
        reason="it is a LoKr",
        failed_at=NOW,
        recipe_version=3,
    )
    event = wire.to_artifact_failed(failed)
    assert len(event.ListFields()) == len(event.DESCRIPTOR.fields)
