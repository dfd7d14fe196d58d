"""Events as messages and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personalq.chassis.consumers import backoff_s
from personalq.chassis.envelopes import decode_header, encode_header, unwrap, wrap
from personalq.chassis.errors import InvalidInput
from personalq.v1 import events_pb2, types_pb2

SUBJECT = "personalq.checkpoint.landed.acme"


def _landed() -> events_pb2.CheckpointLanded:
    event = events_pb2.CheckpointLanded(tenant="acme")
    event.checkpoint.checkpoint_id = "bear-v4"
    event.checkpoint.triggers.append("<bear-v4>")
    event.checkpoint.created_at.FromJsonString("2026-04-03T10:00:00Z")
    event.checkpoint.state = types_pb2.CHECKPOINT_STATE_SERVABLE
    return event


def _unwrap(payload: object) -> events_pb2.CheckpointLanded:
    return unwrap(
        events_pb2.CheckpointLanded,
        subject=SUBJECT,
        payload=json.dumps(payload).encode(),
        headers={},
    )


def test_what_is_wrapped_can_be_unwrapped() -> None:
    """Every field survives the way through JSON."""
    event = _landed()
    envelope = wrap(event, msg_id="1", source="test")
    again = unwrap(
        events_pb2.CheckpointLanded,
        subject=envelope.subject,
        payload=envelope.payload,
        headers=envelope.headers,
    )
    assert again == event


def test_names_of_fields_may_be_written_either_way() -> None:
    """CamelCase or as in the contract; null is no value."""
    assert _unwrap({"checkpoint": {"checkpoint_id": "a"}}).checkpoint.checkpoint_id == "a"
    assert _unwrap({"checkpoint": {"checkpointId": "a"}}).checkpoint.checkpoint_id == "a"
    assert not _unwrap({"checkpoint": None}).HasField("checkpoint")


def test_a_newer_sender_is_understood() -> None:
    """Fields and states this version does not know are left out."""
    event = _unwrap(
        {"checkpoint": {"checkpointId": "a", "mood": {"deep": [1]}, "state": "NEW"}, "x": 1}
    )
    assert event.checkpoint.checkpoint_id == "a"
    assert event.checkpoint.state == types_pb2.CHECKPOINT_STATE_UNSPECIFIED


@pytest.mark.parametrize(
    "payload",
    [
        [],
        "text",
        7,
        None,
        {"checkpoint": "bear"},
        {"checkpoint": ["bear"]},
        {"checkpoint": {"source": "file:///bear"}},
        {"checkpoint": {"source": 3}},
        {"checkpoint": {"checkpointId": 3}},
        {"checkpoint": {"triggers": "<bear>"}},
        {"checkpoint": {"triggers": [["<bear>"]]}},
        {"checkpoint": {"version": "four"}},
        {"checkpoint": {"createdAt": "yesterday"}},
        {"checkpoint": {"createdAt": 7}},
    ],
    ids=str,
)
def test_a_payload_of_the_wrong_shape_is_refused(payload: object) -> None:
    """A value of another type is an error, never an empty field."""
    with pytest.raises(InvalidInput, match="the payload is no personalq"):
        _unwrap(payload)


@given(st.binary())
def test_no_bytes_break_the_reader(payload: bytes) -> None:
    """Garbage is refused or read, nothing else."""
    for content_type in ("application/json", "application/protobuf"):
        try:
            unwrap(
                events_pb2.CheckpointLanded,
                subject=SUBJECT,
                payload=payload,
                headers={"content-type": content_type},
            )
        except InvalidInput as error:
            assert str(error)


def test_deep_nesting_is_refused() -> None:
    """It does not end the process."""
    with pytest.raises(InvalidInput):
        unwrap(
            events_pb2.CheckpointLanded,
            subject=SUBJECT,
            payload=b'{"x":' * 100_000,
            headers={},
        )


@given(st.text(max_size=300))
def test_any_text_fits_in_a_header(text: str) -> None:
    """Printable ASCII on the wire, the same text after it."""
    value = encode_header(text)
    assert value.isascii()
    assert value.isprintable() or not value
    assert decode_header(value) == text


def test_backoff_doubles_up_to_a_minute() -> None:
    """With at most a fifth on top, however often it failed."""
    assert 1 <= backoff_s(1) <= 1.2
    assert 4 <= backoff_s(3) <= 4.8
    assert 60 <= backoff_s(10_000) <= 72
