"""Registration: from a file somewhere to a card that can be selected."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from personalq.catalog.cards import (
    EARLIEST,
    MAX_NAME,
    Card,
    Format,
    State,
    checked,
    printable,
    registration_hash,
)
from personalq.catalog.embedding import embedded
from personalq.catalog.lifecycle import state_of
from personalq.catalog.ports import (
    Announcer,
    CardStore,
    CardWriter,
    Describer,
    Embedder,
    Embedding,
    Examined,
    Examiner,
)
from personalq.chassis.errors import (
    Conflict,
    CorruptFile,
    InvalidInput,
    NotFound,
)
from personalq.chassis.inspection import Inspection, check_base

log = logging.getLogger(__name__)

#: How far ahead of ours another machine's clock commonly is.
CLOCK_SKEW = timedelta(days=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Registered:
    """What came of a registration."""

    card: Card
    #: False when the very same was there already.
    created: bool


async def register_checkpoint(
    landed: Card,
    *,
    tenant: str,
    store: CardStore,
    examine: Examiner,
    describe: Describer,
    embedder: Embedder | None,
    announce: Announcer,
    base_models: Mapping[str, int],
    profiles: Collection[str],
    now: datetime,
) -> Registered:
    """Verify a checkpoint's file, store its card, announce it.

    The same again changes nothing and is announced again, under the same event id. The same id
    with another file is the next revision of that card: its state begins anew, and artifacts of
    the earlier file no longer count. Description, triggers and whatever else the card says may
    change without a new file. What was counted and corrected since (uses, changed fields) survives
    a repetition, not a change.

    Args:
        landed: the card as the pipeline knows it.
        base_models: width of the text each known base model reads; anything goes when empty.
        profiles: serving profiles that make a card servable.

    Raises:
        InvalidInput: a field, or the file, is not acceptable; nothing was stored.
        Conflict: the card has a file that was trained later.
        Unavailable: the file's place, the database or the bus is out of reach; a repetition
            finishes what was begun.
    """
    landed = checked(landed)
    known = await store.card(tenant, landed.checkpoint_id)
    if known is not None and _is_repetition(landed, known):
        return await _again(known, tenant=tenant, announce=announce)

    examined = await _examined(landed, examine)
    card = await _completed(landed, examined, base_models=base_models, describe=describe, now=now)
    embedding = await embedded(card, embedder)

    async with store.writing(tenant) as writer:
        known = await writer.card(card.checkpoint_id)
        if known is not None and known.registration_hash == card.registration_hash:
            created = False
        else:
            known = await _put(writer, card, known, embedding, profiles=profiles, now=now)
            created = True
    if not created:
        return await _again(known, tenant=tenant, announce=announce)
    if known.state is not State.ARCHIVED:
        await announce.registered(tenant, known)
    log.info(
        "checkpoint registered",
        extra={
            "action": "register_checkpoint",
            "checkpoint_id": known.checkpoint_id,
            "revision": known.revision,
            "source_sha256": known.source.sha256,
            "format": str(known.source.format),
        },
    )
    if known.created_at is not None and known.created_at > now + CLOCK_SKEW:
        # It would be "the latest" until then, and no earlier file can replace it.
        log.warning(
            "checkpoint from the future",
            extra={
                "action": "register_checkpoint",
                "checkpoint_id": known.checkpoint_id,
                "created_at": known.created_at.isoformat(),
            },
        )
    return Registered(card=known, created=True)


def _is_repetition(landed: Card, known: Card) -> bool:
    """Whether it is the registration that was stored last, by its word for the file's digest."""
    return bool(landed.source.sha256) and known.registration_hash == registration_hash(landed)


async def _again(known: Card, *, tenant: str, announce: Announcer) -> Registered:
    """The first time may have broken off before the event was out."""
    if known.state is not State.ARCHIVED:
        await announce.registered(tenant, known)
    return Registered(card=known, created=False)


async def _examined(landed: Card, examine: Examiner) -> Examined:
    """What the file is; whatever is wrong with it is a problem of the source."""
    try:
        return await examine(landed.source)
    except CorruptFile as error:
        raise CorruptFile(error.message, field="checkpoint.source") from error
    except (InvalidInput, NotFound) as error:
        raise InvalidInput(error.message, field="checkpoint.source.uri") from error


