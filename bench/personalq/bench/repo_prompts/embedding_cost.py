"""What embedding a prompt alone costs on this machine: the yardstick of a selection's latency."""

from __future__ import annotations

import time

from personalq.bench.repo_prompts.scoring import Percentiles, percentiles
from personalq.catalog.ports import Embedder

_WARM_UPS = 5


class Yardstick:
    """Embeds prompts one at a time.

    Args:
        embedder: the model of the embedded stack, in this process; None where it is absent.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._taken: list[float] = []

    async def warm_up(self) -> None:
        """The first calls of a model are slow."""
        if self._embedder is not None:
            for number in range(_WARM_UPS):
                await self._embedder.embed_queries([f"warming up, take {number}"])

    async def measure(self, prompt: str) -> None:
        """Embed one prompt."""
        if self._embedder is None:
            return
        began = time.perf_counter()
        await self._embedder.embed_queries([prompt])
        self._taken.append((time.perf_counter() - began) * 1000)

    def result(self) -> Percentiles | None:
        """Milliseconds per prompt; None without a model, or without a prompt."""
        return percentiles(self._taken) if self._taken else None
