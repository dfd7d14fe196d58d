"""Protobuf ⇄ domain."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.catalog_cards import NOW, artifact, card

from personalq.catalog import wire
from personalq.catalog.cards import Filter, Interval, State
from personalq.catalog.search import Hit, Hits, Order
from personalq.chassis.errors import InvalidInput
from personalq.v1 import catalog_pb2, events_pb2, types_pb2


def test_a_card_survives_the_wire() -> None:
    """What a pipeline sends is what arrives; the catalog's own fields do not come back in."""
    made = card("bear", version=0, last_used_at=NOW, use_count=3, environments=("snow",), owner="a")
    back = wire.card_to_domain(wire.card_to_wire(made))
    assert replace(back, registration_hash=made.registration_hash) == made


def test_absent_is_not_zero() -> None:
    """A card without version or dates has none, rather than 0 and 1970."""
    back = wire.card_to_domain(types_pb2.Checkpoint(checkpoint_id="bear"))
    assert back.version is None
    assert back.created_at is None
    assert back.last_used_at is None


def test_every_state_travels() -> None:
    """No state of ours becomes UNSPECIFIED."""
    for state in State:
        sent = wire.card_to_wire(replace(card("bear"), state=state))
        assert types_pb2.CheckpointState.Name(sent.state).endswith(state.name)


def test_an_artifact_survives_the_wire() -> None:
    """Both directions agree."""
    made = artifact(card("bear"))
    assert wire.artifact_to_domain(wire.artifact_to_wire(made)) == made


@pytest.mark.parametrize("missing", ["checkpoint_id", "profile", "digest", "source_sha256"])
def test_an_artifact_without_identity_is_refused(missing: str) -> None:
    """An event that says too little goes to the dead letters."""
    message = wire.artifact_to_wire(artifact(card("bear")))
    message.ClearField(missing)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        wire.artifact_to_domain(message)


def test_a_failure_without_source_is_refused() -> None:
    """Nobody could tell whether it is about the present file."""
    with pytest.raises(InvalidInput):
        wire.failure_to_domain(events_pb2.ArtifactFailed(checkpoint_id="b", profile="w8a8"))


def test_filters_and_orders_are_read() -> None:
    """Each constraint arrives under its name."""
    message = catalog_pb2.CheckpointFilter(
        subjects=["bear"],
        excluded_styles=["cartoon"],
        states=[types_pb2.CHECKPOINT_STATE_ARCHIVED],
        versions=[3],
    )
    message.created.start.FromDatetime(NOW)
    assert wire.filter_to_domain(message) == Filter(
        subjects=("bear",),
        excluded_styles=("cartoon",),
        states=(State.ARCHIVED,),
        versions=(3,),
        created=Interval(start=NOW),
    )
    assert wire.order_to_domain(types_pb2.ORDER_KEY_MOST_USED) is Order.MOST_USED


def test_likeness_travels_with_its_hit() -> None:
    """In the order of the phrases; without phrases there is none."""
    told, silent = (
        Hit(
            card=card("bear"),
            score=1.0,
            similarity=None,
            dense_rank=0,
            sparse_rank=0,
            likeness=like,
            text_likeness=like[:1],
        )
        for like in ((0.5, -0.25), ())
    )
    found = Hits(hits=[told, silent], next_page_token="", total_matches=2, dense=False)
    hits = wire.hits_to_wire(found).hits
    assert [list(hit.likeness) for hit in hits] == [[0.5, -0.25], []]
    assert [list(hit.text_likeness) for hit in hits] == [[0.5], []]


def test_values_of_a_newer_version_are_refused() -> None:
    """An unknown state, order or format is an invalid request, not a guess."""
    with pytest.raises(InvalidInput):
        wire.filter_to_domain(catalog_pb2.CheckpointFilter(states=[99]))  # type: ignore[list-item]
    with pytest.raises(InvalidInput):
        wire.order_to_domain(99)  # type: ignore[arg-type]


def test_a_time_beyond_the_calendar_is_refused() -> None:
    """A timestamp no date stands for is the caller's mistake."""
    message = types_pb2.Checkpoint(checkpoint_id="bear")
    message.created_at.seconds = 10**14
    with pytest.raises(InvalidInput) as refused:
        wire.card_to_domain(message)
    assert "checkpoint.created_at" in refused.value.violations
