"""What Check-in asks of the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from zoneinfo import ZoneInfo

from personalq.checkin.cards import Hit, Hits, Query
from personalq.checkin.intent import Intent
from personalq.checkin.labels import Label
from personalq.checkin.names import Names
from personalq.checkin.outcome import Candidate
from personalq.checkin.vocabulary import Lexicon


class Catalog(Protocol):
    """The cards of the current tenant (`personalq.chassis.tenancy`)."""

    async def lexicon(self) -> Lexicon:
        """The words of the tenant's selectable cards, compiled; may be a few seconds old.

        Raises:
            Unavailable: the catalog cannot be reached.
        """
        ...

    async def names(self, candidates: Sequence[str]) -> Names:
        """Which of the words are names of selectable checkpoints; may be a few seconds old.

        Args:
            candidates: see `names.candidates`.

        Raises:
            Unavailable: the catalog cannot be reached.
        """
        ...

    async def search(self, query: Query) -> Hits:
        """The best hits for a query, at most `query.limit`; none is an empty page, no error.

        Every hit satisfies the filter. With an order the hits are sorted by it before relevance.

        Raises:
            Unavailable: the catalog cannot be reached.
        """
        ...

    async def compare(
        self, texts: Sequence[str], labels: Sequence[Label]
    ) -> Sequence[Sequence[float]]:
        """For each text and label the cosine of its likest wording; nothing where nobody can tell.

        Args:
            texts: 8 at most, of at most 200 characters.
        """
        ...

    def is_broad(self, query: Query) -> bool:
        """Whether more cards than a page are likely to satisfy the filter.

        A guess for choosing the faster way: what is found must not depend on it.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Candidates likeliest first, with probabilities that sum to at most 1."""

    candidates: tuple[Candidate, ...] = ()
    degraded: bool = False
    """A configured model failed, and the ranking did without it."""
    partial: bool = False
    """More cards may fit than were looked at."""


class Reasoner(Protocol):
    """Ranks what a search found. The deterministic one needs no model and no key."""

    async def rank(self, intent: Intent, hits: Sequence[Hit], zone: ZoneInfo) -> Ranking:
        """The candidates among the hits.

        Only hits that satisfy every hard constraint of the intent are returned; none may be left.
        """
        ...


class Reranker(Protocol):
    """Reads a request and texts side by side and says how relevant each text is."""

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """A relevance of 0 to 1 for every text, in order; comparable across requests.

        Raises:
            EndpointFailed: there is none.
        """
        ...
