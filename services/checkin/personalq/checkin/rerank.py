"""Rerankers: a cross-encoder on this machine, or a server; and the reasoner that asks one.

A cross-encoder's score is a log-odds and, unlike a rank, says something by itself: a logistic
curve (`Calibration`) makes it a relevance of 0 to 1, which is one term of a candidate's logit
(`reason.RELEVANT`). It is asked only when the person described something.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, TypeAdapter, ValidationError

from personalq.chassis.errors import PersonalQError
from personalq.checkin import traits
from personalq.checkin.cards import Hit
from personalq.checkin.check import satisfies
from personalq.checkin.endpoint import (
    Breaker,
    Budget,
    Endpoint,
    EndpointFailed,
    Skipped,
    bounded,
    failed_status,
)
from personalq.checkin.intent import Attribute, Intent
from personalq.checkin.metrics import MODEL_CALLS, MODEL_SECONDS
from personalq.checkin.ports import Ranking, Reranker
from personalq.checkin.reason import rank
from personalq.checkin.search import search_text

if TYPE_CHECKING:
    import httpx2

log = logging.getLogger(__name__)

Api = Literal["tei", "cohere"]

_PART = "reranker"
_BATCH = 32
"""Texts per request: what text-embeddings-inference takes unless told otherwise."""
_EDGE = 1e-6
"""Probabilities stay this far from 0 and 1, so that they have log-odds."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """From log-odds of a model to a relevance: 1 / (1 + exp(-slope · (x - midpoint)))."""

    midpoint: float = 0.0
    slope: float = 1.0

    def relevance(self, log_odds: float) -> float:
        """A relevance of 0 to 1."""
        exponent = min(max(-self.slope * (log_odds - self.midpoint), -60.0), 60.0)
        return 1 / (1 + math.exp(exponent))


class RerankingReasoner:
    """The deterministic reasoner with a reranker's term; implements `ports.Reasoner`."""

    def __init__(self, reranker: Reranker, *, limit: int) -> None:
        self._reranker = reranker
        self._limit = limit

    async def rank(self, intent: Intent, hits: Sequence[Hit], zone: ZoneInfo) -> Ranking:
        """See `ports.Reasoner.rank`; a failing reranker leaves the rules' ranking."""
        wishes = [c for c in intent.all(Attribute.DESCRIPTION) if not c.hard and not c.excluded]
        hard = [c for c in intent.constraints if c.hard]
        kept = [hit for hit in hits if all(satisfies(hit.card, c, zone) for c in hard)]
        if not wishes or not kept:
            return Ranking(candidates=rank(intent, kept, zone))
        read = kept[: self._limit]
        started = time.monotonic()
        try:
            scores = await self._reranker.score(
                search_text(intent, ""), [traits.wording(hit.card) for hit in read]
            )
        except EndpointFailed as error:
            outcome = "skipped" if isinstance(error, Skipped) else "failed"
            MODEL_CALLS.labels(_PART, outcome).inc()
            log.warning(
                "ranked without the reranker",
                extra={"action": "rerank", "outcome": outcome, "problem": error.problem},
            )
            return Ranking(candidates=rank(intent, kept, zone), degraded=True)
        finally:
            MODEL_SECONDS.labels(_PART).observe(time.monotonic() - started)
        MODEL_CALLS.labels(_PART, "used").inc()
        scored = [replace(hit, relevance=s) for hit, s in zip(read, scores, strict=True)]
        return Ranking(candidates=rank(intent, [*scored, *kept[self._limit :]], zone))


class CrossEncoderReranker:
    """A sentence-transformers CrossEncoder, in a thread of its own; implements `ports.Reranker`."""

    def __init__(
        self,
        encoder: Any,
        *,
        executor: ThreadPoolExecutor,
        endpoint: Endpoint,
        calibration: Calibration,
    ) -> None:
        self._encoder = encoder
        self._executor = executor
        self._endpoint = endpoint
        self._calibration = calibration

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """See `ports.Reranker.score`."""

        def predict() -> list[float]:
            import torch

            pairs = [(query, text) for text in texts]
            raw = self._encoder.predict(
                pairs, batch_size=_BATCH, activation_fn=torch.nn.Identity(), show_progress_bar=False
            )
            return [float(number) for number in raw]

        async def work(_: Budget) -> list[float]:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._executor, predict)

        raw = await self._endpoint.run(work)
        return [self._calibration.relevance(number) for number in raw]


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
    """A server with `/rerank`; implements `ports.Reranker`.

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
        calibration: Calibration,
    ) -> None:
        self._client = client
        self._api = api
        self._model = model
        self._endpoint = endpoint
        self._calibration = calibration

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """See `ports.Reranker.score`."""

        async def work(budget: Budget) -> list[float]:
            log_odds: list[float] = []
            for start in range(0, len(texts), _BATCH):
                batch = texts[start : start + _BATCH]

                async def call(batch: Sequence[str] = batch) -> list[float]:
                    return await self._post(query, batch)

                log_odds += await budget.attempt(call)
            return log_odds

        return [self._calibration.relevance(x) for x in await self._endpoint.run(work)]

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


@asynccontextmanager
async def open_reranker(
    *,
    model: str,
    url: str,
    api: Api,
    key: str,
    timeout_s: float,
    calibration: Calibration,
    breaker: Breaker,
) -> AsyncIterator[Reranker]:
    """The reranker at `url`, or a local cross-encoder (a folder or a Hub id).

    Raises:
        PersonalQError: a package is missing, or there is no such model.
    """
    endpoint = Endpoint(timeout_s=timeout_s, breaker=breaker)
    if url:
        try:
            import httpx2
        except ImportError as error:
            raise PersonalQError(
                "a reranking server needs httpx2; pip install 'personalq-checkin[llm]'"
            ) from error
        headers = {"accept-encoding": "identity"}
        if key:
            headers["authorization"] = f"Bearer {key}"
        async with httpx2.AsyncClient(
            base_url=url.rstrip("/") + "/",
            headers=headers,
            timeout=timeout_s,
            event_hooks={"response": [bounded]},
        ) as client:
            yield HttpReranker(
                client, api=api, model=model, endpoint=endpoint, calibration=calibration
            )
        return
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="reranker") as executor:
        loop = asyncio.get_running_loop()
        encoder = await loop.run_in_executor(executor, _load, model)
        yield CrossEncoderReranker(
            encoder, executor=executor, endpoint=endpoint, calibration=calibration
        )


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
        return CrossEncoder(model, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise PersonalQError(
            f"no reranking model at {model!r}: give a folder or a Hub id"
        ) from error