async def _completed(
    landed: Card,
    examined: Examined,
    *,
    base_models: Mapping[str, int],
    describe: Describer,
    now: datetime,
) -> Card:
    """The card with everything the file tells."""
    announced = landed.source.format
    if announced not in (Format.UNKNOWN, examined.origin.format):
        raise InvalidInput(
            f"the file is a {examined.origin.format} checkpoint, not {announced}; leave the "
            "format out, it is read from the file",
            field="checkpoint.source.format",
        )
    inspection = examined.inspection
    landed = replace(landed, source=examined.origin)
    trained_at = inspection.trained_at
    # What a file says is a hint: nobody stands for it.
    if trained_at is not None and not EARLIEST <= trained_at <= now + CLOCK_SKEW:
        trained_at = None
    card = replace(
        landed,
        base_model=_base_model(landed, inspection, base_models),
        created_at=landed.created_at or trained_at,
        lora_rank=inspection.rank or None,
        cross_attention_width=inspection.cross_attention_width or None,
        registration_hash=registration_hash(landed),
        state=State.REGISTERED,
        state_reason="",
    )
    if not card.description:
        card = replace(card, description=await describe(card, examined))
    return card


def _base_model(landed: Card, inspection: Inspection, base_models: Mapping[str, int]) -> str:
    """The base model's id, checked against what the file's tensors demand."""
    named = landed.base_model or printable(inspection.base_model, MAX_NAME)
    if not base_models:
        return named
    if named in base_models:
        _check_base(inspection, named, base_models)
        return named
    if landed.base_model:
        raise InvalidInput(
            f"base model {landed.base_model!r} is not served here; served are "
            f"{', '.join(sorted(base_models))}",
            field="checkpoint.base_model",
        )
    # The trainer's name for it, often a path of its own machine, is only a hint.
    fitting = [name for name in sorted(base_models) if _fits(inspection, name, base_models)]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        _check_base(inspection, min(base_models), base_models)
    raise InvalidInput(
        f"name the base model it was trained on: {' or '.join(fitting)}",
        field="checkpoint.base_model",
    )


def _check_base(inspection: Inspection, name: str, base_models: Mapping[str, int]) -> None:
    try:
        check_base(inspection, base_models[name], base_model=name)
    except InvalidInput as error:
        raise InvalidInput(error.message, field="checkpoint.base_model") from error


def _fits(inspection: Inspection, name: str, base_models: Mapping[str, int]) -> bool:
    try:
        _check_base(inspection, name, base_models)
    except InvalidInput:
        return False
    return True


async def _put(
    writer: CardWriter,
    card: Card,
    known: Card | None,
    embedding: Embedding | None,
    *,
    profiles: Collection[str],
    now: datetime,
) -> Card:
    """Store the card over the one that is known."""
    if known is not None:
        card = _succeeding(card, known)
        # Artifacts of this very file may exist, also when it was replaced and is back.
        state, reason = state_of(card, await writer.outcomes(card), profiles=profiles)
        card = replace(card, state=state, state_reason=reason)
    card = await writer.put_card(replace(card, created_at=card.created_at or now))
    if embedding is not None:
        await writer.put_embedding(card.checkpoint_id, embedding)
    return card


def _succeeding(card: Card, known: Card) -> Card:
    """The card as the next revision of the known one."""
    used = [moment for moment in (card.last_used_at, known.last_used_at) if moment]
    card = replace(
        card, last_used_at=max(used, default=None), use_count=max(card.use_count, known.use_count)
    )
    if card.source.sha256 == known.source.sha256:
        # Nothing but a new file brings a withdrawn checkpoint back.
        return replace(
            card,
            created_at=card.created_at or known.created_at,
            state=known.state,
            state_reason=known.state_reason,
        )
    if card.created_at and known.created_at and card.created_at < known.created_at:
        raise Conflict(
            f"{card.checkpoint_id} has a file trained on {known.created_at.isoformat()}, this one "
            f"is from {card.created_at.isoformat()}: register it under another id, or correct "
            "created_at"
        )
    return card
