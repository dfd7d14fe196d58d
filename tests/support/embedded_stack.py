"""`personalq up` as a process of its own, and the processes it started."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

from personalq.sdk.client import AsyncPersonalQ
from personalq.sdk.embedded.ports import Ports, free_base
from personalq.sdk.embedded.postgres import data_directory

PERSONALQ = Path(sys.executable).with_name("personalq")
READY_TIMEOUT_S = 330.0
STOP_TIMEOUT_S = 90.0
PARTS = 6  # two servers and four services


class EmbeddedStack:
    """One `personalq up`; its output goes to a file."""

    def __init__(self, data: Path, *options: str, base: int | None = None) -> None:
        self.data = data
        self.ports = Ports(base=base or free_base(18000 + os.getpid() % 500 * 10))
        data.mkdir(parents=True, exist_ok=True)
        self._output = data / "up.txt"
        with self._output.open("wb") as output:
            self.process = subprocess.Popen(
                [
                    *(PERSONALQ, "up", "--data", data, "--port-base", str(self.ports.base)),
                    *options,
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        #: The servers and services; and these with the processes they have themselves.
        self.parts: list[psutil.Process] = []
        self.started: list[psutil.Process] = []

    @property
    def output(self) -> str:
        """What the command has printed so far."""
        return self._output.read_text()

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that lead a command to this stack."""
        return {
            **os.environ,
            "PERSONALQ_CATALOG": self.ports.address("catalog"),
            "PERSONALQ_CHECKIN": self.ports.address("checkin"),
            "PERSONALQ_RENDERER": self.ports.address("renderer"),
            "PERSONALQ_NATS": f"nats://{self.ports.address('nats')}",
        }

    def client(self) -> AsyncPersonalQ:
        """A client of this stack."""
        return AsyncPersonalQ(
            catalog=self.ports.address("catalog"),
            checkin=self.ports.address("checkin"),
            renderer=self.ports.address("renderer"),
            nats=f"nats://{self.ports.address('nats')}",
        )

    def command(self, *arguments: str | Path, timeout_s: float = 120.0) -> Done:
        """Run `personalq` against this stack."""
        return subprocess.run(
            [PERSONALQ, *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def wait_for(self, text: str) -> None:
        """Wait until the command prints `text`; notes the processes it runs by then."""
        _until(lambda: text in self.output or self.process.poll() is not None, READY_TIMEOUT_S)
        assert text in self.output, self.output
        if self.process.poll() is None:
            command = psutil.Process(self.process.pid)
            self.parts, self.started = command.children(), command.children(recursive=True)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(how)
        return self.process.wait(timeout=STOP_TIMEOUT_S)

    def survivors(self) -> list[psutil.Process]:
        """Processes of the stack that still run; waits for those that are about to end."""
        _, alive = psutil.wait_procs(self.started, timeout=STOP_TIMEOUT_S)
        return alive

    def service(self, name: str) -> psutil.Process:
        """The process of a service."""
        [found] = [each for each in self.parts if f"personalq.{name}" in each.cmdline()]
        return found

    def destroy(self, *, keep: bool = False) -> None:
        """Leave nothing running, whatever state the test left; and no database unless `keep`."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for each in self.started:
            if each.is_running():
                each.kill()
        if not keep:
            shutil.rmtree(data_directory(self.data), ignore_errors=True)


Done = subprocess.CompletedProcess[str]


def _until(condition: Callable[[], bool], timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
