"""Errors as gRPC statuses, and back.

The table STATUSES says which code and reason an error travels as; a service extends it in its
`servicer.py` with errors of its own. Details are `google.rpc`: ErrorInfo always, BadRequest for
field violations, RetryInfo for Busy. `translate_rpc_error` is the inverse, used by every client.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import grpc
from google.protobuf import any_pb2
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from personalq.chassis.errors import (
    Busy,
    Conflict,
    CorruptFile,
    InvalidInput,
    NotFound,
    NotReady,
    PersonalQError,
    Unavailable,
)

DOMAIN = "personalq"

# A status travels in headers, and a client refuses an answer with more than 8 KiB of them. The
# message is in there twice: percent-encoded as grpc-message, and in grpc-status-details-bin.
_MESSAGE_BYTES = 1500
_VIOLATIONS_BYTES = 2400
_VIOLATION_CHARACTERS = 200


class Status(NamedTuple):
    """What an error travels as."""

    code: grpc.StatusCode
    #: `ErrorInfo.reason`, UPPER_SNAKE_CASE, for example "NOT_QUANTIZED".
    reason: str


STATUSES: Mapping[type[Exception], Status] = {
    InvalidInput: Status(grpc.StatusCode.INVALID_ARGUMENT, "INVALID_INPUT"),
    CorruptFile: Status(grpc.StatusCode.INVALID_ARGUMENT, "CORRUPT_FILE"),
    NotFound: Status(grpc.StatusCode.NOT_FOUND, "NOT_FOUND"),
    NotReady: Status(grpc.StatusCode.FAILED_PRECONDITION, "NOT_READY"),
    Conflict: Status(grpc.StatusCode.ALREADY_EXISTS, "CONFLICT"),
    Busy: Status(grpc.StatusCode.RESOURCE_EXHAUSTED, "BUSY"),
    Unavailable: Status(grpc.StatusCode.UNAVAILABLE, "UNAVAILABLE"),
}


def status_of(error: Exception, statuses: Mapping[type[Exception], Status]) -> Status | None:
    """The entry for the closest class of the error; None when the table has none."""
    for cls in type(error).__mro__:
        if cls in statuses:
            return statuses[cls]
    return None


def describe(error: Exception, status: Status) -> status_pb2.Status:
    """The rich status of an error that is in the table."""
    metadata: dict[str, str] = {}
    details = []
    if isinstance(error, NotReady):
        metadata["state"] = error.state
    if isinstance(error, InvalidInput) and error.violations:
        details.append(_pack(_bad_request(error.violations)))
    if isinstance(error, Busy):
        delay = Duration()
        delay.FromMilliseconds(round(error.retry_after_s * 1000))
        details.append(_pack(error_details_pb2.RetryInfo(retry_delay=delay)))
    return rich_status(status, str(error), metadata=metadata, details=details)


def rich_status(
    status: Status,
    message: str,
    *,
    metadata: Mapping[str, str] | None = None,
    details: list[any_pb2.Any] | None = None,
) -> status_pb2.Status:
    """A `google.rpc.Status` with its ErrorInfo."""
    info = error_details_pb2.ErrorInfo(
        reason=status.reason, domain=DOMAIN, metadata=dict(metadata or {})
    )
    return status_pb2.Status(
        code=status.code.value[0],
        message=_cut(_text(message)),
        details=[_pack(info), *(details or [])],
    )


def _bad_request(violations: Mapping[str, str]) -> error_details_pb2.BadRequest:
    """The violations, as many as fit."""
    bad = error_details_pb2.BadRequest()
    for field, text in violations.items():
        bad.field_violations.add(
            field=_text(field[:_VIOLATION_CHARACTERS]),
            description=_text(text[:_VIOLATION_CHARACTERS]),
        )
        if bad.ByteSize() > _VIOLATIONS_BYTES:
            del bad.field_violations[-1]
            break
    return bad


def _text(text: str) -> str:
    """The text as protobuf takes it: half a character, from a file's name perhaps, becomes "?"."""
    return text.encode(errors="replace").decode()


def _cut(message: str) -> str:
    """The message, cut where its percent-encoded form would be too long."""
    left = _MESSAGE_BYTES
    for position, character in enumerate(message):
        left -= 1 if " " <= character <= "~" and character != "%" else 3 * len(character.encode())
        if left < 0:
            return f"{message[:position]}..."
    return message


def translate_rpc_error(error: grpc.aio.AioRpcError) -> PersonalQError:
    """The error a server meant: what it raised, with violations, state and delay restored."""
    code = error.code()
    message = error.details() or ""
    reason = ""
    metadata: dict[str, str] = {}
    violations: dict[str, str] = {}
    retry_after_s = 1.0
    for detail in _details(error):
        if detail.Is(error_details_pb2.ErrorInfo.DESCRIPTOR):
            info = error_details_pb2.ErrorInfo.FromString(detail.value)
            reason, metadata = info.reason, dict(info.metadata)
        elif detail.Is(error_details_pb2.BadRequest.DESCRIPTOR):
            bad = error_details_pb2.BadRequest.FromString(detail.value)
            violations = {v.field: v.description for v in bad.field_violations}
        elif detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR):
            retry = error_details_pb2.RetryInfo.FromString(detail.value)
            retry_after_s = retry.retry_delay.ToMilliseconds() / 1000
    translated: PersonalQError
    match code:
        case grpc.StatusCode.INVALID_ARGUMENT | grpc.StatusCode.OUT_OF_RANGE:
            invalid = CorruptFile if reason == STATUSES[CorruptFile].reason else InvalidInput
            translated = invalid(message, violations=violations)
        case grpc.StatusCode.NOT_FOUND:
            translated = NotFound(message)
        case grpc.StatusCode.FAILED_PRECONDITION:
            translated = NotReady(message, state=metadata.get("state", ""))
        case grpc.StatusCode.ALREADY_EXISTS | grpc.StatusCode.ABORTED:
            translated = Conflict(message)
        case grpc.StatusCode.RESOURCE_EXHAUSTED if reason:
            translated = Busy(message, retry_after_s=retry_after_s)
        case grpc.StatusCode.UNAVAILABLE:
            # Without a reason it is gRPC itself that reports: nobody answered.
            translated = Unavailable(
                message if reason else f"the server does not answer: {message}"
            )
        case grpc.StatusCode.DEADLINE_EXCEEDED:
            translated = Unavailable(message if reason else "the answer took longer than allowed")
        case _:
            translated = PersonalQError(message or f"the call failed: {code.name}")
    translated.reason = reason or code.name
    return translated


def _details(error: grpc.aio.AioRpcError) -> list[any_pb2.Any]:
    """The details of the rich status; none when there is none or it cannot be read."""
    call: Any = error  # it answers what a call answers
    try:
        status = rpc_status.from_call(call)
    except (ValueError, DecodeError):
        return []
    return list(status.details) if status is not None else []


def _pack(message: Message) -> any_pb2.Any:
    detail = any_pb2.Any()
    detail.Pack(message)
    return detail
