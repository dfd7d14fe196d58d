"""What embedding a prompt alone costs on this machine: the yardstick of a selection's latency."""

from __future__ import annotations

import time

from personalq.bench.repo_prompts.scoring import Percentiles, percentiles
from personalq.catalog.ports import Embedder

_WARM_UPS = 5


class Yardstick:
    """Embeds prompts one at a time between the queries, so that both see the same machine.

    Args:
        embedder: the model of the embedded stack, in this process; None where it is absent.
        every: measure one prompt out of so many.
    """

    def __init__(self, embedder: Embedder | None, *, every: int = 1) -> None:
        self._embedder = embedder
        self._every = max(1, every)
        self._seen = 0
        self._taken: list[float] = []

    async def warm_up(self) -> None:
        """The first calls of a model are slow."""
        if self._embedder is not None:
            for number in range(_WARM_UPS):
                await self._embedder.embed_query(f"warming up, take {number}")

    async def measure(self, prompt: str) -> None:
        """Embed the prompt when its turn has come."""
        self._seen += 1
        if self._embedder is None or self._seen % self._every:
            return
        began = time.perf_counter()
        await self._embedder.embed_query(prompt)
        self._taken.append((time.perf_counter() - began) * 1000)

    def result(self) -> Percentiles | None:
        """Milliseconds per prompt; None without a model, or without a prompt."""
        return percentiles(self._taken) if self._taken else None
