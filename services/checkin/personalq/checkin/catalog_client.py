"""The catalog over gRPC; a tenant's words and names are kept by revision for a short while."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import grpc

from personalq.chassis.errors import PersonalQError, Unavailable
from personalq.chassis.rpc import translate_rpc_error
from personalq.chassis.tenancy import current_tenant, tenant_scope
from personalq.checkin.cards import CardFilter, Hits, Query, Vocabulary
from personalq.checkin.labels import Label
from personalq.checkin.names import Named, Names, by_key, resolve
from personalq.checkin.thing_labels import chunks, things_on
from personalq.checkin.vocabulary import Lexicon, compile_lexicon
from personalq.checkin.wire import (
    card_to_domain,
    hits_to_domain,
    names_to_domain,
    query_to_wire,
    vocabulary_to_domain,
)
from personalq.v1 import catalog_pb2, catalog_pb2_grpc

_TENANTS = 256
"""Tenants whose words are kept; the least recently asked for goes first."""
_NAMES = 300_000
"""Names that are kept for all tenants together; some 300 bytes each."""
_SEARCHES = 200
"""Answers to `Query.lately` that are kept for all tenants together."""
_LATELY_S = 30.0
_FILTERS = 10_000
"""Filters that are remembered for all tenants together: whether more than a page satisfy them."""
_COMPARING_S = 2.0
"""A request goes on without a comparison that takes longer: a search tells something too."""
_READING_S = 120.0
"""The first comparison with the labels of a tenant, which nobody waits for."""
_CARDS_READ = 1_000
"""Cards whose things are compared then too."""
_AGAIN_S = 60.0
"""After which what could not be read is tried again."""
_AT_A_TIME = 100
"""Wordings of them that are compared at once: requests come in between."""
_CANNOT_TELL = (
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
)


@dataclass(frozen=True, kw_only=True)
class _Words:
    vocabulary: Vocabulary
    """Without its names."""
    lexicon: Lexicon
    names: Mapping[str, Sequence[Named]] | None
    """All by their keys; None when there are too many."""
    revision: str
    cards: int
    """How many there were then."""
    read_at: float


class CatalogClient:
    """Implements `ports.Catalog` on CatalogService; while it is open it reads ahead."""

    def __init__(self, channel: grpc.aio.Channel, *, ttl_s: float) -> None:
        self._stub = catalog_pb2_grpc.CatalogServiceStub(channel)
        self._ttl_s = ttl_s
        self._words: OrderedDict[str, _Words] = OrderedDict()
        self._locks: dict[str, asyncio.Lock] = {}
        self._lately: OrderedDict[tuple[str, str, Query], tuple[float, Hits]] = OrderedDict()
        self._broad: OrderedDict[tuple[str, CardFilter], bool] = OrderedDict()
        self._things_read: dict[str, int] = {}
        """How many cards a tenant had when their things were read."""
        self._not_before: dict[str, float] = {}
        """When the things of a tenant, whose reading failed, may be read again."""
        self._reads: set[str] = set()
        """Tenants whose labels are being read or wait for it."""
        self._reading = asyncio.Semaphore()
        """The labels of one tenant at a time."""
        self._preparing: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Nothing is read yet."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop what is read in the background."""
        for task in tuple(self._preparing):
            task.cancel()
        await asyncio.gather(*self._preparing, return_exceptions=True)

    async def lexicon(self) -> Lexicon:
        """See `ports.Catalog.lexicon`; one refresh at a time per tenant."""
        return (await self._current(current_tenant())).lexicon

    async def _current(self, tenant: str) -> _Words:
        words = self._fresh(tenant)
        if words is not None:
            return words
        async with self._locks.setdefault(tenant, asyncio.Lock()):
            return self._fresh(tenant) or await self._refresh(tenant)

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
            words = replace(known, cards=response.selectable_cards, read_at=read_at)
        else:
            words = _compile(
                vocabulary_to_domain(response), known, response.selectable_cards, read_at
            )
        self._prepare(tenant, words, known)
        self._words[tenant] = words
        self._words.move_to_end(tenant)
        while len(self._words) > 1 and self._too_many():
            gone, _ = self._words.popitem(last=False)
            self._locks.pop(gone, None)
            self._things_read.pop(gone, None)
            self._not_before.pop(gone, None)
        return words

    def _too_many(self) -> bool:
        names = sum(len(words.names or ()) for words in self._words.values())
        return len(self._words) > _TENANTS or names > _NAMES

    async def names(self, candidates: Sequence[str]) -> Names:
        """See `ports.Catalog.names`; only names of a large tenant are asked for."""
        if not candidates:
            return {}
        tenant = current_tenant()
        known = self._words.get(tenant)
        if known is None or known.names is not None:  # otherwise there is no need to wait for words
            known = await self._current(tenant)
        if known.names is not None:
            return resolve(candidates, known.names)
        try:
            response = await self._stub.ResolveNames(
                catalog_pb2.ResolveNamesRequest(names=candidates)
            )
        except grpc.aio.AioRpcError as error:
            raise translate_rpc_error(error) from None
        return names_to_domain(response)

    async def search(self, query: Query) -> Hits:
        """See `ports.Catalog.search`."""
        return await (self._searched_lately(query) if query.lately else self._search(query))

    async def _searched_lately(self, query: Query) -> Hits:
        """What was found half a minute ago at most, with the cards there are now."""
        tenant = current_tenant()
        key = (tenant, (await self._current(tenant)).revision, query)
        known = self._lately.get(key)
        if known is not None and time.monotonic() - known[0] < _LATELY_S:
            return known[1]
        asked_at = time.monotonic()
        hits = await self._search(query)
        self._lately[key] = asked_at, hits
        self._lately.move_to_end(key)
        while len(self._lately) > _SEARCHES:
            self._lately.popitem(last=False)
        return hits

    async def _search(self, query: Query) -> Hits:
        try:
            response = await self._stub.SearchCheckpoints(query_to_wire(query))
        except grpc.aio.AioRpcError as error:
            raise translate_rpc_error(error) from None
        hits = hits_to_domain(response, query.phrases)
        if not query.filter.checkpoint_ids:
            self._remember(query, broad=hits.total > len(hits.hits))
        return hits

    def _remember(self, query: Query, *, broad: bool) -> None:
        key = (current_tenant(), query.filter)
        self._broad[key] = broad
        self._broad.move_to_end(key)
        while len(self._broad) > _FILTERS:
            self._broad.popitem(last=False)

    async def compare(
        self, texts: Sequence[str], labels: Sequence[Label]
    ) -> Sequence[Sequence[float]]:
        """See `ports.Catalog.compare`; neither an earlier nor a slow catalog can tell."""
        return await self._compare(texts, labels, within_s=_COMPARING_S)

    async def _compare(
        self, texts: Sequence[str], labels: Sequence[Label], *, within_s: float
    ) -> Sequence[Sequence[float]]:
        request = catalog_pb2.CompareTextsRequest(
            texts=texts,
            labels=[catalog_pb2.TextLabel(wordings=label.wordings) for label in labels],
        )
        try:
            response = await self._stub.CompareTexts(request, timeout=within_s)
        except grpc.aio.AioRpcError as error:
            if error.code() in _CANNOT_TELL:
                return ()
            raise translate_rpc_error(error) from None
        return [tuple(row.labels) for row in response.texts]

    def _prepare(self, tenant: str, words: _Words, known: _Words | None) -> None:
        """Let the catalog read the labels of a tenant now, and not in the middle of a request."""
        things = words.cards > 2 * self._things_read.get(tenant, 0)
        things = things and time.monotonic() >= self._not_before.get(tenant, 0.0)
        same = known is not None and known.lexicon is words.lexicon
        if tenant in self._reads or (same and not things):
            return
        self._reads.add(tenant)
        # In a context of its own: the request that happens to be first has a deadline.
        task = asyncio.create_task(
            self._read(tenant, words, things=things), context=contextvars.Context()
        )
        self._preparing.add(task)
        task.add_done_callback(self._preparing.discard)

    async def _read(self, tenant: str, words: _Words, *, things: bool) -> None:
        try:
            async with self._reading:
                with tenant_scope(tenant):
                    await self._read_labels(words.lexicon)
                    if things:
                        await self._read_things()
                        # Those of a few later cards are as quickly compared as read.
                        self._things_read[tenant] = words.cards
        except PersonalQError:  # the next comparison will say so
            self._not_before[tenant] = time.monotonic() + _AGAIN_S
        finally:
            self._reads.discard(tenant)

    async def _read_labels(self, lexicon: Lexicon) -> None:
        for labels in (lexicon.look_labels, lexicon.told_look_labels, lexicon.place_labels):
            if labels:
                await self._compare(("a",), labels, within_s=_READING_S)

    async def _read_things(self) -> None:
        for labels in chunks(await self._things(), _AT_A_TIME):
            if not await self._compare(("a",), labels, within_s=_READING_S):
                raise Unavailable("the catalog compares nothing now")

    async def _things(self) -> Sequence[Label]:
        """The things on a page of a tenant's cards."""
        request = catalog_pb2.ListCheckpointsRequest(page_size=_CARDS_READ)
        try:
            response = await self._stub.ListCheckpoints(request, timeout=_READING_S)
        except grpc.aio.AioRpcError as error:
            raise translate_rpc_error(error) from None
        found: dict[Label, None] = {}
        for checkpoint in response.checkpoints:
            found.update(dict.fromkeys(things_on(card_to_domain(checkpoint.SerializeToString()))))
            await asyncio.sleep(0)  # requests come first
        return tuple(found)

    def is_broad(self, query: Query) -> bool:
        """See `ports.Catalog.is_broad`; as it was last time, or else as on average."""
        tenant = current_tenant()
        broad = self._broad.get((tenant, query.filter))
        if broad is not None:
            return broad
        words = self._words.get(tenant)
        return words is not None and _expected(query.filter, words) > query.limit


def _expected(filter_: CardFilter, words: _Words) -> float:
    """Cards that satisfy a filter, were all subjects equally frequent; 0 where it says more."""
    subjects = len(words.vocabulary.subjects)
    if not filter_.subjects or replace(filter_, subjects=()) != CardFilter():
        return 0
    return words.cards * len(filter_.subjects) / max(subjects, 1)


def _compile(vocabulary: Vocabulary, known: _Words | None, cards: int, read_at: float) -> _Words:
    """The tables of a vocabulary; those of the words are kept where only names have changed."""
    words = replace(vocabulary, names=None, revision="")
    if known is not None and known.vocabulary == words:
        lexicon = known.lexicon
    else:
        lexicon = compile_lexicon(words)
    return _Words(
        vocabulary=words,
        lexicon=lexicon,
        names=None if vocabulary.names is None else by_key(vocabulary.names),
        revision=vocabulary.revision,
        cards=cards,
        read_at=read_at,
    )
