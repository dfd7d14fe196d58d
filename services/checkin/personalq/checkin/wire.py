"""Protobuf to domain and back; protobuf stops here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from google.protobuf.timestamp_pb2 import Timestamp

from personalq.checkin.answering.answer import Reply
from personalq.checkin.cards import (
    ArtifactRef,
    Card,
    CardFilter,
    Hit,
    Hits,
    Query,
    Vocabulary,
)
from personalq.checkin.intent import Attribute, Constraint, Intent, Interval, OrderKey, Span
from personalq.checkin.names import Named, NameKind, Names
from personalq.checkin.outcome import (
    Answered,
    Candidate,
    Clarification,
    NoMatch,
    Option,
    Selection,
)
from personalq.checkin.request import Request
from personalq.v1 import catalog_pb2, checkin_pb2, types_pb2

_FIRST = datetime(1000, 1, 1, tzinfo=UTC)
_LAST = datetime(9000, 1, 1, tzinfo=UTC)
"""Instants beyond are read as these: around them there is a last week in every time zone."""
_NOTHING: Mapping[str, float] = {}
_ATTRIBUTES: dict[Attribute, types_pb2.Attribute.ValueType] = {
    Attribute.SUBJECT: types_pb2.ATTRIBUTE_SUBJECT,
    Attribute.STYLE: types_pb2.ATTRIBUTE_STYLE,
    Attribute.CREATED_AT: types_pb2.ATTRIBUTE_CREATED_AT,
    Attribute.LAST_USED_AT: types_pb2.ATTRIBUTE_LAST_USED_AT,
    Attribute.USE_COUNT: types_pb2.ATTRIBUTE_USE_COUNT,
    Attribute.VERSION: types_pb2.ATTRIBUTE_VERSION,
    Attribute.ENVIRONMENT: types_pb2.ATTRIBUTE_ENVIRONMENT,
    Attribute.OWNER: types_pb2.ATTRIBUTE_OWNER,
    Attribute.ORDER: types_pb2.ATTRIBUTE_ORDER,
    Attribute.DESCRIPTION: types_pb2.ATTRIBUTE_DESCRIPTION,
    Attribute.IDENTITY: types_pb2.ATTRIBUTE_IDENTITY,
}
_NAME_KINDS = {
    catalog_pb2.NAME_KIND_CHECKPOINT_ID: NameKind.CHECKPOINT_ID,
    catalog_pb2.NAME_KIND_TRIGGER: NameKind.TRIGGER,
    catalog_pb2.NAME_KIND_ALIAS: NameKind.ALIAS,
    catalog_pb2.NAME_KIND_NAME: NameKind.NAME,
}
_ORDERS: dict[OrderKey, types_pb2.OrderKey.ValueType] = {
    OrderKey.NEWEST: types_pb2.ORDER_KEY_NEWEST,
    OrderKey.OLDEST: types_pb2.ORDER_KEY_OLDEST,
    OrderKey.LAST_USED: types_pb2.ORDER_KEY_LAST_USED,
    OrderKey.MOST_USED: types_pb2.ORDER_KEY_MOST_USED,
    OrderKey.LEAST_USED: types_pb2.ORDER_KEY_LEAST_USED,
    OrderKey.LEAST_RECENTLY_USED: types_pb2.ORDER_KEY_LEAST_RECENTLY_USED,
    OrderKey.HIGHEST_VERSION: types_pb2.ORDER_KEY_HIGHEST_VERSION,
    OrderKey.LOWEST_VERSION: types_pb2.ORDER_KEY_LOWEST_VERSION,
}


def request_to_domain(message: checkin_pb2.SelectRequest, tenant: str) -> Request:
    """A SelectRequest as the use case takes it."""
    reference = None
    if message.HasField("reference_time"):
        reference = _moment(message.reference_time)
    return Request(
        prompt=message.prompt,
        answers=tuple(Reply(question_id=a.question_id, text=a.text) for a in message.answers),
        reference_time=reference,
        time_zone=message.time_zone,
        candidate_ids=tuple(message.candidate_ids),
        profile=message.preferences.profile,
        explain=message.explain,
        owner=message.owner,
        tenant=tenant,
    )


def query_to_wire(query: Query) -> catalog_pb2.SearchCheckpointsRequest:
    """A search for the catalog."""
    return catalog_pb2.SearchCheckpointsRequest(
        text=query.text,
        filter=_filter_to_wire(query.filter),
        order=_ORDERS[query.order] if query.order else types_pb2.ORDER_KEY_UNSPECIFIED,
        page_size=query.limit,
        phrases=query.phrases,
    )


def _filter_to_wire(filter_: CardFilter) -> catalog_pb2.CheckpointFilter:
    message = catalog_pb2.CheckpointFilter(
        subjects=filter_.subjects,
        styles=filter_.styles,
        excluded_styles=filter_.excluded_styles,
        excluded_subjects=filter_.excluded_subjects,
        versions=filter_.versions,
        environments=filter_.environments,
        excluded_environments=filter_.excluded_environments,
        owners=filter_.owners,
        checkpoint_ids=filter_.checkpoint_ids,
        triggers=filter_.triggers,
        names=filter_.names,
    )
    if filter_.created is not None:
        message.created.CopyFrom(_interval_to_wire(filter_.created))
    if filter_.last_used is not None:
        message.last_used.CopyFrom(_interval_to_wire(filter_.last_used))
    return message


def hits_to_domain(message: catalog_pb2.SearchCheckpointsResponse, phrases: Sequence[str]) -> Hits:
    """A page of hits; cards and artifacts keep their messages to be handed on unread.

    Args:
        phrases: those of the query.
    """
    return Hits(hits=tuple(_hit(hit, phrases) for hit in message.hits), total=message.total_matches)


def _hit(message: catalog_pb2.SearchHit, phrases: Sequence[str]) -> Hit:
    wire = message.checkpoint.SerializeToString()
    return Hit(
        card=card_to_domain(wire),
        likeness=_by_phrase(phrases, message.likeness),
        text_likeness=_by_phrase(phrases, message.text_likeness),
        word_likeness=_by_phrase(phrases, message.word_likeness),
        artifacts=tuple(
            ArtifactRef(
                profile=artifact.profile,
                digest=artifact.digest,
                wire=artifact.SerializeToString(),
            )
            for artifact in message.artifacts
        ),
        wire=wire,
    )


def _by_phrase(phrases: Sequence[str], values: Sequence[float]) -> Mapping[str, float]:
    return dict(zip(phrases, values, strict=False)) if values else _NOTHING


def vocabulary_to_domain(message: catalog_pb2.GetVocabularyResponse) -> Vocabulary:
    """A tenant's words and names."""
    return Vocabulary(
        subjects=tuple(message.subjects),
        styles=tuple(message.styles),
        environments=tuple(message.environments),
        owners=tuple(message.owners),
        names=_known_names(message.names) if message.names_complete else None,
        revision=message.revision,
    )


