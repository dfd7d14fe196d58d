"""Why: how the request was read, what the others lack, how sure it is, and what failed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from personalq.checkin.deciding.decide import Choose
from personalq.checkin.deciding.lacks import distance, missed
from personalq.checkin.finding.query import to_query
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.outcome import Candidate, NoMatch
from personalq.checkin.ports import Catalog
from personalq.checkin.reasoning.check import satisfies
from personalq.checkin.reasoning.descriptions.described import answers
from personalq.checkin.reasoning.reason import rank

BLAME = (
    Attribute.IDENTITY,
    Attribute.VERSION,
    Attribute.LAST_USED_AT,
    Attribute.USE_COUNT,
    Attribute.CREATED_AT,
    Attribute.ORDER,
    Attribute.ENVIRONMENT,
    Attribute.OWNER,
    Attribute.STYLE,
    Attribute.DESCRIPTION,
    Attribute.SUBJECT,
)
"""Which constraint is named first when dropping any one of several would help: all there are."""
_BLAME = {attribute: place for place, attribute in enumerate(BLAME)}
_ALTERNATIVES = 3
_MEASURED = (Attribute.VERSION, Attribute.CREATED_AT, Attribute.LAST_USED_AT)
"""What has a nearest even if nothing else was said."""
_NEAREST = 50
"""Hits among which the nearest are looked for."""


# --- selected, or asked ------------------------------------------------------------------------


def how_read(constraints: Iterable[Constraint]) -> tuple[str, ...]:
    """Which words became which constraint, in the order of the prompt."""
    said = sorted(
        (c for c in constraints if c.text and c.label and (c.hard or c.prefers)),
        key=lambda c: (c.span is None, c.span.start if c.span else 0),
    )
    return tuple(f"“{c.quoted}”: {c.label}" for c in said if c.attribute is not Attribute.ORDER)


def confident(choice: Choose, candidates: Sequence[Candidate], intent: Intent) -> str:
    """How the confidence came about."""
    digits = 1 if 0.99 < choice.confidence < 1 else 0
    sure = f"{choice.confidence:.{digits}%} sure"
    others = [c for c in candidates if c is not choice.candidate]
    if not others:
        return f"{sure}: no other checkpoint fits"
    if intent.order is not None:
        return f"{sure}: the order decides among {len(candidates)} that fit"
    if choice.reasons:
        return f"{sure}: it is one of several that would do"
    best = max(others, key=lambda c: c.probability)
    return (
        f"{sure}: the next of {len(candidates)} that fit has {best.probability:.1%}"
        if best.probability >= 0.0005
        else f"{sure}: {len(candidates)} fit what must hold, the others lack what was described"
    )


def compared(
    intent: Intent, candidates: Sequence[Candidate], zone: ZoneInfo
) -> tuple[Candidate, ...]:
    """Candidates that all fit what must hold, each with what it lacks first among its reasons."""
    fits = answers(intent, [c.hit for c in candidates])
    told = tuple(dict.fromkeys(wish for fit in fits for wish in fit.matched))
    orders = intent.all(Attribute.ORDER)
    ranked = [c for c in orders if not c.among]
    soft = [c for c in intent.constraints if c.prefers and not c.hard]
    explained = []
    for place, (candidate, fit) in enumerate(zip(candidates, fits, strict=True)):
        lacks = [f"no “{wish}”" for wish in told if wish not in fit.matched]
        lacks += [
            missed(candidate.card, c, zone)
            for c in soft
            if c not in orders and not satisfies(candidate.card, c, zone)
        ]
        if place:
            lacks += [missed(candidate.card, order, zone) for order in ranked]
        if place and not lacks:
            lacks = [_as_good(candidate, candidates[0])]
        explained.append(_told(candidate, lacks, intent.constraints))
    return tuple(explained)


def _as_good(candidate: Candidate, first: Candidate) -> str:
    if candidate.score >= first.score - 0.01:
        return "nothing that was said tells it from the first"
    return "less like what was asked"


async def near_misses(
    intent: Intent,
    prompt: str,
    candidate_ids: tuple[str, ...],
    room: int,
    *,
    catalog: Catalog,
    zone: ZoneInfo,
) -> tuple[Candidate, ...]:
    """Cards that miss one thing alone, nearest first, with probability 0; `room` at most.

    The subject is never given up; a checkpoint that is named has no near misses.
    """
    wanted = [c for c in _blamed(intent) if c.attribute not in (Attribute.SUBJECT, Attribute.ORDER)]
    if room < 1 or intent.first(Attribute.IDENTITY) is not None:
        return ()
    searches = [_missing(intent, c, prompt, candidate_ids, catalog, zone) for c in wanted]
    found = [each for group in await asyncio.gather(*searches) for each in group]
    return tuple(found[:room])


# --- nothing fits ------------------------------------------------------------------------------


async def explain_no_match(
    intent: Intent,
    prompt: str,
    candidate_ids: tuple[str, ...],
    *,
    catalog: Catalog,
    zone: ZoneInfo,
) -> NoMatch:
    """The first constraint without which some card fits, else the first ones, and those cards."""
    hard = _blamed(intent)
    if intent.unknown_subject is not None:
        failed = intent.unknown_subject
        others: tuple[Candidate, ...] = ()
        if hard:
            known = replace(intent, unknown_subject=None)
            others = await _fitting(known, prompt, candidate_ids, catalog, zone)
        return NoMatch(
            failed=failed,
            explanation=f"There is no checkpoint of “{failed.quoted}”.",
            alternatives=tuple(_lacking(c, [failed, *hard], zone) for c in others[:_ALTERNATIVES]),
        )
    if not hard:
        return NoMatch(failed=None, explanation="No checkpoint is similar to what was asked.")
    for constraint in hard if len(hard) > 1 else ():
        nearest = await _missing(intent, constraint, prompt, candidate_ids, catalog, zone)
        if nearest:
            explanation = _explanation([constraint], hard)
            return NoMatch(
                failed=constraint,
                explanation=explanation,
                alternatives=nearest[:_ALTERNATIVES],
            )
    for given_up in range(2, len(hard)):
        relaxed = intent.without(*hard[:given_up])
        found = await _fitting(relaxed, prompt, candidate_ids, catalog, zone)
        if found:
            nearest = _nearest(found, hard, zone)
            missing = [
                c for c in hard if not any(satisfies(n.card, c, zone) for n in nearest)
            ] or hard[:1]
            return NoMatch(
                failed=missing[0],
                explanation=_explanation(missing, hard),
                alternatives=nearest[:_ALTERNATIVES],
            )
    alternatives: tuple[Candidate, ...] = ()
    if hard[0].attribute in _MEASURED:
        relaxed = intent.without(*hard)
        found = await _fitting(relaxed, prompt, candidate_ids, catalog, zone)
        alternatives = _nearest(found, hard, zone)[:_ALTERNATIVES]
    return NoMatch(
        failed=hard[0], explanation=_explanation(hard[:1], hard), alternatives=alternatives
    )


def contradicted(intent: Intent, candidates: Sequence[Candidate]) -> NoMatch:
    """Two things were asked for at once and only one exists: say so, do not guess."""
    failed = intent.first(intent.contradiction) if intent.contradiction else None
    explanation = "; ".join(intent.problems)
    return NoMatch(
        failed=failed,
        explanation=f"{explanation[:1].upper()}{explanation[1:]}: say which one you mean.",
        alternatives=tuple(candidates[:_ALTERNATIVES]),
    )


def _blamed(intent: Intent) -> list[Constraint]:
    """What must hold, what is named first when it fails in front."""
    hard = [c for c in intent.constraints if c.hard]
    return sorted(hard, key=lambda c: _BLAME[c.attribute])


async def _missing(
    intent: Intent,
    constraint: Constraint,
    prompt: str,
    candidate_ids: tuple[str, ...],
    catalog: Catalog,
    zone: ZoneInfo,
) -> tuple[Candidate, ...]:
    """Cards that miss this constraint alone, nearest first."""
    found = await _fitting(intent.without(constraint), prompt, candidate_ids, catalog, zone)
    if constraint.attribute is not Attribute.ORDER:
        found = tuple(c for c in found if not satisfies(c.card, constraint, zone))
    return _nearest(found, _blamed(intent), zone)


async def _fitting(
    intent: Intent,
    prompt: str,
    candidate_ids: tuple[str, ...],
    catalog: Catalog,
    zone: ZoneInfo,
) -> tuple[Candidate, ...]:
    query = to_query(intent, prompt, candidate_ids, _NEAREST)
    return rank(intent, (await catalog.search(query)).hits, zone)


def _nearest(
    candidates: Sequence[Candidate], hard: Sequence[Constraint], zone: ZoneInfo
) -> tuple[Candidate, ...]:
    """Those that miss the fewest constraints by the least, each with what it lacks."""

    def far(candidate: Candidate) -> tuple[float, ...]:
        lacking = [c for c in hard if not satisfies(candidate.card, c, zone)]
        return len(lacking), *(distance(candidate.card, c) for c in lacking)

    return tuple(_lacking(c, hard, zone) for c in sorted(candidates, key=far))


def _lacking(candidate: Candidate, hard: Sequence[Constraint], zone: ZoneInfo) -> Candidate:
    lacks = [
        missed(candidate.card, c, zone)
        for c in hard
        if c.attribute is Attribute.ORDER or not satisfies(candidate.card, c, zone)
    ]
    return replace(_told(candidate, lacks, hard), probability=0.0)


def _told(
    candidate: Candidate, lacks: Sequence[str], constraints: Sequence[Constraint]
) -> Candidate:
    """What it lacks, then what speaks for it beyond what all of them have."""
    common = how_read(constraints)
    reasons = (*lacks, *(reason for reason in candidate.reasons if reason not in common))
    return replace(candidate, reasons=tuple(dict.fromkeys(reasons)))


def _explanation(failed: Sequence[Constraint], hard: Sequence[Constraint]) -> str:
    rest = [c.label for c in hard if all(c is not f for f in failed) and c.label]
    said = " and ".join(_said(c) for c in failed)
    if failed[0].attribute is Attribute.ORDER and not failed[0].among:
        return f"There are too few checkpoints for {said}."
    if not rest:
        return f"No checkpoint fits {said}."
    return f"No checkpoint fits {said} among those that are {', '.join(rest)}."


def _said(constraint: Constraint) -> str:
    said = f"“{constraint.quoted}”"
    return said if constraint.label in ("", constraint.text) else f"{said} ({constraint.label})"
