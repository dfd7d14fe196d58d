"""The deterministic reasoner: hard constraints again, then a calibrated score. No model, no key.

Probabilities are a softmax over logits. A described attribute that one card has and another lacks
outweighs everything else; a tag and its synonyms are the same wish.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from personalq.checkin.cards import Card, Hit
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.lexicon import canonical
from personalq.checkin.outcome import Candidate
from personalq.checkin.ports import Ranking
from personalq.checkin.reasoning.check import satisfies, satisfying
from personalq.checkin.reasoning.descriptions.described import DECIDES, answers
from personalq.checkin.reasoning.descriptions.fits import is_explained
from personalq.checkin.reasoning.descriptions.wishes import wishes
from personalq.checkin.reasoning.kinds import called, lists, name_of, names
from personalq.checkin.reasoning.order import EPOCH, in_order, sort_key
from personalq.checkin.reasoning.own_kind import are_others, is_meant_by

RELEVANT = 6.0
"""Logit of full relevance (0-1) to a reranker, when one is configured and something described."""
PRIMARY = 1.0
"""Logit of being mainly of this subject, against listing it as another name."""
CLEARLY = 0.4
"""Share of the wishes that a card must have to be put before those that are first in order."""
RECENT = 1.15
"""Logit lost per place from the newest, when "recent" was said: the next one stays plausible, but
is not worth a question."""


@dataclass(frozen=True, kw_only=True)
class _Scored:
    hit: Hit
    described: float
    score: float
    reasons: tuple[str, ...]


class DeterministicReasoner:
    """Ranks candidates by rules; implements the `Reasoner` port."""

    async def rank(self, intent: Intent, hits: Sequence[Hit], zone: ZoneInfo) -> Ranking:
        """See `ports.Reasoner.rank`."""
        return Ranking(candidates=rank(intent, hits, zone))


def rank(intent: Intent, hits: Sequence[Hit], zone: ZoneInfo) -> tuple[Candidate, ...]:
    """Candidates that satisfy every hard constraint, likeliest first; pure.

    The order of `hits` does not matter.
    """
    kept = satisfying(intent, hits, zone)
    scored = _preferred(intent, _called(intent, _scores(intent, kept)), zone)
    order = intent.order
    if order is not None:
        return _ordered(order, scored)
    return _probabilities(_with_recency(intent, scored))


def _called(intent: Intent, scored: list[_Scored]) -> list[_Scored]:
    """The cards of a name that is a kind here: where rucksacks are a kind of backpack, of those."""
    subject = intent.first(Attribute.SUBJECT)
    if subject is None or subject.excluded or subject.coarse:
        return scored
    kept = [s for s in scored if names(s.hit.card, subject.text)]
    if subject.narrower and kept and _well_described(kept, scored):
        return kept  # WordNet's parka is a windbreaker, but where some are called so, it is none
    if subject.narrower:
        meant = [s for s in scored if is_meant_by(subject.text, s.hit.card)]
        if meant and _well_described(meant, scored):
            return meant
        alone = all(c.coarse or c.text == subject.text for c in intent.described)
        return [] if alone and are_others([s.hit.card for s in scored], subject) else scored
    other = bool(subject.values) and not lists(subject.values, subject.text)
    if other and kept and _well_described(kept, scored):
        return kept  # a sorcerer is a wizard, but where some are called so, one of those is meant
    so = called(name_of(subject), [s.hit.card for s in scored])
    kept = [s for s, is_so in zip(scored, so or (), strict=False) if is_so]
    return kept or scored


def _preferred(intent: Intent, scored: list[_Scored], zone: ZoneInfo) -> list[_Scored]:
    """Soft wishes push out cards that miss them, unless those are better described.

    "A photo of the latest dog" is of the latest that looks like a photo (paper, Table 8).
    """
    for constraint in intent.constraints:
        if constraint.prefers and not constraint.hard and not _says_so(intent, constraint, scored):
            better = [s for s in scored if satisfies(s.hit.card, constraint, zone)]
            if better and _well_described(better, scored):
                scored = better
    return scored


def _says_so(intent: Intent, constraint: Constraint, scored: list[_Scored]) -> bool:
    """Whether cards are called so where a place was thought of: "the newest sea turtle"."""
    if constraint.attribute is not Attribute.ENVIRONMENT:
        return False
    place = canonical(constraint.text).split()
    said = tuple(
        replace(c, values=tuple(value for value in c.values if value in place))
        for c in intent.all(Attribute.DESCRIPTION)
        if c.span and constraint.span and c.span.meets(constraint.span)
    )
    hits = [s.hit for s in scored]
    return any(is_explained(wish, hits) for wish in wishes(replace(intent, constraints=said)))


def _well_described(some: list[_Scored], scored: list[_Scored]) -> bool:
    """Whether what some cards say fits about as well as the best of all of them."""
    return max(s.described for s in some) >= max(s.described for s in scored) - 0.3


def _scores(intent: Intent, hits: list[Hit]) -> list[_Scored]:
    described = answers(intent, hits)
    wanted = any(not c.hard for c in intent.described)
    scored = []
    for hit, fit in zip(hits, described, strict=True):
        reasons: list[str] = []
        score = DECIDES * fit.weight
        if fit.matched:
            reasons.append("its description fits: " + ", ".join(fit.matched))
        if wanted and hit.relevance is not None:
            score += RELEVANT * hit.relevance
        for constraint in intent.constraints:
            if constraint.excluded:
                continue
            if constraint.attribute is Attribute.SUBJECT and not constraint.coarse:
                score += PRIMARY * _primary(hit.card, constraint)
            if constraint.hard and constraint.label and constraint.attribute is not Attribute.ORDER:
                reasons.append(f"“{constraint.quoted}”: {constraint.label}")
        scored.append(
            _Scored(
                hit=hit, described=fit.share, score=score, reasons=tuple(dict.fromkeys(reasons))
            )
        )
    return scored


def _primary(card: Card, constraint: Constraint) -> float:
    """1 when the card is mainly of this subject, 0 when it only lists it as another name."""
    if not card.subjects:
        return 0.0
    wanted = {canonical(value) for value in (*constraint.values, *constraint.broader)}
    first = canonical(card.subjects[0])
    return float(first in wanted or any(first.split()[-1:] == w.split()[-1:] for w in wanted))


def _ordered(order: Constraint, scored: list[_Scored]) -> tuple[Candidate, ...]:
    """The card at the asked place first, certain; the others follow in order."""
    best = max((s.described for s in scored), default=0.0)
    if best >= CLEARLY:
        scored = [s for s in scored if s.described >= best - 0.2]
    pool = in_order(scored, order.order, lambda item: item.hit.card)
    if order.rank > len(pool):
        return ()
    index = max(order.rank, 1) - 1
    chosen = pool[index]
    rest = [s for s in pool if s is not chosen]
    why = (f"“{order.quoted}”: {order.label} of {len(pool)}" if len(pool) > 1 else "the only one",)
    first = Candidate(
        hit=chosen.hit, score=DECIDES, probability=0.97, reasons=(*chosen.reasons, *why)
    )
    share = 0.03 / len(rest) if rest else 0.0
    return (
        replace(first, probability=1.0 if not rest else 0.97),
        *(Candidate(hit=s.hit, score=0.0, probability=share, reasons=s.reasons) for s in rest),
    )


def _with_recency(intent: Intent, scored: list[_Scored]) -> list[_Scored]:
    """Rank by "recently": each place from the newest costs."""
    recent = next((c for c in intent.all(Attribute.ORDER) if not c.hard), None)
    if recent is None:
        return scored
    moments = sorted({sort_key(s.hit.card, recent.order) for s in scored}, reverse=True)
    places = {moment: place for place, moment in enumerate(moments)}
    ranked = []
    for item in scored:
        place = places[sort_key(item.hit.card, recent.order)]
        reasons = item.reasons
        if place == 0:
            reasons = (*reasons, f"“{recent.quoted}”: {recent.label} of those that fit")
        ranked.append(replace(item, score=item.score - RECENT * place, reasons=reasons))
    return ranked


def _probabilities(scored: list[_Scored]) -> tuple[Candidate, ...]:
    """Softmax; equal scores go newest first, then by id."""
    if not scored:
        return ()
    top = max(item.score for item in scored)
    exps = [math.exp(item.score - top) for item in scored]
    total = sum(exps)
    candidates = [
        Candidate(hit=s.hit, score=s.score, probability=e / total, reasons=s.reasons)
        for s, e in zip(scored, exps, strict=True)
    ]
    candidates.sort(key=lambda c: c.card.checkpoint_id)
    candidates.sort(key=lambda c: (round(c.score, 6), c.card.created_at or EPOCH), reverse=True)
    return tuple(candidates)
