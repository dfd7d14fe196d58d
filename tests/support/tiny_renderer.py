"""A renderer in this process, its catalog, and a client that collects what it streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from support.polling import eventually
from support.ports import free_port
from support.tiny_sd import BASE_MODEL

from personalq.renderer.__main__ import run_renderer
from personalq.renderer.settings import RendererSettings
from personalq.v1 import catalog_pb2, catalog_pb2_grpc, renderer_pb2, renderer_pb2_grpc


class TinyCatalog(catalog_pb2_grpc.CatalogServiceServicer):
    """GetCheckpoint from a dict, over real gRPC; counts how often it was asked."""

    def __init__(self) -> None:
        self.entries: dict[str, catalog_pb2.GetCheckpointResponse] = {}
        self.asked = 0

    async def GetCheckpoint(  # noqa: N802
        self, request: catalog_pb2.GetCheckpointRequest, context: Any
    ) -> catalog_pb2.GetCheckpointResponse:
        """Return an entry or NOT_FOUND."""
        self.asked += 1
        if request.checkpoint_id not in self.entries:
            await context.abort(grpc.StatusCode.NOT_FOUND, "there is no such checkpoint")
        return self.entries[request.checkpoint_id]


@asynccontextmanager
async def serving(catalog: TinyCatalog) -> AsyncIterator[str]:
    """Serve a catalog and yield its target."""
    server = grpc.aio.server()
    catalog_pb2_grpc.add_CatalogServiceServicer_to_server(catalog, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


@dataclass
class Rendered:
    """What a render streamed."""

    events: list[renderer_pb2.RenderEvent] = field(default_factory=list)

    @property
    def kinds(self) -> list[str]:
        """Kinds of the events in order, repetitions left out."""
        kinds: list[str] = []
        for event in self.events:
            kind = str(event.WhichOneof("event"))
            if not kinds or kinds[-1] != kind:
                kinds.append(kind)
        return kinds

    @property
    def pictures(self) -> list[bytes]:
        """The pictures, put together of their chunks."""
        whole: dict[int, bytes] = {}
        for event in self.events:
            if event.WhichOneof("event") == "image":
                whole[event.image.index] = whole.get(event.image.index, b"") + event.image.chunk
        return [whole[index] for index in sorted(whole)]

    @property
    def done(self) -> renderer_pb2.Done:
        """The last event."""
        return self.events[-1].done


@dataclass
class TinyRenderer:
    """A running renderer and its stub."""

    stub: renderer_pb2_grpc.RendererServiceAsyncStub
    port: int

    def request(self, **fields: Any) -> renderer_pb2.RenderRequest:
        """Return a quick request; fields replace its defaults."""
        values: dict[str, Any] = {
            "checkpoint_id": "bear-v4",
            "prompt": "a photo of a <bear-v4> in the forest",
            "seed": 7,
            "steps": 3,
        }
        return renderer_pb2.RenderRequest(**values | fields)

    async def render(self, **fields: Any) -> Rendered:
        """Render and return everything that came."""
        rendered = Rendered()
        async for event in self.stub.Render(self.request(**fields), timeout=60):
            rendered.events.append(event)
        return rendered

    async def status(self) -> renderer_pb2.GetStatusResponse:
        """Return the renderer's status."""
        return await self.stub.GetStatus(renderer_pb2.GetStatusRequest(), timeout=10)

    async def known(self, artifacts: int) -> None:
        """Wait until the renderer knows that many artifacts."""

        async def enough() -> bool:
            return (await self.status()).known_artifacts == artifacts

        await eventually(enough)

    async def idle(self) -> None:
        """Wait until nothing runs or waits."""

        async def free() -> bool:
            status = await self.status()
            return status.running == 0 and status.queue_depth == 0

        await eventually(free)


@asynccontextmanager
async def running_renderer(
    nats_url: str, base: Path, blobs: Path, cache: Path, *, catalog_target: str, **settings: Any
) -> AsyncIterator[TinyRenderer]:
    """Run a renderer on free ports until the block is left; raise what it raised."""
    values: dict[str, Any] = {
        "nats_url": nats_url,
        "port": free_port(),
        "base_models": {BASE_MODEL: str(base)},
        "blob_url": blobs.as_uri(),
        "cache_dir": cache,
        "catalog_target": catalog_target,
        "drain_s": 0.0,
        "grace_s": 2.0,
    }
    chosen = RendererSettings(**values | settings)
    stop = asyncio.Event()
    task = asyncio.create_task(run_renderer(chosen, stop))
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{chosen.port}") as channel:
            ready = asyncio.ensure_future(channel.channel_ready())
            await asyncio.wait({ready, task}, return_when=asyncio.FIRST_COMPLETED, timeout=30)
            ready.cancel()
            if task.done():
                task.result()
            stub = renderer_pb2_grpc.RendererServiceStub(channel)
            yield TinyRenderer(stub=stub, port=chosen.port)
    finally:
        stop.set()
        await task
