"""Protobuf ⇄ domain."""

from __future__ import annotations

from personalq.quantizer.jobs import Failed, Job, Published
from personalq.v1 import events_pb2, types_pb2


def to_job(event: events_pb2.CheckpointRegistered) -> Job:
    """Read the job that an event stands for."""
    card = event.checkpoint
    return Job(
        tenant=event.tenant,
        checkpoint_id=card.checkpoint_id,
        uri=card.source.uri,
        source_sha256=card.source.sha256,
        source_size_bytes=card.source.size_bytes,
        base_model=card.base_model,
        triggers=tuple(card.triggers),
        profiles=tuple(event.profiles),
        noun=next(iter(card.subjects), ""),
    )


def to_artifact_ready(published: Published) -> events_pb2.ArtifactReady:
    """Write the event of an artifact."""
    job, made = published.job, published.made
    artifact = types_pb2.Artifact(
        checkpoint_id=job.checkpoint_id,
        profile=published.profile,
        digest=made.digest,
        size_bytes=made.size_bytes,
        base_digest=made.base_digest,
        base_size_bytes=made.base_size_bytes,
        base_model=job.base_model,
        recipe_version=published.recipe_version,
        triggers=job.triggers,
        source_sha256=job.source_sha256,
    )
    artifact.created_at.FromDatetime(made.made_at)
    return events_pb2.ArtifactReady(tenant=job.tenant, artifact=artifact)


def to_artifact_failed(failed: Failed) -> events_pb2.ArtifactFailed:
    """Write the event of a failure."""
    job = failed.job
    event = events_pb2.ArtifactFailed(
        tenant=job.tenant,
        checkpoint_id=job.checkpoint_id,
        profile=failed.profile,
        source_sha256=job.source_sha256,
        reason=failed.reason,
        recipe_version=failed.recipe_version,
    )
    event.failed_at.FromDatetime(failed.failed_at)
    return event
