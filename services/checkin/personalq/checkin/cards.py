"""What Check-in knows about checkpoints: cards, artifacts, search hits, the catalog's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from personalq.checkin.intent import Interval, OrderKey
from personalq.checkin.names import Named


@dataclass(frozen=True, kw_only=True)
class Card:
    """A checkpoint card: the context tuple c = (T, S, style, D, M) of the paper, section III-A."""

    checkpoint_id: str
    name: str = ""
    aliases: tuple[str, ...] = ()
    """What people call the thing pictured."""
    triggers: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    description: str = ""
    base_model: str = ""
    version: int | None = None
    created_at: datetime | None = None
    last_used_at: datetime | None = None
    use_count: int = 0
    environments: tuple[str, ...] = ()
    owner: str = ""

    @property
    def trigger(self) -> str:
        """The canonical trigger, "" when the card has none."""
        return self.triggers[0] if self.triggers else ""


@dataclass(frozen=True, kw_only=True)
class ArtifactRef:
    """An artifact of a card: which profile it serves, and the message that describes it."""

    profile: str
    digest: str
    wire: bytes = b""
    """The catalog's Artifact message, handed through unread."""


@dataclass(frozen=True, kw_only=True)
class Hit:
    """One card a search returned, best first."""

    card: Card
    likeness: Mapping[str, float] = field(default_factory=dict)
    """By phrase of the query, the cosine of the likest phrase of the card's description, -1 to 1;
    empty when the catalog cannot tell."""
    text_likeness: Mapping[str, float] = field(default_factory=dict)
    """The same for the card's whole text: subject, look, description and places at once."""
    word_likeness: Mapping[str, float] = field(default_factory=dict)
    """The same word by word: the mean over the words of the phrase, of each the likest one."""
    look_likeness: Mapping[str, float] = field(default_factory=dict)
    """By phrase of the query, the cosine of the likest thing that one of the card's looks is
    called; empty when nobody asked, or the catalog cannot tell."""
    thing_likeness: Mapping[str, float] = field(default_factory=dict)
    """By phrase of the query, the cosine of the likest definition of a thing that the card names;
    empty when nobody asked, or the catalog cannot tell."""
    relevance: float | None = None
    """What a reranker says, 0 to 1; None without one."""
    artifacts: tuple[ArtifactRef, ...] = ()
    wire: bytes = b""
    """The catalog's Checkpoint message, handed through unread."""


@dataclass(frozen=True, kw_only=True)
class Hits:
    """A page of hits and how many cards satisfy the filter in all."""

    hits: tuple[Hit, ...] = ()
    total: int = 0


@dataclass(frozen=True, kw_only=True)
class CardFilter:
    """Hard constraints of a search; an empty field constrains nothing."""

    subjects: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    excluded_styles: tuple[str, ...] = ()
    excluded_subjects: tuple[str, ...] = ()
    created: Interval | None = None
    last_used: Interval | None = None
    versions: tuple[int, ...] = ()
    environments: tuple[str, ...] = ()
    excluded_environments: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    checkpoint_ids: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Aliases and display names."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """One catalog search."""

    text: str
    filter: CardFilter
    phrases: tuple[str, ...] = ()
    """What the person describes, a phrase each; 8 at most, of at most 200 characters. They change
    neither which cards are found nor their order: see Hit.likeness."""
    order: OrderKey | None = None
    limit: int = 100
    lately: bool = False
    """The answer may be one of half a minute ago, as long as no card came or went."""


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The words of a tenant's selectable cards; equal revisions mean equal words and names."""

    subjects: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    names: tuple[Named, ...] | None = None
    """Every name of a card; None when there are too many, and the catalog has to be asked."""
    revision: str = ""
