"""Run the renderer: requests in, pictures out."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from typing import cast

import diffusers
import torch
import transformers

from personalq.chassis.blobs import open_blob_store
from personalq.chassis.errors import PersonalQError
from personalq.chassis.events import Bus, open_bus, verify_streams
from personalq.chassis.rpc import open_channel, serve
from personalq.chassis.runtime import run
from personalq.chassis.settings import load_settings
from personalq.renderer import handlers
from personalq.renderer.artifacts import ArtifactIndex, ArtifactRef
from personalq.renderer.bases import Base, load_base, locate
from personalq.renderer.catalog_client import CatalogClient
from personalq.renderer.device import Device
from personalq.renderer.files import ArtifactFiles
from personalq.renderer.models import Models, held_bytes
from personalq.renderer.ports import SafetyChecker
from personalq.renderer.queue import DeviceQueue
from personalq.renderer.render import Tools
from personalq.renderer.requests import Defaults
from personalq.renderer.residents import Residents
from personalq.renderer.servicer import SERVICE_NAME, STATUSES, RendererServicer
from personalq.renderer.settings import RendererSettings
from personalq.v1.events_pb2 import ArtifactReady, CheckpointArchived
from personalq.v1.renderer_pb2_grpc import add_RendererServiceServicer_to_server

log = logging.getLogger(__name__)

IDLE_CHECK_S = 10.0
DOUBT_S = 300.0  # so long a withdrawal that this pod did not hear of goes unnoticed


async def run_renderer(settings: RendererSettings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set."""
    if settings.torch_threads:
        torch.set_num_threads(settings.torch_threads)
    safety = load_safety_checker(settings.safety_checker)
    async with AsyncExitStack() as stack:
        device = await stack.enter_async_context(Device(settings.device))
        await device.touch()
        bases = await load_bases(settings, device)
        bus = await stack.enter_async_context(open_bus(settings.nats_url, name="renderer"))
        await verify_streams(bus)
        blobs = await stack.enter_async_context(open_blob_store(settings.blob_url, bus))
        channel = await stack.enter_async_context(open_channel(settings.catalog_target))
        loader = stack.enter_context(ThreadPoolExecutor(1, thread_name_prefix="loader"))
        files = ArtifactFiles(
            settings.cache_dir / "artifacts", blobs, bytes_max=settings.cache_bytes_max
        )
        residents = Residents(
            bytes_max=settings.memory_bytes_max, measure=held_bytes, idle_s=settings.idle_s
        )
        tools = Tools(
            index=ArtifactIndex(),
            catalog=CatalogClient(channel),
            models=Models(bases, files, residents, loader=loader),
            queue=DeviceQueue(settings.queue_length),
            device=device,
            defaults=Defaults(
                profile=settings.default_profile,
                steps=settings.default_steps,
                guidance_scale=settings.default_guidance,
                side_max=settings.side_max,
            ),
            safety=safety,
        )
        work = asyncio.create_task(keep_up(bus, tools, prefetch=settings.prefetch))
        stack.push_async_callback(_ended, work)

        async def ready() -> bool:
            await device.touch()
            return tools.index.synced.is_set() and bus.client.is_connected and not work.done()

        async with serve(
            lambda server: add_RendererServiceServicer_to_server(RendererServicer(tools), server),
            service_names=[SERVICE_NAME],
            settings=settings,
            statuses=STATUSES,
            ready=ready,
        ):
            stopping = asyncio.create_task(stop.wait())
            await asyncio.wait({work, stopping}, return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            if work.done():
                work.result()  # raises what ended it


async def keep_up(bus: Bus, tools: Tools, *, prefetch: bool) -> None:
    """Follow the streams, drop what idles; runs until cancelled."""
    one_by_one = asyncio.Lock()
    async with asyncio.TaskGroup() as group:

        def announce(artifact: ArtifactRef) -> None:
            if prefetch:
                group.create_task(_prefetch(artifact, tools, one_by_one))

        group.create_task(
            bus.follow(
                ArtifactReady,
                handlers.on_artifact_ready(tools.index, announce),
                name="renderer-artifacts",
                synced=tools.index.synced,
            )
        )
        group.create_task(
            bus.follow(
                CheckpointArchived,
                handlers.on_checkpoint_archived(tools.index),
                name="renderer-archived",
            )
        )
        group.create_task(_every(IDLE_CHECK_S, tools.models.residents.evict_idle))
        group.create_task(_every(DOUBT_S, tools.index.doubt))


async def _every(seconds: float, do: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(seconds)
        do()


async def _prefetch(artifact: ArtifactRef, tools: Tools, one_by_one: asyncio.Lock) -> None:
    try:
        async with one_by_one:
            await tools.models.prefetch(artifact)
    except PersonalQError as error:
        # Not now; the first render of it fetches it, or says why it cannot.
        log.warning(
            "artifact not prefetched: %s",
            error,
            extra={"action": "prefetch_artifact", "digest": artifact.digest},
        )


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def load_bases(settings: RendererSettings, device: Device) -> dict[str, Base]:
    """Load every configured base model."""
    folders = await locate(settings.base_models, settings.cache_dir / "bases")
    dtype = cast(torch.dtype, getattr(torch, settings.dtype))
    return {
        base_model: await asyncio.to_thread(
            load_base, base_model, folder, device=device.torch, dtype=dtype
        )
        for base_model, folder in folders.items()
    }


def load_safety_checker(name: str) -> SafetyChecker | None:
    """Call the factory "package.module:factory"; none for an empty name.

    Raises:
        PersonalQError: there is no such factory.
    """
    if not name:
        return None
    module, _, factory = name.partition(":")
    try:
        return cast(SafetyChecker, getattr(importlib.import_module(module), factory)())
    except (ImportError, AttributeError, ValueError) as error:
        raise PersonalQError(
            f"safety_checker {name!r} cannot be loaded ({error}): write package.module:factory"
        ) from error


def main() -> None:
    """Read the settings and run."""
    transformers.utils.logging.disable_progress_bar()  # bars are for terminals, not for logs
    diffusers.utils.logging.disable_progress_bar()
    settings = load_settings(RendererSettings)
    run(lambda stop: run_renderer(settings, stop), settings, name="renderer")


if __name__ == "__main__":
    main()
