"""Events in: translate, call the use case, translate its errors.

InvalidInput makes the bus bury an event, any other error makes it come again with growing delays;
only what should happen differently is said here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from personalq.catalog import wire
from personalq.catalog.cards import Artifact, Card
from personalq.catalog.lifecycle import Failure
from personalq.catalog.register import Registered
from personalq.chassis.errors import Conflict, Unavailable
from personalq.chassis.events import Reject, Retry
from personalq.v1 import events_pb2


class Register(Protocol):
    """`register_checkpoint` with its ports filled in."""

    def __call__(self, landed: Card, *, tenant: str) -> Awaitable[Registered]:
        """Raises what `register_checkpoint` raises."""


class AcceptArtifact(Protocol):
    """`accept_artifact` with its ports filled in."""

    def __call__(self, artifact: Artifact, *, tenant: str) -> Awaitable[bool]:
        """Raises Unavailable; False when the event is no news."""


class AcceptFailure(Protocol):
    """`accept_failure` with its ports filled in."""

    def __call__(self, failure: Failure, *, tenant: str) -> Awaitable[bool]:
        """Raises Unavailable; False when the event is no news."""


def on_checkpoint_landed(
    register: Register, *, retry_after_s: float
) -> Callable[[events_pb2.CheckpointLanded], Awaitable[None]]:
    """Register what a training pipeline finished."""

    async def handle(event: events_pb2.CheckpointLanded) -> None:
        try:
            await register(wire.card_to_domain(event.checkpoint), tenant=event.tenant)
        except Conflict as error:
            raise Reject(error.message) from error
        except Unavailable as error:
            raise Retry(error.message, after_s=retry_after_s) from error

    return handle


def on_artifact_ready(
    accept: AcceptArtifact, *, retry_after_s: float
) -> Callable[[events_pb2.ArtifactReady], Awaitable[None]]:
    """Note that an artifact is in the blob store."""

    async def handle(event: events_pb2.ArtifactReady) -> None:
        try:
            await accept(wire.artifact_to_domain(event.artifact), tenant=event.tenant)
        except Unavailable as error:
            raise Retry(error.message, after_s=retry_after_s) from error

    return handle


def on_artifact_failed(
    accept: AcceptFailure, *, retry_after_s: float
) -> Callable[[events_pb2.ArtifactFailed], Awaitable[None]]:
    """Note that a checkpoint cannot be quantized."""

    async def handle(event: events_pb2.ArtifactFailed) -> None:
        try:
            await accept(wire.failure_to_domain(event), tenant=event.tenant)
        except Unavailable as error:
            raise Retry(error.message, after_s=retry_after_s) from error

    return handle
