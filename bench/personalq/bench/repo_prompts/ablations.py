"""Ablations of the paper's Table III: retrieval × reasoning, and clarification on and off.

Everything goes through the services as they are; no switch in them exists for this.

    retrieval     the ten best cards for the whole prompt by one leg of the catalog's search (dense,
                  sparse) or by both (hybrid), without any constraint
    no reasoning  the first of them is taken
    reasoning     Check-in chooses among these ten (`candidate_ids`)
    Check-in      Check-in with its own retrieval, where constraints come first
    no questions  where Check-in asks, its likeliest candidate is taken

Legs are compared on what the hybrid search returns: its hits say the place each leg gave them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

import grpc

from personalq.bench.repo_prompts.asking import Asked, Reply, ask, likeliest
from personalq.bench.repo_prompts.files import Query
from personalq.bench.repo_prompts.services import Services
from personalq.chassis.statuses import translate_rpc_error
from personalq.sdk.concurrency import together
from personalq.v1 import catalog_pb2

#: How many cards a retrieval hands on, as in the paper.
TOP = 10
_DEPTH = 100
_IN_FLIGHT = 4
_LEGS = ("dense", "sparse", "hybrid")


async def ablate(
    queries: Sequence[Query], services: Services, *, done: Callable[[], object]
) -> dict[str, list[Asked]]:
    """The results of each variant, by its name; `done` is called after each query."""
    places = asyncio.Semaphore(_IN_FLIGHT)

    async def variants(query: Query) -> dict[str, Asked]:
        async with places:
            results: dict[str, Asked] = {}
            hits = await _search(query, services)
            for leg in _LEGS:
                ids = _best(hits, leg)
                results[f"{leg}, no reasoning"] = _first(query, ids)
                results[f"{leg}, reasoning"] = await _among(query, ids, services)
            results["Check-in, no questions"] = await likeliest(query, services.checkin)
            done()
            return results

    found = await together(variants(query) for query in queries)
    return {name: [each[name] for each in found] for name in found[0]}


async def _search(query: Query, services: Services) -> Sequence[catalog_pb2.SearchHit]:
    request = catalog_pb2.SearchCheckpointsRequest(
        text=query.query,
        filter=catalog_pb2.CheckpointFilter(checkpoint_ids=query.candidate_pool),
        page_size=_DEPTH,
    )
    try:
        return (await services.catalog.SearchCheckpoints(request)).hits
    except grpc.aio.AioRpcError as error:
        raise translate_rpc_error(error) from None


def _best(hits: Sequence[catalog_pb2.SearchHit], leg: str) -> list[str]:
    """The ids of the best cards by a leg; the hits come in the order of both."""
    if leg == "dense":
        hits = sorted((hit for hit in hits if hit.dense_rank), key=lambda hit: hit.dense_rank)
    elif leg == "sparse":
        hits = sorted((hit for hit in hits if hit.sparse_rank), key=lambda hit: hit.sparse_rank)
    return [hit.checkpoint.checkpoint_id for hit in hits[:TOP]]


def _first(query: Query, ids: Sequence[str]) -> Asked:
    reply = Reply(outcome="selection", checkpoint_id=ids[0]) if ids else Reply(outcome="no_match")
    return Asked(query=query, reply=reply, final=reply, latency_ms=0.0)


async def _among(query: Query, ids: Sequence[str], services: Services) -> Asked:
    if not ids:  # to Check-in, no ids would mean all
        return _first(query, ids)
    asked = await ask(query.model_copy(update={"candidate_pool": tuple(ids)}), services.checkin)
    return replace(asked, query=query)
