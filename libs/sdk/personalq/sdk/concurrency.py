"""Several things at once, or none of them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")

_PATIENCE_S = 5.0  # how long a cancelled task may clean up before it is cancelled again


async def together(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Results in order; when one fails, the others are cancelled and its own error is raised."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        return await asyncio.gather(*tasks)
    finally:
        await abandon(*tasks)


async def abandon(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks until all have ended; what they raise is of no interest any more.

    Once is not enough: before Python 3.12 `asyncio.wait_for`, which nats-py waits with, loses a
    cancellation that arrives together with the result.
    """
    while pending := [task for task in tasks if not task.done()]:
        for task in pending:
            task.cancel()
        await asyncio.wait(pending, timeout=_PATIENCE_S)
    await asyncio.gather(*tasks, return_exceptions=True)
