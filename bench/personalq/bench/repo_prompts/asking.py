"""One query through the real Check-in: asked, answered when it asks back, timed at the client."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import grpc

from personalq.bench.repo_prompts.files import Card, Query
from personalq.bench.repo_prompts.loading import stamp
from personalq.chassis.errors import PersonalQError, Unavailable
from personalq.chassis.statuses import translate_rpc_error
from personalq.v1 import checkin_pb2, checkin_pb2_grpc, types_pb2

_TIMEOUT_S = 120.0
_WARM_UPS = 10
_READING_S_A_CARD = 0.02
"""For each card that Check-in reads in the background when it first hears of a tenant."""
_CARDS_READ = 1_000


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back: an outcome, and what belongs to it."""

    #: selection, clarification or no_match; error when the service refused the request.
    outcome: str
    checkpoint_id: str | None = None
    rewritten_prompt: str | None = None
    #: The words that gave way to the trigger.
    replaced: tuple[str, ...] = ()
    confidence: float | None = None
    question: str | None = None
    options: tuple[str, ...] = ()
    asked_about: str | None = None
    question_id: str = ""
    #: The ids in question, likeliest first, where the request asked for them.
    candidates: tuple[str, ...] = ()
    #: Why there is no match, or what was refused.
    explanation: str | None = None


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A query and what came of it."""

    query: Query
    reply: Reply
    #: After the answer; the reply itself when nothing was asked or there is no answer.
    final: Reply
    latency_ms: float
    answer_latency_ms: float | None = None


async def ask_all(
    queries: Sequence[Query],
    checkin: checkin_pb2_grpc.CheckInServiceAsyncStub,
    *,
    after: Callable[[], object],
) -> list[Asked]:
    """Every query, one at a time; `after` is called after each. Raises Unavailable."""
    results = []
    for query in queries:
        results.append(await ask(query, checkin))
        after()
    return results


async def ask(query: Query, checkin: checkin_pb2_grpc.CheckInServiceAsyncStub) -> Asked:
    """One query, and its answer when Check-in asks back. Raises Unavailable."""
    request = _request(query)
    reply, latency_ms = await _select(request, checkin)
    final, answer_latency_ms = reply, None
    if reply.outcome == "clarification" and query.answer:
        request.answers.add(question_id=reply.question_id, text=query.answer)
        final, answer_latency_ms = await _select(request, checkin)
    return Asked(
        query=query,
        reply=reply,
        final=final,
        latency_ms=latency_ms,
        answer_latency_ms=answer_latency_ms,
    )


async def likeliest(query: Query, checkin: checkin_pb2_grpc.CheckInServiceAsyncStub) -> Asked:
    """One query without a dialogue: where Check-in asks, its likeliest candidate is taken."""
    request = _request(query)
    request.explain = True
    reply, latency_ms = await _select(request, checkin)
    if reply.outcome == "clarification" and reply.candidates:
        reply = Reply(outcome="selection", checkpoint_id=reply.candidates[0])
    return Asked(query=query, reply=reply, final=reply, latency_ms=latency_ms)


async def warm_up(cards: Sequence[Card], checkin: checkin_pb2_grpc.CheckInServiceAsyncStub) -> None:
    """Requests that are none of the queries, so that none of them pays for a first time."""
    subjects = list(dict.fromkeys(subject for card in cards for subject in card.subjects))
    for number in range(_WARM_UPS):
        subject = subjects[number % len(subjects)] if subjects else "bear"
        prompt = f"warming up, take {number}: a picture of the {subject}"
        await _select(checkin_pb2.SelectRequest(prompt=prompt), checkin)
    # Of a new tenant Check-in reads what is on the cards, beside these requests and beyond them.
    await asyncio.sleep(_READING_S_A_CARD * min(len(cards), _CARDS_READ))


def _request(query: Query) -> checkin_pb2.SelectRequest:
    return checkin_pb2.SelectRequest(
        prompt=query.query,
        reference_time=stamp(query.now),
        time_zone=query.time_zone,
        candidate_ids=query.candidate_pool,
        owner=query.owner,
    )


async def _select(
    request: checkin_pb2.SelectRequest, checkin: checkin_pb2_grpc.CheckInServiceAsyncStub
) -> tuple[Reply, float]:
    """The reply, and how many milliseconds the call took."""
    began = time.perf_counter()
    try:
        response = await checkin.Select(request, timeout=_TIMEOUT_S)
    except grpc.aio.AioRpcError as error:
        return _refusal(translate_rpc_error(error)), _since(began)
    latency_ms = _since(began)
    return _to_reply(response), latency_ms


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def _refusal(error: PersonalQError) -> Reply:
    if isinstance(error, Unavailable):
        raise error
    return Reply(outcome="error", explanation=str(error))


def _to_reply(response: checkin_pb2.SelectResponse) -> Reply:
    match response.WhichOneof("outcome"):
        case "selection":
            selection = response.selection
            return Reply(
                outcome="selection",
                checkpoint_id=selection.checkpoint.checkpoint_id,
                rewritten_prompt=selection.rewritten_prompt,
                replaced=tuple(each.text for each in selection.replaced),
                confidence=selection.confidence,
            )
        case "clarification":
            asked = response.clarification
            return Reply(
                outcome="clarification",
                confidence=asked.confidence,
                question=asked.question,
                options=tuple(option.label for option in asked.options),
                asked_about=_word(asked.attribute),
                question_id=asked.question_id,
                candidates=tuple(each.checkpoint_id for each in asked.candidates),
            )
        case _:
            return Reply(outcome="no_match", explanation=response.no_match.explanation)


def _word(attribute: types_pb2.Attribute.ValueType) -> str:
    """ATTRIBUTE_CREATED_AT → created_at."""
    return types_pb2.Attribute.Name(attribute).removeprefix("ATTRIBUTE_").lower()
