"""Protobuf ⇄ domain."""

from __future__ import annotations

from collections.abc import Iterator

from personalq.chassis.errors import InvalidInput
from personalq.chassis.verified_files import require_digest
from personalq.renderer.artifacts import ArtifactRef
from personalq.renderer.ports import CatalogEntry
from personalq.renderer.requests import (
    Done,
    Event,
    Picture,
    Progress,
    Provenance,
    Queued,
    RenderRequest,
    Sampler,
    Started,
    Timings,
)
from personalq.v1 import catalog_pb2, renderer_pb2, types_pb2

CHUNK_BYTES = 64 * 1024

_SAMPLERS = {
    renderer_pb2.SAMPLER_UNSPECIFIED: Sampler.DDIM,
    renderer_pb2.SAMPLER_DDIM: Sampler.DDIM,
    renderer_pb2.SAMPLER_EULER: Sampler.EULER,
}
_SAMPLER_NUMBERS = {
    Sampler.DDIM: renderer_pb2.SAMPLER_DDIM,
    Sampler.EULER: renderer_pb2.SAMPLER_EULER,
}


def to_render_request(message: renderer_pb2.RenderRequest) -> RenderRequest:
    """Read a request.

    Raises:
        InvalidInput: the sampler is unknown here.
    """
    if message.sampler not in _SAMPLERS:
        raise InvalidInput(f"sampler {message.sampler} is not known here", field="sampler")
    return RenderRequest(
        checkpoint_id=message.checkpoint_id,
        prompt=message.prompt,
        negative_prompt=message.negative_prompt,
        profile=message.profile,
        seed=message.seed if message.HasField("seed") else None,
        steps=message.steps if message.HasField("steps") else None,
        guidance_scale=message.guidance_scale if message.HasField("guidance_scale") else None,
        count=message.count or 1,
        sampler=_SAMPLERS[message.sampler],
        width=message.width,
        height=message.height,
        preview_every=message.preview_every,
        artifact_digest=message.artifact_digest,
    )


def to_artifact_ref(message: types_pb2.Artifact) -> ArtifactRef:
    """Read an artifact.

    Raises:
        InvalidInput: a digest is none: it would name another folder than the artifact's.
    """
    return ArtifactRef(
        checkpoint_id=message.checkpoint_id,
        profile=message.profile,
        digest=require_digest(message.digest),
        size_bytes=message.size_bytes,
        base_digest=require_digest(message.base_digest) if message.base_digest else "",
        base_size_bytes=message.base_size_bytes,
        base_model=message.base_model,
        recipe_version=message.recipe_version,
        triggers=tuple(message.triggers),
        source_sha256=message.source_sha256,
        created_at=message.created_at.ToDatetime() if message.HasField("created_at") else None,
    )


def from_artifact_ref(artifact: ArtifactRef) -> types_pb2.Artifact:
    """Write an artifact."""
    message = types_pb2.Artifact(
        checkpoint_id=artifact.checkpoint_id,
        profile=artifact.profile,
        digest=artifact.digest,
        size_bytes=artifact.size_bytes,
        base_digest=artifact.base_digest,
        base_size_bytes=artifact.base_size_bytes,
        base_model=artifact.base_model,
        recipe_version=artifact.recipe_version,
        triggers=artifact.triggers,
        source_sha256=artifact.source_sha256,
    )
    if artifact.created_at is not None:
        message.created_at.FromDatetime(artifact.created_at)
    return message


def to_catalog_entry(message: catalog_pb2.GetCheckpointResponse) -> CatalogEntry:
    """Read what the catalog knows of a checkpoint."""
    card = message.checkpoint
    state = types_pb2.CheckpointState.Name(card.state)
    return CatalogEntry(
        checkpoint_id=card.checkpoint_id,
        state=state.removeprefix("CHECKPOINT_STATE_"),
        reason=card.state_reason,
        artifacts=tuple(to_artifact_ref(artifact) for artifact in message.artifacts),
    )


def from_event(event: Event) -> Iterator[renderer_pb2.RenderEvent]:
    """Write an event as the messages that carry it: one, or for a picture its chunks."""
    message = renderer_pb2.RenderEvent
    if isinstance(event, Picture):
        for chunk in _chunks(event):
            yield message(image=chunk)
    elif isinstance(event, Queued):
        yield message(queued=renderer_pb2.Queued(position=event.position))
    elif isinstance(event, Started):
        started = renderer_pb2.Started(
            artifact=from_artifact_ref(event.artifact), load_seconds=event.load_seconds
        )
        yield message(started=started)
    elif isinstance(event, Progress):
        progress = renderer_pb2.Progress(step=event.step, steps=event.steps, preview=event.preview)
        yield message(progress=progress)
    else:
        yield message(done=_done(event))


def _chunks(picture: Picture) -> Iterator[renderer_pb2.Image]:
    for start in range(0, len(picture.data), CHUNK_BYTES):
        end = start + CHUNK_BYTES
        yield renderer_pb2.Image(
            index=picture.index,
            seed=picture.seed,
            media_type=picture.media_type,
            chunk=picture.data[start:end],
            last=end >= len(picture.data),
        )


def _done(event: Done) -> renderer_pb2.Done:
    return renderer_pb2.Done(
        timings=_timings(event.timings), provenance=_provenance(event.provenance)
    )


def _timings(timings: Timings) -> renderer_pb2.Timings:
    return renderer_pb2.Timings(
        queued_seconds=timings.queued,
        load_seconds=timings.load,
        encode_seconds=timings.encode,
        denoise_seconds=timings.denoise,
        decode_seconds=timings.decode,
    )


def _provenance(provenance: Provenance) -> renderer_pb2.Provenance:
    return renderer_pb2.Provenance(
        checkpoint_id=provenance.checkpoint_id,
        artifact_digest=provenance.artifact_digest,
        profile=provenance.profile,
        prompt=provenance.prompt,
        seed=provenance.seed,
        steps=provenance.steps,
        guidance_scale=provenance.guidance_scale,
        sampler=_SAMPLER_NUMBERS[provenance.sampler],
        protected_tokens=provenance.protected_tokens,
        renderer_version=provenance.renderer_version,
    )
