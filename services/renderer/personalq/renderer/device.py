"""One device and the one thread that uses it, seen from asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, TypeVar

import torch

T = TypeVar("T")

Emit = Callable[[T], None]


class Cancelled(Exception):
    """Whoever asked for the work does not wait for it any more."""


class Cancellation:
    """The flag of one request; set from any thread, polled between steps."""

    def __init__(self) -> None:
        self._flag = threading.Event()

    def cancel(self) -> None:
        """Ask the work to stop at its next step."""
        self._flag.set()

    def check(self) -> None:
        """Raise Cancelled once `cancel` was called."""
        if self._flag.is_set():
            raise Cancelled


class Device:
    """Runs one piece of torch work at a time."""

    def __init__(self, name: str) -> None:
        self.torch = torch.device(name)
        self.name = name
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"device-{name}")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def stream(
        self, work: Callable[[Emit[T]], None], *, cancellation: Cancellation
    ) -> AsyncGenerator[T, None]:
        """Yield what `work(emit)` emits, as it does; raise what it raises.

        When the reader leaves early, or is cancelled, `cancellation` is set and leaving takes
        until the work has noticed: then the device is free.
        """
        loop = asyncio.get_running_loop()
        emitted: asyncio.Queue[tuple[T] | None] = asyncio.Queue()

        def tell(item: tuple[T] | None) -> None:
            loop.call_soon_threadsafe(emitted.put_nowait, item)

        def run() -> None:
            try:
                cancellation.check()
                work(lambda item: tell((item,)))
            finally:
                tell(None)

        future = loop.run_in_executor(self._executor, run)
        try:
            while (item := await emitted.get()) is not None:
                yield item[0]
            await future
        finally:
            if not future.done():
                cancellation.cancel()
            await _ended(future)

    async def touch(self) -> None:
        """Compute something small on the device; raises when it is broken.

        Not in the device's own thread, which may be busy for minutes with work that is fine.
        """

        def compute() -> None:
            (torch.ones(2, 2, device=self.torch) @ torch.ones(2, 2, device=self.torch)).sum().item()

        await asyncio.to_thread(compute)


async def _ended(future: asyncio.Future[Any]) -> None:
    """Wait until the future is done, however often the waiting is cancelled."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait({future})
        except asyncio.CancelledError as error:
            cancelled = error
    if not future.cancelled():
        future.exception()  # seen; whoever is left to hear it gets it from `await future`
    if cancelled is not None:
        raise cancelled
