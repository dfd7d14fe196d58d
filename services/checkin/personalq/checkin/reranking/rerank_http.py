"""A reranker behind HTTP."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError

from personalq.checkin.endpoint import Budget, Endpoint, EndpointFailed, failed_status

if TYPE_CHECKING:
    import httpx2

Api = Literal["tei", "cohere"]

_BATCH = 32
"""Texts per request: what text-embeddings-inference takes unless told otherwise."""
_EDGE = 1e-6
"""Probabilities stay this far from 0 and 1, so that they have log-odds."""


class _Rank(BaseModel):
    index: int
    score: float


class _Result(BaseModel):
    index: int
    relevance_score: float


class _Results(BaseModel):
    results: list[_Result]


_RANKS = TypeAdapter(list[_Rank])


class HttpReranker:
    """A server with `/rerank`; gives log-odds.

    `tei` is text-embeddings-inference (raw log-odds), `cohere` what Cohere, Jina, vLLM and others
    share (`/v1/rerank`, relevance scores of 0 to 1).
    """

    def __init__(
        self,
        client: httpx2.AsyncClient,
        *,
        api: Api,
        model: str,
        endpoint: Endpoint,
    ) -> None:
        self._client = client
        self._api = api
        self._model = model
        self._endpoint = endpoint

    async def log_odds(self, query: str, texts: Sequence[str]) -> list[float]:
        """See `rerank.LogOdds.log_odds`."""

        async def work(budget: Budget) -> list[float]:
            numbers: list[float] = []
            for start in range(0, len(texts), _BATCH):
                batch = texts[start : start + _BATCH]

                async def call(batch: Sequence[str] = batch) -> list[float]:
                    return await self._post(query, batch)

                numbers += await budget.attempt(call)
            return numbers

        return await self._endpoint.run(work)

    async def _post(self, query: str, texts: Sequence[str]) -> list[float]:
        """Log-odds of one batch."""
        import httpx2

        try:
            response = await self._client.post("rerank", json=self._body(query, texts))
            if not response.is_success:
                raise failed_status(response.status_code, response.headers)
            found = self._read(response.content)
        except httpx2.HTTPError as error:
            raise EndpointFailed("cannot be reached", retryable=True) from error
        except ValidationError as error:
            raise EndpointFailed("answers with something that is no ranking") from error
        if sorted(found) != list(range(len(texts))):
            raise EndpointFailed("does not score every text")
        if not all(math.isfinite(number) for number in found.values()):
            raise EndpointFailed("answers with something that is no number")
        return [found[index] for index in range(len(texts))]

    def _body(self, query: str, texts: Sequence[str]) -> dict[str, object]:
        if self._api == "tei":
            return {"query": query, "texts": texts, "raw_scores": True, "truncate": True}
        return {
            "model": self._model,
            "query": query,
            "documents": texts,
            "top_n": len(texts),
            "return_documents": False,
        }

    def _read(self, content: bytes) -> Mapping[int, float]:
        if self._api == "tei":
            return {item.index: item.score for item in _RANKS.validate_json(content)}
        results = _Results.model_validate_json(content).results
        return {item.index: _log_odds(item.relevance_score) for item in results}


def _log_odds(probability: float) -> float:
    inside = min(max(probability, _EDGE), 1 - _EDGE)
    return math.log(inside / (1 - inside))
