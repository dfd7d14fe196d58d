"""Servers that answer a client as a test says: real gRPC, no PersonalQ behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc

from personalq.chassis.errors import NotFound
from personalq.chassis.rpc import serve
from personalq.chassis.settings import CommonSettings
from personalq.chassis.tenancy import current_tenant
from personalq.v1 import (
    catalog_pb2,
    catalog_pb2_grpc,
    checkin_pb2,
    checkin_pb2_grpc,
    renderer_pb2,
    renderer_pb2_grpc,
)

SelectAnswer = Callable[[checkin_pb2.SelectRequest], checkin_pb2.SelectResponse]


@dataclass(kw_only=True)
class Script:
    """What the servers answer, and what they were asked."""

    select: SelectAnswer = field(default=lambda _: checkin_pb2.SelectResponse())
    render: Sequence[renderer_pb2.RenderEvent | Exception] = ()
    cards: Sequence[catalog_pb2.GetCheckpointResponse | Exception] = ()
    #: States that WatchCheckpoints sends, in order; put more while it runs.
    states: asyncio.Queue[catalog_pb2.WatchCheckpointsResponse] = field(
        default_factory=asyncio.Queue
    )
    tenants: list[str] = field(default_factory=list)
    render_metadata: dict[str, str] = field(default_factory=dict)
    render_cancelled: asyncio.Event = field(default_factory=asyncio.Event)


class _CheckIn(checkin_pb2_grpc.CheckInServiceServicer):
    def __init__(self, script: Script) -> None:
        self._script = script

    async def Select(  # noqa: N802
        self,
        request: checkin_pb2.SelectRequest,
        context: grpc.aio.ServicerContext[checkin_pb2.SelectRequest, checkin_pb2.SelectResponse],
    ) -> checkin_pb2.SelectResponse:
        self._script.tenants.append(current_tenant())
        return self._script.select(request)


class _Renderer(renderer_pb2_grpc.RendererServiceServicer):
    def __init__(self, script: Script) -> None:
        self._script = script

    async def Render(  # noqa: N802
        self,
        request: renderer_pb2.RenderRequest,
        context: grpc.aio.ServicerContext[renderer_pb2.RenderRequest, renderer_pb2.RenderEvent],
    ) -> AsyncIterator[renderer_pb2.RenderEvent]:
        self._script.tenants.append(current_tenant())
        self._script.render_metadata = {
            str(key): str(value) for key, value in context.invocation_metadata() or ()
        }
        for event in self._script.render:
            if isinstance(event, Exception):
                raise event
            yield event
        try:
            if not any(
                isinstance(event, renderer_pb2.RenderEvent) and event.HasField("done")
                for event in self._script.render
            ):
                await asyncio.Event().wait()  # a render that never ends by itself
        except asyncio.CancelledError:
            self._script.render_cancelled.set()
            raise


class _Catalog(catalog_pb2_grpc.CatalogServiceServicer):
    def __init__(self, script: Script) -> None:
        self._script = script

    async def GetCheckpoint(  # noqa: N802
        self,
        request: catalog_pb2.GetCheckpointRequest,
        context: grpc.aio.ServicerContext[
            catalog_pb2.GetCheckpointRequest, catalog_pb2.GetCheckpointResponse
        ],
    ) -> catalog_pb2.GetCheckpointResponse:
        if not self._script.cards:
            raise NotFound(f"there is no checkpoint {request.checkpoint_id!r}")
        answer = self._script.cards[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def ListCheckpoints(  # noqa: N802
        self,
        request: catalog_pb2.ListCheckpointsRequest,
        context: grpc.aio.ServicerContext[
            catalog_pb2.ListCheckpointsRequest, catalog_pb2.ListCheckpointsResponse
        ],
    ) -> catalog_pb2.ListCheckpointsResponse:
        """One card per page."""
        cards = [c.checkpoint for c in self._script.cards if not isinstance(c, Exception)]
        place = int(request.page_token or 0)
        more = str(place + 1) if place + 1 < len(cards) else ""
        return catalog_pb2.ListCheckpointsResponse(
            checkpoints=cards[place : place + 1], next_page_token=more
        )

    async def WatchCheckpoints(  # noqa: N802
        self,
        request: catalog_pb2.WatchCheckpointsRequest,
        context: grpc.aio.ServicerContext[
            catalog_pb2.WatchCheckpointsRequest, catalog_pb2.WatchCheckpointsResponse
        ],
    ) -> AsyncIterator[catalog_pb2.WatchCheckpointsResponse]:
        self._script.tenants.append(current_tenant())
        yield catalog_pb2.WatchCheckpointsResponse(synced=True)
        while True:
            yield await self._script.states.get()


@asynccontextmanager
async def serve_script(script: Script) -> AsyncIterator[str]:
    """Serve check-in, catalog and renderer together; yield HOST:PORT."""

    def register(server: grpc.aio.Server) -> None:
        # What a script does not answer, nobody asks.
        catalog = _Catalog(script)  # type: ignore[abstract]
        renderer = _Renderer(script)  # type: ignore[abstract]
        checkin_pb2_grpc.add_CheckInServiceServicer_to_server(_CheckIn(script), server)
        catalog_pb2_grpc.add_CatalogServiceServicer_to_server(catalog, server)
        renderer_pb2_grpc.add_RendererServiceServicer_to_server(renderer, server)

    settings = CommonSettings(drain_s=0, grace_s=0)
    async with serve(register, service_names=[], settings=settings) as server:
        yield f"127.0.0.1:{server.port}"
