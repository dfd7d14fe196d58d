"""Events in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from personalq.chassis.errors import Unavailable
from personalq.chassis.events import Reject, Retry
from personalq.quantizer import wire
from personalq.quantizer.quantize import Tools, quantize_checkpoint
from personalq.v1.events_pb2 import CheckpointRegistered


def on_checkpoint_registered(
    tools: Tools, *, retry_s: float
) -> Callable[[CheckpointRegistered], Awaitable[None]]:
    """Return the handler of CheckpointRegistered.

    Args:
        retry_s: when to try again after a store was out of reach.
    """

    async def handle(event: CheckpointRegistered) -> None:
        job = wire.to_job(event)
        if not job.checkpoint_id:
            raise Reject("the event names no checkpoint")
        try:
            await quantize_checkpoint(job, tools=tools)
        except Unavailable as error:
            raise Retry(str(error), after_s=retry_s) from error

    return handle
