"""What Check-in answers: a selection, a question, or that nothing fits."""

from __future__ import annotations

from dataclasses import dataclass

from personalq.checkin.cards import ArtifactRef, Card, Hit
from personalq.checkin.intent import Attribute, Constraint, Intent, Span


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A card that satisfies every hard constraint, and how likely it is meant."""

    hit: Hit
    score: float
    """Logit; comparable within one request."""
    probability: float
    reasons: tuple[str, ...] = ()

    @property
    def card(self) -> Card:
        """Its card."""
        return self.hit.card


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """Words of the prompt that gave way to the trigger: a noun, an id, another spelling of it."""

    span: Span
    text: str


@dataclass(frozen=True, kw_only=True)
class Rewrite:
    """The prompt with the trigger in place of the noun."""

    rewritten_prompt: str
    """Everything but the replaced words is byte for byte the prompt."""
    render_prompt: str
    """The same without the words that only selected."""
    trigger_spans: tuple[Span, ...] = ()
    render_trigger_spans: tuple[Span, ...] = ()
    replaced: tuple[Replacement, ...] = ()
    notes: tuple[str, ...] = ()
    """What a person should know of it: an inserted trigger, none at all, other triggers."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """One checkpoint is clearly meant."""

    candidate: Candidate
    artifact: ArtifactRef | None
    rewrite: Rewrite
    confidence: float
    reasons: tuple[str, ...]
    runners_up: tuple[Candidate, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Option:
    """One possible answer; an empty value is "any of them"."""

    label: str
    attribute: Attribute
    value: str


@dataclass(frozen=True, kw_only=True)
class Clarification:
    """One short question that decides between intents."""

    question_id: str
    question: str
    options: tuple[Option, ...]
    attribute: Attribute
    confidence: float
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, kw_only=True)
class NoMatch:
    """Nothing fits, and why."""

    failed: Constraint | None
    explanation: str
    alternatives: tuple[Candidate, ...] = ()


Outcome = Selection | Clarification | NoMatch


@dataclass(frozen=True, kw_only=True)
class Answered:
    """The outcome, and how the prompt and the answers were read."""

    outcome: Outcome
    intent: Intent
    degraded: bool = False
