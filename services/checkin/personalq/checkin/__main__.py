"""Run the checkin service: `python -m personalq.checkin`."""

from __future__ import annotations

import asyncio
from functools import partial

import grpc

from personalq.chassis.rpc import open_channel, serve
from personalq.chassis.runtime import run
from personalq.chassis.settings import load_settings
from personalq.checkin.catalog_client import CatalogClient
from personalq.checkin.reason import DeterministicReasoner
from personalq.checkin.select import select
from personalq.checkin.servicer import SERVICE_NAME, STATUSES, CheckInServicer
from personalq.checkin.settings import CheckinSettings
from personalq.v1 import checkin_pb2_grpc


async def main(stop: asyncio.Event, settings: CheckinSettings) -> None:
    """Serve until told to stop."""
    async with open_channel(settings.catalog_target) as channel:
        catalog = CatalogClient(channel, ttl_s=settings.vocabulary_ttl_s)
        chosen = partial(
            select, catalog=catalog, reasoner=DeterministicReasoner(), settings=settings
        )
        servicer = CheckInServicer(chosen)

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


if __name__ == "__main__":
    settings = load_settings(CheckinSettings)
    run(partial(main, settings=settings), settings, name="checkin")