def _known_names(messages: Iterable[catalog_pb2.CheckpointName]) -> tuple[Named, ...]:
    """Names; kinds of a newer catalog are no news."""
    return tuple(
        Named(kind=_NAME_KINDS[each.kind], spelling=each.spelling)
        for each in messages
        if each.kind in _NAME_KINDS
    )


def names_to_domain(message: catalog_pb2.ResolveNamesResponse) -> Names:
    """What names are, by the words that were asked about; kinds of a newer catalog are no news."""
    names: dict[str, list[Named]] = {}
    for found in message.names:
        if found.kind in _NAME_KINDS:
            named = Named(kind=_NAME_KINDS[found.kind], spelling=found.spelling)
            names.setdefault(found.name, []).append(named)
    return names


@lru_cache(maxsize=8192)
def card_to_domain(wire: bytes) -> Card:
    """The card of a message; most come again and again, and reading one takes ten times as long."""
    message = types_pb2.Checkpoint.FromString(wire)
    return Card(
        checkpoint_id=message.checkpoint_id,
        name=message.name,
        aliases=tuple(message.aliases),
        triggers=tuple(message.triggers),
        subjects=tuple(message.subjects),
        styles=tuple(message.styles),
        description=message.description,
        base_model=message.base_model,
        version=message.version if message.HasField("version") else None,
        created_at=_moment(message.created_at) if message.HasField("created_at") else None,
        last_used_at=_moment(message.last_used_at) if message.HasField("last_used_at") else None,
        use_count=message.use_count,
        environments=tuple(message.environments),
        owner=message.owner,
    )


def _moment(stamp: Timestamp) -> datetime:
    """The instant, kept away from the ends of the calendar."""
    try:
        return min(max(stamp.ToDatetime(tzinfo=UTC), _FIRST), _LAST)
    except (ValueError, OverflowError):
        return _FIRST if stamp.seconds < 0 else _LAST


