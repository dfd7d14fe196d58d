"""Weights in memory: budget, leases, one load at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from personalq.chassis.errors import Busy, Unavailable
from personalq.renderer.residents import Residents

Load = Callable[[], Awaitable[bytes]]


def loader(size: int, loads: list[int] | None = None) -> Load:
    """Return a load of `size` bytes, which counts itself."""

    async def load() -> bytes:
        await asyncio.sleep(0)
        if loads is not None:
            loads.append(size)
        return bytes(size)

    return load


def make(bytes_max: int = 100, **options: float) -> Residents[bytes]:
    """Return a cache that measures byte strings."""
    return Residents(bytes_max=bytes_max, measure=len, **options)  # type: ignore[arg-type]


async def use(residents: Residents[bytes], key: str, size: int) -> float:
    """Lease a key for a moment; return the seconds it loaded."""
    async with residents.lease(key, loader(size), expected_bytes=size) as lease:
        assert len(lease.value) == size
        return lease.load_seconds


def keys(residents: Residents[bytes]) -> set[str]:
    """Return what is in memory."""
    return {resident.key for resident in residents.residents()}


async def test_the_least_recently_used_leaves_first() -> None:
    """Room is made by dropping what was not used for longest."""
    residents = make()
    for key in ("a", "b", "a"):
        await use(residents, key, 40)
    await use(residents, "c", 40)
    assert keys(residents) == {"a", "c"}
    assert residents.size_bytes == 80


async def test_a_second_use_loads_nothing() -> None:
    """What is resident is lent at once."""
    residents = make()
    assert await use(residents, "a", 10) > 0
    assert await use(residents, "a", 10) == 0


async def test_simultaneous_first_uses_share_one_load() -> None:
    """Ten who come at once wait for the same load."""
    residents, loads = make(), list[int]()

    async def one() -> None:
        async with residents.lease("a", loader(10, loads), expected_bytes=10):
            pass

    await asyncio.gather(*(one() for _ in range(10)))
    assert loads == [10]


async def test_what_is_leased_stays() -> None:
    """With everything in use a newcomer is told to come back, and succeeds afterwards."""
    residents = make()
    async with residents.lease("a", loader(80), expected_bytes=80):
        with pytest.raises(Busy):
            await use(residents, "b", 40)
        assert keys(residents) == {"a"}
    await use(residents, "b", 40)
    assert keys(residents) == {"b"}


async def test_nothing_is_measured_while_it_is_used() -> None:
    """Another thread may change a leased value: it is measured when the last lease ends."""
    measured: list[bytes] = []

    def measure(value: bytes) -> int:
        measured.append(value)
        return len(value)

    residents = Residents(bytes_max=100, measure=measure)
    async with residents.lease("a", loader(10), expected_bytes=10):
        loaded = len(measured)
        await use(residents, "a", 10)
        assert len(measured) == loaded
    assert len(measured) == loaded + 1


async def test_what_never_fits_is_refused() -> None:
    """Weights above the whole budget evict nothing for nothing."""
    residents = make()
    await use(residents, "a", 10)
    with pytest.raises(Unavailable, match="memory_bytes_max"):
        await use(residents, "b", 101)
    assert keys(residents) == {"a"}


async def test_the_measured_size_counts() -> None:
    """A load that turns out larger than announced makes room, or is undone."""
    residents = make()
    await use(residents, "a", 60)
    async with residents.lease("b", loader(50), expected_bytes=1):
        assert keys(residents) == {"b"}
    with pytest.raises(Unavailable):
        await use_announced(residents, "c", 101, expected=1)
    assert residents.size_bytes <= 100
    assert "c" not in keys(residents)


async def use_announced(residents: Residents[bytes], key: str, size: int, *, expected: int) -> None:
    """Lease something of another size than announced."""
    async with residents.lease(key, loader(size), expected_bytes=expected):
        pass


async def test_a_failed_load_is_everyones_error_and_forgotten() -> None:
    """All who wait get the error; the next one tries again."""

    async def fail() -> bytes:
        await asyncio.sleep(0)
        raise Unavailable("gone")

    residents = make()

    async def one() -> None:
        async with residents.lease("a", fail, expected_bytes=10):
            pass

    outcomes = await asyncio.gather(one(), one(), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Unavailable, Unavailable]
    assert residents.size_bytes == 0
    assert await use(residents, "a", 10) > 0


async def test_one_who_gives_up_does_not_stop_the_others_load() -> None:
    """A cancelled waiter leaves the shared load alone."""
    residents, go = make(), asyncio.Event()

    async def slow() -> bytes:
        await go.wait()
        return bytes(10)

    async def one() -> int:
        async with residents.lease("a", slow, expected_bytes=10) as lease:
            return len(lease.value)

    impatient, patient = asyncio.create_task(one()), asyncio.create_task(one())
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.gather(impatient, return_exceptions=True)
    go.set()
    assert await patient == 10
    assert [resident.leases for resident in residents.residents()] == [0]


async def test_what_is_told_of_weights_is_forgotten_with_them() -> None:
    """Checkpoints that share an artifact are told by the latest; once evicted, by none."""
    residents = make()
    for label in (("bear-v3", "w8a8"), ("bear-v4", "w8a8")):
        async with residents.lease("a", loader(60), expected_bytes=60, label=label):
            assert [resident.label for resident in residents.residents()] == [label]
    await use(residents, "b", 60)
    assert [resident.label for resident in residents.residents()] == [("", "")]


async def test_idle_weights_leave_when_told_so() -> None:
    """With an idle time set, what was not used for that long is dropped; what is in use is not."""
    now = 0.0
    residents = Residents[bytes](bytes_max=100, measure=len, idle_s=60, clock=lambda: now)
    await use(residents, "a", 10)
    async with residents.lease("b", loader(10), expected_bytes=10):
        now = 59.0
        residents.evict_idle()
        assert keys(residents) == {"a", "b"}
        now = 60.0
        residents.evict_idle()
        assert keys(residents) == {"b"}
