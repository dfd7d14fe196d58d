"""A second opinion on what the rules leave open, and how much it may change.

The adviser (a language model) sees only candidates that satisfy every hard constraint and that the
rules find plausible. Its opinion is one bounded term of a candidate's logit, and that only where it
names words of the request that speak of the checkpoint and a trait that tells candidates apart. So
the worst it can do is to prefer a wrong plausible candidate: it cannot bring one back, raise one
against what was said, name an id, or word anything a person reads.

| it says | what changes |
|---|---|
| one, several | p'(c) ∝ p(c) · exp(WEIGHT · share(c)) for candidates with evidence |
| several, none | a question of the rules stays one; it opens none |
| ask about an attribute | if a question is due and that attribute has one, it is the one asked |
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import Literal, Protocol
from zoneinfo import ZoneInfo

from personalq.checkin.advising import traits
from personalq.checkin.deciding.decide import Ask, Choose, decide, questions
from personalq.checkin.endpoint import EndpointFailed, Skipped
from personalq.checkin.intent import Attribute, Intent
from personalq.checkin.metrics import MODEL_CALLS, MODEL_SECONDS
from personalq.checkin.outcome import Candidate
from personalq.checkin.reasoning.plausible import plausible

log = logging.getLogger(__name__)

WEIGHT = 4.0
"""Logits an opinion is worth at most: less than half of a fitting description (`reason`)."""
_PART = "adviser"

When = Literal["never", "unsure", "always"]


class Verdict(Enum):
    """How many of the candidates an adviser finds to be meant."""

    ONE = "one"
    SEVERAL = "several"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Words of the request and the trait they are taken to mean."""

    said: str
    trait: str
    value: str


@dataclass(frozen=True, kw_only=True)
class Opinion:
    """What an adviser thinks of a case."""

    verdict: Verdict
    shares: Mapping[str, float] = field(default_factory=dict)
    """Checkpoint id to share, 0-1; they sum to at most 1."""
    ask_about: Attribute | None = None
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Case:
    """A request, and the candidates the rules found for it, likeliest first."""

    prompt: str
    answers: tuple[str, ...]
    intent: Intent
    candidates: tuple[Candidate, ...]
    zone: ZoneInfo
    now: datetime

    @property
    def askable(self) -> tuple[Attribute, ...]:
        """Attributes that tell the candidates apart and that a person can be asked about."""
        found = questions(self.intent, self.candidates, self.zone)
        return tuple(ask.attribute for _, ask in found)


class Adviser(Protocol):
    """Gives second opinions."""

    async def advise(self, case: Case) -> Opinion:
        """An opinion on the case's candidates.

        Raises:
            EndpointFailed: there is none.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Policy:
    """When an adviser is asked, and about how many candidates."""

    when: When = "unsure"
    below: float = 0.8
    """Unsure is whoever would ask, or choose with less confidence than this."""
    limit: int = 10
    ask_cost: float = 0.25
    """See `decide`."""


@dataclass(frozen=True, kw_only=True)
class Settled:
    """What was decided, over which candidates."""

    decision: Choose | Ask
    candidates: tuple[Candidate, ...]
    degraded: bool = False


async def settle(case: Case, *, adviser: Adviser | None, policy: Policy) -> Settled:
    """Decide by the rules; where they are unsure, with a second opinion.

    A failing adviser is no error: the rules answer, and `degraded` says so.
    """
    decision = decide(case.intent, case.candidates, ask_cost=policy.ask_cost, zone=case.zone)
    settled = Settled(decision=decision, candidates=case.candidates)
    if adviser is None:
        return settled
    open_case = undecided(case, decision, policy)
    if open_case is None:
        return settled
    started = time.monotonic()
    try:
        opinion = await adviser.advise(open_case)
    except EndpointFailed as error:
        outcome = "skipped" if isinstance(error, Skipped) else "failed"
        MODEL_CALLS.labels(_PART, outcome).inc()
        log.log(
            logging.INFO if outcome == "skipped" else logging.WARNING,  # an outage is told once
            "answered without a second opinion",
            extra={"action": "advise", "outcome": outcome, "problem": error.problem},
        )
        return replace(settled, degraded=True)
    finally:
        MODEL_SECONDS.labels(_PART).observe(time.monotonic() - started)
    weighed = weigh(case, open_case, opinion)
    # Doubt needs no evidence, so it may keep a question and not open one.
    doubtful = isinstance(decision, Ask) and opinion.verdict is not Verdict.ONE
    used = weighed is not case.candidates or doubtful or opinion.ask_about is not None
    MODEL_CALLS.labels(_PART, "used" if used else "unsupported").inc()
    return Settled(
        decision=decide(
            case.intent,
            weighed,
            ask_cost=0.0 if doubtful else policy.ask_cost,
            zone=case.zone,
            prefer=opinion.ask_about,
        ),
        candidates=weighed,
    )


def undecided(case: Case, decision: Choose | Ask, policy: Policy) -> Case | None:
    """The part of a case worth a second opinion; None when the rules are sure. Pure."""
    intent = case.intent
    if policy.when == "never" or intent.settled or intent.order is not None:
        return None
    if intent.contradiction is not None and not intent.answered:
        return None
    likely = plausible(case.candidates)
    if len(likely) < 2:
        return None
    if policy.when == "unsure":
        total = sum(c.probability for c in likely)
        sure = isinstance(decision, Choose) and likely[0].probability / total >= policy.below
        if sure or not traits.quotable(case.prompt, case.answers, intent):
            return None
    return replace(case, candidates=likely[: policy.limit])


def weigh(case: Case, shown: Case, opinion: Opinion) -> tuple[Candidate, ...]:
    """The candidates with the opinion's bounded term; the same ones when it has no hold. Pure."""
    if opinion.verdict is Verdict.NONE:
        return case.candidates
    reasons = _supported(shown, opinion)
    terms = {
        checkpoint_id: WEIGHT * min(share, 1.0)
        for checkpoint_id, share in opinion.shares.items()
        if share > 0 and checkpoint_id in reasons
    }
    if not terms:
        return case.candidates
    masses = [
        c.probability * math.exp(terms.get(c.card.checkpoint_id, 0.0)) for c in case.candidates
    ]
    scale = sum(c.probability for c in case.candidates) / sum(masses)
    weighed = []
    for candidate, mass in zip(case.candidates, masses, strict=True):
        checkpoint_id = candidate.card.checkpoint_id
        why = reasons[checkpoint_id] if checkpoint_id in terms else ()
        weighed.append(
            replace(
                candidate,
                score=candidate.score + terms.get(checkpoint_id, 0.0),
                probability=mass * scale,
                reasons=(*candidate.reasons, *why),
            )
        )
    weighed.sort(key=lambda c: -c.probability)  # stable: ties stay in the rules' order
    return tuple(weighed)


def _supported(shown: Case, opinion: Opinion) -> dict[str, tuple[str, ...]]:
    """Why, by the id of each candidate that some evidence speaks for."""
    quotable = traits.quotable(shown.prompt, shown.answers, shown.intent)
    had = {c.card.checkpoint_id: traits.values(c.card, shown.zone) for c in shown.candidates}
    reasons: dict[str, tuple[str, ...]] = {}
    for item in opinion.evidence:
        holders = [id_ for id_, values in had.items() if item.value in values.get(item.trait, ())]
        said = quotable.find(item.said)
        if not said or not holders or len(holders) == len(had):
            continue
        for holder in holders:
            why = f"“{said}” is taken to mean {item.value}"
            reasons[holder] = tuple(dict.fromkeys((*reasons.get(holder, ()), why)))
    return reasons