def _stamp(moment: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(moment.astimezone(UTC))
    return stamp


def answered_to_wire(answered: Answered) -> checkin_pb2.SelectResponse:
    """The outcome and the intent."""
    response = checkin_pb2.SelectResponse(
        intent=_intent_to_wire(answered.intent), degraded=answered.degraded
    )
    match answered.outcome:
        case Selection() as selection:
            response.selection.CopyFrom(_selection_to_wire(selection))
        case Clarification() as asked:
            response.clarification.CopyFrom(_clarification_to_wire(asked))
        case NoMatch() as nothing:
            response.no_match.CopyFrom(_no_match_to_wire(nothing))
    return response


def _selection_to_wire(selection: Selection) -> checkin_pb2.Selection:
    rewrite = selection.rewrite
    message = checkin_pb2.Selection(
        checkpoint=types_pb2.Checkpoint.FromString(selection.candidate.hit.wire),
        rewritten_prompt=rewrite.rewritten_prompt,
        render_prompt=rewrite.render_prompt,
        trigger_spans=_spans(rewrite.trigger_spans),
        render_trigger_spans=_spans(rewrite.render_trigger_spans),
        replaced=[
            checkin_pb2.Replacement(span=_span(item.span), text=item.text)
            for item in rewrite.replaced
        ],
        confidence=selection.confidence,
        reasons=selection.reasons,
        runners_up=[_scored(candidate) for candidate in selection.runners_up],
    )
    if selection.artifact is not None:
        message.artifact.CopyFrom(types_pb2.Artifact.FromString(selection.artifact.wire))
    return message


def _clarification_to_wire(asked: Clarification) -> checkin_pb2.Clarification:
    return checkin_pb2.Clarification(
        question_id=asked.question_id,
        question=asked.question,
        options=[_option(option) for option in asked.options],
        attribute=_ATTRIBUTES[asked.attribute],
        confidence=asked.confidence,
        candidates=[_scored(candidate) for candidate in asked.candidates],
    )


def _option(option: Option) -> checkin_pb2.Option:
    return checkin_pb2.Option(
        label=option.label, attribute=_ATTRIBUTES[option.attribute], value=option.value
    )


def _no_match_to_wire(nothing: NoMatch) -> checkin_pb2.NoMatch:
    message = checkin_pb2.NoMatch(
        explanation=nothing.explanation,
        alternatives=[_scored(candidate) for candidate in nothing.alternatives],
    )
    if nothing.failed is not None:
        message.failed.CopyFrom(_constraint_to_wire(nothing.failed))
    return message


def _scored(candidate: Candidate) -> checkin_pb2.ScoredCheckpoint:
    return checkin_pb2.ScoredCheckpoint(
        checkpoint_id=candidate.card.checkpoint_id,
        probability=candidate.probability,
        reasons=candidate.reasons,
    )


def _intent_to_wire(intent: Intent) -> types_pb2.Intent:
    constraints = intent.constraints
    if intent.unknown_subject is not None:
        constraints = (*constraints, intent.unknown_subject)
    return types_pb2.Intent(
        constraints=[_constraint_to_wire(constraint) for constraint in constraints],
        content=_spans(intent.content),
        problems=intent.problems,
    )


def _constraint_to_wire(constraint: Constraint) -> types_pb2.Constraint:
    message = types_pb2.Constraint(
        attribute=_ATTRIBUTES[constraint.attribute],
        values=constraint.values,
        excluded=constraint.excluded,
        order=_ORDERS[constraint.order] if constraint.order else types_pb2.ORDER_KEY_UNSPECIFIED,
        rank=constraint.rank,
        text=constraint.text,
        hard=constraint.hard,
    )
    if constraint.span is not None:
        message.span.CopyFrom(_span(constraint.span))
    if constraint.interval is not None:
        message.interval.CopyFrom(_interval_to_wire(constraint.interval))
    return message


def _interval_to_wire(interval: Interval) -> types_pb2.TimeInterval:
    message = types_pb2.TimeInterval()
    if interval.start is not None:
        message.start.CopyFrom(_stamp(interval.start))
    if interval.end is not None:
        message.end.CopyFrom(_stamp(interval.end))
    return message


def _span(span: Span) -> types_pb2.TextSpan:
    return types_pb2.TextSpan(start=span.start, end=span.end)


def _spans(spans: Iterable[Span]) -> list[types_pb2.TextSpan]:
    return [_span(span) for span in spans]
