"""Check-in on the real catalog service and PostgreSQL, all over gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
from support.catalog_cards import RecordingAnnouncer, store_cards
from support.catalog_cards import card as catalog_card
from support.polling import eventually
from support.ports import free_port

from personalq.catalog.cards import Card as StoredCard
from personalq.catalog.compare import Comparer
from personalq.catalog.feed import open_feed
from personalq.catalog.ports import Embedder
from personalq.catalog.servicer import SERVICE_NAME, CatalogServicer
from personalq.catalog.servicer import STATUSES as CATALOG_STATUSES
from personalq.catalog.store import PostgresStore, open_store
from personalq.chassis.errors import NotReady, PersonalQError
from personalq.chassis.rpc import open_channel, serve, translate_rpc_error
from personalq.chassis.settings import CommonSettings
from personalq.checkin.__main__ import main
from personalq.checkin.cards import Card
from personalq.checkin.settings import CheckinSettings
from personalq.v1 import catalog_pb2_grpc, checkin_pb2, checkin_pb2_grpc


@dataclass
class Stack:
    """A running Check-in and the store of the catalog behind it."""

    store: PostgresStore
    stub: checkin_pb2_grpc.CheckInServiceAsyncStub
    channel: grpc.aio.Channel
    embedder: Embedder | None

    async def load(self, cards: Sequence[Card], tenant: str = "default") -> list[StoredCard]:
        """Store cards as registrations would."""
        stored = [stored_card(card) for card in cards]
        return await store_cards(self.store, tenant, stored, embedder=self.embedder)

    async def select(self, request: checkin_pb2.SelectRequest) -> checkin_pb2.SelectResponse:
        """Ask; raise what the server meant."""
        try:
            return await self.stub.Select(request)
        except grpc.aio.AioRpcError as error:
            raise translate_rpc_error(error) from None


def stored_card(card: Card) -> StoredCard:
    """Check-in's card as the catalog stores it."""
    return catalog_card(
        card.checkpoint_id,
        name=card.name,
        aliases=card.aliases,
        triggers=card.triggers,
        subjects=card.subjects,
        styles=card.styles,
        description=card.description,
        base_model=card.base_model or "tiny",
        version=card.version,
        created_at=card.created_at,
        last_used_at=card.last_used_at,
        use_count=card.use_count,
        environments=card.environments,
        owner=card.owner,
    )


@asynccontextmanager
async def run_checkin(
    postgres_url: str, *, embedder: Embedder | None = None, **more: Any
) -> AsyncIterator[Stack]:
    """A catalog server and the checkin service in front of it; `more` are Check-in's settings."""

    async def register(landed: StoredCard, *, tenant: str) -> object:
        raise NotReady("cards are stored directly here", state="test")

    async with (
        open_store(postgres_url, pool_size=4) as store,
        open_feed(postgres_url) as feed,
    ):
        servicer = CatalogServicer(
            register=register,  # type: ignore[arg-type]
            store=store,
            feed=feed,
            announce=RecordingAnnouncer(),
            embedder=embedder,
            comparer=Comparer(embedder),
        )
        quick = CommonSettings(drain_s=0, grace_s=1)
        async with serve(
            lambda server: catalog_pb2_grpc.add_CatalogServiceServicer_to_server(servicer, server),
            service_names=[SERVICE_NAME],
            settings=quick,
            statuses=CATALOG_STATUSES,
        ) as catalog:
            settings = CheckinSettings(
                port=free_port(),
                catalog_target=f"127.0.0.1:{catalog.port}",
                drain_s=0,
                grace_s=1,
                vocabulary_ttl_s=0,
                **more,
            )
            stop = asyncio.Event()
            running = asyncio.create_task(main(stop, settings))
            try:
                async with open_channel(f"127.0.0.1:{settings.port}") as channel:
                    stub = checkin_pb2_grpc.CheckInServiceStub(channel)
                    stack = Stack(store=store, stub=stub, channel=channel, embedder=embedder)
                    await eventually(lambda: _answers(stack))
                    yield stack
            finally:
                stop.set()
                await running


async def _answers(stack: Stack) -> bool:
    try:
        await stack.select(checkin_pb2.SelectRequest(prompt="anything"))
    except PersonalQError:
        return False
    return True
