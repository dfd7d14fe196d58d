"""`personalq up`: starts, stops, shares a machine, and leaves nothing behind."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path

import pytest
from support.embedded_stack import PARTS, PERSONALQ, EmbeddedStack

from personalq.sdk.embedded.ports import Ports, free_base

# Generous: a loaded machine needs minutes to load torch three times.
pytestmark = pytest.mark.timeout(900)


def _up(data: Path, base: int) -> subprocess.CompletedProcess[str]:
    """A stack that is expected not to start."""
    return subprocess.run(
        [PERSONALQ, "up", "--data", data, "--port-base", str(base)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_it_prints_a_line_per_endpoint_and_ready(empty_stack: EmbeddedStack) -> None:
    """What a person, or a script that waits for it, reads."""
    lines = empty_stack.output.splitlines()
    assert lines[-1] == "READY"
    for part in ("catalog", "checkin", "quantizer", "renderer", "postgres"):
        assert any(empty_stack.ports.address(part) in line for line in lines)
    assert len(empty_stack.parts) == PARTS


def test_a_port_in_use_is_named_before_anything_starts(tmp_path: Path) -> None:
    """Code 2, the port, and a base that is free."""
    base = free_base(24000)
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", Ports(base=base).of("renderer")))
        holder.listen()
        done = _up(tmp_path / "data", base)
    assert done.returncode == 2
    assert f"{base + 3} (renderer) is in use" in done.stderr
    assert "--port-base" in done.stderr
    assert not (tmp_path / "data" / "logs").exists()


def test_a_data_directory_in_use_is_told(empty_stack: EmbeddedStack) -> None:
    """The process that holds it is named; the running stack is not disturbed."""
    done = _up(empty_stack.data, free_base(25000))
    assert done.returncode == 2
    assert f"process {empty_stack.process.pid}" in done.stderr
    assert empty_stack.process.poll() is None


def test_a_data_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """Code 2 and the option for another one."""
    (tmp_path / "file").touch()
    done = _up(tmp_path / "file" / "data", free_base(25000))
    assert done.returncode == 2
    assert "--data" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_second_stack_lives_beside_the_first_and_survives_being_killed(
    empty_stack: EmbeddedStack, tmp_path: Path
) -> None:
    """Killed, it leaves no process; started again in the dirty directory, it serves and stops."""
    data = tmp_path / "second"
    second = EmbeddedStack(data, "--no-miniature", base=free_base(26000))
    try:
        second.wait_for("READY")
        assert second.command("checkpoints", "list").returncode == 0
        assert empty_stack.command("checkpoints", "list").returncode == 0
        second.process.kill()
        second.process.wait()
        assert second.survivors() == []
    finally:
        second.destroy(keep=True)

    again = EmbeddedStack(data, "--no-miniature", base=second.ports.base)
    try:
        again.wait_for("READY")
        assert again.command("checkpoints", "list").returncode == 0
        assert again.stop(signal.SIGINT) == 0
        assert again.survivors() == []
        assert again.output.splitlines()[-1] == "stopped"
    finally:
        again.destroy()


def test_ctrl_c_half_way_leaves_nothing(tmp_path: Path) -> None:
    """A start that is interrupted stops what it has started."""
    stack = EmbeddedStack(tmp_path / "data", "--no-miniature", base=free_base(27000))
    try:
        stack.wait_for("postgres")
        assert stack.parts
        assert stack.stop(signal.SIGINT) == 0
        assert stack.survivors() == []
        assert "READY" not in stack.output
    finally:
        stack.destroy()


def test_a_part_that_dies_stops_the_stack_with_its_last_words(tmp_path: Path) -> None:
    """Code 1; the message names the part and shows its log."""
    stack = EmbeddedStack(tmp_path / "data", "--no-miniature", base=free_base(28000))
    try:
        stack.wait_for("postgres")
        [server] = [each for each in stack.parts if "nats-server" in each.name()]
        server.kill()
        assert stack.process.wait(timeout=90) == 1
        assert "nats-server stopped" in stack.output
        assert "Traceback" not in stack.output
        assert stack.survivors() == []
    finally:
        stack.destroy()
