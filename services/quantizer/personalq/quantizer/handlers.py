"""Events in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from personalq.chassis.errors import Unavailable
from personalq.chassis.events import Reject, Retry
from personalq.quantizer import wire
from personalq.quantizer.quantize import Tools, quantize_checkpoint
from personalq.v1.events_pb2 import CheckpointRegistered

RETRY_AFTER_S = 15.0  # a store that is out of reach


def on_checkpoint_registered(tools: Tools) -> Callable[[CheckpointRegistered], Awaitable[None]]:
    """Return the handler of CheckpointRegistered."""

    async def handle(event: CheckpointRegistered) -> None:
        job = wire.to_job(event)
        if not job.checkpoint_id:
            raise Reject("the event names no checkpoint")
        try:
            await quantize_checkpoint(job, tools=tools)
        except Unavailable as error:
            raise Retry(str(error), after_s=RETRY_AFTER_S) from error

    return handle
