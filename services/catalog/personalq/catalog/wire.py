"""Protobuf ⇄ domain. Protobuf stops here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import TypeVar

from google.protobuf.timestamp_pb2 import Timestamp

from personalq.catalog.cards import (
    Artifact,
    Card,
    Filter,
    Format,
    Interval,
    Origin,
    State,
    Vocabulary,
)
from personalq.catalog.lifecycle import Failure
from personalq.catalog.names import NameKind, Resolved
from personalq.catalog.search import Hits, Order
from personalq.chassis.errors import InvalidInput
from personalq.v1 import catalog_pb2, events_pb2, types_pb2

K = TypeVar("K")
V = TypeVar("V")

_STATES = {
    State.REGISTERED: types_pb2.CHECKPOINT_STATE_REGISTERED,
    State.SERVABLE: types_pb2.CHECKPOINT_STATE_SERVABLE,
    State.FAILED: types_pb2.CHECKPOINT_STATE_FAILED,
    State.ARCHIVED: types_pb2.CHECKPOINT_STATE_ARCHIVED,
}
_FORMATS = {
    Format.UNKNOWN: types_pb2.CHECKPOINT_FORMAT_UNSPECIFIED,
    Format.LORA: types_pb2.CHECKPOINT_FORMAT_LORA,
    Format.FULL: types_pb2.CHECKPOINT_FORMAT_FULL,
    Format.TEXTUAL_INVERSION: types_pb2.CHECKPOINT_FORMAT_TEXTUAL_INVERSION,
}
_ORDERS = {
    types_pb2.ORDER_KEY_UNSPECIFIED: Order.RELEVANCE,
    types_pb2.ORDER_KEY_NEWEST: Order.NEWEST,
    types_pb2.ORDER_KEY_OLDEST: Order.OLDEST,
    types_pb2.ORDER_KEY_LAST_USED: Order.LAST_USED,
    types_pb2.ORDER_KEY_MOST_USED: Order.MOST_USED,
    types_pb2.ORDER_KEY_LEAST_USED: Order.LEAST_USED,
    types_pb2.ORDER_KEY_LEAST_RECENTLY_USED: Order.LEAST_RECENTLY_USED,
    types_pb2.ORDER_KEY_HIGHEST_VERSION: Order.HIGHEST_VERSION,
    types_pb2.ORDER_KEY_LOWEST_VERSION: Order.LOWEST_VERSION,
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAME_KINDS = {
    NameKind.CHECKPOINT_ID: catalog_pb2.NAME_KIND_CHECKPOINT_ID,
    NameKind.TRIGGER: catalog_pb2.NAME_KIND_TRIGGER,
    NameKind.ALIAS: catalog_pb2.NAME_KIND_ALIAS,
    NameKind.NAME: catalog_pb2.NAME_KIND_NAME,
}
_STATES_BACK = {number: state for state, number in _STATES.items()}
_FORMATS_BACK = {number: kind for kind, number in _FORMATS.items()}


def card_to_wire(card: Card) -> types_pb2.Checkpoint:
    """A card as it travels."""
    return types_pb2.Checkpoint(
        checkpoint_id=card.checkpoint_id,
        name=card.name,
        aliases=card.aliases,
        triggers=card.triggers,
        subjects=card.subjects,
        styles=card.styles,
        description=card.description,
        base_model=card.base_model,
        version=card.version,
        created_at=_to_timestamp(card.created_at),
        last_used_at=_to_timestamp(card.last_used_at),
        use_count=card.use_count,
        environments=card.environments,
        owner=card.owner,
        source=types_pb2.CheckpointSource(
            uri=card.source.uri,
            sha256=card.source.sha256,
            size_bytes=card.source.size_bytes,
            format=_FORMATS[card.source.format],
        ),
        state=_STATES[card.state],
        state_reason=card.state_reason,
        registered_at=_to_timestamp(card.registered_at),
        updated_at=_to_timestamp(card.updated_at),
    )


def card_to_domain(message: types_pb2.Checkpoint) -> Card:
    """A card as a caller sent it; state and the catalog's own times are ignored.

    Raises:
        InvalidInput: a time lies outside of years 1 to 9999, or the format is one of a newer
            version.
    """
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
        created_at=_optional_time(message, "created_at", "checkpoint.created_at"),
        last_used_at=_optional_time(message, "last_used_at", "checkpoint.last_used_at"),
        use_count=message.use_count,
        environments=tuple(message.environments),
        owner=message.owner,
        source=Origin(
            uri=message.source.uri,
            sha256=message.source.sha256,
            size_bytes=message.source.size_bytes,
            format=_known(_FORMATS_BACK, message.source.format, "checkpoint.source.format"),
        ),
    )


def artifact_to_wire(artifact: Artifact) -> types_pb2.Artifact:
    """An artifact as it travels."""
    return types_pb2.Artifact(
        checkpoint_id=artifact.checkpoint_id,
        profile=artifact.profile,
        digest=artifact.digest,
        size_bytes=artifact.size_bytes,
        base_digest=artifact.base_digest,
        base_size_bytes=artifact.base_size_bytes,
        base_model=artifact.base_model,
        recipe_version=artifact.recipe_version,
        triggers=artifact.triggers,
        source_sha256=artifact.source_sha256,
        created_at=_to_timestamp(artifact.created_at),
    )


def artifact_to_domain(message: types_pb2.Artifact) -> Artifact:
    """The artifact of an event; raises InvalidInput when what identifies it is missing."""
    for name in ("checkpoint_id", "profile", "digest", "source_sha256"):
        if not getattr(message, name):
            raise InvalidInput(f"the artifact has no {name}", field=f"artifact.{name}")
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
        created_at=_time(message.created_at, "artifact.created_at"),
    )


def failure_to_domain(event: events_pb2.ArtifactFailed) -> Failure:
    """The failure an event tells of; raises InvalidInput when what identifies it is missing."""
    for name in ("checkpoint_id", "profile", "source_sha256"):
        if not getattr(event, name):
            raise InvalidInput(f"the failure has no {name}", field=name)
    return Failure(
        checkpoint_id=event.checkpoint_id,
        profile=event.profile,
        source_sha256=event.source_sha256,
        reason=event.reason or "the quantizer gave no reason",
        failed_at=_time(event.failed_at, "failed_at"),
        recipe_version=event.recipe_version,
    )


def filter_to_domain(message: catalog_pb2.CheckpointFilter) -> Filter:
    """Hard constraints; raises InvalidInput for a state or a time there is not."""
    return Filter(
        subjects=tuple(message.subjects),
        excluded_subjects=tuple(message.excluded_subjects),
        styles=tuple(message.styles),
        excluded_styles=tuple(message.excluded_styles),
        environments=tuple(message.environments),
        excluded_environments=tuple(message.excluded_environments),
        created=_interval(message.created, "filter.created"),
        last_used=_interval(message.last_used, "filter.last_used"),
        versions=tuple(message.versions),
        owners=tuple(message.owners),
        checkpoint_ids=tuple(message.checkpoint_ids),
        triggers=tuple(message.triggers),
        names=tuple(message.names),
        states=tuple(_known(_STATES_BACK, state, "filter.states") for state in message.states),
    )


def order_to_domain(order: types_pb2.OrderKey.ValueType) -> Order:
    """What to sort by; raises InvalidInput for a key of a newer version."""
    return _known(_ORDERS, order, "order")


def hits_to_wire(found: Hits) -> catalog_pb2.SearchCheckpointsResponse:
    """A page of hits as it travels."""
    message = catalog_pb2.SearchCheckpointsResponse(
        next_page_token=found.next_page_token,
        total_matches=found.total_matches,
        dense=found.dense,
    )
    for hit in found.hits:
        message.hits.add(
            score=hit.score,
            similarity=hit.similarity,
            dense_rank=hit.dense_rank,
            sparse_rank=hit.sparse_rank,
            likeness=hit.likeness,
            text_likeness=hit.text_likeness,
            word_likeness=hit.word_likeness,
        ).MergeFrom(_found_to_wire(hit.card, hit.card.artifacts))
    return message


def artifacts_to_wire(artifacts: Sequence[Artifact]) -> list[types_pb2.Artifact]:
    """Artifacts as they travel."""
    return [artifact_to_wire(artifact) for artifact in artifacts]


def vocabulary_to_wire(words: Vocabulary) -> catalog_pb2.GetVocabularyResponse:
    """A tenant's words and names as they travel."""
    return catalog_pb2.GetVocabularyResponse(
        subjects=words.subjects,
        styles=words.styles,
        environments=words.environments,
        owners=words.owners,
        revision=words.revision,
        modified=words.modified,
        names=[
            catalog_pb2.CheckpointName(kind=_NAME_KINDS[name.kind], spelling=name.spelling)
            for name in words.names
        ],
        names_complete=words.names_complete,
        selectable_cards=words.cards,
    )


