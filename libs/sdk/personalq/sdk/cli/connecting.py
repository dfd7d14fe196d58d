"""A command's connection to the services."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from personalq.sdk.client import AsyncPersonalQ

T = TypeVar("T")


def with_client(work: Callable[[AsyncPersonalQ], Awaitable[T]]) -> T:
    """Run `work` with a client of the configured endpoints."""

    async def connected() -> T:
        async with AsyncPersonalQ() as client:
            return await work(client)

    return asyncio.run(connected())
