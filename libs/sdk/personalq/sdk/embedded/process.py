"""Child processes that never outlive their parent and always leave a log."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_PR_SET_PDEATHSIG = 1
_POLL_S = 0.02
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_observer: ContextVar[Callable[[Child], None] | None] = ContextVar("_observer", default=None)


class ChildFailed(RuntimeError):
    """A program of the embedded stack stopped by itself."""


@dataclass(frozen=True, kw_only=True)
class Child:
    """A running program of the stack."""

    name: str
    popen: subprocess.Popen[bytes]
    log_path: Path

    @property
    def alive(self) -> bool:
        """Whether the program still runs."""
        return self.popen.poll() is None

    def failure(self) -> ChildFailed:
        """Say how the program ended, with the last lines it logged."""
        tail = self.log_path.read_text(errors="replace").splitlines()[-15:]
        lines = "\n".join(f"  {line}" for line in tail)
        return ChildFailed(
            f"{self.name} stopped with exit code {self.popen.poll()}; "
            f"the last lines of {self.log_path}:\n{lines}"
        )

    async def stop(self, *, how: signal.Signals = signal.SIGTERM, grace_s: float = 15.0) -> None:
        """Ask the program to stop; after `grace_s` seconds kill it with everything it started."""
        if self.alive:
            self.popen.send_signal(how)
        deadline = asyncio.get_running_loop().time() + grace_s
        while self.alive and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(_POLL_S)
        if self.alive:
            os.killpg(self.popen.pid, signal.SIGKILL)
            self.popen.wait()


def spawn(
    name: str,
    command: Sequence[str | Path],
    *,
    log_path: Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    user: str | None = None,
    on_parent_death: signal.Signals = signal.SIGTERM,
) -> Child:
    """Start `command` in a session of its own, its output appended to `log_path`.

    On Linux the kernel sends `on_parent_death` when the calling *thread* ends, so call this from a
    thread that lives as long as the stack (the one that runs the event loop).

    Args:
        env: Variables added to the ones of this process.
        user: Run as this system user (only root can).
    """
    log_path.parent.mkdir(parents=True, exist_ok=True)
    log: IO[bytes]
    with log_path.open("ab") as log:
        popen = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            start_new_session=True,
            user=user,
            group=_group_of(user),
            extra_groups=[] if user else None,
            preexec_fn=_signal_on_parent_death(on_parent_death),
        )
    child = Child(name=name, popen=popen, log_path=log_path)
    if (observe := _observer.get()) is not None:
        observe(child)
    return child


@contextmanager
def observing(observe: Callable[[Child], None]) -> Iterator[None]:
    """Call `observe` with every child that is spawned inside the block."""
    token = _observer.set(observe)
    try:
        yield
    finally:
        _observer.reset(token)


async def wait_until(
    condition: Callable[[], bool], child: Child, *, what: str, timeout_s: float = 30.0
) -> None:
    """Poll `condition` until it holds.

    Raises:
        ChildFailed: `child` stopped meanwhile, or `timeout_s` seconds passed.
    """
    deadline = asyncio.get_running_loop().time() + timeout_s
    while not condition():
        if not child.alive:
            raise child.failure()
        if asyncio.get_running_loop().time() > deadline:
            raise ChildFailed(f"{what} not ready after {timeout_s:g} s; see {child.log_path}")
        await asyncio.sleep(_POLL_S)


def _group_of(user: str | None) -> int | None:
    if user is None:
        return None
    import pwd

    return pwd.getpwnam(user).pw_gid


def _signal_on_parent_death(how: signal.Signals) -> Callable[[], None] | None:
    if _LIBC is None:
        return None
    libc, number, parent = _LIBC, int(how), os.getpid()

    def arrange() -> None:
        # Runs in the child after the change of user, which would clear the setting.
        libc.prctl(_PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:  # the parent died before the call
            os._exit(1)

    return arrange
