"""The one thread that torch runs in, seen from asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self, TypeVar

T = TypeVar("T")


class TorchThread:
    """Runs blocking work, one piece at a time, and never leaves one running behind its caller."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="torch")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def run(self, work: Callable[[threading.Event], T]) -> T:
        """Return `work(stop)`.

        When the caller is cancelled, `stop` is set and the cancellation goes on only once the
        work has returned: what it wrote may be removed then.
        """
        stop = threading.Event()
        future = asyncio.get_running_loop().run_in_executor(self._executor, work, stop)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            stop.set()
            while not future.done():
                try:
                    await asyncio.wait({future})
                except asyncio.CancelledError:
                    continue  # cancelled again; the thread still has to return
            if not future.cancelled():
                future.exception()  # seen: it is not worth a warning
            raise
