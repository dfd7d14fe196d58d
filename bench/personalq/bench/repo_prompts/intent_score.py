"""The intent score (paper, section III-D) computed from the cards: no judge, no model, no noise.

How near is the chosen card to the one that was meant? Four marks from 1 to 5, and their mean:

    subject   5 the cards share a subject · 3 they share a word of one · 1 they share nothing
    style     1 + 4 × Jaccard similarity of the styles
    temporal  5 trained within a day of each other · 4 within a month · 3 a quarter · 2 half a year
              · 1 longer; cards without dates: 5 of the same version, else 1
    context   1 + 4 × mean of the Jaccard similarities of environments and of description words

What neither card has fits. A question that stayed open and a refusal score 1 throughout. Queries
that nothing fits have no card to compare with and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from personalq.bench.repo_prompts.asking import Asked
from personalq.bench.repo_prompts.files import Card

_DAYS = ((1.0, 5.0), (31.0, 4.0), (92.0, 3.0), (183.0, 2.0))
_STOP = frozenset(
    ("a", "an", "and", "at", "by", "for", "from", "in", "its", "of", "on", "the", "to", "with")
)


@dataclass(frozen=True, kw_only=True)
class IntentScore:
    """Four marks from 1 to 5."""

    subject: float
    style: float
    temporal: float
    context: float

    @property
    def mean(self) -> float:
        """The intent score."""
        return fmean((self.subject, self.style, self.temporal, self.context))


LOWEST = IntentScore(subject=1, style=1, temporal=1, context=1)


@dataclass(frozen=True, kw_only=True)
class IntentSummary:
    """Means over queries, and the deviation of the intent score."""

    n: int
    score: float
    deviation: float
    subject: float
    style: float
    temporal: float
    context: float


def compare(chosen: Card, meant: Card) -> IntentScore:
    """How near the chosen card is to the one that was meant; 5 throughout for the same card."""
    return IntentScore(
        subject=_subject(chosen, meant),
        style=_mark(_jaccard(_folded(chosen.styles), _folded(meant.styles))),
        temporal=_temporal(chosen, meant),
        context=_mark(
            fmean(
                (
                    _jaccard(_folded(chosen.environments), _folded(meant.environments)),
                    _jaccard(_words([chosen.description]), _words([meant.description])),
                )
            )
        ),
    )


def summarize(results: Sequence[Asked], cards: Mapping[str, Card]) -> IntentSummary | None:
    """The intent scores of what was chosen in the end; None without a query that means a card."""
    scores = []
    for each in results:
        meant = cards.get(each.query.ground_truth.checkpoint_id or "")
        if each.query.kind == "no_match" or meant is None:
            continue
        chosen = cards.get(each.final.checkpoint_id or "")
        scores.append(LOWEST if chosen is None else compare(chosen, meant))
    if not scores:
        return None
    means = [each.mean for each in scores]
    return IntentSummary(
        n=len(scores),
        score=fmean(means),
        deviation=pstdev(means),
        subject=fmean(each.subject for each in scores),
        style=fmean(each.style for each in scores),
        temporal=fmean(each.temporal for each in scores),
        context=fmean(each.context for each in scores),
    )


def _subject(chosen: Card, meant: Card) -> float:
    if _folded(chosen.subjects) & _folded(meant.subjects) or not (
        chosen.subjects or meant.subjects
    ):
        return 5.0
    return 3.0 if _words(chosen.subjects) & _words(meant.subjects) else 1.0


def _temporal(chosen: Card, meant: Card) -> float:
    if chosen.created_at is None or meant.created_at is None:
        undated = chosen.created_at is None and meant.created_at is None
        return 5.0 if undated and chosen.version == meant.version else 1.0
    days = abs((chosen.created_at - meant.created_at).total_seconds()) / 86_400
    return next((mark for limit, mark in _DAYS if days <= limit), 1.0)


def _mark(similarity: float) -> float:
    return 1.0 + 4.0 * similarity


def _jaccard(left: Collection[str], right: Collection[str]) -> float:
    union = {*left, *right}
    return len({*left} & {*right}) / len(union) if union else 1.0


def _folded(labels: Iterable[str]) -> frozenset[str]:
    return frozenset(label.casefold() for label in labels)


def _words(texts: Iterable[str]) -> frozenset[str]:
    words = (word for text in texts for word in re.findall(r"\w+", text.casefold()))
    return frozenset(word for word in words if word not in _STOP)
