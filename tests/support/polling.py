"""Wait for a condition instead of sleeping."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def eventually(
    probe: Callable[[], Awaitable[T]], *, timeout_s: float = 15.0, every_s: float = 0.05
) -> T:
    """Await `probe` until it returns something true; its last value goes into the failure."""
    deadline = asyncio.get_running_loop().time() + timeout_s
    while True:
        value = await probe()
        if value:
            return value
        if asyncio.get_running_loop().time() > deadline:
            raise AssertionError(f"not true within {timeout_s:g} s; last value: {value!r}")
        await asyncio.sleep(every_s)
