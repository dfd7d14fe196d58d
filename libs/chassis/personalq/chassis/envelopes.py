"""Events as messages: payload and CloudEvents headers.

Payload is proto3 JSON (content-type application/json, or none) or binary protobuf
(application/protobuf). Unknown JSON fields are ignored: they come from a newer sender. Headers
follow the NATS binding of CloudEvents, so `nats pub` and `nats sub` are all one needs to take part.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message

from personalq.chassis import telemetry
from personalq.chassis.errors import InvalidInput
from personalq.chassis.subjects import subject_of, tenant_of

M = TypeVar("M", bound=Message)

JSON = "application/json"
BINARY = "application/protobuf"

#: All of printable ASCII but "%" may stand in a header as it is.
_PLAIN = "".join(map(chr, range(0x20, 0x7F))).replace("%", "")


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """An event ready to be published."""

    subject: str
    payload: bytes
    headers: dict[str, str]


def wrap(event: Message, *, msg_id: str, source: str) -> Envelope:
    """Make the message of an event: proto3 JSON and headers, with the current trace."""
    return Envelope(
        subject=subject_of(event),
        payload=json_format.MessageToJson(event, indent=None).encode(),
        headers={
            "Nats-Msg-Id": encode_header(msg_id),
            "content-type": JSON,
            "ce-specversion": "1.0",
            "ce-id": encode_header(msg_id),
            "ce-type": event.DESCRIPTOR.full_name,
            "ce-source": f"/personalq/{source}",
            "ce-time": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            **telemetry.trace_headers(),
        },
    )


def unwrap(event_type: type[M], *, subject: str, payload: bytes, headers: Mapping[str, str]) -> M:
    """Read the event of a message.

    A payload without a tenant gets the subject's. Raises InvalidInput when the type, the payload,
    the tenant or an id is not what the subject says.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    expected = event_type.DESCRIPTOR.full_name
    declared = lower.get("ce-type", expected)
    if declared != expected:
        raise InvalidInput(f"ce-type is {declared!r}; this subject carries {expected}")
    tenant = tenant_of(subject)
    event = _parse(event_type, payload, lower.get("content-type", JSON))
    if not getattr(event, "tenant", tenant):
        event.tenant = tenant  # type: ignore[attr-defined]  # every event has one
    meant = subject_of(event)
    if meant != subject:
        raise InvalidInput(f"the payload belongs to subject {meant}, it was sent to {subject}")
    return event


def _parse(event_type: type[M], payload: bytes, content_type: str) -> M:
    name = event_type.DESCRIPTOR.full_name
    match content_type.split(";")[0].strip().lower():
        case "application/json" | "":
            try:
                value = json.loads(payload)
                _check_shape(event_type.DESCRIPTOR, value, path="the event")
                return json_format.ParseDict(value, event_type(), ignore_unknown_fields=True)
            except (json_format.ParseError, ValueError, RecursionError) as error:
                raise InvalidInput(f"the payload is no {name} in JSON: {error}") from error
        case "application/protobuf" | "application/x-protobuf":
            try:
                return event_type.FromString(payload)
            except DecodeError as error:
                raise InvalidInput(f"the payload is no {name} in protobuf: {error}") from error
        case other:
            raise InvalidInput(f"content-type is {other!r}; send {JSON} or {BINARY}")


def _check_shape(descriptor: Any, value: object, *, path: str) -> None:
    """Raise ValueError where a message should be an object and is not.

    `ParseDict` does not notice when it ignores unknown fields: it takes the letters of a string for
    unknown names.
    """
    if descriptor.full_name.startswith("google.protobuf."):
        return  # these have forms of their own, which ParseDict knows
    if not isinstance(value, dict):
        raise ValueError(f"{path} must be an object")
    fields = {name: field for field in descriptor.fields for name in (field.name, field.json_name)}
    for name, inner in value.items():
        field = fields.get(name)
        if field is None or field.message_type is None or inner is None:
            continue
        for item in inner if field.is_repeated and isinstance(inner, list) else [inner]:
            _check_shape(field.message_type, item, path=f"field {name!r}")


def wire_size(payload: bytes, headers: Mapping[str, str]) -> int:
    """Bytes that count against the server's `max_payload`: the headers are part of them.

    nats-py checks the payload alone, and the server closes the connection over the rest.
    """
    lines = sum(len(name.encode()) + len(value.encode()) + 4 for name, value in headers.items())
    return len(payload) + lines + len("NATS/1.0\r\n\r\n")


def encode_header(text: str, *, limit: int = 1024) -> str:
    """Make a text fit for a header: printable ASCII, the rest percent-encoded."""
    return quote(text[:limit], safe=_PLAIN)


def decode_header(value: str) -> str:
    """The text of a header."""
    return unquote(value)
