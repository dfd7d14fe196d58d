"""What a killed stack left running, remembered by process id and start time."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import psutil

_GRACE_S = 10.0


class Registry:
    """The running programs of a data directory, kept in a file that outlives the stack."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "children.json"

    def add(self, pid: int) -> None:
        """Remember a program that was just started."""
        try:
            started = psutil.Process(pid).create_time()
        except psutil.NoSuchProcess:
            return
        self._write([*self._read(), (pid, started)])

    def clear(self) -> None:
        """Forget all: they were stopped."""
        self._path.unlink(missing_ok=True)

    def reap(self) -> int:
        """Stop what still runs of an earlier stack; return how many programs that were.

        On Linux the kernel stops the children of a killed parent; this waits for the last of them,
        and does the same where there is no such kernel.
        """
        alive = [process for pid, started in self._read() if (process := _same(pid, started))]
        for process in alive:
            with suppress(psutil.NoSuchProcess):  # the kernel was faster
                process.terminate()
        _, stubborn = psutil.wait_procs(alive, timeout=_GRACE_S)
        for process in stubborn:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(stubborn, timeout=_GRACE_S)
        self.clear()
        return len(alive)

    def _read(self) -> list[tuple[int, float]]:
        try:
            return [
                (int(pid), float(started)) for pid, started in json.loads(self._path.read_text())
            ]
        except (OSError, ValueError, TypeError):  # absent, or half-written by a killed stack
            return []

    def _write(self, children: list[tuple[int, float]]) -> None:
        self._path.write_text(json.dumps(children))


def _same(pid: int, started: float) -> psutil.Process | None:
    """The process, unless its id belongs to another one by now."""
    try:
        process = psutil.Process(pid)
        return process if process.create_time() == started else None
    except psutil.NoSuchProcess:
        return None
