"""What a reranker's scores mean, and the reasoner that asks one.

A cross-encoder's score is a log-odds and, unlike a rank, says something by itself: a logistic
curve (`Calibration`) makes it a relevance of 0 to 1, which is one term of a candidate's logit
(`reason.RELEVANT`). It is asked only when the person described something.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol
from zoneinfo import ZoneInfo

from personalq.chassis.errors import PersonalQError
from personalq.checkin.advising import traits
from personalq.checkin.cards import Hit
from personalq.checkin.endpoint import Breaker, Endpoint, EndpointFailed, Skipped, bounded
from personalq.checkin.intent import Attribute, Intent
from personalq.checkin.metrics import MODEL_CALLS, MODEL_SECONDS
from personalq.checkin.ports import Ranking, Reranker
from personalq.checkin.reasoning.check import satisfying
from personalq.checkin.reasoning.reason import rank
from personalq.checkin.reranking.cross_encoder import open_cross_encoder
from personalq.checkin.reranking.rerank_http import Api, HttpReranker

log = logging.getLogger(__name__)

_PART = "reranker"


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """From log-odds of a model to a relevance: 1 / (1 + exp(-slope · (x - midpoint)))."""

    midpoint: float = 0.0
    slope: float = 1.0

    def relevance(self, log_odds: float) -> float:
        """A relevance of 0 to 1."""
        exponent = min(max(-self.slope * (log_odds - self.midpoint), -60.0), 60.0)
        return 1 / (1 + math.exp(exponent))


class LogOdds(Protocol):
    """A model that gives log-odds of relevance."""

    async def log_odds(self, query: str, texts: Sequence[str]) -> list[float]:
        """One number for every text, in order.

        Raises:
            EndpointFailed: there are none.
        """
        ...


class Calibrated:
    """A model's log-odds as relevances; implements `ports.Reranker`."""

    def __init__(self, model: LogOdds, calibration: Calibration) -> None:
        self._model = model
        self._calibration = calibration

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """See `ports.Reranker.score`."""
        return [self._calibration.relevance(x) for x in await self._model.log_odds(query, texts)]


class RerankingReasoner:
    """The deterministic reasoner with a reranker's term; implements `ports.Reasoner`."""

    def __init__(self, reranker: Reranker, *, limit: int) -> None:
        self._reranker = reranker
        self._limit = limit

    async def rank(self, intent: Intent, hits: Sequence[Hit], zone: ZoneInfo) -> Ranking:
        """See `ports.Reasoner.rank`; a failing reranker leaves the rules' ranking."""
        wishes = [c for c in intent.described if not c.hard and not c.excluded]
        kept = satisfying(intent, hits, zone)
        if not wishes or not kept or intent.order is not None:  # an order decides by itself
            return Ranking(candidates=rank(intent, kept, zone))
        read = kept[: self._limit]
        started = time.monotonic()
        try:
            scores = await self._reranker.score(
                _query(intent), [traits.wording(hit.card) for hit in read]
            )
        except EndpointFailed as error:
            outcome = "skipped" if isinstance(error, Skipped) else "failed"
            MODEL_CALLS.labels(_PART, outcome).inc()
            log.log(
                logging.INFO if outcome == "skipped" else logging.WARNING,  # an outage is told once
                "ranked without the reranker",
                extra={"action": "rerank", "outcome": outcome, "problem": error.problem},
            )
            return Ranking(candidates=rank(intent, kept, zone), degraded=True)
        finally:
            MODEL_SECONDS.labels(_PART).observe(time.monotonic() - started)
        MODEL_CALLS.labels(_PART, "used").inc()
        scored = [replace(hit, relevance=s) for hit, s in zip(read, scores, strict=True)]
        return Ranking(candidates=rank(intent, [*scored, *kept[self._limit :]], zone))


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
            server = HttpReranker(client, api=api, model=model, endpoint=endpoint)
            yield Calibrated(server, calibration)
        return
    async with open_cross_encoder(model, endpoint=endpoint) as encoder:
        yield Calibrated(encoder, calibration)


def _query(intent: Intent) -> str:
    """The subject and what was said of it."""
    said = [*intent.all(Attribute.SUBJECT), *intent.described]
    return " ".join(dict.fromkeys(c.text for c in said if c.text and not c.excluded))[:400]
