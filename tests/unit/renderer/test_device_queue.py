"""The line before the device."""

from __future__ import annotations

import asyncio

import pytest

from personalq.chassis.errors import Busy
from personalq.renderer.queue import DeviceQueue, Ticket


async def turn(ticket: Ticket) -> list[int]:
    """Wait for the turn and return every position on the way."""
    return [position async for position in ticket.positions()]


async def test_first_come_first_served() -> None:
    """Each ticket counts down as those ahead of it leave."""
    queue = DeviceQueue(5)
    first, second, third = queue.join(), queue.join(), queue.join()
    waiting = asyncio.create_task(turn(third))
    assert await turn(first) == [0]
    await asyncio.sleep(0)
    queue.leave(first)
    await asyncio.sleep(0)
    queue.leave(second)
    assert await waiting == [2, 1, 0]


async def test_a_full_line_says_when_to_come_back() -> None:
    """One runs and one waits; the third is Busy with a delay, until one leaves."""
    queue = DeviceQueue(1)
    first, second = queue.join(), queue.join()
    assert (queue.running, queue.depth) == (1, 1)
    with pytest.raises(Busy) as caught:
        queue.join()
    assert caught.value.retry_after_s >= 1
    queue.leave(first)
    with queue.join():
        assert queue.depth == 1
    queue.leave(second)
    assert (queue.running, queue.depth) == (0, 0)


async def test_who_gives_up_waiting_leaves_no_gap() -> None:
    """Those behind a ticket that left early move up."""
    queue = DeviceQueue(5)
    first, second, third = queue.join(), queue.join(), queue.join()
    queue.leave(second)
    assert queue.position(third) == 1
    queue.leave(first)
    assert await turn(third) == [0]


async def test_the_delay_follows_the_length_of_turns() -> None:
    """After long turns, a client is told to wait longer."""
    now = 0.0
    queue = DeviceQueue(1, clock=lambda: now)
    for _ in range(20):
        with queue.join() as ticket:
            await turn(ticket)
            now += 60
    queue.join(), queue.join()
    with pytest.raises(Busy) as caught:
        queue.join()
    assert 50 < caught.value.retry_after_s <= 60
