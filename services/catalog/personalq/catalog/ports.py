"""What the catalog needs of the world, in its own words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import TYPE_CHECKING, Protocol

from personalq.catalog.cards import Card, Filter, Origin, Vocabulary
from personalq.chassis.errors import Unavailable
from personalq.chassis.inspection import Inspection

if TYPE_CHECKING:
    from personalq.catalog.lifecycle import Outcome
    from personalq.catalog.names import Name
    from personalq.catalog.paging import Position
    from personalq.catalog.search import Hits, Query

Vector = Sequence[float]
#: Words of something looked for that are compared.
QUERY_WORDS = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Embedded:
    """A text as an embedding model sees it; all vectors have length 1."""

    vector: Vector
    #: One per token that says something, in the sense that it has there; empty for a model that
    #: does not tell. A short text of no such token has those it has.
    words: Sequence[Vector] = ()


class Detail(Enum):
    """Which vectors of its cards a search is to return."""

    NONE = auto()
    #: Of the whole text, and of the phrases of the description.
    PHRASES = auto()
    #: Of the words of these phrases too.
    WORDS = auto()


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """An embedding model, as rows name it."""

    #: Changes whenever the vectors would.
    id: str
    #: Numbers per vector.
    dim: int


class Unembeddable(Unavailable):
    """The embedding model answers, but has no vector for a text."""


class Embedder(Protocol):
    """Turns texts into vectors.

    Its methods raise Unavailable when the model cannot be reached, and Unembeddable when it refuses
    one of the texts.
    """

    @property
    def model(self) -> Model:
        """Which model; constant over the embedder's life."""

    async def embed_documents(self, texts: Sequence[str]) -> list[Embedded]:
        """What is stored, in order."""

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedded]:
        """What is looked for, in order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Embedding:
    """The vectors of a card and what they were made of."""

    model: Model
    text_hash: str
    vector: Vector
    #: One per phrase of the description.
    phrases: Sequence[Vector] = ()
    #: One per word of these phrases.
    words: Sequence[Vector] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Examined:
    """What a checkpoint's file turned out to be."""

    #: The origin with digest, size and format filled in.
    origin: Origin
    inspection: Inspection


class Examiner(Protocol):
    """Fetches and inspects checkpoint files."""

    async def __call__(self, origin: Origin) -> Examined:
        """Read the file behind the URI and keep nothing.

        Raises:
            NotFound: there is nothing at the URI.
            CorruptFile: it is not the file that was announced, or no checkpoint at all.
            InvalidInput: the URI cannot be served, or the file is too large.
            Unavailable: the place is out of reach now.
        """


class Describer(Protocol):
    """Writes the description D of a card that came without one."""

    async def __call__(self, card: Card, examined: Examined) -> str:
        """A few plain sentences; the same for the same input."""


class Announcer(Protocol):
    """Publishes what happened. Each event has a deterministic id, so repeating one is harmless."""

    async def registered(self, tenant: str, card: Card) -> None:
        """The card is stored: quantize it for all profiles. Raises Unavailable."""

    async def wanted(
        self, tenant: str, card: Card, profiles: Sequence[str], *, asked_at: datetime
    ) -> None:
        """Artifacts for these profiles are missing. `asked_at` tells one asking from the next."""

    async def archived(self, tenant: str, card: Card) -> None:
        """The checkpoint was withdrawn. Raises Unavailable."""


