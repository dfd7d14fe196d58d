"""Protobuf ⇄ results: the only module of the SDK that knows message types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from personalq.chassis.errors import InvalidInput
from personalq.sdk.results import (
    Artifact,
    Candidate,
    Checkpoint,
    Clarification,
    Constraint,
    Done,
    Intent,
    NoMatch,
    Option,
    Outcome,
    Progress,
    Provenance,
    Queued,
    Selection,
    SelectionRequest,
    Span,
    Started,
    Timings,
)
from personalq.v1 import catalog_pb2, checkin_pb2, events_pb2, renderer_pb2, types_pb2

# --- scalars ---------------------------------------------------------------------------------


@contextmanager
def fitting(what: str) -> Iterator[None]:
    """Fill a message; InvalidInput where a value does not fit into it. The server checks the rest.

    Args:
        what: is filled, for the error: "a render".
    """
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"{what} takes no such value: {error}") from error


def to_word(enum: EnumDescriptor, number: int) -> str:
    """`CHECKPOINT_STATE_SERVABLE` → "servable"; unspecified and unknown numbers → ""."""
    value = enum.values_by_number.get(number)
    if value is None or number == 0:  # unknown: a newer server
        return ""
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return value.name.removeprefix(prefix).lower()


def to_datetime(message: Message, name: str) -> datetime | None:
    """The timestamp field `name` of `message`, aware, or None when it is absent."""
    if not message.HasField(name):
        return None
    stamp: Timestamp = getattr(message, name)
    return stamp.ToDatetime(UTC)


def to_timestamp(moment: datetime) -> Timestamp:
    """A naive `moment` is UTC."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    stamp = Timestamp()
    stamp.FromDatetime(aware.astimezone(UTC))
    return stamp


# --- cards -----------------------------------------------------------------------------------


def artifact(message: types_pb2.Artifact) -> Artifact:
    """Artifact ← types.proto."""
    return Artifact(
        checkpoint_id=message.checkpoint_id,
        profile=message.profile,
        digest=message.digest,
        size_bytes=message.size_bytes,
        base_digest=message.base_digest,
        base_size_bytes=message.base_size_bytes,
        base_model=message.base_model,
        recipe_version=message.recipe_version,
        triggers=tuple(message.triggers),
        source_sha256=message.source_sha256,
        created_at=to_datetime(message, "created_at"),
    )


def checkpoint(
    message: types_pb2.Checkpoint, artifacts: Iterable[types_pb2.Artifact] = ()
) -> Checkpoint:
    """Checkpoint ← types.proto."""
    return Checkpoint(
        checkpoint_id=message.checkpoint_id,
        name=message.name,
        aliases=tuple(message.aliases),
        triggers=tuple(message.triggers),
        subjects=tuple(message.subjects),
        styles=tuple(message.styles),
        description=message.description,
        base_model=message.base_model,
        version=message.version if message.HasField("version") else None,
        created_at=to_datetime(message, "created_at"),
        last_used_at=to_datetime(message, "last_used_at"),
        use_count=message.use_count,
        environments=tuple(message.environments),
        owner=message.owner,
        uri=message.source.uri,
        sha256=message.source.sha256,
        size_bytes=message.source.size_bytes,
        format=to_word(types_pb2.CheckpointFormat.DESCRIPTOR, message.source.format),
        state=state_word(message.state),
        state_reason=message.state_reason,
        registered_at=to_datetime(message, "registered_at"),
        updated_at=to_datetime(message, "updated_at"),
        artifacts=tuple(artifact(each) for each in artifacts),
    )


def state_word(number: int) -> str:
    """One of "registered", "servable", "failed" and "archived"; empty when unknown."""
    return to_word(types_pb2.CheckpointState.DESCRIPTOR, number)


