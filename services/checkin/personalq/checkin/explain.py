"""No match: which constraint failed, and the nearest cards that miss only that one."""

from __future__ import annotations

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from personalq.checkin.cards import Hit
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.outcome import Candidate, NoMatch
from personalq.checkin.ports import Catalog
from personalq.checkin.reason import rank
from personalq.checkin.search import to_query

_BLAME = (
    Attribute.IDENTITY,
    Attribute.VERSION,
    Attribute.LAST_USED_AT,
    Attribute.CREATED_AT,
    Attribute.ORDER,
    Attribute.ENVIRONMENT,
    Attribute.OWNER,
    Attribute.STYLE,
    Attribute.DESCRIPTION,
    Attribute.SUBJECT,
)
"""Which constraint is named first when dropping any one of several would help."""
_ALTERNATIVES = 3


async def explain_no_match(
    intent: Intent,
    prompt: str,
    candidate_ids: tuple[str, ...],
    *,
    catalog: Catalog,
    zone: ZoneInfo,
) -> NoMatch:
    """Drop one constraint at a time until some card fits; that one failed."""
    if intent.unknown_subject is not None:
        failed = intent.unknown_subject
        return NoMatch(failed=failed, explanation=f"There is no checkpoint of “{failed.text}”.")
    hard = sorted(
        (c for c in intent.constraints if c.hard), key=lambda c: _BLAME.index(c.attribute)
    )
    if not hard:
        return NoMatch(failed=None, explanation="No checkpoint is similar to what was asked.")
    for constraint in hard:
        if len(hard) == 1:
            break
        relaxed = intent.without(constraint)
        query = to_query(relaxed, prompt, candidate_ids, 50)
        candidates = rank(relaxed, (await catalog.search(query)).hits, zone)
        if candidates:
            nearest = candidates[:_ALTERNATIVES]
            return NoMatch(
                failed=constraint,
                explanation=_explanation(constraint, hard),
                alternatives=tuple(_with_miss(c, constraint) for c in nearest),
            )
    failed = hard[0]
    alternatives: tuple[Candidate, ...] = ()
    if len(hard) > 1:
        kept = [c for c in hard if c.attribute is Attribute.SUBJECT]
        others = [c for c in intent.constraints if all(c is not k for k in kept)]
        if kept:
            relaxed = intent.without(*others)
            query = to_query(relaxed, prompt, candidate_ids, 50)
            hits: tuple[Hit, ...] = (await catalog.search(query)).hits
            alternatives = rank(relaxed, hits, zone)[:_ALTERNATIVES]
    return NoMatch(failed=failed, explanation=_explanation(failed, hard), alternatives=alternatives)


def contradicted(intent: Intent, candidates: Sequence[Candidate]) -> NoMatch:
    """Two things were asked for at once and only one exists: say so, do not guess."""
    failed = intent.first(intent.contradiction) if intent.contradiction else None
    explanation = "; ".join(intent.problems)
    return NoMatch(
        failed=failed,
        explanation=f"{explanation[:1].upper()}{explanation[1:]}: say which one you mean.",
        alternatives=tuple(candidates[:_ALTERNATIVES]),
    )


def _explanation(failed: Constraint, hard: list[Constraint]) -> str:
    rest = [c.label for c in hard if c is not failed and c.label]
    said = (
        f"“{failed.text}” ({failed.label})" if failed.label != failed.text else f"“{failed.text}”"
    )
    if failed.attribute is Attribute.ORDER:
        return f"There are too few checkpoints for {said}."
    if not rest:
        return f"No checkpoint fits {said}."
    return f"No checkpoint fits {said} among those that are {', '.join(rest)}."


def _with_miss(candidate: Candidate, failed: Constraint) -> Candidate:
    reasons = (f"fits all but “{failed.text}”", *candidate.reasons)
    return Candidate(
        hit=candidate.hit,
        score=candidate.score,
        probability=candidate.probability,
        reasons=reasons,
    )
