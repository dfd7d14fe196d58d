"""Run the catalog: events in, cards stored, searches answered.

python -m personalq.catalog            serve
python -m personalq.catalog migrate    bring the database up to date, then exit
python -m personalq.catalog embed      embed every card with the configured model, then exit
python -m personalq.catalog index      make the indexes of large tenants, then exit
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import sys
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from datetime import UTC, datetime
from functools import partial

import grpc

from personalq.catalog.announce import BusAnnouncer
from personalq.catalog.cards import Card
from personalq.catalog.compare import Comparer
from personalq.catalog.describe import describe_plainly
from personalq.catalog.embedders import open_embedder
from personalq.catalog.examine import FileExaminer, base_model_widths
from personalq.catalog.feed import open_feed
from personalq.catalog.handlers import (
    on_artifact_failed,
    on_artifact_ready,
    on_checkpoint_landed,
)
from personalq.catalog.indexing import index_large_tenants
from personalq.catalog.lifecycle import accept_artifact, accept_failure
from personalq.catalog.looks import Looks
from personalq.catalog.migrations import SCHEMA_VERSION, migrate
from personalq.catalog.ports import Embedder
from personalq.catalog.reconcile import embed_missing, repeat, request_missing_artifacts
from personalq.catalog.register import Registered, register_checkpoint
from personalq.catalog.servicer import SERVICE_NAME, STATUSES, CatalogServicer
from personalq.catalog.settings import CatalogSettings
from personalq.catalog.store import open_store
from personalq.catalog.store_indexes import open_indexes
from personalq.chassis.errors import PersonalQError
from personalq.chassis.events import open_bus, verify_streams
from personalq.chassis.rpc import serve
from personalq.chassis.runtime import run
from personalq.chassis.settings import load_settings
from personalq.chassis.telemetry import configure_logging
from personalq.v1 import catalog_pb2_grpc, events_pb2

log = logging.getLogger(__name__)


async def main(stop: asyncio.Event, *, settings: CatalogSettings) -> None:
    """Serve until `stop` is set."""
    base_models = base_model_widths(settings.base_models)
    async with AsyncExitStack() as world:
        bus = await world.enter_async_context(open_bus(settings.nats_url, name="catalog"))
        store = await world.enter_async_context(
            open_store(settings.postgres_url, pool_size=settings.postgres_pool)
        )
        embedder = await world.enter_async_context(_open_embedder(settings))
        await verify_streams(bus)
        await store.verify(embedder.model if embedder else None)
        feed = await world.enter_async_context(open_feed(settings.postgres_url))

        announce = BusAnnouncer(bus)
        examine = FileExaminer(
            work_dir=settings.work_dir,
            max_bytes=settings.max_source_bytes,
            places=asyncio.Semaphore(settings.concurrency),
            allowed_roots=settings.source_roots,
        )

        async def register(landed: Card, *, tenant: str) -> Registered:
            return await register_checkpoint(
                landed,
                tenant=tenant,
                store=store,
                examine=examine,
                describe=describe_plainly,
                embedder=embedder,
                announce=announce,
                base_models=base_models,
                profiles=settings.profiles,
                now=datetime.now(UTC),
            )

        servicer = CatalogServicer(
            register=register,
            store=store,
            feed=feed,
            announce=announce,
            embedder=embedder,
            comparer=Comparer(embedder),
        )
        loops = [
            bus.consume(
                events_pb2.CheckpointLanded,
                on_checkpoint_landed(register, retry_after_s=settings.retry_after_s),
                durable="catalog-landed",
                concurrency=settings.concurrency,
            ),
            bus.consume(
                events_pb2.ArtifactReady,
                on_artifact_ready(
                    partial(accept_artifact, store=store, profiles=settings.profiles),
                    retry_after_s=settings.retry_after_s,
                ),
                durable="catalog-artifact-ready",
            ),
            bus.consume(
                events_pb2.ArtifactFailed,
                on_artifact_failed(
                    partial(accept_failure, store=store, profiles=settings.profiles),
                    retry_after_s=settings.retry_after_s,
                ),
                durable="catalog-artifact-failed",
            ),
            repeat(
                partial(
                    request_missing_artifacts,
                    upkeep=store,
                    announce=announce,
                    profiles=settings.profiles,
                    recipe_version=settings.recipe_version,
                    patience_s=settings.reconcile_patience_s,
                    looks=Looks(),
                ),
                every_s=settings.reconcile_interval_s,
                name="reconcile",
            ),
        ]
        if embedder is not None:
            loops += [
                repeat(
                    partial(embed_missing, upkeep=store, embedder=embedder, looks=Looks()),
                    every_s=settings.reconcile_interval_s,
                    name="embed_cards",
                ),
                repeat(
                    partial(
                        index_large_tenants,
                        open_indexes=partial(open_indexes, settings.postgres_url, embedder.model),
                        model=embedder.model,
                        from_cards=settings.index_from_cards,
                    ),
                    every_s=settings.reconcile_interval_s,
                    name="index_tenants",
                ),
            ]

        def register_servicer(server: grpc.aio.Server) -> None:
            catalog_pb2_grpc.add_CatalogServiceServicer_to_server(servicer, server)

        # What is loaded by now stays, half a million objects of torch: going through them for
        # garbage would stop every search for a third of a second.
        gc.freeze()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(loop) for loop in loops]
            async with serve(
                register_servicer,
                service_names=[SERVICE_NAME],
                settings=settings,
                statuses=STATUSES,
                ready=store.ready,
            ):
                await stop.wait()
            for task in tasks:
                task.cancel()


def command(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m personalq.catalog",
        description="PersonalQ's catalog; settings come from PERSONALQ_CATALOG_* variables",
    )
    parser.add_argument(
        "command",
        nargs="?",
        choices=["serve", "migrate", "embed", "index"],
        default="serve",
        help="serve (the default), bring the database up to date, embed every card with the "
        "configured model, or make the indexes of large tenants as the owner of the tables",
    )
    options = parser.parse_args(arguments)
    settings = load_settings(CatalogSettings)
    if options.command == "migrate":
        configure_logging(settings.log_level, settings.log_format, service="catalog")
        sys.exit(_migrate(settings))
    if options.command in ("embed", "index"):
        configure_logging(settings.log_level, settings.log_format, service="catalog")
        work = _embed if options.command == "embed" else _index
        sys.exit(asyncio.run(work(settings)))
    run(partial(main, settings=settings), settings, name="catalog")


async def _embed(settings: CatalogSettings) -> int:
    """Embed what the configured model has not; exit code 1 and one line when it fails."""
    try:
        async with _open_embedder(settings) as embedder, open_store(settings.postgres_url) as store:
            if embedder is None:
                raise PersonalQError(
                    "without PERSONALQ_CATALOG_EMBEDDING_MODEL there is nothing to embed with"
                )
            await store.verify(embedder.model)
            count = await embed_missing(upkeep=store, embedder=embedder, looks=Looks(pause=0))
    except PersonalQError as error:
        log.error("embedding failed: %s", error, extra={"action": "embed_cards"})
        return 1
    log.info("embedding is done", extra={"action": "embed_cards", "cards": count})
    return 0


async def _index(settings: CatalogSettings) -> int:
    """Make the indexes of large tenants; exit code 1 and one line when it fails."""
    try:
        async with _open_embedder(settings) as embedder:
            if embedder is None:
                raise PersonalQError(
                    "without PERSONALQ_CATALOG_EMBEDDING_MODEL there are no vectors to index"
                )
            count = await index_large_tenants(
                open_indexes=partial(open_indexes, settings.postgres_url, embedder.model),
                model=embedder.model,
                from_cards=settings.index_from_cards,
            )
    except PersonalQError as error:
        log.error("indexing failed: %s", error, extra={"action": "index_tenants"})
        return 1
    log.info("large tenants are indexed", extra={"action": "index_tenants", "tenants": count})
    return 0


def _open_embedder(settings: CatalogSettings) -> AbstractAsyncContextManager[Embedder | None]:
    return open_embedder(
        settings.embedding_model,
        url=settings.embedding_url,
        key=settings.embedding_key.get_secret_value(),
        dim=settings.embedding_dim,
        timeout_s=settings.embedding_timeout_s,
        query_timeout_s=settings.embedding_query_timeout_s,
        query_prefix=settings.embedding_query_prefix,
        document_prefix=settings.embedding_document_prefix,
        device=settings.embedding_device,
    )


def _migrate(settings: CatalogSettings) -> int:
    """Migrate; exit code 1 and one line when it fails."""
    try:
        migrate(settings.postgres_url, embedding_dim=settings.embedding_dim or 384)
    except PersonalQError as error:
        log.error("migration failed: %s", error, extra={"action": "migrate"})
        return 1
    log.info("database is up to date", extra={"action": "migrate", "version": SCHEMA_VERSION})
    return 0


if __name__ == "__main__":
    command()
