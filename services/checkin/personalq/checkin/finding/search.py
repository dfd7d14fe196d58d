"""Searches of the catalog: as few as the intent allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from personalq.checkin.cards import CardFilter, Hit, Hits, Query
from personalq.checkin.labels import Label
from personalq.checkin.names import Names
from personalq.checkin.ports import Catalog
from personalq.checkin.vocabulary import Lexicon

_EPOCH = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Lately:
    """A catalog for what need not be up to date: what cards of a subject are like."""

    catalog: Catalog

    async def lexicon(self) -> Lexicon:
        """See `ports.Catalog.lexicon`."""
        return await self.catalog.lexicon()

    async def names(self, candidates: Sequence[str]) -> Names:
        """See `ports.Catalog.names`."""
        return await self.catalog.names(candidates)

    async def search(self, query: Query) -> Hits:
        """See `ports.Catalog.search`; as of half a minute ago at most."""
        return await self.catalog.search(replace(query, lately=True))

    async def compare(
        self, texts: Sequence[str], labels: Sequence[Label]
    ) -> Sequence[Sequence[float]]:
        """See `ports.Catalog.compare`."""
        return await self.catalog.compare(texts, labels)

    def is_broad(self, query: Query) -> bool:
        """See `ports.Catalog.is_broad`."""
        return self.catalog.is_broad(query)


@dataclass(frozen=True)
class Once:
    """A catalog for one request: what was searched for is not searched for again."""

    catalog: Catalog
    _found: dict[Query, Hits] = field(default_factory=dict)
    _compared: dict[tuple[tuple[str, ...], tuple[Label, ...]], Sequence[Sequence[float]]] = field(
        default_factory=dict
    )

    async def lexicon(self) -> Lexicon:
        """See `ports.Catalog.lexicon`."""
        return await self.catalog.lexicon()

    async def names(self, candidates: Sequence[str]) -> Names:
        """See `ports.Catalog.names`."""
        return await self.catalog.names(candidates)

    async def search(self, query: Query) -> Hits:
        """See `ports.Catalog.search`; as of this request's first search of the kind."""
        if query not in self._found:
            self._found[query] = await self.catalog.search(query)
        return self._found[query]

    async def compare(
        self, texts: Sequence[str], labels: Sequence[Label]
    ) -> Sequence[Sequence[float]]:
        """See `ports.Catalog.compare`; asked of one text once, and no more once it cannot tell."""
        key = (tuple(texts), tuple(labels))
        if key not in self._compared:
            can_tell = all(self._compared.values())
            self._compared[key] = await self.catalog.compare(texts, labels) if can_tell else ()
        return self._compared[key]

    def is_broad(self, query: Query) -> bool:
        """See `ports.Catalog.is_broad`."""
        return self.catalog.is_broad(query)


async def find(
    query: Query, catalog: Catalog, *, described: bool, deeper: Query | None = None
) -> tuple[Hit, ...]:
    """The cards to reason about; one search as long as the intent allows no more than its limit.

    Then the text, which only ranks, need not be embedded. Of more, those that answer to it best are
    looked at, and with an order its first ones as well: "the latest with a red scarf" may not be
    among the latest. Where more are to be expected, the first search is the one that ranks.

    Args:
        described: whether the text says more than the filter does.
        deeper: the search to make when more match than are looked at; see `deeper`.

    Raises:
        Unavailable: the catalog cannot be reached.
    """
    broad = _is_broad(query.filter) or catalog.is_broad(query)
    if query.text and query.order is None and deeper is None and broad:
        ranked = await catalog.search(query)
        return ranked.hits if ranked.total > len(ranked.hits) else _newest_first(ranked.hits)
    found = await catalog.search(replace(query, text=""))
    if deeper is not None and found.total > len(found.hits):
        found = await catalog.search(deeper)
    if found.total <= len(found.hits) or not query.text:
        return found.hits
    if query.order is None and deeper is None:
        return (await catalog.search(query)).hits
    if not described:
        return found.hits
    fitting = await catalog.search(replace(query, order=None))
    known = {hit.card.checkpoint_id for hit in found.hits}
    return (*found.hits, *(hit for hit in fitting.hits if hit.card.checkpoint_id not in known))


def _is_broad(filter_: CardFilter) -> bool:
    """Whether many cards must satisfy it: it says neither what they show nor which one is meant."""
    return not (
        filter_.subjects
        or filter_.versions
        or filter_.owners
        or filter_.checkpoint_ids
        or filter_.triggers
        or filter_.names
    )


def _newest_first(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """All matches in the order of a search that ranks by nothing."""
    by_id = sorted(hits, key=lambda hit: hit.card.checkpoint_id)
    return tuple(sorted(by_id, key=lambda hit: hit.card.created_at or _EPOCH, reverse=True))