def names_to_wire(found: Sequence[Resolved]) -> catalog_pb2.ResolveNamesResponse:
    """Names that were found as they travel."""
    return catalog_pb2.ResolveNamesResponse(
        names=[
            catalog_pb2.ResolvedName(
                name=each.asked, kind=_NAME_KINDS[each.name.kind], spelling=each.name.spelling
            )
            for each in found
        ]
    )


@lru_cache(maxsize=8192)
def _found_to_wire(card: Card, artifacts: tuple[Artifact, ...]) -> catalog_pb2.SearchHit:
    """What each hit says of a card; cards are found again and again, and do not change."""
    return catalog_pb2.SearchHit(
        checkpoint=card_to_wire(card), artifacts=artifacts_to_wire(artifacts)
    )


def _interval(message: types_pb2.TimeInterval, field: str) -> Interval:
    return Interval(
        start=_optional_time(message, "start", f"{field}.start"),
        end=_optional_time(message, "end", f"{field}.end"),
    )


def _optional_time(
    message: types_pb2.Checkpoint | types_pb2.TimeInterval, name: str, field: str
) -> datetime | None:
    if not message.HasField(name):  # type: ignore[arg-type]  # a literal per message type
        return None
    return _time(getattr(message, name), field)


def _time(timestamp: Timestamp, field: str) -> datetime:
    try:
        return timestamp.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise InvalidInput("the time is not between the years 1 and 9999", field=field) from None


def _to_timestamp(moment: datetime | None) -> Timestamp | None:
    if moment is None:
        return None
    # A search has a thousand of them; Timestamp.FromDatetime takes ten times as long.
    since = moment - _EPOCH
    return Timestamp(seconds=since.days * 86_400 + since.seconds, nanos=since.microseconds * 1_000)


def _known(table: dict[K, V], number: K, field: str) -> V:
    try:
        return table[number]
    except KeyError:
        raise InvalidInput(f"{field} {number} is not one this version knows", field=field) from None
