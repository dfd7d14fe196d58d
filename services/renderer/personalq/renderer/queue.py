"""Who may use the device: first come, first served, up to a limit."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Self

from personalq.chassis.errors import Busy

SMOOTHING = 0.3  # weight of the latest turn in the expected length of a turn
FIRST_GUESS_S = 5.0


class DeviceQueue:
    """A line of at most `length` waiting tickets before the one that has the device."""

    def __init__(self, length: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._length = length
        self._clock = clock
        self._tickets: deque[Ticket] = deque()
        self._turn_s = FIRST_GUESS_S

    @property
    def running(self) -> int:
        """Tickets that have the device: 0 or 1."""
        return min(1, len(self._tickets))

    @property
    def depth(self) -> int:
        """Tickets that wait."""
        return max(0, len(self._tickets) - 1)

    def join(self) -> Ticket:
        """Return a ticket at the end of the line; leave the line by leaving its context.

        Raises:
            Busy: the line is full; says when a place should be free.
        """
        if len(self._tickets) > self._length:
            raise Busy(
                f"{self.depth} renders are waiting for this device already; try again later or "
                "elsewhere",
                retry_after_s=round(max(1.0, self._turn_s), 1),
            )
        ticket = Ticket(self)
        self._tickets.append(ticket)
        return ticket

    def position(self, ticket: Ticket) -> int:
        """Return how many are ahead of `ticket`."""
        return self._tickets.index(ticket)

    def leave(self, ticket: Ticket) -> None:
        """Take `ticket` out of the line and tell those behind it."""
        if ticket.began is not None:
            turn_s = self._clock() - ticket.began
            self._turn_s += SMOOTHING * (turn_s - self._turn_s)
        place = self.position(ticket)
        del self._tickets[place]
        for behind in list(self._tickets)[place:]:
            behind.moved.set()

    def now(self) -> float:
        """Return the queue's clock."""
        return self._clock()


class Ticket:
    """A place in the line, for `with`."""

    def __init__(self, queue: DeviceQueue) -> None:
        self._queue = queue
        self.moved = asyncio.Event()
        self.began: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._queue.leave(self)

    async def positions(self) -> AsyncIterator[int]:
        """Yield how many are ahead, now and after every change; ends when it is 0: your turn."""
        while True:
            self.moved.clear()
            ahead = self._queue.position(self)
            if ahead == 0:
                self.began = self._queue.now()
            yield ahead
            if ahead == 0:
                return
            await self.moved.wait()
