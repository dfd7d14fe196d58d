"""Texts that wait together are embedded together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from personalq.catalog.batches import SIZE, Batches
from personalq.chassis.errors import Unavailable


class Recorder:
    """An encoder that notes its batches; the vector of a text is its length."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """Encode once the gate is open."""
        self.batches.append(list(texts))
        await self.gate.wait()
        if "bad" in texts:
            raise Unavailable("no")
        return [[float(len(text))] for text in texts]


async def test_everybody_gets_their_own_vectors() -> None:
    """However the batches were cut."""
    encode = Recorder()
    embed = Batches(encode)
    texts = [["x" * (caller + n) for n in range(3)] for caller in range(10)]
    found = await asyncio.gather(*(embed(each) for each in texts))
    assert [[vector[0] for vector in each] for each in found] == [
        [float(len(text)) for text in each] for each in texts
    ]
    assert max(len(batch) for batch in encode.batches) == SIZE
    assert len(encode.batches) == 4


async def test_one_caller_alone_waits_for_nobody() -> None:
    """A batch is what is there."""
    encode = Recorder()
    assert await Batches(encode)(["one"]) == [[3.0]]
    assert await Batches(encode)([]) == []
    assert encode.batches == [["one"]]


async def test_a_failure_reaches_those_of_its_batch_only() -> None:
    """The next batch is another attempt."""
    embed = Batches(Recorder())
    with pytest.raises(Unavailable):
        await embed(["bad"])
    assert await embed(["good"]) == [[4.0]]


async def test_who_is_cancelled_takes_nobody_along() -> None:
    """The others still get theirs; what nobody waits for is left out."""
    encode = Recorder()
    encode.gate.clear()
    embed = Batches(encode)
    first = asyncio.create_task(embed(["first"]))
    while not encode.batches:
        await asyncio.sleep(0)
    gone, stays = asyncio.create_task(embed(["gone"])), asyncio.create_task(embed(["stays"]))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    encode.gate.set()
    assert (await first, await stays) == ([[5.0]], [[5.0]])
    assert encode.batches == [["first"], ["stays"]]


async def test_too_few_vectors_are_a_failure_of_the_batch() -> None:
    """Nobody waits for the one that never comes."""

    async def encode(texts: Sequence[str]) -> list[list[float]]:
        return [[1.0] for _ in texts[1:]]

    embed = Batches(encode)
    for _ in range(2):
        with pytest.raises(ValueError, match="shorter"):
            await asyncio.wait_for(embed(["one", "two"]), timeout=10)
