"""Ctrl-C and SIGTERM as a cancellation: whatever has been started is stopped in order."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def until_signal(work: Coroutine[None, None, None]) -> bool:
    """Run `work` to its end, or until the first signal cancels it; return whether it ended."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    finished = True

    def stop() -> None:
        nonlocal finished
        finished = False
        for number in _SIGNALS:  # stopping has begun; more of them must not cut it short
            loop.add_signal_handler(number, lambda: None)
        task.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop)
    with suppress(asyncio.CancelledError):
        await task
    return finished
