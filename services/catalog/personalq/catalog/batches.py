"""Texts of several callers that wait at the same time, embedded together.

A model takes half as long per text for eight texts as for one. No batch is larger: what else the
model is asked for in the meantime, such as a search, waits for one batch at most.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")

SIZE = 8


class Batches(Generic[T]):
    """Calls `encode` with one batch at a time, made of whatever waits."""

    def __init__(self, encode: Callable[[Sequence[str]], Awaitable[Sequence[T]]]) -> None:
        self._encode = encode
        self._waiting: list[tuple[str, asyncio.Future[T]]] = []
        self._working: asyncio.Task[None] | None = None

    async def __call__(self, texts: Sequence[str]) -> list[T]:
        """One for each text, in order; raises what `encode` raises for a batch with a text."""
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[T]] = [loop.create_future() for _ in texts]
        self._waiting += zip(texts, futures, strict=True)
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work())
        return await asyncio.gather(*futures)

    async def _work(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:SIZE], self._waiting[SIZE:]
            # Who was cancelled meanwhile waits no more.
            wanted = [(text, future) for text, future in batch if not future.done()]
            if not wanted:
                continue
            try:
                found = await self._encode([text for text, _ in wanted])
                answers = list(zip(wanted, found, strict=True))
            except Exception as error:
                for _, future in wanted:
                    if not future.done():
                        future.set_exception(error)
            else:
                for (_, future), embedded in answers:
                    if not future.done():
                        future.set_result(embedded)
