"""What a training pipeline does: describe a checkpoint, announce it, wait until it is servable."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict
from urllib.parse import unquote, urlsplit

from personalq.chassis.errors import CorruptFile, InvalidInput, NotReady, Unavailable
from personalq.chassis.events import Bus
from personalq.chassis.inspection import inspect
from personalq.chassis.sources import SCHEMES, check_uri, digest_of
from personalq.chassis.subjects import DEAD_LETTERS, DEAD_PREFIX
from personalq.chassis.verified_files import require_digest
from personalq.sdk import wire
from personalq.sdk.concurrency import abandon
from personalq.sdk.results import Checkpoint, Publication

MAX_TRIGGER_CHARS = 64
#: How long at most until the dead letters are looked at again.
_LOOK_AGAIN_S = 1.0

_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
# Names that trainers give to every file: the folder says which one it is.
_ANONYMOUS = {"pytorch_lora_weights", "diffusion_pytorch_model", "model", "adapter_model"}

Words = str | Sequence[str]
OnState = Callable[[Checkpoint], object]


class CardFields(TypedDict, total=False):
    """What else a pipeline may know about a checkpoint."""

    checkpoint_id: str  # unique in the tenant; made from the file's name when absent
    name: str  # display name
    alias: Words  # what people call the thing pictured, for example "Biscuit"
    style: Words  # for example "watercolor"
    description: str  # what it renders, in plain words
    version: int | None  # within its concept
    created_at: datetime | None  # when it was trained; the file's time when absent
    last_used_at: datetime | None  # when it was last rendered with
    environment: Words  # of the training pictures, for example "forest"
    owner: str  # person or team
    base_model: str  # what it was trained from
    sha256: str  # of the content behind a remote URI
    size_bytes: int  # of the content behind a remote URI


def describe(
    source: str | Path, *, trigger: Words, subject: Words, check: bool, fields: CardFields
) -> Checkpoint:
    """The card of a checkpoint as far as a pipeline knows it; reads a local file once.

    Args:
        source: File or folder, or the URI of one.
        trigger: Trigger token or tokens, canonical first; none when it was trained without.
        subject: Subject type or types; may be left out for a style.
        check: Refuse a local file that the catalog would refuse.
        fields: The rest of the card.

    Raises:
        InvalidInput: the file is not there, or a field is unusable.
        CorruptFile: the bytes are no checkpoint.
    """
    uri, path = _locate(source)
    if path is not None and check:
        found = inspect(path)
        if found.problems:
            raise CorruptFile(f"{path}: {'; '.join(found.problems)}", field="checkpoint.source")
    triggers = _triggers(_words(trigger))
    subjects, styles = _words(subject), _words(fields.get("style", ()))
    if not any(subjects) and not any(styles):
        raise InvalidInput(
            "a checkpoint needs a subject or a style: say what it pictures, for example "
            "--subject bear, or how it looks, for example --style watercolor",
            field="checkpoint.subjects",
        )
    sha256, size_bytes = fields.get("sha256", ""), fields.get("size_bytes", 0)
    created_at = fields.get("created_at")
    if sha256:
        require_digest(sha256, field="checkpoint.source.sha256")
    if path is not None:
        sha256, size_bytes = digest_of(path)
        created_at = created_at or datetime.fromtimestamp(path.stat().st_mtime, UTC)
    checkpoint_id = fields.get("checkpoint_id") or _id_from(uri)
    if not _ID.fullmatch(checkpoint_id):
        raise InvalidInput(
            f"{checkpoint_id!r} cannot be a checkpoint id: use 1-128 of A-Z, a-z, 0-9, '.', '_' "
            "and '-'",
            field="checkpoint.checkpoint_id",
        )
    return Checkpoint(
        checkpoint_id=checkpoint_id,
        name=fields.get("name", ""),
        aliases=_words(fields.get("alias", ())),
        triggers=triggers,
        subjects=subjects,
        styles=styles,
        description=fields.get("description", ""),
        base_model=fields.get("base_model", ""),
        version=fields.get("version"),
        created_at=created_at,
        last_used_at=fields.get("last_used_at"),
        environments=_words(fields.get("environment", ())),
        owner=fields.get("owner", ""),
        uri=uri,
        sha256=sha256,
        size_bytes=size_bytes,
    )


async def publish_landed(card: Checkpoint, *, tenant: str, bus: Bus) -> Publication:
    """Puts CheckpointLanded on the bus. The same card again within minutes is not sent twice.

    Raises:
        InvalidInput: a field does not fit into the event; nothing was sent.
    """
    with wire.fitting("a card"):
        event = wire.landed(card, tenant=tenant)
    digest = hashlib.sha256(event.SerializeToString(deterministic=True)).hexdigest()
    event_id = f"landed-{digest[:40]}"
    fresh = await bus.publish(event, msg_id=event_id)
    return Publication(
        checkpoint_id=card.checkpoint_id,
        event_id=event_id,
        uri=card.uri,
        sha256=card.sha256,
        size_bytes=card.size_bytes,
        duplicate=not fresh,
    )


async def wait_servable(
    publication: Publication,
    *,
    states: AsyncGenerator[Checkpoint, None],
    bus: Bus,
    after: int,
    before: Checkpoint | None,
    profiles: Sequence[str],
    timeout_s: float,
    on_state: OnState | None,
) -> Checkpoint:
    """Follows the catalog until the checkpoint is servable; returns its card.

    Args:
        publication: What was announced.
        states: The catalog's watch.
        bus: Where an event that the catalog could not accept ends: the dead letters.
        after: Dead letters up to this one are not about this announcement.
        before: The card as it was; that it had failed then is no news.
        profiles: Servable for each of these; for any when empty.
        timeout_s: How long.
        on_state: Sees each change of the card.

    Raises:
        InvalidInput: the catalog or the quantizer refused the checkpoint.
        NotReady: the time is over.
    """
    last: Checkpoint | None = None

    def seen(card: Checkpoint) -> None:
        nonlocal last
        last = card
        if on_state is not None:
            on_state(card)

    servable = asyncio.create_task(_servable(publication, states, before, profiles, seen))
    refused = asyncio.create_task(_refused(publication, bus, after))
    tasks = {servable, refused}
    try:
        finished, _ = await asyncio.wait(
            tasks, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        await abandon(*tasks)
    for task in finished:
        task.result()  # raises what the task raised
    if servable in finished:
        return servable.result()
    raise NotReady(
        f"{publication.checkpoint_id} is not servable after {timeout_s:g} s "
        f"({_standing(last)}): `personalq checkpoints show {publication.checkpoint_id}` tells "
        "how far it is",
        state=last.state if last else "",
    )


async def _servable(
    publication: Publication,
    states: AsyncGenerator[Checkpoint, None],
    before: Checkpoint | None,
    profiles: Sequence[str],
    seen: OnState,
) -> Checkpoint:
    async with aclosing(states) as cards:
        async for card in cards:
            if card.checkpoint_id != publication.checkpoint_id:
                continue
            if publication.sha256 and card.sha256 != publication.sha256:
                continue  # the version before this one
            seen(card)
            former, before = before, card
            if former is not None and _is_former_failure(card, former):
                continue
            if card.state in ("failed", "archived"):
                reason = card.state_reason or "no reason given"
                raise InvalidInput(f"{card.checkpoint_id} is {card.state}: {reason}")
            made = {
                each.profile for each in card.artifacts if each.source_sha256 in ("", card.sha256)
            }
            if made.issuperset(profiles) if profiles else card.state == "servable":
                return card
    raise Unavailable("the catalog ended the watch: try again")


def _is_former_failure(card: Checkpoint, former: Checkpoint) -> bool:
    """Whether it failed before it was announced: nothing was tried since.

    The card is as it was, or says something else now, which keeps the state until the quantizer
    has answered. That it fails again changes nothing but its time.
    """
    if card.state != "failed" or (former.state, former.sha256) != ("failed", card.sha256):
        return False
    return card.updated_at == former.updated_at or _said(card) != _said(former)


def _said(card: Checkpoint) -> Checkpoint:
    """The card without what became of it."""
    return replace(
        card,
        state="",
        state_reason="",
        updated_at=None,
        last_used_at=None,
        use_count=0,
        artifacts=(),
    )


async def _refused(publication: Publication, bus: Bus, after: int) -> None:
    """Raises InvalidInput as soon as the announcement lies among the dead letters.

    They are looked at when NATS tells of a new one, and again after a while: it may tell before the
    stream has stored it, and tells nothing while it is away.
    """
    news = await bus.client.subscribe(f"{DEAD_PREFIX}.>")
    try:
        while True:
            with suppress(Unavailable):  # the caller's time decides how long that may last
                async for letter in bus.dead_letters(after=after):
                    after = letter.sequence
                    if letter.headers.get("ce-id") == publication.event_id:
                        raise InvalidInput(
                            f"{publication.checkpoint_id} was refused: {letter.error} (dead "
                            f"letter {letter.sequence})"
                        )
            with suppress(TimeoutError):
                await news.next_msg(timeout=_LOOK_AGAIN_S)
    finally:
        await news.unsubscribe()


async def last_dead_letter(bus: Bus) -> int:
    """Place of the newest dead letter there has ever been."""
    info = await bus.jetstream.stream_info(DEAD_LETTERS)
    return int(info.state.last_seq)


def _standing(card: Checkpoint | None) -> str:
    if card is None:
        return "the catalog has not stored it"
    return f"it is {card.state}" + (f": {card.state_reason}" if card.state_reason else "")


def _words(words: Words) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else tuple(words)


def _triggers(triggers: tuple[str, ...]) -> tuple[str, ...]:
    for index, trigger in enumerate(triggers):
        field = f"checkpoint.triggers[{index}]"
        if not trigger.strip():
            raise InvalidInput(
                "a trigger must not be empty: give the token the checkpoint was trained on, for "
                "example --trigger '<bear-v4>', or leave it out",
                field=field,
            )
        if len(trigger) > MAX_TRIGGER_CHARS:
            raise InvalidInput(
                f"trigger {trigger[:16]!r}… has {len(trigger)} characters: at most "
                f"{MAX_TRIGGER_CHARS} are allowed",
                field=field,
            )
    return triggers


def _locate(source: str | Path) -> tuple[str, Path | None]:
    """The URI of `source`, and its path where it is on this machine."""
    text = str(source)
    path: Path | None = None
    if isinstance(source, str) and "://" in source:
        scheme = source.partition("://")[0].lower()
        if scheme not in SCHEMES:
            raise InvalidInput(
                f"{scheme}:// is not supported: use a path or one of "
                f"{', '.join(f'{scheme}://' for scheme in SCHEMES)}",
                field="checkpoint.source.uri",
            )
        check_uri(source)
        if scheme != "file":
            return source, None
        path = Path(unquote(urlsplit(source).path))
    try:
        path = path or Path(text).expanduser().resolve()
        exists = text != "" and path.exists()
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: ~ of a user that is none
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(
            f"{text[:300]!r} cannot be opened: {reason}", field="checkpoint.source.uri"
        ) from error
    if not exists:
        raise InvalidInput(
            f"there is no {path if text else repr(text)}: give the safetensors file or the "
            "diffusers folder that training wrote",
            field="checkpoint.source.uri",
        )
    return path.as_uri(), path


def _id_from(uri: str) -> str:
    """An id from the last telling part of a URI: …/bear-v4/pytorch_lora_weights.safetensors."""
    parts = [part for part in unquote(urlsplit(uri).path).split("/") if part]
    stems = [part.removesuffix(".safetensors") for part in reversed(parts)]
    telling = next((stem for stem in stems if stem not in _ANONYMOUS and stem != "unet"), "")
    return re.sub(r"[^A-Za-z0-9._-]+", "-", telling).strip("-.")[:128] or "checkpoint"
