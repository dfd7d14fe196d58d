"""A catalog in memory with the filter semantics of CheckpointFilter, for Check-in's tests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from personalq.catalog.names import NameKind as CatalogKind
from personalq.catalog.names import all_names
from personalq.catalog.places import told_places
from personalq.chassis.names import name_key
from personalq.checkin.cards import ArtifactRef, Card, CardFilter, Hit, Hits, Query, Vocabulary
from personalq.checkin.intent import OrderKey
from personalq.checkin.labels import Label
from personalq.checkin.lexicon import canonical
from personalq.checkin.names import Named, NameKind, Names
from personalq.checkin.reasoning.profiles.concepts import concepts
from personalq.checkin.reasoning.profiles.profile import profile
from personalq.checkin.vocabulary import Lexicon, compile_lexicon

_KINDS = {
    CatalogKind.CHECKPOINT_ID: NameKind.CHECKPOINT_ID,
    CatalogKind.TRIGGER: NameKind.TRIGGER,
    CatalogKind.ALIAS: NameKind.ALIAS,
    CatalogKind.NAME: NameKind.NAME,
}
_NEVER = datetime.min.replace(tzinfo=UTC)


def vocabulary_of(cards: Iterable[Card]) -> Vocabulary:
    """The words of some cards, sorted."""
    cards = list(cards)

    def words(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
        return tuple(sorted({word for words in lists for word in words if word}))

    return Vocabulary(
        subjects=words(c.subjects for c in cards),
        styles=words(c.styles for c in cards),
        environments=words(c.environments for c in cards),
        owners=words((c.owner,) for c in cards),
        revision=str(len(cards)),
    )


class FakeCatalog:
    """Implements `personalq.checkin.ports.Catalog`; counts its searches."""

    def __init__(self, cards: Sequence[Card], *, profiles: Sequence[str] = ("w8a8",)) -> None:
        self.cards = [_with_places(card) for card in cards]
        self.queries: list[Query] = []
        self._broad: set[CardFilter] = set()
        self._profiles = profiles
        self._lexicon = compile_lexicon(vocabulary_of(self.cards))
        self._names: dict[str, list[Named]] = {}
        for card in cards:
            for name in all_names(card.checkpoint_id, card.name, card.aliases, card.triggers):
                named = Named(kind=_KINDS[name.kind], spelling=name.spelling)
                if named not in (known := self._names.setdefault(name.key, [])):
                    known.append(named)

    async def lexicon(self) -> Lexicon:
        """The words of the cards."""
        return self._lexicon

    async def names(self, candidates: Sequence[str]) -> Names:
        """The names of the cards, compared as the catalog compares them."""
        found: dict[str, list[Named]] = {}
        for candidate in candidates:
            for named in self._names.get(name_key(candidate), ()):
                found.setdefault(candidate, []).append(named)
        return found

    async def search(self, query: Query) -> Hits:
        """Filter, then order or rank by words in common."""
        self.queries.append(query)
        found = [card for card in self.cards if allows(query.filter, card)]
        found.sort(key=lambda card: card.checkpoint_id)
        found.sort(key=lambda card: _sort_key(card, OrderKey.NEWEST))
        if query.order is None:
            wanted = set(concepts(query.text))
            found.sort(key=lambda card: -len(wanted & profile(card).everything))
        else:
            order = query.order
            found.sort(key=lambda card: _sort_key(card, order))
        hits = tuple(self._hit(card) for card in found[: query.limit])
        if len(found) > len(hits):
            self._broad.add(query.filter)
        return Hits(hits=hits, total=len(found))

    async def compare(
        self, texts: Sequence[str], labels: Sequence[Label]
    ) -> Sequence[Sequence[float]]:
        """It has no model."""
        return ()

    def is_broad(self, query: Query) -> bool:
        """Whether a search with this filter once found more than a page."""
        return query.filter in self._broad

    def _hit(self, card: Card) -> Hit:
        artifacts = tuple(ArtifactRef(profile=p, digest=f"{p}-digest") for p in self._profiles)
        return Hit(card=card, artifacts=artifacts)


def _with_places(card: Card) -> Card:
    """The card as the catalog stores it."""
    return card if card.environments else replace(card, environments=told_places(card.description))


def allows(filter_: CardFilter, card: Card) -> bool:
    """Whether a card satisfies every field of a filter."""

    def shares(wanted: Sequence[str], had: Sequence[str]) -> bool:
        return bool({canonical(w) for w in wanted} & {canonical(h) for h in had})

    return (
        (not filter_.subjects or shares(filter_.subjects, card.subjects))
        and (not filter_.styles or shares(filter_.styles, card.styles))
        and not shares(filter_.excluded_styles, card.styles)
        and not shares(filter_.excluded_subjects, card.subjects)
        and (filter_.created is None or filter_.created.holds(card.created_at))
        and (filter_.last_used is None or filter_.last_used.holds(card.last_used_at))
        and (not filter_.versions or card.version in filter_.versions)
        and (not filter_.environments or shares(filter_.environments, card.environments))
        and not shares(filter_.excluded_environments, card.environments)
        and (not filter_.owners or card.owner in filter_.owners)
        and (not filter_.checkpoint_ids or card.checkpoint_id in filter_.checkpoint_ids)
        and (not filter_.triggers or shares(filter_.triggers, card.triggers))
        and (not filter_.names or shares(filter_.names, (card.name, *card.aliases)))
    )


def _sort_key(card: Card, order: OrderKey) -> float:
    if order is OrderKey.MOST_USED:
        return -card.use_count
    if order in (OrderKey.HIGHEST_VERSION, OrderKey.LOWEST_VERSION):
        if card.version is None:
            return math.inf  # NULLS LAST
        return float(card.version if order is OrderKey.LOWEST_VERSION else -card.version)
    if order is OrderKey.LEAST_USED:
        return card.use_count
    by_use = order in (OrderKey.LAST_USED, OrderKey.LEAST_RECENTLY_USED)
    moment = card.last_used_at if by_use else card.created_at
    seconds = moment.timestamp() if moment is not None else 0.0
    return seconds if order in (OrderKey.OLDEST, OrderKey.LEAST_RECENTLY_USED) else -seconds
