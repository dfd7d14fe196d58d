"""Waiting until what the services do by themselves is done."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from personalq.bench.scale import measuring


@pytest.fixture(autouse=True)
def _short_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_ROUND_S", 0.05)


@contextmanager
def running(program: str) -> Iterator[int]:
    """The process id of a Python program, which is ended afterwards."""
    command = [sys.executable, "-c", f"print('ready', flush=True)\n{program}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process.pid
        process.kill()


async def test_idle_programs_are_not_waited_for() -> None:
    """Long before the time is over."""
    began = time.monotonic()
    with running("import time; time.sleep(600)") as idle:
        await measuring.until_idle({"idle": idle}, within_s=60)
    assert time.monotonic() - began < 60


async def test_a_busy_program_is_waited_for() -> None:
    """As long as was allowed, though another is idle."""
    began = time.monotonic()
    with running("import time; time.sleep(600)") as idle, running("while True: pass") as busy:
        await measuring.until_idle({"idle": idle, "busy": busy}, within_s=0.5)
    assert time.monotonic() - began >= 0.5
