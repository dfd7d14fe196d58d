"""Weights in memory: a budget in bytes, leases, one load at a time per artifact.

What is leased is never evicted; of the rest, the least recently used goes first.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from personalq.chassis.errors import Busy, Unavailable
from personalq.renderer import metrics

log = logging.getLogger(__name__)

T = TypeVar("T")

#: What a lease is told as: (checkpoint, profile).
Label = tuple[str, str]

NO_LABEL: Label = ("", "")  # of what several checkpoints share
RETRY_AFTER_S = 5.0


@dataclass(frozen=True, kw_only=True)
class Lease(Generic[T]):
    """Something in memory that stays there while the lease lasts."""

    value: T
    load_seconds: float  # that this lease waited for; 0 when it was resident


@dataclass(frozen=True, kw_only=True)
class Resident:
    """What is told about something in memory."""

    key: str
    label: Label  # of the latest lease
    size_bytes: int
    leases: int


@dataclass(kw_only=True)
class _Entry(Generic[T]):
    key: str
    size_bytes: int  # expected while it loads, measured afterwards
    loading: asyncio.Future[T]
    value: T | None = None
    label: Label = NO_LABEL
    leases: int = 0
    used_at: float = field(default=0.0)


class Residents(Generic[T]):
    """Holds values by key. `measure` returns the bytes a value holds; never called during a use."""

    def __init__(
        self,
        *,
        bytes_max: int,
        measure: Callable[[T], int],
        idle_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.bytes_max = bytes_max
        self._measure = measure
        self._idle_s = idle_s
        self._clock = clock
        self._entries: dict[str, _Entry[T]] = {}

    @property
    def size_bytes(self) -> int:
        """Bytes held, those of running loads included."""
        return sum(entry.size_bytes for entry in self._entries.values())

    def residents(self) -> list[Resident]:
        """Return what is in memory."""
        return [
            Resident(key=e.key, label=e.label, size_bytes=e.size_bytes, leases=e.leases)
            for e in self._entries.values()
            if e.value is not None
        ]

    @asynccontextmanager
    async def lease(
        self,
        key: str,
        load: Callable[[], Awaitable[T]],
        *,
        expected_bytes: int,
        label: Label = NO_LABEL,
    ) -> AsyncIterator[Lease[T]]:
        """Keep the value of `key` in memory while the block runs; load it where it is not.

        Several who want the same key share one load, and its error.

        Raises:
            Busy: no room, since everything is in use.
            Unavailable: it is larger than the whole budget.
        """
        started = self._clock()
        entry = self._entries.get(key)
        hit = entry is not None and entry.value is not None
        metrics.CACHE_REQUESTS.labels("hit" if hit else "miss").inc()
        if entry is None:
            self._make_room(expected_bytes)
            loading = asyncio.create_task(self._load(key, load))
            loading.add_done_callback(_seen)
            entry = _Entry(key=key, size_bytes=expected_bytes, loading=loading, used_at=started)
            self._entries[key] = entry
        entry.label = label
        entry.leases += 1
        try:
            # Others may wait for the same load: it goes on when this one gives up.
            value = await asyncio.shield(entry.loading)
            yield Lease(value=value, load_seconds=0.0 if hit else self._clock() - started)
        finally:
            entry.leases -= 1
            entry.used_at = self._clock()
            if entry.value is not None and not entry.leases:
                # The first use prepares weights for the device's kernels: that counts, too.
                # Only when nobody uses it: the device's thread may be changing it until then.
                entry.size_bytes = self._measure(entry.value)
            self._shrink()

    def evict_idle(self) -> None:
        """Drop what was not used for `idle_s` seconds."""
        if not self._idle_s:
            return
        for entry in self._idle_entries():
            if self._clock() - entry.used_at >= self._idle_s:
                self._evict(entry, "idle")

    async def _load(self, key: str, load: Callable[[], Awaitable[T]]) -> T:
        started = self._clock()
        entry = self._entries[key]
        try:
            value = await load()
            entry.size_bytes = self._measure(value)
            self._refuse_oversized(entry.size_bytes)
            self._make_room(0)
        except BaseException:
            del self._entries[key]
            raise
        entry.value = value
        seconds = self._clock() - started
        metrics.LOAD_SECONDS.observe(seconds)
        metrics.RESIDENT_BYTES.set(self.size_bytes)
        log.info(
            "weights loaded",
            extra={
                "action": "load_weights",
                "key": key,
                "size_bytes": entry.size_bytes,
                "seconds": round(seconds, 3),
            },
        )
        return value

    def _make_room(self, needed: int) -> None:
        """Evict until `needed` more bytes fit."""
        self._refuse_oversized(needed)
        while self.size_bytes + needed > self.bytes_max:
            idle = self._idle_entries()
            if not idle:
                raise Busy(
                    "all weights in memory are in use and there is no room for more",
                    retry_after_s=RETRY_AFTER_S,
                )
            self._evict(idle[0], "room")

    def _refuse_oversized(self, size_bytes: int) -> None:
        if size_bytes > self.bytes_max:
            raise Unavailable(
                f"the checkpoint's weights take {size_bytes:,} bytes, this renderer may hold "
                f"{self.bytes_max:,}: raise memory_bytes_max or use another profile"
            )

    def _shrink(self) -> None:
        """Evict what has grown out of the budget, as far as it is not in use."""
        while self.size_bytes > self.bytes_max and (idle := self._idle_entries()):
            self._evict(idle[0], "room")
        metrics.RESIDENT_BYTES.set(self.size_bytes)

    def _idle_entries(self) -> list[_Entry[T]]:
        """Return what nobody uses, the least recently used first."""
        idle = [e for e in self._entries.values() if e.value is not None and not e.leases]
        return sorted(idle, key=lambda entry: entry.used_at)

    def _evict(self, entry: _Entry[T], why: str) -> None:
        del self._entries[entry.key]
        metrics.EVICTIONS.labels(why).inc()
        metrics.EVICTION_AGE_SECONDS.observe(self._clock() - entry.used_at)
        metrics.RESIDENT_BYTES.set(self.size_bytes)
        log.info(
            "weights evicted",
            extra={"action": "evict_weights", "key": entry.key, "why": why},
        )


def _seen(task: asyncio.Task[T]) -> None:
    """Take note of a load's error, which nobody may be waiting for any more."""
    if not task.cancelled():
        task.exception()
