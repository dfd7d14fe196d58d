"""Tasks that are done with are gone."""

from __future__ import annotations

import asyncio

import pytest

from personalq.sdk import concurrency
from personalq.sdk.concurrency import abandon, together


async def test_a_task_that_loses_a_cancellation_is_cancelled_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Libraries swallow one now and then; nobody waits for ever because of it."""
    monkeypatch.setattr(concurrency, "_PATIENCE_S", 0.01)
    entered = asyncio.Event()

    async def deaf_once() -> None:
        entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.Event().wait()

    task = asyncio.create_task(deaf_once())
    await entered.wait()
    await abandon(task)
    assert task.cancelled()


async def test_results_come_in_order() -> None:
    """However long each takes."""

    async def value(number: int) -> int:
        for _ in range(3 - number):
            await asyncio.sleep(0)
        return number

    assert await together(value(number) for number in range(3)) == [0, 1, 2]


async def test_the_first_failure_stops_the_others() -> None:
    """And is raised as it is, not in a group."""
    cancelled = asyncio.Event()

    async def fails() -> None:
        await asyncio.sleep(0)
        raise LookupError("gone")

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    with pytest.raises(LookupError, match="gone"):
        await together([waits(), fails()])
    assert cancelled.is_set()
