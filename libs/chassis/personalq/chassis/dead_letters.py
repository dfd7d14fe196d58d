"""Messages nobody could handle: kept whole, with the reason, to be looked at and sent again.

A dead letter lies in PERSONALQ_DEAD_LETTERS on `personalq.dead.<stream>.<durable>`: payload and
headers as they came, and X-PersonalQ-* headers that say where from and why.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import RawStreamMsg
from nats.js.errors import NotFoundError as NoMessage

from personalq.chassis.envelopes import decode_header, encode_header, wire_size
from personalq.chassis.errors import Conflict, InvalidInput, NotFound
from personalq.chassis.subjects import DEAD_LETTERS, DEAD_PREFIX

_SUBJECT = "X-PersonalQ-Subject"
_SEQUENCE = "X-PersonalQ-Sequence"
_ERROR = "X-PersonalQ-Error"
_DELIVERIES = "X-PersonalQ-Deliveries"
_FAILED_AT = "X-PersonalQ-Failed-At"
_MSG_ID = "X-PersonalQ-Msg-Id"
_LEFT_OUT = "X-PersonalQ-Left-Out-Bytes"
_OURS = frozenset({_SUBJECT, _SEQUENCE, _ERROR, _DELIVERIES, _FAILED_AT, _MSG_ID, _LEFT_OUT})


@dataclass(frozen=True, kw_only=True)
class DeadLetter:
    """A message nobody could handle."""

    #: Its place in the dead letter stream; `replay` and `discard` take it.
    sequence: int
    #: Subject, stream and place it was published at.
    subject: str
    stream: str
    stream_sequence: int
    #: The consumer that gave up.
    durable: str
    #: Why, in words.
    error: str
    #: How often it was delivered.
    deliveries: int
    failed_at: datetime
    payload: bytes
    #: Headers as published, without those of NATS itself.
    headers: Mapping[str, str]
    #: Size of a message that was too large to copy: then payload and headers are empty.
    left_out_bytes: int = 0

    @property
    def event_type(self) -> str:
        """Full name of the event ("personalq.v1.CheckpointLanded"); empty when not declared."""
        return next((v for k, v in self.headers.items() if k.lower() == "ce-type"), "")


async def bury(
    jetstream: JetStreamContext, message: Msg, *, durable: str, error: str, max_payload: int
) -> None:
    """Copy a message to the dead letters; the same message twice is stored once.

    A message that leaves no room for our headers within `max_payload` bytes stays where it is, and
    the dead letter says only where and why.
    """
    meta = message.metadata
    original = dict(message.headers or {})
    ours = {
        "Nats-Msg-Id": f"{meta.stream}.{meta.sequence.stream}.{durable}",
        _SUBJECT: message.subject,
        _SEQUENCE: str(meta.sequence.stream),
        _ERROR: encode_header(error),
        _DELIVERIES: str(meta.num_delivered),
        _FAILED_AT: datetime.now(UTC).isoformat(),
    }
    payload = message.data
    headers = _without_nats(original) | ours | {_MSG_ID: original.get("Nats-Msg-Id", "")}
    if wire_size(payload, headers) > max_payload:
        left_out = wire_size(payload, original)
        payload, headers = b"", ours | {_LEFT_OUT: str(left_out)}
    await jetstream.publish(f"{DEAD_PREFIX}.{meta.stream}.{durable}", payload, headers=headers)


async def letters(
    jetstream: JetStreamContext, *, after: int = 0
) -> AsyncGenerator[DeadLetter, None]:
    """The dead letters behind place `after`, all by default; oldest first."""
    sequence = after + 1
    while True:
        try:
            raw = await jetstream.get_msg(
                DEAD_LETTERS, seq=sequence, subject=f"{DEAD_PREFIX}.>", next=True
            )
        except NoMessage:
            return
        letter = _read(raw)
        yield letter
        sequence = letter.sequence + 1


async def letter(jetstream: JetStreamContext, sequence: int) -> DeadLetter:
    """One dead letter; raises NotFound when there is none at that place."""
    try:
        return _read(await jetstream.get_msg(DEAD_LETTERS, seq=sequence))
    except NoMessage:
        raise NotFound(
            f"there is no dead letter {sequence}; list them to see which there are"
        ) from None


async def replay(jetstream: JetStreamContext, sequence: int) -> None:
    """Publish a dead letter again where it came from, then delete it.

    Raises NotFound when there is none at that place, InvalidInput when it was too large to copy or
    is not ours, Conflict when its subject holds only the latest message and has a newer one:
    sending the old one again would undo it.
    """
    dead = await letter(jetstream, sequence)
    if not dead.subject:
        raise InvalidInput(
            f"dead letter {sequence} does not say where it came from: no worker of ours buried it"
        )
    if dead.left_out_bytes:
        raise InvalidInput(
            f"dead letter {sequence} has no payload: {dead.left_out_bytes} bytes were too many to "
            f"copy; message {dead.stream_sequence} of {dead.stream} is the original, publish it "
            "anew with less in it"
        )
    config = (await jetstream.stream_info(dead.stream)).config
    if config.max_msgs_per_subject == 1:
        try:
            latest = await jetstream.get_last_msg(dead.stream, dead.subject)
        except NoMessage:
            latest = None
        if latest is not None and (latest.seq or 0) > dead.stream_sequence:
            raise Conflict(f"{dead.subject} has a newer message: discard dead letter {sequence}")
    headers = {**dead.headers, "Nats-Msg-Id": f"replay-{uuid.uuid4().hex}"}
    await jetstream.publish(dead.subject, dead.payload, headers=headers)
    await jetstream.delete_msg(DEAD_LETTERS, sequence)


async def discard(jetstream: JetStreamContext, sequence: int) -> None:
    """Delete a dead letter; raises NotFound when there is none at that place."""
    await letter(jetstream, sequence)
    await jetstream.delete_msg(DEAD_LETTERS, sequence)


def _read(raw: RawStreamMsg) -> DeadLetter:
    """The dead letter in a message; whoever wrote it, it can be listed and discarded."""
    headers = _headers(raw)
    stream, durable = [*(raw.subject or "").split(".", 3), "", ""][2:4]
    return DeadLetter(
        sequence=raw.seq or 0,
        subject=headers.get(_SUBJECT, ""),
        stream=stream,
        stream_sequence=_number(headers.get(_SEQUENCE)),
        durable=durable,
        error=decode_header(headers.get(_ERROR, "")),
        deliveries=_number(headers.get(_DELIVERIES)),
        failed_at=raw.time or datetime.now(UTC),
        payload=raw.data or b"",
        headers={k: v for k, v in _without_nats(headers).items() if k not in _OURS},
        left_out_bytes=_number(headers.get(_LEFT_OUT)),
    )


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() else 0


def _headers(raw: RawStreamMsg) -> dict[str, str]:
    """The headers as stored; nats-py reads them as e-mail and spoils what is not ASCII."""
    lines = base64.b64decode(raw.hdrs or b"").decode(errors="replace").split("\r\n")[1:]
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}


def _without_nats(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers that belong to the event: an old Nats-Expected-* would refuse the copy."""
    return {name: value for name, value in headers.items() if not name.startswith("Nats-")}
