"""The use case: parse, search, reason, decide, map."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from personalq.chassis.errors import InvalidInput
from personalq.checkin.advising.advice import Adviser, Case, settle
from personalq.checkin.answering.answer import merge_answer
from personalq.checkin.answering.question_ids import question_id, read_question_id
from personalq.checkin.cards import ArtifactRef, Hit
from personalq.checkin.deciding.decide import Ask, Choose, decide
from personalq.checkin.deciding.explain import (
    compared,
    confident,
    contradicted,
    explain_no_match,
    how_read,
    near_misses,
)
from personalq.checkin.finding.after_answer import after_answer
from personalq.checkin.finding.by_meaning import with_tags
from personalq.checkin.finding.candidates import Finder
from personalq.checkin.finding.in_its_words import said_alike
from personalq.checkin.finding.search import Once
from personalq.checkin.intent import Intent
from personalq.checkin.lexicon import canonical
from personalq.checkin.mapping.map import rewrite
from personalq.checkin.names import candidates as name_candidates
from personalq.checkin.outcome import Answered, Candidate, Clarification, Selection
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.ports import Catalog, Ranking, Reasoner
from personalq.checkin.reasoning.no_such_thing import without_that_thing
from personalq.checkin.reasoning.plausible import plausible
from personalq.checkin.request import Request, check_request
from personalq.checkin.settings import CheckinSettings
from personalq.checkin.vocabulary import Lexicon

_WEEK_START = {"monday": 0, "saturday": 5, "sunday": 6}


async def select(
    request: Request,
    *,
    catalog: Catalog,
    reasoner: Reasoner,
    settings: CheckinSettings,
    adviser: Adviser | None = None,
) -> Answered:
    """Pick the intended checkpoint, ask one question, or say that nothing matches.

    With an adviser, what the rules leave open gets a second opinion (`advice`).

    Raises:
        InvalidInput: the prompt is empty or too long, the time zone is unknown, a question id is
            not one of this request's.
        Unavailable: the catalog cannot be reached.
    """
    check_request(request)
    catalog = Once(catalog)
    zone = _zone(request.time_zone or settings.default_time_zone)
    said = (request.prompt, *(reply.text for reply in request.answers))
    lexicon, names = await asyncio.gather(catalog.lexicon(), catalog.names(name_candidates(said)))
    context = Context(
        now=request.reference_time or datetime.now(UTC),
        zone=zone,
        southern=settings.hemisphere == "south",
        week_start=_WEEK_START[settings.week_start],
        owner=_known_owner(request.owner, lexicon),
        names=names,
    )
    intent = parse(request.prompt, lexicon, context)
    finder = Finder(
        prompt=request.prompt,
        pool=request.candidate_ids,
        catalog=catalog,
        reasoner=reasoner,
        zone=zone,
        limit=settings.candidate_limit,
    )
    intent = await finder.with_its_thing(intent)
    before, intent, scope = _answered(intent, request, lexicon, context, settings)
    before = await with_tags(before, catalog, lexicon)
    intent = await with_tags(intent, catalog, lexicon)
    if intent.answered and before.unknown_subject is None:
        read, ranking = await after_answer(before, intent, finder)
    else:
        read, ranking = await finder.candidates(intent)
    read, ranking = await _told_apart(read, ranking, finder, settings)
    if not ranking.candidates:
        no_match = await explain_no_match(
            read.whole_days(), request.prompt, request.candidate_ids, catalog=catalog, zone=zone
        )
        return Answered(outcome=no_match, intent=read, degraded=ranking.degraded)
    case = Case(
        prompt=request.prompt,
        answers=tuple(reply.text for reply in request.answers),
        intent=read,
        candidates=ranking.candidates,
        zone=zone,
        now=context.now,
    )
    settled = await settle(case, adviser=adviser, policy=settings.advice)
    decision, candidates = settled.decision, settled.candidates
    degraded = ranking.degraded or settled.degraded
    if isinstance(decision, Choose) and read.contradiction is not None and not read.answered:
        return Answered(outcome=contradicted(read, candidates), intent=read, degraded=degraded)
    shown = settings.runners_up if request.explain else 0
    if isinstance(decision, Ask):
        in_question = compared(read, decision.plausible[:shown], zone)
        asked = _clarification(decision, scope, settings, in_question)
        return Answered(outcome=asked, intent=read, degraded=degraded)
    selection = _selection(decision, candidates, read, request, settings)
    if shown:
        first = (decision.candidate, *(c for c in candidates if c is not decision.candidate))
        others = compared(read, first[: shown + 1], zone)[1:]
        others += await near_misses(
            read,
            request.prompt,
            request.candidate_ids,
            shown - len(others),
            catalog=catalog,
            zone=zone,
        )
        selection = replace(selection, runners_up=others)
    return Answered(outcome=selection, intent=read, degraded=degraded)


async def _told_apart(
    read: Intent, ranking: Ranking, finder: Finder, settings: CheckinSettings
) -> tuple[Intent, Ranking]:
    """What was found, and nothing if no card has a thing that was named; or, where that asks a
    question about all that fit, by the scene if the scene tells one card, then what says the same
    as the scene.
    """

    def chooses(intent: Intent, found: Ranking) -> bool:
        decided = decide(intent, found.candidates, ask_cost=settings.ask_cost, zone=finder.zone)
        return isinstance(decided, Choose)

    def unless_missing(found: Ranking) -> tuple[Intent, Ranking]:
        hits = [candidate.hit for candidate in ranking.candidates]
        missing = without_that_thing(read, hits, finder.prompt)
        return (read, found) if missing is None else (missing, replace(ranking, candidates=()))

    if not ranking.candidates or ranking.partial:  # what tells one may tell others, too
        return read, ranking
    if chooses(read, ranking):
        return (read, ranking) if read.answered or read.order else unless_missing(ranking)
    if not read.answered:
        told = await finder.by_scene(read, ranking)
        if told is not None and told[1].candidates and chooses(*told):
            return told
    alike = said_alike(read, finder.prompt, plausible(ranking.candidates))
    narrowed = replace(ranking, candidates=alike or ranking.candidates)
    if read.answered or (alike and chooses(read, narrowed)):
        return read, narrowed
    return unless_missing(narrowed)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInput(
            f"unknown time zone {name[:64]!r}: use an IANA name such as Europe/Berlin",
            field="time_zone",
        ) from None


def _known_owner(owner: str, lexicon: Lexicon) -> str:
    """The owner as the catalog spells it, "" when it knows none of that name."""
    return lexicon.owners.get(canonical(owner)) or "" if owner else ""


def _answered(
    intent: Intent,
    request: Request,
    lexicon: Lexicon,
    context: Context,
    settings: CheckinSettings,
) -> tuple[Intent, Intent, tuple[str, ...]]:
    """The intent before the last answer and after it; the scope binds the next question to all."""
    scope: tuple[str, ...] = (
        request.tenant,
        request.prompt,
        "\n".join(sorted(request.candidate_ids)),
    )
    before = intent
    for reply in request.answers:
        before = intent
        asked = read_question_id(reply.question_id, scope=scope, key=settings.question_key)
        intent = merge_answer(intent, asked, reply.text, lexicon, context)
        scope = (*scope, reply.question_id, reply.text)
    return before, intent, scope


def _clarification(
    ask: Ask,
    scope: tuple[str, ...],
    settings: CheckinSettings,
    in_question: tuple[Candidate, ...],
) -> Clarification:
    return Clarification(
        question_id=question_id(ask.attribute, ask.options, scope=scope, key=settings.question_key),
        question=ask.question,
        options=ask.options,
        attribute=ask.attribute,
        confidence=ask.confidence,
        candidates=in_question,
    )


def _selection(
    choice: Choose,
    candidates: Sequence[Candidate],
    intent: Intent,
    request: Request,
    settings: CheckinSettings,
) -> Selection:
    candidate = choice.candidate
    rewritten = rewrite(request.prompt, intent, candidate.card)
    sure = confident(choice, candidates, intent)
    reasons = (
        *how_read(intent.constraints),
        *candidate.reasons,
        *choice.reasons,
        *rewritten.notes,
        sure,
    )
    return Selection(
        candidate=candidate,
        artifact=_artifact(candidate.hit, request.profile or settings.default_profile),
        rewrite=rewritten,
        confidence=choice.confidence,
        reasons=tuple(dict.fromkeys(reasons)),
    )


def _artifact(hit: Hit, profile: str) -> ArtifactRef | None:
    return next((artifact for artifact in hit.artifacts if artifact.profile == profile), None)
