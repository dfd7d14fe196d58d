"""The use case: parse, search, reason, decide, map."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from personalq.chassis.errors import InvalidInput
from personalq.checkin.advising.advice import Adviser, Case, settle
from personalq.checkin.answer import (
    Reply,
    among_those_asked_about,
    merge_answer,
    question_id,
    read_question_id,
)
from personalq.checkin.cards import ArtifactRef, Hit
from personalq.checkin.deciding.decide import PLAUSIBLE, Ask, Choose
from personalq.checkin.deciding.explain import (
    compared,
    confident,
    contradicted,
    explain_no_match,
    how_read,
    near_misses,
)
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.lexicon import canonical
from personalq.checkin.mapping.map import rewrite
from personalq.checkin.names import candidates as name_candidates
from personalq.checkin.outcome import Answered, Candidate, Clarification, NoMatch, Selection
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.ports import Catalog, Ranking, Reasoner
from personalq.checkin.reasoning.described import KIN, MAX_PHRASES, answers, says_all, spoken
from personalq.checkin.reasoning.kinds import carried, widened
from personalq.checkin.reasoning.own_colour import without_its_colour
from personalq.checkin.reasoning.reason import rank
from personalq.checkin.reasoning.unknown import (
    by_description,
    called_outright,
    is_called,
    kind_as_thing,
    search_for_things,
    told_subject,
)
from personalq.checkin.search import Lately, Once, deeper, find, to_query
from personalq.checkin.settings import CheckinSettings
from personalq.checkin.vocabulary import Lexicon

MAX_PROMPT = 2000
"""Characters of a prompt or an answer."""
MAX_ANSWERS = 20
_WEEK_START = {"monday": 0, "saturday": 5, "sunday": 6}


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request as the contract has it, in domain terms."""

    prompt: str
    answers: tuple[Reply, ...] = ()
    reference_time: datetime | None = None
    time_zone: str = ""
    candidate_ids: tuple[str, ...] = ()
    profile: str = ""
    explain: bool = False
    owner: str = ""
    tenant: str = "default"


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
    intent = await _about(intent, request, catalog, zone, settings)
    before, intent, scope = _answered(intent, request, lexicon, context, settings)
    read, ranking = await _chosen(before, intent, request, catalog, reasoner, zone, settings)
    if not ranking.candidates:
        no_match = await explain_no_match(
            read, request.prompt, request.candidate_ids, catalog=catalog, zone=zone
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
        chosen = decision.candidate
        first = (chosen, *(c for c in candidates if c is not chosen))[: shown + 1]
        others = compared(read, first, zone)[1:]
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


def check_request(request: Request) -> None:
    """Refuse what cannot be read.

    Raises:
        InvalidInput: see `select`.
    """
    _check_text(request.prompt, "prompt")
    if len(request.answers) > MAX_ANSWERS:
        raise InvalidInput(f"at most {MAX_ANSWERS} answers can be sent", field="answers")
    for index, reply in enumerate(request.answers):
        _check_text(reply.text, f"answers[{index}].text")


def _check_text(text: str, field: str) -> None:
    name = "the prompt" if field == "prompt" else "the answer"
    visible = any(unicodedata.category(char)[0] not in "CZ" for char in text)
    if not visible:
        raise InvalidInput(f"{name} is empty: say in plain words what you want", field=field)
    if len(text) > MAX_PROMPT:
        raise InvalidInput(
            f"{name} has {len(text)} characters; the limit is {MAX_PROMPT}: shorten it", field=field
        )


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


async def _about(
    intent: Intent, request: Request, catalog: Catalog, zone: ZoneInfo, settings: CheckinSettings
) -> Intent:
    """The intent with the first of its things that an allowed card is called by as its subject."""
    if not intent.things:
        return intent
    about = intent.without(*intent.all(Attribute.SUBJECT))
    hits = await _search(
        search_for_things(about), request=request, catalog=catalog, settings=settings, also=()
    )
    for thing in intent.things:
        named = [hit for hit in hits if is_called(hit.card, thing)]
        asked = replace(about, unknown_subject=thing)
        told, found = by_description(asked, named)
        if rank(told, found, zone):
            return asked
    return intent


async def _chosen(
    before: Intent,
    intent: Intent,
    request: Request,
    catalog: Catalog,
    reasoner: Reasoner,
    zone: ZoneInfo,
    settings: CheckinSettings,
) -> tuple[Intent, Ranking]:
    """What the intent leaves; an answer is first of all about the cards it was asked about.

    What it says in the very words of one of these counts most, then in the very words of another
    card that fits the request as well, and then what is like it among those asked about.

    Args:
        before: the intent before its last answer.
    """

    async def everything(reading: Intent) -> tuple[Intent, Ranking]:
        return await _candidates(reading, request, catalog, reasoner, zone, settings)

    if not intent.answered or before.unknown_subject is not None:
        return await everything(intent)
    read, asked = await _candidates(
        before, request, catalog, reasoner, zone, settings, also=spoken(intent)
    )
    least = PLAUSIBLE * max((c.probability for c in asked.candidates), default=0.0)
    hits = [c.hit for c in asked.candidates if c.probability >= least]
    after = _ordered(before, carried(intent, read))

    async def among(*, least: float) -> tuple[Intent, Ranking]:
        for reading in among_those_asked_about(read, after, details=least > 0):
            ranking = await reasoner.rank(reading, hits, zone)
            if ranking.candidates and _fits(before, reading, ranking.candidates, least=least):
                return reading, ranking
        return intent, Ranking()

    told, ranking = await among(least=KIN)
    if ranking.candidates:
        return told, ranking
    first: tuple[Intent, Ranking] | None = None
    for reading in among_those_asked_about(before, intent, details=False):
        widely, others = await everything(reading)
        if others.candidates and says_all(widely, others.candidates[0].hit, besides=hits):
            return widely, others
        first = first or (widely, others)
    told, ranking = await among(least=0.0)
    return first if first and not ranking.candidates else (told, ranking)


def _ordered(before: Intent, intent: Intent) -> Intent:
    """Among the cards asked about "the newer one" is the newer, however well each was described."""
    if intent.order is None or intent.order.span is not None:
        return intent
    return intent.without(*(c for c in before.all(Attribute.DESCRIPTION) if not c.hard))


def _fits(
    before: Intent, intent: Intent, candidates: Sequence[Candidate], *, least: float = 0.0
) -> bool:
    """Whether some card answers to the description that was added, if one was.

    Args:
        least: how well, where words say it; a likeness of meaning is less.
    """
    known = before.all(Attribute.DESCRIPTION)
    added = [c for c in intent.all(Attribute.DESCRIPTION) if all(c is not k for k in known)]
    added = [c for c in added if not c.hard]
    if not added:
        return True
    said = answers(replace(intent, constraints=tuple(added)), [c.hit for c in candidates])
    return any(card.weight > 0 and card.weight >= least for card in said)


async def _candidates(
    intent: Intent,
    request: Request,
    catalog: Catalog,
    reasoner: Reasoner,
    zone: ZoneInfo,
    settings: CheckinSettings,
    also: Sequence[str] = (),
) -> tuple[Intent, Ranking]:
    """The first reading of the intent that some card satisfies; one search in the normal case.

    Args:
        also: phrases besides those of the intent to compare the cards with.
    """
    if not _asks_for_something(intent):
        return intent, Ranking()
    search = partial(_search, request=request, catalog=catalog, settings=settings, also=also)
    if intent.unknown_subject is not None:
        hits = await search(intent)
        told, found = by_description(intent, hits)
        ranking = await reasoner.rank(told, found, zone)
        return (told if ranking.candidates else intent), ranking
    degraded, lately = False, Lately(catalog)
    missing: Intent | None = None
    for reading in _readings(intent):
        hits = await search(reading)
        if hits:
            reading, hits = await widened(reading, hits, catalog=lately, search=search)
        ranking = await reasoner.rank(reading, hits, zone)
        thing = kind_as_thing(reading, hits)
        if thing is not None:
            told, called = called_outright(thing, await search(thing), besides=hits)
            other = await reasoner.rank(told, called, zone) if called else Ranking()
            if other.candidates:
                return told, other
        degraded = degraded or ranking.degraded
        ranked = ranking.candidates
        if ranked and not _only_described(reading, ranked) and _fits(intent, reading, ranked):
            complete = len(hits) < settings.candidate_limit
            lacking = without_its_colour(reading, hits, zone) if complete else None
            if lacking is None:
                return reading, ranking
            missing = missing or lacking
    if missing is not None:
        return missing, Ranking(degraded=degraded)
    subject = intent.first(Attribute.SUBJECT)
    if subject is not None:
        named, found = await widened(intent, (), catalog=lately, search=search)
        ranking = await reasoner.rank(named, found, zone)
        if ranking.candidates:
            return named, ranking
        loose = intent.without(subject)
        hits = await search(replace(loose, unknown_subject=subject))
        told, found = told_subject(intent, hits)
        ranking = await reasoner.rank(told, found, zone)
        if ranking.candidates:
            return told, ranking
    return intent, Ranking(degraded=degraded)


async def _search(
    intent: Intent,
    *,
    request: Request,
    catalog: Catalog,
    settings: CheckinSettings,
    also: Sequence[str],
) -> tuple[Hit, ...]:
    query = to_query(intent, request.prompt, request.candidate_ids, settings.candidate_limit)
    phrases = tuple(dict.fromkeys((*query.phrases, *also)))[:MAX_PHRASES]
    query = replace(query, phrases=phrases)
    described = bool(intent.described) or intent.unknown_subject is not None
    described = described or any(c.broader for c in intent.constraints)
    return await find(query, catalog, described=described, deeper=deeper(intent, query))


def _readings(intent: Intent) -> Sequence[Intent]:
    """The readings of the intent; a trigger spelled out holds when the rest does not fit it."""
    readings = list(intent.readings())
    identity = intent.first(Attribute.IDENTITY)
    if identity is not None:
        if identity.identifies:
            return [replace(intent, constraints=(identity,))]
        readings.append(replace(intent, constraints=(identity,)))
    styles = [c for c in intent.all(Attribute.STYLE) if c.hard and not c.excluded]
    if len(styles) > 1:
        readings.append(_any_style(intent, styles))
    if intent.answered:  # the person may have changed their mind about what the prompt said
        said = [c for c in intent.constraints if c.hard and c.span is not None]
        changeable = [c for c in said if c.attribute is not Attribute.SUBJECT]
        readings += [intent.without(c) for c in changeable]
    return readings


def _any_style(intent: Intent, styles: Sequence[Constraint]) -> Intent:
    """Let either do when no card is both: "a watercolor sketch"."""
    merged = replace(
        styles[0],
        values=tuple(dict.fromkeys(value for c in styles for value in c.values)),
        label=" or ".join(c.label for c in styles),
    )
    return replace(intent, constraints=(*intent.without(*styles).constraints, merged))


def _asks_for_something(intent: Intent) -> bool:
    """Whether the prompt names anything a card could answer to."""
    if intent.unknown_subject is not None:
        return True
    return any(
        c.hard or c.attribute in (Attribute.DESCRIPTION, Attribute.ORDER, Attribute.ENVIRONMENT)
        for c in intent.constraints
    )


def _only_described(intent: Intent, candidates: Sequence[Candidate]) -> bool:
    """With nothing but description words, a card must answer to one of them."""
    if any(c.hard and not c.excluded for c in intent.constraints) or intent.settled:
        return False
    if not intent.all(Attribute.DESCRIPTION):
        return False
    return candidates[0].score < 1.0


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


__all__ = ["MAX_PROMPT", "NoMatch", "Reply", "Request", "select"]
