"""What embedding a prompt alone costs on this machine: the yardstick of a selection's latency."""

from __future__ import annotations

import time
from collections.abc import Sequence

from personalq.bench.repo_prompts.scoring import Percentiles, percentiles
from personalq.catalog.ports import Embedder

_SAMPLES = 100


async def embedding_cost(prompts: Sequence[str], embedder: Embedder) -> Percentiles:
    """Milliseconds to embed one prompt, one at a time, after warming up."""
    for prompt in prompts[:5]:
        await embedder.embed_query(f"warming up: {prompt}")
    taken = []
    for prompt in prompts[:: max(1, len(prompts) // _SAMPLES)]:
        began = time.perf_counter()
        await embedder.embed_query(prompt)
        taken.append((time.perf_counter() - began) * 1000)
    return percentiles(taken)
