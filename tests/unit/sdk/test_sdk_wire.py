"""Messages become results without protobuf in them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from personalq.sdk import wire
from personalq.sdk.results import (
    Checkpoint,
    Clarification,
    NoMatch,
    Option,
    Selection,
    SelectionRequest,
    Span,
)
from personalq.v1 import checkin_pb2, types_pb2

REQUEST = SelectionRequest(prompt="my bear")


def test_what_a_pipeline_knows_travels_in_the_event() -> None:
    """CheckpointLanded carries the card, and leaves what the catalog finds out."""
    card = Checkpoint(
        checkpoint_id="bear-v4",
        aliases=("Biscuit",),
        triggers=("<bear-v4>",),
        subjects=("bear",),
        version=0,
        created_at=datetime(2026, 4, 12, 9, tzinfo=timezone(timedelta(hours=2))),
        uri="file:///bear",
        sha256="ab",
        size_bytes=3,
        state="servable",
    )
    event = wire.landed(card, tenant="acme")
    assert event.tenant == "acme"
    assert event.checkpoint.HasField("version")
    assert event.checkpoint.created_at.ToDatetime() == datetime(2026, 4, 12, 7)
    assert event.checkpoint.state == types_pb2.CHECKPOINT_STATE_UNSPECIFIED
    assert wire.checkpoint(event.checkpoint) == Checkpoint(
        checkpoint_id="bear-v4",
        aliases=("Biscuit",),
        triggers=("<bear-v4>",),
        subjects=("bear",),
        version=0,
        created_at=datetime(2026, 4, 12, 7, tzinfo=UTC),
        uri="file:///bear",
        sha256="ab",
        size_bytes=3,
    )


def test_a_time_without_a_zone_is_utc() -> None:
    """A pipeline's bare date does not slide into another month."""
    assert wire.to_timestamp(datetime(2026, 4, 1)).ToDatetime() == datetime(2026, 4, 1)


def test_a_selection_keeps_prompts_spans_and_artifact() -> None:
    """All that a render needs is there."""
    response = checkin_pb2.SelectResponse(
        selection=checkin_pb2.Selection(
            checkpoint=types_pb2.Checkpoint(checkpoint_id="bear-v4"),
            artifact=types_pb2.Artifact(checkpoint_id="bear-v4", profile="w8a8", digest="ab"),
            rewritten_prompt="my <bear-v4>",
            render_prompt="<bear-v4>",
            trigger_spans=[types_pb2.TextSpan(start=3, end=12)],
            replaced=[checkin_pb2.Replacement(text="bear")],
            confidence=0.9,
        )
    )
    outcome = wire.outcome(response, REQUEST)
    assert isinstance(outcome, Selection)
    assert outcome.artifact is not None
    assert outcome.artifact.digest == "ab"
    assert outcome.checkpoint.artifacts == (outcome.artifact,)
    assert outcome.trigger_spans == (Span(start=3, end=12),)
    assert outcome.replaced == ("bear",)


def test_a_selection_without_an_artifact_says_so() -> None:
    """A checkpoint may be selected while it is still being quantized."""
    response = checkin_pb2.SelectResponse(
        selection=checkin_pb2.Selection(checkpoint=types_pb2.Checkpoint(checkpoint_id="bear-v4"))
    )
    outcome = wire.outcome(response, REQUEST)
    assert isinstance(outcome, Selection)
    assert outcome.artifact is None


def test_a_clarification_carries_the_request_it_is_about() -> None:
    """The dialogue's state is with the client."""
    response = checkin_pb2.SelectResponse(
        clarification=checkin_pb2.Clarification(
            question_id="q1",
            question="Which style?",
            options=[
                checkin_pb2.Option(
                    label="the photo", attribute=types_pb2.ATTRIBUTE_STYLE, value="photo"
                )
            ],
        ),
        degraded=True,
    )
    outcome = wire.outcome(response, REQUEST)
    assert isinstance(outcome, Clarification)
    assert outcome.request is REQUEST
    assert outcome.options == (Option(label="the photo", attribute="style", value="photo"),)
    assert outcome.degraded


def test_no_match_names_the_constraint_that_failed() -> None:
    """Absent when nothing is similar at all."""
    failed = types_pb2.Constraint(
        attribute=types_pb2.ATTRIBUTE_SUBJECT, values=["dragon"], text="dragon", hard=True
    )
    response = checkin_pb2.SelectResponse(
        no_match=checkin_pb2.NoMatch(failed=failed, explanation="no dragons")
    )
    outcome = wire.outcome(response, REQUEST)
    assert isinstance(outcome, NoMatch)
    assert outcome.failed is not None
    assert (outcome.failed.attribute, outcome.failed.values) == ("subject", ("dragon",))
    bare = wire.outcome(checkin_pb2.SelectResponse(no_match=checkin_pb2.NoMatch()), REQUEST)
    assert isinstance(bare, NoMatch)
    assert bare.failed is None


def test_an_outcome_of_the_future_asks_for_an_upgrade() -> None:
    """An empty oneof is a newer server, never a silent None."""
    with pytest.raises(ValueError, match="upgrade"):
        wire.outcome(checkin_pb2.SelectResponse(), REQUEST)


def test_a_state_of_the_future_is_unknown_and_harmless() -> None:
    """A reader of an older version goes on."""
    assert wire.state_word(types_pb2.CHECKPOINT_STATE_SERVABLE) == "servable"
    assert wire.state_word(99) == ""


def test_answers_travel_in_order() -> None:
    """The server keeps no session: each request holds the whole dialogue."""
    message = wire.select_request(
        SelectionRequest(prompt="p", answers=(("q1", "photo"), ("q2", "the newest")), owner="ada")
    )
    assert [(a.question_id, a.text) for a in message.answers] == [
        ("q1", "photo"),
        ("q2", "the newest"),
    ]
    assert not message.HasField("reference_time")
