"""Selections through the services: alone, under load, and while cards come in."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from itertools import cycle, islice
from pathlib import Path

from personalq.bench.repo_prompts.embedding_cost import Yardstick
from personalq.bench.repo_prompts.files import Card
from personalq.bench.repo_prompts.loading import to_wire, write_weights
from personalq.bench.scale.asking import ask
from personalq.bench.scale.cards import Tenant, make_cards
from personalq.bench.scale.measuring import until_idle
from personalq.bench.scale.prompts import Request
from personalq.chassis.rpc import open_channel
from personalq.chassis.tenancy import tenant_scope
from personalq.sdk.concurrency import abandon
from personalq.sdk.embedded.stack import Stack
from personalq.v1 import catalog_pb2, catalog_pb2_grpc, checkin_pb2_grpc

#: Clients at once.
CLIENTS = (1, 8, 32)
_REGISTERED = 200
_TIMEOUT_S = 120.0


async def measure_selecting(
    stack: Stack,
    turns: Sequence[Sequence[Request]],
    *,
    largest: str,
    yardstick: Yardstick,
    quick: bool,
) -> dict[str, object]:
    """Latency under each number of clients, the rate of registration, and both at once.

    Args:
        turns: requests to warm up with, for each of them, and for the last; no turn repeats
            another's.
    """
    async with (
        open_channel(stack.endpoints.checkin) as to_checkin,
        open_channel(stack.endpoints.catalog) as to_catalog,
    ):
        checkin = checkin_pb2_grpc.CheckInServiceStub(to_checkin)
        catalog = catalog_pb2_grpc.CatalogServiceStub(to_catalog)
        programs = {child.name: child.popen.pid for child in stack.children}
        under = partial(ask, checkin=checkin, largest=largest, programs=programs)
        warm_up, *measured, last = turns
        await under(warm_up, clients=4)
        await until_idle(programs)
        await yardstick.warm_up()
        loads = []
        for clients, requests in zip(CLIENTS, measured, strict=True):
            asked = list(islice(cycle(requests), max(len(requests), clients * 10)))
            loads.append(
                await under(asked, clients=clients, yardstick=yardstick if clients == 1 else None)
            )

        with tempfile.TemporaryDirectory(prefix="personalq-bench-") as folder:
            weights = write_weights(Path(folder) / "scale.safetensors")
            count = _REGISTERED // 4 if quick else _REGISTERED
            rate = await _register(count, catalog, weights, tenant=largest)
            registering = asyncio.create_task(_register_on(catalog, weights, tenant=largest))
            try:
                during = await under(last, clients=1)
            finally:
                await abandon(registering)
    return {
        "select": [asdict(load) for load in loads],
        "select_while_registering": asdict(during),
        "registered_per_s": rate,
    }


async def _register(
    count: int, catalog: catalog_pb2_grpc.CatalogServiceAsyncStub, weights: Path, *, tenant: str
) -> float:
    """Register new cards, two at a time, into the tenant with most cards; how many a second."""
    began = time.perf_counter()
    waiting = iter(_new_cards(count))

    async def one_after_the_other() -> None:
        for card in waiting:
            request = catalog_pb2.RegisterCheckpointRequest(
                checkpoint=to_wire(card, weights.as_uri())
            )
            with tenant_scope(tenant):
                await catalog.RegisterCheckpoint(request, timeout=_TIMEOUT_S)

    async with asyncio.TaskGroup() as group:
        for _ in range(2):
            group.create_task(one_after_the_other())
    return round(count / (time.perf_counter() - began), 1)


async def _register_on(
    catalog: catalog_pb2_grpc.CatalogServiceAsyncStub, weights: Path, *, tenant: str
) -> None:
    """Register until cancelled."""
    while True:
        await _register(_REGISTERED, catalog, weights, tenant=tenant)


def _new_cards(count: int) -> Sequence[Card]:
    """Cards that no run registered before."""
    batch = secrets.token_hex(4)
    made = make_cards(Tenant(name=f"new-{batch}", cards=count))
    return [
        Card(
            checkpoint_id=f"new-{batch}-{index}",
            name=card.name,
            triggers=card.triggers,
            subjects=card.subjects,
            styles=card.styles,
            description=card.description,
            base_model=card.base_model,
            version=card.version,
            created_at=card.created_at,
            environments=card.environments,
            owner=card.owner,
        )
        for index, card in enumerate(made)
    ]
