"""Setting up NATS: `bootstrap`, `verify`, and the commands of the same names."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from nats.js.api import RetentionPolicy, StorageType
from support.ports import free_port

from personalq.chassis.errors import NotReady, Unavailable
from personalq.chassis.events import (
    ARTIFACT_BUCKET,
    Bus,
    bootstrap_streams,
    open_bus,
    verify_streams,
)


async def _command(*arguments: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "personalq.chassis", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return process.returncode, output.decode()


async def test_the_streams_are_those_of_the_contract(bus: Bus) -> None:
    """Names, subjects and retention as other clients rely on them."""
    found = {
        info.config.name: (info.config.subjects, info.config.max_msgs_per_subject)
        for info in await bus.jetstream.streams_info()
    }
    assert found == {
        "PERSONALQ_CHECKPOINTS": (
            [
                "personalq.checkpoint.landed.*",
                "personalq.checkpoint.registered.*",
                "personalq.checkpoint.archived.*",
            ],
            -1,
        ),
        "PERSONALQ_ARTIFACTS": (
            ["personalq.artifact.ready.*.*.*", "personalq.artifact.failed.*.*.*"],
            1,
        ),
        "PERSONALQ_DEAD_LETTERS": (["personalq.dead.>"], -1),
        "OBJ_personalq-artifacts": (
            ["$O.personalq-artifacts.C.>", "$O.personalq-artifacts.M.>"],
            -1,
        ),
    }
    for info in await bus.jetstream.streams_info():
        assert info.config.retention == RetentionPolicy.LIMITS
        assert info.config.storage == StorageType.FILE
        assert info.config.duplicate_window == 120


async def test_bootstrap_repairs_and_keeps_what_operators_set(bus: Bus) -> None:
    """Run again it brings a stream up to date, and leaves messages and limits alone."""
    js = bus.jetstream
    await js.publish("personalq.checkpoint.landed.default", b"{}")
    config = (await js.stream_info("PERSONALQ_CHECKPOINTS")).config
    await js.update_stream(
        replace(config, subjects=["personalq.checkpoint.landed.*"], max_bytes=1_000_000)
    )
    with pytest.raises(
        NotReady, match=r"PERSONALQ_CHECKPOINTS has subjects .*, expected .*archived"
    ):
        await verify_streams(bus)
    await bootstrap_streams(bus)
    await verify_streams(bus)
    info = await js.stream_info("PERSONALQ_CHECKPOINTS")
    assert (info.config.max_bytes, info.state.messages) == (1_000_000, 1)


async def test_verify_names_everything_that_is_missing(bus: Bus) -> None:
    """One error for all of it, with the command that repairs it."""
    await bus.jetstream.delete_stream("PERSONALQ_DEAD_LETTERS")
    await bus.jetstream.delete_object_store(ARTIFACT_BUCKET)
    with pytest.raises(NotReady) as failure:
        await verify_streams(bus)
    assert failure.value.message == (
        "stream PERSONALQ_DEAD_LETTERS is missing; "
        "object store bucket personalq-artifacts is missing: "
        f"run `python -m personalq.chassis bootstrap --nats-url {bus.url}`"
    )


async def test_a_server_without_jetstream_is_recognised() -> None:
    """The error says with which option to start it."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *(Path(sys.executable).with_name("nats-server"), "-a", "127.0.0.1", "-p", str(port)),
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with open_bus(f"nats://127.0.0.1:{port}", name="test") as bus:
            for attempt in bootstrap_streams, verify_streams:
                with pytest.raises(Unavailable, match="nats-server with -js"):
                    await attempt(bus)
    finally:
        process.kill()
        await process.wait()


async def test_the_commands(nats_url: str) -> None:
    """Verify fails and names the remedy, bootstrap is the remedy."""
    async with open_bus(nats_url, name="test") as bus:
        await bus.jetstream.delete_stream("PERSONALQ_ARTIFACTS")
    code, output = await _command("verify", "--nats-url", nats_url)
    assert code == 1
    assert f"run `python -m personalq.chassis bootstrap --nats-url {nats_url}`" in output
    assert "Traceback" not in output
    code, output = await _command("bootstrap", "--nats-url", nats_url)
    assert code == 0, output
    code, output = await _command("verify", "--nats-url", nats_url)
    assert (code, output) == (0, "")