def states(words: Sequence[str]) -> list[types_pb2.CheckpointState.ValueType]:
    """The inverse of `state_word`; raises InvalidInput on another word."""
    known = types_pb2.CheckpointState.values()
    numbers = {state_word(number): number for number in known if number}
    for word in words:
        if word.lower() not in numbers:
            raise InvalidInput(f"no state {word!r}: choose one of {', '.join(numbers)}")
    return [numbers[word.lower()] for word in words]


def landed(card: Checkpoint, *, tenant: str) -> events_pb2.CheckpointLanded:
    """Checkpoint → CheckpointLanded: what the pipeline knows; the catalog finds out the rest."""
    message = types_pb2.Checkpoint(
        checkpoint_id=card.checkpoint_id,
        name=card.name,
        aliases=card.aliases,
        triggers=card.triggers,
        subjects=card.subjects,
        styles=card.styles,
        description=card.description,
        base_model=card.base_model,
        version=card.version,
        environments=card.environments,
        owner=card.owner,
        source=types_pb2.CheckpointSource(
            uri=card.uri, sha256=card.sha256, size_bytes=card.size_bytes
        ),
    )
    if card.created_at is not None:
        message.created_at.CopyFrom(to_timestamp(card.created_at))
    if card.last_used_at is not None:
        message.last_used_at.CopyFrom(to_timestamp(card.last_used_at))
    return events_pb2.CheckpointLanded(tenant=tenant, checkpoint=message)


def list_request(
    *, page_size: int, page_token: str, states_: Sequence[str], subjects: Sequence[str]
) -> catalog_pb2.ListCheckpointsRequest:
    """Arguments → ListCheckpointsRequest."""
    return catalog_pb2.ListCheckpointsRequest(
        page_size=page_size,
        page_token=page_token,
        filter=catalog_pb2.CheckpointFilter(states=states(states_), subjects=list(subjects)),
    )


# --- selection -------------------------------------------------------------------------------


def select_request(request: SelectionRequest) -> checkin_pb2.SelectRequest:
    """SelectionRequest → SelectRequest."""
    message = checkin_pb2.SelectRequest(
        prompt=request.prompt,
        answers=[
            checkin_pb2.Answer(question_id=question_id, text=text)
            for question_id, text in request.answers
        ],
        time_zone=request.time_zone,
        candidate_ids=request.candidate_ids,
        preferences=checkin_pb2.ServingPreferences(profile=request.profile, steps=request.steps),
        explain=request.explain,
        owner=request.owner,
    )
    if request.reference_time is not None:
        message.reference_time.CopyFrom(to_timestamp(request.reference_time))
    return message


def outcome(response: checkin_pb2.SelectResponse, request: SelectionRequest) -> Outcome:
    """SelectResponse → Selection | Clarification | NoMatch.

    Raises:
        ValueError: the response carries none of the three (a newer server).
    """
    intent = _intent(response.intent)
    match response.WhichOneof("outcome"):
        case "selection":
            return _selection(response, request, intent)
        case "clarification":
            asked = response.clarification
            return Clarification(
                request=request,
                intent=intent,
                question_id=asked.question_id,
                question=asked.question,
                options=tuple(
                    Option(label=o.label, attribute=_attribute(o.attribute), value=o.value)
                    for o in asked.options
                ),
                attribute=_attribute(asked.attribute),
                confidence=asked.confidence,
                candidates=_candidates(asked.candidates),
                degraded=response.degraded,
            )
        case "no_match":
            refused = response.no_match
            return NoMatch(
                request=request,
                intent=intent,
                explanation=refused.explanation,
                failed=_constraint(refused.failed) if refused.HasField("failed") else None,
                alternatives=_candidates(refused.alternatives),
                degraded=response.degraded,
            )
        case _:
            raise ValueError("check-in sent an outcome this client does not know: upgrade it")


