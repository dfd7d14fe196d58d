"""The device's thread, seen from asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

import pytest

from personalq.renderer.device import Cancellation, Cancelled, Device


@pytest.fixture
async def device() -> AsyncIterator[Device]:
    """The CPU."""
    async with Device("cpu") as device:
        yield device


async def test_items_arrive_as_they_are_emitted(device: Device) -> None:
    """What the work emits is read before the work has ended."""
    go_on = threading.Event()

    def work(emit: Callable[[int], None]) -> None:
        emit(1)
        assert go_on.wait(10)
        emit(2)

    read = []
    async for item in device.stream(work, cancellation=Cancellation()):
        read.append(item)
        go_on.set()
    assert read == [1, 2]


async def test_an_error_of_the_work_reaches_the_reader(device: Device) -> None:
    """After what was emitted before comes the error."""

    def work(emit: Callable[[int], None]) -> None:
        emit(1)
        raise ValueError("broken")

    read = []
    stream = device.stream(work, cancellation=Cancellation())
    read.append(await anext(stream))
    with pytest.raises(ValueError, match="broken"):
        await anext(stream)
    assert read == [1]


async def test_a_reader_who_leaves_stops_the_work(device: Device) -> None:
    """Leaving sets the flag and takes until the thread is free."""
    cancellation, ended = Cancellation(), threading.Event()

    async with aclosing(
        device.stream(endless(cancellation, ended), cancellation=cancellation)
    ) as items:
        async for _ in items:
            break
    assert ended.is_set()


async def test_a_cancelled_reader_stops_the_work(device: Device) -> None:
    """Cancelling the task, even twice, waits for the thread and then goes on."""
    cancellation, ended, read = Cancellation(), threading.Event(), asyncio.Event()

    async def reader() -> None:
        async with aclosing(
            device.stream(endless(cancellation, ended), cancellation=cancellation)
        ) as items:
            async for _ in items:
                read.set()

    task = asyncio.create_task(reader())
    await read.wait()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_work_cancelled_before_its_turn_never_begins(device: Device) -> None:
    """A flag set early ends the work before its first line."""
    cancellation, begun = Cancellation(), []
    cancellation.cancel()
    with pytest.raises(Cancelled):
        async for _ in device.stream(lambda emit: begun.append(1), cancellation=cancellation):
            pass
    assert begun == []


async def test_a_healthy_device_can_be_touched(device: Device) -> None:
    """The check computes, and returns."""
    await device.touch()


def endless(
    cancellation: Cancellation, ended: threading.Event
) -> Callable[[Callable[[int], None]], None]:
    """Return work that goes on until it is cancelled."""

    def work(emit: Callable[[int], None]) -> None:
        try:
            for number in range(10**6):
                cancellation.check()
                emit(number)
                threading.Event().wait(0.001)
        finally:
            ended.set()

    return work
