"""The thread torch runs in."""

from __future__ import annotations

import asyncio
import threading

import pytest

from personalq.quantizer.thread import TorchThread


async def test_results_and_errors_come_back() -> None:
    """The caller gets what the work returns or raises."""

    def fail(_: threading.Event) -> None:
        raise ValueError("broken")

    async with TorchThread() as thread:
        assert await thread.run(lambda _: 42) == 42
        with pytest.raises(ValueError, match="broken"):
            await thread.run(fail)


async def test_work_runs_one_piece_at_a_time() -> None:
    """Two jobs at once take turns in one thread."""
    names, together, most = set[str](), 0, 0

    def work(_: threading.Event) -> None:
        nonlocal together, most
        names.add(threading.current_thread().name)
        together += 1
        most = max(most, together)
        threading.Event().wait(0.01)
        together -= 1

    async with TorchThread() as thread:
        await asyncio.gather(*(thread.run(work) for _ in range(4)))
    assert most == len(names) == 1


async def test_a_cancelled_caller_waits_until_the_work_has_stopped() -> None:
    """Cancelling sets the work's flag; when the caller is gone, so is the work."""
    begun, ended = threading.Event(), threading.Event()

    def work(stop: threading.Event) -> None:
        begun.set()
        assert stop.wait(10)
        ended.set()
        raise RuntimeError("stopped half-way")

    async with TorchThread() as thread:
        task = asyncio.create_task(thread.run(work))
        assert await asyncio.to_thread(begun.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()
        assert await thread.run(lambda _: "free") == "free"
