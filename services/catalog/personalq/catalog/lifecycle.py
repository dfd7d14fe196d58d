"""What becomes of a registered checkpoint: artifacts arrive or fail, owners change or withdraw it.

    REGISTERED ──artifact ready──▶ SERVABLE        (any state) ──archive──▶ ARCHIVED
        │                             ▲
        └──all tries failed──▶ FAILED─┘ artifact ready after all

Events may come late, twice or in the wrong order: each only adds what it knows, and the state is
worked out anew from all that is known.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from personalq.catalog.cards import Artifact, Card, State, checked, checked_id, printable, text_hash
from personalq.catalog.embedding import embedded
from personalq.catalog.places import told_places
from personalq.catalog.ports import Announcer, CardStore, CardWriter, Embedder
from personalq.chassis.errors import InvalidInput, NotFound

log = logging.getLogger(__name__)

MAX_REASON = 1000

#: What a caller may change; the rest belongs to the file or to the catalog.
UPDATABLE = frozenset(
    {
        "name",
        "aliases",
        "triggers",
        "subjects",
        "styles",
        "description",
        "version",
        "created_at",
        "last_used_at",
        "use_count",
        "environments",
        "owner",
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of one profile of one source: an artifact, a failure, or an artifact whose
    successor failed.
    """

    profile: str
    artifact: Artifact | None = None
    #: The last failure that no later artifact answered; None when there is none.
    failed_at: datetime | None = None
    failed_reason: str = ""
    #: The recipe that failed; a newer one is worth another try.
    failed_recipe_version: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A checkpoint could not be quantized for a profile."""

    checkpoint_id: str
    profile: str
    source_sha256: str
    reason: str
    failed_at: datetime
    #: The recipe that failed, which is not always the one that is current here.
    recipe_version: int


def with_artifact(known: Outcome | None, artifact: Artifact, *, triggers: Sequence[str]) -> Outcome:
    """Add an artifact; it answers earlier failures.

    One that protects the card's present triggers wins, then the newer recipe, then the later one.
    """
    if known is None:
        return Outcome(profile=artifact.profile, artifact=artifact)
    held = known.artifact
    if held is not None and _worth(held, triggers) >= _worth(artifact, triggers):
        return known
    answered = known.failed_at is not None and known.failed_at <= artifact.created_at
    if answered:
        return Outcome(profile=artifact.profile, artifact=artifact)
    return replace(known, artifact=artifact)


def with_failure(known: Outcome | None, failure: Failure) -> Outcome:
    """Add a failure, unless something later is known already; an artifact stays usable."""
    known = known or Outcome(profile=failure.profile)
    if known.artifact is not None and known.artifact.created_at >= failure.failed_at:
        return known
    if known.failed_at is not None and known.failed_at >= failure.failed_at:
        return known
    return replace(
        known,
        failed_at=failure.failed_at,
        failed_reason=printable(failure.reason, MAX_REASON),
        failed_recipe_version=failure.recipe_version,
    )


def state_of(
    card: Card, outcomes: Sequence[Outcome], *, profiles: Collection[str]
) -> tuple[State, str]:
    """The state a card should have, and why, given what became of its present source."""
    if card.state is State.ARCHIVED:
        return State.ARCHIVED, card.state_reason
    wanted = [outcome for outcome in outcomes if outcome.profile in profiles]
    if any(outcome.artifact for outcome in wanted):
        return State.SERVABLE, ""
    failures = sorted(o for o in ((w.profile, w.failed_reason) for w in wanted if w.failed_at))
    if failures:
        return State.FAILED, "; ".join(f"{profile}: {reason}" for profile, reason in failures)
    return State.REGISTERED, ""


async def accept_artifact(
    artifact: Artifact, *, tenant: str, store: CardStore, profiles: Collection[str]
) -> bool:
    """Note that an artifact is ready; False when it is of no card, or of an earlier file."""
    async with store.writing(tenant) as writer:
        card = await _addressed(writer, artifact.checkpoint_id, artifact.source_sha256)
        if card is None:
            return False
        outcomes = {outcome.profile: outcome for outcome in await writer.outcomes(card)}
        before = outcomes.get(artifact.profile)
        outcomes[artifact.profile] = with_artifact(before, artifact, triggers=card.triggers)
        return await _settle(writer, card, before, outcomes, artifact.profile, profiles)


async def accept_failure(
    failure: Failure, *, tenant: str, store: CardStore, profiles: Collection[str]
) -> bool:
    """Note that quantization failed; False when it is of no card, or of an earlier file."""
    async with store.writing(tenant) as writer:
        card = await _addressed(writer, failure.checkpoint_id, failure.source_sha256)
        if card is None:
            return False
        outcomes = {outcome.profile: outcome for outcome in await writer.outcomes(card)}
        before = outcomes.get(failure.profile)
        outcomes[failure.profile] = with_failure(before, failure)
        return await _settle(writer, card, before, outcomes, failure.profile, profiles)


async def update_checkpoint(
    checkpoint_id: str,
    changes: Card,
    mask: Sequence[str],
    *,
    tenant: str,
    store: CardStore,
    embedder: Embedder | None,
    announce: Announcer,
) -> Card:
    """Change the fields named by the mask; new triggers are announced, to be protected.

    Raises:
        InvalidInput: no path, an unknown path, or a value that is not allowed.
        NotFound: there is no such card.
    """
    checked_id(checkpoint_id)
    if not mask:
        raise InvalidInput("name the fields to change", field="update_mask")
    unknown = sorted(set(mask) - UPDATABLE)
    if unknown:
        raise InvalidInput(
            f"{', '.join(unknown)} cannot be changed; these can: {', '.join(sorted(UPDATABLE))}",
            field="update_mask",
        )
    async with store.writing(tenant) as writer:
        before = await _existing(writer, checkpoint_id)
        after = replace(before, **{path: getattr(changes, path) for path in mask})
        if "environments" not in mask and before.environments == told_places(before.description):
            # They are the description's, and follow it.
            after = replace(after, environments=())
        after = checked(after)
        if after.created_at is None:
            after = replace(after, created_at=before.created_at)
        if after != before:
            after = await writer.put_card(after)
    if text_hash(after) != text_hash(before):
        embedding = await embedded(after, embedder)
        if embedding is not None:
            async with store.writing(tenant) as writer:
                await writer.put_embedding(checkpoint_id, embedding)
    # Also when they stay: the first time may have broken off before the event was out.
    if "triggers" in mask and after.state is not State.ARCHIVED:
        await announce.registered(tenant, after)
    return after


async def archive_checkpoint(
    checkpoint_id: str, *, tenant: str, store: CardStore, announce: Announcer
) -> Card:
    """Withdraw a checkpoint; doing so again only announces it again.

    Raises:
        NotFound: there is no such card.
    """
    checked_id(checkpoint_id)
    async with store.writing(tenant) as writer:
        card = await _existing(writer, checkpoint_id)
        if card.state is not State.ARCHIVED:
            card = await writer.put_card(replace(card, state=State.ARCHIVED, state_reason=""))
    await announce.archived(tenant, card)
    return card


def unknown_checkpoint(checkpoint_id: str) -> NotFound:
    """The error for an id no card has."""
    return NotFound(f"there is no checkpoint {checkpoint_id!r}; ListCheckpoints shows which exist")


async def _existing(writer: CardWriter, checkpoint_id: str) -> Card:
    card = await writer.card(checkpoint_id)
    if card is None:
        raise unknown_checkpoint(checkpoint_id)
    return card


async def _addressed(writer: CardWriter, checkpoint_id: str, source_sha256: str) -> Card | None:
    """The card an event is about; None, and a log line, when it has nothing to say any more."""
    card = await writer.card(checkpoint_id)
    if card is not None and card.source.sha256 == source_sha256:
        return card
    log.info(
        "event ignored",
        extra={
            "action": "ignore_event",
            "checkpoint_id": checkpoint_id,
            "why": "no such card" if card is None else "the card has another file now",
        },
    )
    return None


async def _settle(
    writer: CardWriter,
    card: Card,
    before: Outcome | None,
    outcomes: dict[str, Outcome],
    profile: str,
    profiles: Collection[str],
) -> bool:
    """Store an outcome if it is news, and the state that follows from it."""
    if outcomes[profile] == before:
        return False
    await writer.put_outcome(card.checkpoint_id, card.source.sha256, outcomes[profile])
    state, reason = state_of(card, list(outcomes.values()), profiles=profiles)
    # Also when the state stays: watchers want to see the artifact.
    await writer.put_card(replace(card, state=state, state_reason=reason))
    return True


def _worth(artifact: Artifact, triggers: Sequence[str]) -> tuple[bool, int, datetime]:
    return artifact.triggers == tuple(triggers), artifact.recipe_version, artifact.created_at
