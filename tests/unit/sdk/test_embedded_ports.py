"""Ports, lock and leftovers of the embedded stack."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from personalq.sdk.embedded import lock
from personalq.sdk.embedded.leftovers import Registry
from personalq.sdk.embedded.lock import DirectoryInUse
from personalq.sdk.embedded.ports import PARTS, PortInUse, Ports, check_free


@pytest.fixture
def base() -> int:
    """A base with six free neighbours."""
    for candidate in range(21000 + os.getpid() % 1000 * 10, 60000, 10):
        try:
            check_free(Ports(base=candidate))
        except PortInUse:
            continue
        return candidate
    raise AssertionError("no free ports")


def test_a_taken_port_is_named_with_its_part_and_a_way_out(base: int) -> None:
    """The suggested base is free."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", base + 3))
        holder.listen()
        with pytest.raises(PortInUse, match=rf"{base + 3} \(renderer\).*--port-base \d+") as caught:
            check_free(Ports(base=base))
    suggested = int(str(caught.value).rpartition("--port-base ")[2].rstrip("`"))
    check_free(Ports(base=suggested))


def test_a_port_whose_connections_are_closing_is_free(base: int) -> None:
    """A stack can start again right after it stopped."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", base))
        server.listen()
        with socket.create_connection(("127.0.0.1", base)):
            server.accept()[0].close()  # this side closes first and lingers
    check_free(Ports(base=base))


@pytest.mark.parametrize("wrong", [0, -1, 65_534, 99_999])
def test_a_base_out_of_range_is_refused(wrong: int) -> None:
    """Six ports must fit above it."""
    with pytest.raises(PortInUse, match="out of range"):
        check_free(Ports(base=wrong))


def test_parts_are_neighbours() -> None:
    """Catalog first, PostgreSQL last."""
    assert [Ports(base=7400).of(part) for part in PARTS] == list(range(7400, 7406))


def test_a_second_stack_in_a_data_directory_is_told_who_holds_it(tmp_path: Path) -> None:
    """The lock names the process."""
    with (
        lock.hold(tmp_path / "data"),
        pytest.raises(DirectoryInUse, match=rf"process {os.getpid()}.*--data"),
        lock.hold(tmp_path / "data"),
    ):
        pass


def test_the_lock_of_a_finished_stack_is_free(tmp_path: Path) -> None:
    """Its file stays, its claim does not."""
    for _ in range(2):
        with lock.hold(tmp_path):
            pass


def test_a_data_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """The remedy is another one."""
    (tmp_path / "file").touch()
    with (
        pytest.raises(DirectoryInUse, match="choose another with `--data DIR`"),
        lock.hold(tmp_path / "file" / "data"),
    ):
        pass


def test_what_a_killed_stack_left_is_stopped(tmp_path: Path) -> None:
    """A new stack in the same directory starts on clean ground."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as left:
        Registry(tmp_path).add(left.pid)
        assert Registry(tmp_path).reap() == 1
        assert not psutil.pid_exists(left.pid)
    assert Registry(tmp_path).reap() == 0


def test_a_process_that_only_inherited_an_id_is_left_alone(tmp_path: Path) -> None:
    """The start time tells it from the one that was recorded."""
    (tmp_path / "children.json").write_text(f"[[{os.getpid()}, 1.0]]")
    assert Registry(tmp_path).reap() == 0
    assert psutil.pid_exists(os.getpid())


def test_a_half_written_record_is_no_record(tmp_path: Path) -> None:
    """A stack that was killed while writing does not stop the next one."""
    (tmp_path / "children.json").write_text("[[1")
    assert Registry(tmp_path).reap() == 0
