"""Run the checkin service: `python -m personalq.checkin`."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import grpc

from personalq.chassis.rpc import open_channel, serve
from personalq.chassis.runtime import run
from personalq.chassis.settings import load_settings
from personalq.checkin.advising.advice import Adviser
from personalq.checkin.advising.llm import open_llm
from personalq.checkin.advising.reason_llm import LlmAdviser
from personalq.checkin.catalog_client import CatalogClient
from personalq.checkin.endpoint import Breaker
from personalq.checkin.lexicon import thesaurus, vectors, wordnet
from personalq.checkin.ports import Reasoner
from personalq.checkin.reasoning.reason import DeterministicReasoner
from personalq.checkin.reranking.rerank import Calibration, RerankingReasoner, open_reranker
from personalq.checkin.select import select
from personalq.checkin.servicer import SERVICE_NAME, STATUSES, CheckInServicer
from personalq.checkin.settings import CheckinSettings
from personalq.v1 import checkin_pb2_grpc


async def main(stop: asyncio.Event, settings: CheckinSettings) -> None:
    """Serve until told to stop."""
    async with (
        open_channel(settings.catalog_target) as channel,
        CatalogClient(channel, ttl_s=settings.vocabulary_ttl_s) as catalog,
        _open_reasoner(settings) as reasoner,
        _open_adviser(settings) as adviser,
    ):
        chosen = partial(
            select, catalog=catalog, reasoner=reasoner, settings=settings, adviser=adviser
        )
        servicer = CheckInServicer(chosen)

        await asyncio.to_thread(_preload)
        # What is loaded by now stays: going through it for garbage would stop every request.
        gc.freeze()

        async def ready() -> bool:
            await catalog.lexicon()
            return True

        def register(server: grpc.aio.Server) -> None:
            checkin_pb2_grpc.add_CheckInServiceServicer_to_server(servicer, server)

        async with serve(
            register,
            service_names=[SERVICE_NAME],
            settings=settings,
            statuses=STATUSES,
            ready=ready,
        ):
            await stop.wait()


def _preload() -> None:
    wordnet.preload()
    vectors.preload()
    thesaurus.preload()


@asynccontextmanager
async def _open_reasoner(settings: CheckinSettings) -> AsyncIterator[Reasoner]:
    """The rules, with a reranker's term if one is configured."""
    if not settings.rerank_model and not settings.rerank_url:
        yield DeterministicReasoner()
        return
    async with open_reranker(
        model=settings.rerank_model,
        url=settings.rerank_url,
        api=settings.rerank_api,
        key=settings.rerank_key.get_secret_value(),
        timeout_s=settings.rerank_timeout_s,
        calibration=Calibration(midpoint=settings.rerank_midpoint, slope=settings.rerank_slope),
        breaker=_breaker(settings),
    ) as reranker:
        yield RerankingReasoner(reranker, limit=settings.rerank_limit)


@asynccontextmanager
async def _open_adviser(settings: CheckinSettings) -> AsyncIterator[Adviser | None]:
    """The language model; None without one."""
    if settings.advice.when == "never":
        yield None
        return
    async with open_llm(
        settings.llm_base_url,
        model=settings.llm_model,
        key=settings.llm_api_key.get_secret_value(),
        options=settings.llm_options,
        timeout_s=settings.llm_timeout_s,
        breaker=_breaker(settings),
    ) as chat:
        yield LlmAdviser(chat, key=settings.question_key)


def _breaker(settings: CheckinSettings) -> Breaker:
    return Breaker(failures=settings.model_failures, pause_s=settings.model_pause_s)


if __name__ == "__main__":
    settings = load_settings(CheckinSettings)
    run(partial(main, settings=settings), settings, name="checkin")
