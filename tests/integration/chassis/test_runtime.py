"""The process: signals, exit codes, one line when it fails."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

_HEAD = """
import asyncio
from personalq.chassis.errors import PersonalQError
from personalq.chassis.events import open_bus
from personalq.chassis.rpc import serve
from personalq.chassis.runtime import run
from personalq.chassis.settings import CommonSettings, load_settings

settings = load_settings(CommonSettings)
"""


@asynccontextmanager
async def _service(main: str, **environment: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process whose `main` is the given source."""
    source = f"{_HEAD}\n{textwrap.dedent(main)}\nrun(main, settings, name='example')\n"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", source),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PERSONALQ_DRAIN_S": "0", **environment},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def _lines(process: asyncio.subprocess.Process) -> list[dict[str, str]]:
    _, errors = await asyncio.wait_for(process.communicate(), 60)
    return [json.loads(line) for line in errors.splitlines()]


async def _started(process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), 60)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_gracefully(number: signal.Signals) -> None:
    """SIGTERM and SIGINT let main wind down; exit code 0."""
    main = """
    async def main(stop):
        async with serve(lambda server: None, service_names=[], settings=settings):
            print("serving", flush=True)
            await stop.wait()
            print("wound down", flush=True)
    """
    async with _service(main) as process:
        await _started(process)
        process.send_signal(number)
        lines = await _lines(process)
    assert process.returncode == 0
    assert [line["msg"] for line in lines] == [
        "serving", "stopping", "no longer serving", "stopped",
    ]  # fmt: skip
    assert {line["service"] for line in lines} == {"example"}


async def test_a_second_signal_ends_it_at_once() -> None:
    """Who presses Ctrl-C twice does not wait for the wind-down."""
    main = """
    async def main(stop):
        print("serving", flush=True)
        await stop.wait()
        print("stopping", flush=True)
        await asyncio.sleep(600)
    """
    async with _service(main) as process:
        await _started(process)
        process.send_signal(signal.SIGINT)
        await _started(process)
        process.send_signal(signal.SIGINT)
        await _lines(process)
    assert process.returncode == 0


async def test_a_failure_we_know_is_one_line() -> None:
    """The message says what to do; there is no stack. Exit code 1."""
    main = """
    async def main(stop):
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())

    async def fail():
        raise PersonalQError("the base model is missing; set PERSONALQ_BASE_MODELS")
    """
    async with _service(main) as process:
        [line] = await _lines(process)
    assert process.returncode == 1
    assert line["level"] == "error"
    assert line["msg"] == ("example failed: the base model is missing; set PERSONALQ_BASE_MODELS")
    assert "stack" not in line


async def test_a_failure_we_do_not_know_has_its_stack() -> None:
    """One line all the same. Exit code 1."""
    main = """
    async def main(stop):
        raise KeyError("bear")
    """
    async with _service(main) as process:
        [line] = await _lines(process)
    assert process.returncode == 1
    assert line["msg"] == "example failed: KeyError('bear')"
    assert "Traceback" in line["stack"]


async def test_a_busy_port_is_one_line() -> None:
    """The line names the port and the setting."""
    main = """
    async def main(stop):
        async with serve(lambda server: None, service_names=[], settings=settings):
            await stop.wait()
    """
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        async with _service(main, PERSONALQ_PORT=port) as process:
            lines = await _lines(process)
    assert process.returncode == 1
    assert f"port {port} is in use" in lines[-1]["msg"]
    assert "PERSONALQ_PORT" in lines[-1]["msg"]


async def test_wrong_settings_end_it_with_code_2() -> None:
    """Before anything is started."""
    async with _service("main = None", PERSONALQ_PORT="99999") as process:
        _, errors = await process.communicate()
    assert process.returncode == 2
    assert errors.decode() == "PERSONALQ_PORT: must be between 0 and 65535 (got 99999)\n"


async def test_metrics_are_served(unused_tcp_port: int) -> None:
    """While the service runs, on its host."""
    main = """
    async def main(stop):
        print("serving", flush=True)
        await stop.wait()
    """
    async with _service(main, PERSONALQ_METRICS_PORT=str(unused_tcp_port)) as process:
        await _started(process)
        reader, writer = await asyncio.open_connection("127.0.0.1", unused_tcp_port)
        writer.write(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert b"200 OK" in await reader.readline()
        writer.close()
        process.terminate()
        await _lines(process)
    assert process.returncode == 0
