"""The catalog over gRPC; a tenant's words are kept by revision for a short while."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import grpc

from personalq.chassis.rpc import translate_rpc_error
from personalq.chassis.tenancy import current_tenant
from personalq.checkin.cards import Hits, Query
from personalq.checkin.names import Names
from personalq.checkin.vocabulary import Lexicon, compile_lexicon
from personalq.checkin.wire import (
    hits_to_domain,
    names_to_domain,
    query_to_wire,
    vocabulary_to_domain,
)
from personalq.v1 import catalog_pb2, catalog_pb2_grpc

_TENANTS = 256
"""Tenants whose words are kept; the least recently asked for goes first."""


@dataclass(frozen=True, kw_only=True)
class _Words:
    lexicon: Lexicon
    revision: str
    read_at: float


class CatalogClient:
    """Implements `ports.Catalog` on CatalogService."""

    def __init__(self, channel: grpc.aio.Channel, *, ttl_s: float) -> None:
        self._stub = catalog_pb2_grpc.CatalogServiceStub(channel)
        self._ttl_s = ttl_s
        self._words: OrderedDict[str, _Words] = OrderedDict()
        self._locks: dict[str, asyncio.Lock] = {}

    async def lexicon(self) -> Lexicon:
        """See `ports.Catalog.lexicon`; one refresh at a time per tenant."""
        tenant = current_tenant()
        words = self._fresh(tenant)
        if words is not None:
            return words.lexicon
        async with self._locks.setdefault(tenant, asyncio.Lock()):
            words = self._fresh(tenant) or await self._refresh(tenant)
        return words.lexicon

    def _fresh(self, tenant: str) -> _Words | None:
        words = self._words.get(tenant)
        if words is None or time.monotonic() - words.read_at >= self._ttl_s:
            return None
        self._words.move_to_end(tenant)
        return words

    async def _refresh(self, tenant: str) -> _Words:
        known = self._words.get(tenant)
        request = catalog_pb2.GetVocabularyRequest(revision=known.revision if known else "")
        read_at = time.monotonic()
        try:
            response = await self._stub.GetVocabulary(request)
        except grpc.aio.AioRpcError as error:
            raise translate_rpc_error(error) from None
        if known is not None and not response.modified:
            words = _Words(lexicon=known.lexicon, revision=known.revision, read_at=read_at)
        else:
            words = _Words(
                lexicon=compile_lexicon(vocabulary_to_domain(response)),
                revision=response.revision,
                read_at=read_at,
            )
        self._words[tenant] = words
        self._words.move_to_end(tenant)
        while len(self._words) > _TENANTS:
            gone, _ = self._words.popitem(last=False)
            self._locks.pop(gone, None)
        return words

    async def names(self, candidates: Sequence[str]) -> Names:
        """See `ports.Catalog.names`."""
        if not candidates:
            return {}
        try:
            response = await self._stub.ResolveNames(
                catalog_pb2.ResolveNamesRequest(names=candidates)
            )
        except grpc.aio.AioRpcError as error:
            raise translate_rpc_error(error) from None
        return names_to_domain(response)

    async def search(self, query: Query) -> Hits:
        """See `ports.Catalog.search`."""
        try:
            response = await self._stub.SearchCheckpoints(query_to_wire(query))
        except grpc.aio.AioRpcError as error:
            raise translate_rpc_error(error) from None
        return hits_to_domain(response, query.phrases)
