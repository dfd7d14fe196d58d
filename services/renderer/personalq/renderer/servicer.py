"""gRPC in."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

import grpc

from personalq.chassis import rpc
from personalq.chassis.tenancy import current_tenant
from personalq.renderer import wire
from personalq.renderer.device import Cancellation, Cancelled
from personalq.renderer.render import Tools, render, warm
from personalq.v1 import renderer_pb2, renderer_pb2_grpc

SERVICE_NAME = renderer_pb2.DESCRIPTOR.services_by_name["RendererService"].full_name

STATUSES: Mapping[type[Exception], rpc.Status] = {
    **rpc.STATUSES,
    Cancelled: rpc.Status(grpc.StatusCode.CANCELLED, "CANCELLED"),
}


class RendererServicer(renderer_pb2_grpc.RendererServiceServicer):
    """Translates, calls the use case, translates back."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def Render(  # noqa: N802 - named by the contract
        self, request: renderer_pb2.RenderRequest, context: Any
    ) -> AsyncGenerator[renderer_pb2.RenderEvent, None]:
        """Render a prompt and stream how it goes."""
        cancellation = Cancellation()
        context.add_done_callback(lambda _: cancellation.cancel())
        events = render(
            wire.to_render_request(request),
            tenant=current_tenant(),
            cancellation=cancellation,
            tools=self._tools,
        )
        async with aclosing(events):
            async for event in events:
                for message in wire.from_event(event):
                    yield message

    async def GetStatus(  # noqa: N802
        self, request: renderer_pb2.GetStatusRequest, context: Any
    ) -> renderer_pb2.GetStatusResponse:
        """Say what the pod holds and how busy it is."""
        tools = self._tools
        residents = tools.models.residents
        response = renderer_pb2.GetStatusResponse(
            device=tools.device.name,
            resident_bytes=residents.size_bytes,
            budget_bytes=residents.bytes_max,
            queue_depth=tools.queue.depth,
            running=tools.queue.running,
            known_artifacts=len(tools.index),
        )
        for resident in residents.residents():
            checkpoint_id, profile = resident.label
            response.residents.add(
                digest=resident.key,
                checkpoint_id=checkpoint_id,
                profile=profile,
                size_bytes=resident.size_bytes,
                leases=resident.leases,
            )
        return response

    async def Warm(  # noqa: N802
        self, request: renderer_pb2.WarmRequest, context: Any
    ) -> renderer_pb2.WarmResponse:
        """Load an artifact so that the next render of it starts at once."""
        artifact, seconds = await warm(
            request.checkpoint_id, request.profile, tenant=current_tenant(), tools=self._tools
        )
        return renderer_pb2.WarmResponse(
            artifact=wire.from_artifact_ref(artifact), load_seconds=seconds
        )
