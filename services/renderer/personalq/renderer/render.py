"""The use cases: render a request, warm an artifact."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from personalq.renderer import metrics
from personalq.renderer.artifacts import ArtifactIndex, ArtifactRef
from personalq.renderer.device import Cancellation, Cancelled, Device
from personalq.renderer.draw import Drawn, draw
from personalq.renderer.models import Models
from personalq.renderer.ports import Catalog, SafetyChecker
from personalq.renderer.queue import DeviceQueue
from personalq.renderer.requests import (
    Defaults,
    Done,
    Event,
    Queued,
    RenderRequest,
    Started,
    check,
    check_checkpoint,
    plan,
)
from personalq.renderer.resolve import resolve
from personalq.taq import PROFILES

log = logging.getLogger(__name__)

KNOWN_PROFILES = frozenset(PROFILES)


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What the use cases work with."""

    index: ArtifactIndex
    catalog: Catalog
    models: Models
    queue: DeviceQueue
    device: Device
    defaults: Defaults
    safety: SafetyChecker | None = None
    clock: Callable[[], float] = time.monotonic


async def render(
    request: RenderRequest, *, tenant: str, cancellation: Cancellation, tools: Tools
) -> AsyncGenerator[Event, None]:
    """Yield the events of a render, in order: queued, started, progress, pictures, done.

    Setting `cancellation`, or closing the generator, stops the work at its next step; closing
    returns when the device is free.

    Raises:
        InvalidInput: the request cannot be tried.
        NotFound, NotReady: the checkpoint cannot be rendered.
        Busy: too many renders wait already.
        Unavailable: the artifact's bytes cannot be had.
    """
    check(request, known_profiles=KNOWN_PROFILES)
    artifact = await resolve(
        tenant,
        request.checkpoint_id,
        request.profile or tools.defaults.profile,
        request.artifact_digest,
        index=tools.index,
        catalog=tools.catalog,
    )
    geometry = tools.models.base(artifact).geometry
    chosen = plan(request, geometry=geometry, defaults=tools.defaults)
    joined = tools.clock()
    outcome = "failed"
    try:
        with tools.queue.join() as ticket:
            metrics.QUEUE_DEPTH.set(tools.queue.depth)
            async for position in ticket.positions():
                yield Queued(position=position)
            waited = tools.clock() - joined
            metrics.QUEUE_SECONDS.observe(waited)
            cancellation.check()
            async with tools.models.lease(artifact) as lease:
                yield Started(artifact=artifact, load_seconds=lease.load_seconds)
                work = partial(
                    draw,
                    model=lease.value,
                    artifact=artifact,
                    plan=chosen,
                    cancellation=cancellation,
                    safety=tools.safety,
                )
                async with aclosing(
                    tools.device.stream(work, cancellation=cancellation)
                ) as emitted:
                    async for item in emitted:
                        if isinstance(item, Drawn):
                            timings = replace(item.timings, queued=waited, load=lease.load_seconds)
                            yield Done(timings=timings, provenance=item.provenance)
                            outcome = "done"
                        else:
                            yield item
    except (Cancelled, asyncio.CancelledError, GeneratorExit):
        outcome = "cancelled"
        raise
    finally:
        metrics.QUEUE_DEPTH.set(tools.queue.depth)
        metrics.RENDERS.labels(outcome).inc()
        log.info(
            "render ended",
            extra={
                "action": "render",
                "outcome": outcome,
                "tenant": tenant,
                "checkpoint_id": artifact.checkpoint_id,
                "profile": artifact.profile,
                "digest": artifact.digest,
                "steps": chosen.steps,
                "count": chosen.count,
                "seconds": round(tools.clock() - joined, 3),
            },
        )


async def warm(
    checkpoint_id: str, profile: str, *, tenant: str, tools: Tools
) -> tuple[ArtifactRef, float]:
    """Load an artifact; return it and the seconds it took, 0 when it was there already.

    Raises:
        As `render`.
    """
    check_checkpoint(checkpoint_id, profile, known_profiles=KNOWN_PROFILES)
    artifact = await resolve(
        tenant,
        checkpoint_id,
        profile or tools.defaults.profile,
        index=tools.index,
        catalog=tools.catalog,
    )
    async with tools.models.lease(artifact) as lease:
        return artifact, lease.load_seconds
