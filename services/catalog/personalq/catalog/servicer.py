"""gRPC in: translate, call the use case, translate back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import grpc

from personalq.catalog import wire
from personalq.catalog.cards import checked_id
from personalq.catalog.compare import Comparer
from personalq.catalog.handlers import Register
from personalq.catalog.lifecycle import archive_checkpoint, unknown_checkpoint, update_checkpoint
from personalq.catalog.listing import DEFAULT_PAGE, list_checkpoints
from personalq.catalog.names import resolve_names
from personalq.catalog.paging import checked_page
from personalq.catalog.ports import Announcer, CardStore, ChangeFeed, Embedder
from personalq.catalog.search import DEFAULT_HITS, Query, search_checkpoints
from personalq.catalog.watch import Change, watch_checkpoints
from personalq.chassis import rpc
from personalq.chassis.errors import Conflict
from personalq.chassis.rpc import Status
from personalq.chassis.tenancy import current_tenant
from personalq.v1 import catalog_pb2, catalog_pb2_grpc

SERVICE_NAME = catalog_pb2.DESCRIPTOR.services_by_name["CatalogService"].full_name

#: What is particular here: a conflict is never about an id that is taken, an id is updated.
STATUSES: Mapping[type[Exception], Status] = {
    **rpc.STATUSES,
    Conflict: Status(grpc.StatusCode.ABORTED, "OLDER_THAN_KNOWN"),
}

Context = grpc.aio.ServicerContext[Any, Any]


@dataclass(frozen=True, kw_only=True)
class CatalogServicer(catalog_pb2_grpc.CatalogServiceServicer):
    """CatalogService on the catalog's use cases."""

    register: Register
    store: CardStore
    feed: ChangeFeed
    announce: Announcer
    embedder: Embedder | None
    comparer: Comparer

    async def RegisterCheckpoint(  # noqa: N802
        self, request: catalog_pb2.RegisterCheckpointRequest, context: Context
    ) -> catalog_pb2.RegisterCheckpointResponse:
        """Verify a checkpoint's file and store its card."""
        done = await self.register(wire.card_to_domain(request.checkpoint), tenant=current_tenant())
        return catalog_pb2.RegisterCheckpointResponse(
            checkpoint=wire.card_to_wire(done.card), created=done.created
        )

    async def GetCheckpoint(  # noqa: N802
        self, request: catalog_pb2.GetCheckpointRequest, context: Context
    ) -> catalog_pb2.GetCheckpointResponse:
        """Return one card."""
        checkpoint_id = checked_id(request.checkpoint_id)
        card = await self.store.card(current_tenant(), checkpoint_id)
        if card is None:
            raise unknown_checkpoint(checkpoint_id)
        return catalog_pb2.GetCheckpointResponse(
            checkpoint=wire.card_to_wire(card), artifacts=wire.artifacts_to_wire(card.artifacts)
        )

    async def ListCheckpoints(  # noqa: N802
        self, request: catalog_pb2.ListCheckpointsRequest, context: Context
    ) -> catalog_pb2.ListCheckpointsResponse:
        """List cards, newest first."""
        listing = await list_checkpoints(
            wire.filter_to_domain(request.filter),
            tenant=current_tenant(),
            page=checked_page(request.page_size, request.page_token, default=DEFAULT_PAGE),
            reader=self.store,
        )
        return catalog_pb2.ListCheckpointsResponse(
            checkpoints=[wire.card_to_wire(card) for card in listing.cards],
            next_page_token=listing.next_page_token,
        )

    async def UpdateCheckpoint(  # noqa: N802
        self, request: catalog_pb2.UpdateCheckpointRequest, context: Context
    ) -> catalog_pb2.UpdateCheckpointResponse:
        """Change the fields named by the mask."""
        card = await update_checkpoint(
            request.checkpoint.checkpoint_id,
            wire.card_to_domain(request.checkpoint),
            list(request.update_mask.paths),
            tenant=current_tenant(),
            store=self.store,
            embedder=self.embedder,
            announce=self.announce,
        )
        return catalog_pb2.UpdateCheckpointResponse(checkpoint=wire.card_to_wire(card))

    async def ArchiveCheckpoint(  # noqa: N802
        self, request: catalog_pb2.ArchiveCheckpointRequest, context: Context
    ) -> catalog_pb2.ArchiveCheckpointResponse:
        """Withdraw a checkpoint."""
        card = await archive_checkpoint(
            request.checkpoint_id,
            tenant=current_tenant(),
            store=self.store,
            announce=self.announce,
        )
        return catalog_pb2.ArchiveCheckpointResponse(checkpoint=wire.card_to_wire(card))

    async def SearchCheckpoints(  # noqa: N802
        self, request: catalog_pb2.SearchCheckpointsRequest, context: Context
    ) -> catalog_pb2.SearchCheckpointsResponse:
        """Find cards by constraints and words."""
        found = await search_checkpoints(
            Query(
                text=request.text,
                filter=wire.filter_to_domain(request.filter),
                order=wire.order_to_domain(request.order),
                phrases=tuple(request.phrases),
            ),
            tenant=current_tenant(),
            page=checked_page(request.page_size, request.page_token, default=DEFAULT_HITS),
            reader=self.store,
            embedder=self.embedder,
        )
        return wire.hits_to_wire(found)

    async def WatchCheckpoints(  # noqa: N802
        self, request: catalog_pb2.WatchCheckpointsRequest, context: Context
    ) -> AsyncIterator[catalog_pb2.WatchCheckpointsResponse]:
        """Send every card, then every change, until the client leaves or the server stops."""
        changes = watch_checkpoints(
            wire.filter_to_domain(request.filter),
            tenant=current_tenant(),
            reader=self.store,
            feed=self.feed,
        )
        async with aclosing(_until(rpc.stopping(), changes)) as changes_until_stop:
            async for change in changes_until_stop:
                card = change.card
                if card is None:
                    yield catalog_pb2.WatchCheckpointsResponse(synced=True)
                else:
                    yield catalog_pb2.WatchCheckpointsResponse(
                        checkpoint=wire.card_to_wire(card),
                        artifacts=wire.artifacts_to_wire(card.artifacts),
                    )

    async def ListArtifacts(  # noqa: N802
        self, request: catalog_pb2.ListArtifactsRequest, context: Context
    ) -> catalog_pb2.ListArtifactsResponse:
        """List the artifacts of a checkpoint's present file."""
        checkpoint_id = checked_id(request.checkpoint_id)
        card = await self.store.card(current_tenant(), checkpoint_id)
        if card is None:
            raise unknown_checkpoint(checkpoint_id)
        return catalog_pb2.ListArtifactsResponse(artifacts=wire.artifacts_to_wire(card.artifacts))

    async def GetVocabulary(  # noqa: N802
        self, request: catalog_pb2.GetVocabularyRequest, context: Context
    ) -> catalog_pb2.GetVocabularyResponse:
        """Return the words of a tenant's selectable cards."""
        words = await self.store.vocabulary(current_tenant(), request.revision)
        return wire.vocabulary_to_wire(words)

    async def ResolveNames(  # noqa: N802
        self, request: catalog_pb2.ResolveNamesRequest, context: Context
    ) -> catalog_pb2.ResolveNamesResponse:
        """Say which words name a checkpoint."""
        found = await resolve_names(request.names, tenant=current_tenant(), reader=self.store)
        return wire.names_to_wire(found)

    async def CompareTexts(  # noqa: N802
        self, request: catalog_pb2.CompareTextsRequest, context: Context
    ) -> catalog_pb2.CompareTextsResponse:
        """Say how like texts are to labels."""
        labels = [list(label.wordings) for label in request.labels]
        likeness = await self.comparer.compare(list(request.texts), labels)
        return catalog_pb2.CompareTextsResponse(
            texts=[catalog_pb2.TextLikeness(labels=row) for row in likeness]
        )


async def _until(
    stop: asyncio.Event, changes: AsyncGenerator[Change, None]
) -> AsyncGenerator[Change, None]:
    """The changes until the event is set."""
    stopped = asyncio.ensure_future(stop.wait())
    following: asyncio.Future[Change] | None = None
    try:
        while True:
            following = asyncio.ensure_future(anext(changes))
            await asyncio.wait({stopped, following}, return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                return
            yield following.result()
    finally:
        stopped.cancel()
        if following is not None:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
        await changes.aclose()