class CardReader(Protocol):
    """Reads a tenant's cards. Every method raises Unavailable when the database is out of reach."""

    async def card(self, tenant: str, checkpoint_id: str) -> Card | None:
        """One card with its artifacts; None when there is none."""

    async def page(
        self, tenant: str, constraints: Filter, *, after: Position | None, limit: int
    ) -> list[Card]:
        """The newest cards that satisfy the constraints, after a position."""

    async def changes(
        self, tenant: str, constraints: Filter, *, after: int, limit: int
    ) -> tuple[list[Card], int]:
        """Cards changed after a revision, in order of their change, and the revision to go on from.

        A card that changed several times comes once, in its present state. Revisions become visible
        in their order, so nothing is ever skipped. At the end the revision stays what it was.
        """

    async def search(
        self,
        tenant: str,
        query: Query,
        *,
        terms: Mapping[str, str],
        dense: Vector | None,
        model: Model | None,
        limit: int,
        offset: int,
        detail: Detail = Detail.NONE,
    ) -> Hits:
        """Rank the cards that satisfy the constraints; `terms` are those of words.py.

        Hits have the vectors of their cards for the model in that `detail`, which rank nothing.
        """

    async def vocabulary(self, tenant: str, known_revision: str) -> Vocabulary:
        """The words of selectable cards and their names, unless the caller has them already."""

    async def names(self, tenant: str, keys: Sequence[str]) -> list[Name]:
        """The names of selectable cards that have one of these keys, each spelling once."""


class CardWriter(Protocol):
    """One transaction on a tenant's cards.

    The first `card` locks the tenant against other writers until the transaction ends, so what was
    read stays true. Nothing is stored unless the block ends without an exception.
    """

    async def card(self, checkpoint_id: str) -> Card | None:
        """One card with its artifacts; None when there is none."""

    async def outcomes(self, card: Card) -> list[Outcome]:
        """What became of each profile of the card's present source."""

    async def put_card(self, card: Card) -> Card:
        """Insert or replace a card; returns it with its new revision. Watchers are told."""

    async def put_outcome(self, checkpoint_id: str, source_sha256: str, outcome: Outcome) -> None:
        """Insert or replace what became of one profile of one source."""

    async def put_embedding(self, checkpoint_id: str, embedding: Embedding) -> None:
        """Insert or replace the vectors of one model."""


class CardStore(CardReader, Protocol):
    """The catalog's memory."""

    def writing(self, tenant: str) -> AbstractAsyncContextManager[CardWriter]:
        """Open a transaction; raises Unavailable when the database is out of reach."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tenant:
    """A tenant, and how often its cards have changed."""

    name: str
    revision: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Claimed:
    """Cards whose artifacts are asked for by whoever claimed them."""

    #: Each with the profiles that are missing, and when they were asked for.
    cards: Sequence[tuple[Card, Sequence[str], datetime]] = ()
    #: Whether no card of the tenant lacks an artifact, be it asked for already.
    complete: bool = False


class Upkeep(Protocol):
    """What the background loops ask of the store."""

    def writing(self, tenant: str) -> AbstractAsyncContextManager[CardWriter]:
        """Open a transaction; raises Unavailable when the database is out of reach."""

    async def tenants(self) -> list[Tenant]:
        """All tenants that ever had a card."""

    async def claim_unserved(
        self,
        tenant: str,
        *,
        profiles: Sequence[str],
        recipe_version: int,
        patience_s: float,
        limit: int,
    ) -> Claimed:
        """Cards whose artifacts are missing and were not asked for lately, which profiles, and now.

        Claiming counts as asking: another replica, or the next round, gets a card again only after
        `patience_s`, which doubles with every time it was asked for in vain.
        """

    async def unembedded(
        self, tenant: str, model: Model, limit: int, *, after: str = ""
    ) -> list[Card]:
        """Cards without up-to-date vectors of the model, by id, from behind an id."""

    async def count_unembedded(self, tenant: str, model: Model) -> int:
        """How many cards have no up-to-date vectors of the model."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LargeTenant:
    """A tenant with enough cards for indexes of its own."""

    name: str
    cards: int


class Indexer(Protocol):
    """Makes indexes of single tenants, without blocking who reads or writes."""

    async def due(self, model: Model, *, from_cards: int) -> list[LargeTenant]:
        """Tenants without indexes, or that have doubled since: the largest first."""

    async def make(self, tenant: LargeTenant, model: Model) -> None:
        """Make a tenant's indexes; what is there stays, what broke off is made again."""


class ChangeFeed(Protocol):
    """Says that a tenant's cards changed."""

    def subscribe(self, tenant: str) -> AbstractAsyncContextManager[AsyncIterator[None]]:
        """Ticks after each change and, in case one went unheard, now and then."""
