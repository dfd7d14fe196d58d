"""Events in: they keep the artifact index."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from personalq.renderer import wire
from personalq.renderer.artifacts import ArtifactIndex, ArtifactRef
from personalq.v1.events_pb2 import ArtifactReady, CheckpointArchived

log = logging.getLogger(__name__)


def on_artifact_ready(
    index: ArtifactIndex, announce: Callable[[ArtifactRef], None]
) -> Callable[[ArtifactReady], Awaitable[None]]:
    """Return the handler of ArtifactReady.

    Args:
        announce: told of each artifact that was not there before this pod started.
    """

    async def handle(event: ArtifactReady) -> None:
        artifact = wire.to_artifact_ref(event.artifact)
        index.add(event.tenant, artifact)
        if index.synced.is_set():
            announce(artifact)

    return handle


def on_checkpoint_archived(
    index: ArtifactIndex,
) -> Callable[[CheckpointArchived], Awaitable[None]]:
    """Return the handler of CheckpointArchived."""

    async def handle(event: CheckpointArchived) -> None:
        index.remove_checkpoint(event.tenant, event.checkpoint_id)
        log.info(
            "checkpoint withdrawn",
            extra={
                "action": "forget_checkpoint",
                "tenant": event.tenant,
                "checkpoint_id": event.checkpoint_id,
            },
        )

    return handle
