"""Artifacts of the tiny model, made once, and a renderer per test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.tiny_artifacts import ToldOutcomes, make_job, make_tools
from support.tiny_renderer import TinyCatalog, TinyRenderer, running_renderer, serving
from support.tiny_sd import TRIGGER, make_full, make_lora, make_tiny_sd

from personalq.chassis.blobs import open_blob_store
from personalq.chassis.events import open_bus
from personalq.quantizer.quantize import quantize_checkpoint
from personalq.quantizer.thread import TorchThread
from personalq.v1 import catalog_pb2, types_pb2
from personalq.v1.events_pb2 import ArtifactReady


@dataclass(frozen=True)
class TinyWorld:
    """A base model, a blob store with artifacts of its checkpoints, and their events."""

    base: Path
    blobs: Path
    events: Sequence[ArtifactReady]


@pytest.fixture(scope="session")
def tiny_world(tmp_path_factory: pytest.TempPathFactory) -> TinyWorld:
    """Artifacts of the LoRAs bear-v4, bear-v5 and token-bear and of the fine-tune dog-full."""
    folder = tmp_path_factory.mktemp("tiny-world")
    base = make_tiny_sd(folder / "base")
    two, one = ("full", "w8a8"), ("w8a8",)
    jobs = [
        make_job(make_lora(base, folder / "a.safetensors", seed=1), profiles=two),
        make_job(
            make_lora(base, folder / "b.safetensors", seed=2),
            checkpoint_id="bear-v5",
            triggers=("<bear-v5>",),
            profiles=one,
        ),
        make_job(
            make_lora(
                base, folder / "t.safetensors", seed=3, strength=0.0, trigger_embedding=TRIGGER
            ),
            checkpoint_id="token-bear",
            profiles=one,
        ),
        make_job(
            make_full(base, folder / "dog"),
            checkpoint_id="dog-full",
            triggers=("<dog>",),
            profiles=one,
        ),
    ]
    told = ToldOutcomes()

    async def make() -> None:
        async with (
            open_blob_store((folder / "blobs").as_uri(), None) as blobs,
            TorchThread() as thread,
        ):
            tools = make_tools(base, folder / "work", blobs, told, thread)
            for job in jobs:
                await quantize_checkpoint(job, tools=tools)

    asyncio.run(make())
    assert not told.failed_events
    return TinyWorld(base=base, blobs=folder / "blobs", events=told.ready_events)


@pytest.fixture
def catalog() -> TinyCatalog:
    """A catalog that knows nothing yet."""
    return TinyCatalog()  # type: ignore[abstract]  # the other methods answer UNIMPLEMENTED


class StartRenderer:
    """Starts renderers that end with the test."""

    def __init__(
        self, nats_url: str, world: TinyWorld, cache: Path, target: str, stack: AsyncExitStack
    ) -> None:
        self._nats_url, self._world, self._cache = nats_url, world, cache
        self._target, self._stack = target, stack

    async def __call__(
        self,
        *,
        events: Sequence[ArtifactReady] | None = None,
        blobs: Path | None = None,
        **settings: Any,
    ) -> TinyRenderer:
        """Announce the world's artifacts (or `events`) and run a renderer that knows them."""
        announced = self._world.events if events is None else events
        async with open_bus(self._nats_url, name="test") as bus:
            for event in announced:
                await bus.publish(
                    event, msg_id=event.artifact.digest + event.artifact.checkpoint_id
                )
        renderer = await self._stack.enter_async_context(
            running_renderer(
                self._nats_url,
                self._world.base,
                blobs or self._world.blobs,
                settings.pop("cache_dir", self._cache),
                catalog_target=self._target,
                **settings,
            )
        )
        await renderer.known(len(announced))
        return renderer


@pytest.fixture
async def start(
    nats_url: str, tiny_world: TinyWorld, catalog: TinyCatalog, tmp_path: Path
) -> AsyncIterator[StartRenderer]:
    """A function that starts a renderer with a catalog of the world's checkpoints."""
    for event in tiny_world.events:
        name = event.artifact.checkpoint_id
        entry = catalog.entries.setdefault(name, catalog_pb2.GetCheckpointResponse())
        entry.checkpoint.checkpoint_id = name
        entry.checkpoint.state = types_pb2.CHECKPOINT_STATE_SERVABLE
        entry.artifacts.append(event.artifact)
    async with AsyncExitStack() as stack:
        target = await stack.enter_async_context(serving(catalog))
        yield StartRenderer(nats_url, tiny_world, tmp_path / "cache", target, stack)
