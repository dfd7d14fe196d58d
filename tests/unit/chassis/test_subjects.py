"""Subjects: declared once, one token per id."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personalq.chassis.errors import InvalidInput
from personalq.chassis.streams import STREAMS
from personalq.chassis.subjects import (
    ROUTES,
    encode_token,
    subject_of,
    tenant_of,
    wildcards,
)
from personalq.v1 import events_pb2


def test_every_event_of_the_contract_has_a_subject() -> None:
    """A new message in events.proto cannot be forgotten."""
    declared = {event.DESCRIPTOR.full_name for event in ROUTES}
    messages = events_pb2.DESCRIPTOR.message_types_by_name.values()
    assert declared == {message.full_name for message in messages}


def test_subjects_are_those_of_the_contract() -> None:
    """The literal subjects other clients rely on."""
    landed = events_pb2.CheckpointLanded(tenant="acme")
    assert subject_of(landed) == "personalq.checkpoint.landed.acme"
    failed = events_pb2.ArtifactFailed(tenant="acme", checkpoint_id="bear.v4", profile="w8a8")
    assert subject_of(failed) == "personalq.artifact.failed.acme.bear%2Ev4.w8a8"
    assert tenant_of(subject_of(failed)) == "acme"
    assert wildcards("PERSONALQ_ARTIFACTS") == [
        "personalq.artifact.ready.*.*.*",
        "personalq.artifact.failed.*.*.*",
    ]


def test_every_stream_takes_what_is_routed_to_it() -> None:
    """Streams and routes are declared apart and must agree."""
    subjects = {stream.name: stream.subjects for stream in STREAMS}
    for route in ROUTES.values():
        assert route.wildcard in (subjects[route.stream] or [])


@given(st.text(min_size=1))
def test_a_token_is_one_token_and_can_be_read_back(text: str) -> None:
    """Whatever the id, it adds no token, no wildcard and no space."""
    token = encode_token(text)
    assert token
    assert not set(token) & set(".*> \t\r\n")
    assert token.isascii()
    assert unquote(token) == text


@pytest.mark.parametrize(
    ("event", "names"),
    [
        (events_pb2.CheckpointLanded(), "tenant"),
        (events_pb2.CheckpointLanded(tenant="a.b"), "tenant"),
        (events_pb2.ArtifactFailed(tenant="a", profile="w8a8"), "checkpoint_id"),
        (events_pb2.ArtifactReady(tenant="a"), r"artifact\.checkpoint_id"),
    ],
)
def test_an_event_without_its_ids_has_no_subject(
    event: events_pb2.ArtifactReady, names: str
) -> None:
    """The error names the field."""
    with pytest.raises(InvalidInput, match=names):
        subject_of(event)


def test_a_message_that_is_no_event_is_a_mistake_in_the_code() -> None:
    """TypeError, not InvalidInput: no request can cause it."""
    with pytest.raises(TypeError, match="is not an event"):
        subject_of(events_pb2.CheckpointLanded().checkpoint)