def _selection(
    response: checkin_pb2.SelectResponse, request: SelectionRequest, intent: Intent
) -> Selection:
    chosen = response.selection
    made = artifact(chosen.artifact) if chosen.HasField("artifact") else None
    return Selection(
        request=request,
        intent=intent,
        checkpoint=checkpoint(chosen.checkpoint, [chosen.artifact] if made else ()),
        artifact=made,
        rewritten_prompt=chosen.rewritten_prompt,
        render_prompt=chosen.render_prompt,
        trigger_spans=_spans(chosen.trigger_spans),
        render_trigger_spans=_spans(chosen.render_trigger_spans),
        replaced=tuple(each.text for each in chosen.replaced),
        replaced_spans=_spans(each.span for each in chosen.replaced),
        confidence=chosen.confidence,
        reasons=tuple(chosen.reasons),
        runners_up=_candidates(chosen.runners_up),
        degraded=response.degraded,
    )


def _intent(message: types_pb2.Intent) -> Intent:
    return Intent(
        constraints=tuple(_constraint(each) for each in message.constraints),
        content=_spans(message.content),
        problems=tuple(message.problems),
    )


def _constraint(message: types_pb2.Constraint) -> Constraint:
    return Constraint(
        attribute=_attribute(message.attribute),
        values=tuple(message.values),
        excluded=message.excluded,
        not_before=to_datetime(message.interval, "start"),
        before=to_datetime(message.interval, "end"),
        order=to_word(types_pb2.OrderKey.DESCRIPTOR, message.order),
        rank=message.rank,
        text=message.text,
        span=Span(start=message.span.start, end=message.span.end)
        if message.HasField("span")
        else None,
        hard=message.hard,
    )


def _attribute(number: int) -> str:
    return to_word(types_pb2.Attribute.DESCRIPTOR, number)


def _spans(messages: Iterable[types_pb2.TextSpan]) -> tuple[Span, ...]:
    return tuple(Span(start=each.start, end=each.end) for each in messages)


def _candidates(messages: Iterable[checkin_pb2.ScoredCheckpoint]) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(
            checkpoint_id=each.checkpoint_id,
            probability=each.probability,
            reasons=tuple(each.reasons),
        )
        for each in messages
    )


# --- rendering -------------------------------------------------------------------------------


def sampler(word: str) -> renderer_pb2.Sampler.ValueType:
    """`ddim` → SAMPLER_DDIM; empty → the renderer's default; ValueError on another word."""
    return renderer_pb2.Sampler.Value(f"SAMPLER_{(word or 'unspecified').upper()}")


def queued(message: renderer_pb2.Queued) -> Queued:
    """Queued ← renderer.proto."""
    return Queued(position=message.position)


def started(message: renderer_pb2.Started) -> Started:
    """Started ← renderer.proto."""
    return Started(artifact=artifact(message.artifact), load_seconds=message.load_seconds)


def progress(message: renderer_pb2.Progress) -> Progress:
    """Progress ← renderer.proto."""
    return Progress(step=message.step, steps=message.steps, preview=message.preview)


def done(message: renderer_pb2.Done) -> Done:
    """Done ← renderer.proto."""
    timings, made_by = message.timings, message.provenance
    return Done(
        timings=Timings(
            queued_seconds=timings.queued_seconds,
            load_seconds=timings.load_seconds,
            encode_seconds=timings.encode_seconds,
            denoise_seconds=timings.denoise_seconds,
            decode_seconds=timings.decode_seconds,
        ),
        provenance=Provenance(
            checkpoint_id=made_by.checkpoint_id,
            artifact_digest=made_by.artifact_digest,
            profile=made_by.profile,
            prompt=made_by.prompt,
            seed=made_by.seed,
            steps=made_by.steps,
            guidance_scale=made_by.guidance_scale,
            sampler=to_word(renderer_pb2.Sampler.DESCRIPTOR, made_by.sampler),
            protected_tokens=tuple(made_by.protected_tokens),
            renderer_version=made_by.renderer_version,
        ),
    )
