"""A quantizer in this process, and someone who listens to what it announces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from nats.js.errors import NotFoundError
from support.polling import eventually
from support.ports import free_port
from support.tiny_sd import BASE_MODEL, TRIGGER, make_tiny_sd

from personalq.chassis.events import Bus, open_bus
from personalq.chassis.sources import digest_of
from personalq.quantizer.__main__ import run_quantizer
from personalq.quantizer.settings import QuantizerSettings
from personalq.v1.events_pb2 import ArtifactFailed, ArtifactReady, CheckpointRegistered


@pytest.fixture(scope="session")
def tiny_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The diffusers folder of the tiny base model."""
    return make_tiny_sd(tmp_path_factory.mktemp("tiny-base"))


class Bench:
    """Registers checkpoints, runs quantizers, and collects every announcement."""

    def __init__(self, bus: Bus, base: Path, folder: Path, nats_url: str) -> None:
        self.bus, self.base, self.folder = bus, base, folder
        self.blobs, self.work_dir = folder / "blobs", folder / "work"
        self.ready: list[ArtifactReady] = []
        self.failed: list[ArtifactFailed] = []
        self._nats_url = nats_url

    async def register(
        self,
        source: Path | str,
        *,
        checkpoint_id: str = "bear-v4",
        profiles: tuple[str, ...] = ("w8a8",),
        msg_id: str = "",
        **card: Any,
    ) -> CheckpointRegistered:
        """Publish CheckpointRegistered for a file or URI as the catalog would."""
        event = CheckpointRegistered(tenant="default", profiles=profiles)
        values: dict[str, Any] = {"triggers": [TRIGGER], "base_model": BASE_MODEL} | card
        for field in ("triggers", "subjects"):
            getattr(event.checkpoint, field).extend(values.pop(field, []))
        for field, value in values.items():
            if field in ("sha256", "size_bytes"):
                setattr(event.checkpoint.source, field, value)
            else:
                setattr(event.checkpoint, field, value)
        event.checkpoint.checkpoint_id = checkpoint_id
        if isinstance(source, Path):
            if "sha256" not in card:
                digest, size = digest_of(source)
                event.checkpoint.source.sha256, event.checkpoint.source.size_bytes = digest, size
            source = source.as_uri()
        event.checkpoint.source.uri = source
        await self.bus.publish(event, msg_id=msg_id or f"{checkpoint_id}-{len(self.ready)}")
        return event

    @asynccontextmanager
    async def running(self, **settings: Any) -> AsyncIterator[None]:
        """Run a quantizer while the block is open; raise what it raised."""
        values: dict[str, Any] = {
            "nats_url": self._nats_url,
            "port": free_port(),
            "base_models": {BASE_MODEL: str(self.base)},
            "blob_url": self.blobs.as_uri(),
            "work_dir": self.work_dir,
            "calibration_prompts": 2,
            "calibration_steps": 2,
            "drain_s": 0.0,
            "grace_s": 1.0,
        }
        stop = asyncio.Event()
        task = asyncio.create_task(run_quantizer(QuantizerSettings(**values | settings), stop))
        try:
            yield
        finally:
            stop.set()
            await task

    async def until(self, enough: Callable[[Bench], bool], *, timeout_s: float = 60.0) -> None:
        """Wait until `enough(self)`."""

        async def probe() -> bool:
            return enough(self)

        await eventually(probe, timeout_s=timeout_s)

    async def drained(self) -> None:
        """Wait until every registration was acknowledged."""
        await self._consumer(lambda info: info.num_pending == 0 and info.num_ack_pending == 0)

    async def redelivered(self) -> None:
        """Wait until a registration was delivered more than once."""
        await self._consumer(lambda info: info.delivered.consumer_seq > 1)

    async def _consumer(self, condition: Callable[[Any], bool]) -> None:
        async def probe() -> bool:
            try:
                info = await self.bus.jetstream.consumer_info("PERSONALQ_CHECKPOINTS", "quantizer")
            except NotFoundError:  # the quantizer has not begun
                return False
            return condition(info)

        await eventually(probe, timeout_s=60.0)

    def stored(self) -> dict[str, bytes]:
        """Return every stored blob by name."""
        return {p.name: p.read_bytes() for p in self.blobs.rglob("*") if p.is_file()}

    def leftovers(self) -> list[Path]:
        """Return what jobs left behind."""
        return list((self.work_dir / "jobs").glob("*"))


@pytest.fixture
async def bench(nats_url: str, tiny_base: Path, tmp_path: Path) -> AsyncIterator[Bench]:
    """A bench whose listener is already listening."""
    async with AsyncExitStack() as stack:
        bus = await stack.enter_async_context(open_bus(nats_url, name="test"))
        made = Bench(bus, tiny_base, tmp_path, nats_url)

        async def on_ready(event: ArtifactReady) -> None:
            made.ready.append(event)

        async def on_failed(event: ArtifactFailed) -> None:
            made.failed.append(event)

        listening = [
            asyncio.create_task(bus.follow(ArtifactReady, on_ready, name="test-ready")),
            asyncio.create_task(bus.follow(ArtifactFailed, on_failed, name="test-failed")),
        ]
        try:
            yield made
        finally:
            for task in listening:
                task.cancel()
            await asyncio.gather(*listening, return_exceptions=True)
