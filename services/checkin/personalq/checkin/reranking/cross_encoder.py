"""A reranker on this machine; loads torch only when one is opened."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

from personalq.chassis.errors import PersonalQError
from personalq.checkin.endpoint import Budget, Endpoint, EndpointFailed

_BATCH = 32


class CrossEncoderReranker:
    """A sentence-transformers CrossEncoder, in a thread of its own."""

    def __init__(
        self,
        encoder: Any,
        *,
        executor: ThreadPoolExecutor,
        endpoint: Endpoint,
    ) -> None:
        self._encoder = encoder
        self._executor = executor
        self._endpoint = endpoint

    async def log_odds(self, query: str, texts: Sequence[str]) -> list[float]:
        """See `rerank.LogOdds.log_odds`."""

        def predict() -> list[float]:
            import torch

            pairs = [(query, text) for text in texts]
            try:
                raw = self._encoder.predict(
                    pairs,
                    batch_size=_BATCH,
                    activation_fn=torch.nn.Identity(),
                    show_progress_bar=False,
                )
            except (RuntimeError, IndexError, MemoryError) as error:  # what torch raises
                raise EndpointFailed(f"cannot compute ({type(error).__name__})") from error
            numbers = [float(number) for number in raw]
            if not all(map(math.isfinite, numbers)):
                raise EndpointFailed("answers with something that is no number")
            return numbers

        async def work(_: Budget) -> list[float]:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._executor, predict)

        return await self._endpoint.run(work)


@asynccontextmanager
async def open_cross_encoder(
    model: str, *, endpoint: Endpoint
) -> AsyncIterator[CrossEncoderReranker]:
    """The cross-encoder in a folder or of a Hub id.

    Raises:
        PersonalQError: a package is missing, or there is no such model.
    """
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="reranker") as executor:
        encoder = await asyncio.get_running_loop().run_in_executor(executor, _load, model)
        yield CrossEncoderReranker(encoder, executor=executor, endpoint=endpoint)


def _load(model: str) -> Any:
    """The cross-encoder. Blocking; imports torch."""
    try:
        import torch
        from sentence_transformers import CrossEncoder
    except ImportError as error:
        raise PersonalQError(
            "a local reranker needs sentence-transformers; "
            "pip install 'personalq-checkin[cross-encoder]'"
        ) from error
    torch.set_num_threads(1)  # more make one short request slower and starve the neighbours
    try:
        encoder = CrossEncoder(model, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise PersonalQError(
            f"no reranking model at {model!r}: give a folder or a Hub id"
        ) from error
    if encoder.num_labels != 1:
        raise PersonalQError(
            f"{model!r} gives {encoder.num_labels} numbers per text: a reranker gives one"
        )
    return encoder
