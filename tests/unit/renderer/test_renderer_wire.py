"""Protobuf ⇄ domain in the renderer."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from personalq.chassis.errors import InvalidInput
from personalq.renderer import wire
from personalq.renderer.requests import Picture, Sampler
from personalq.v1 import catalog_pb2, renderer_pb2, types_pb2


def test_absent_and_zero_are_told_apart() -> None:
    """Zero steps are a mistake to report, absent steps a choice left open."""
    absent = wire.to_render_request(renderer_pb2.RenderRequest())
    assert (absent.steps, absent.seed, absent.guidance_scale) == (None, None, None)
    zero = wire.to_render_request(renderer_pb2.RenderRequest(steps=0, seed=0, guidance_scale=0.0))
    assert (zero.steps, zero.seed, zero.guidance_scale) == (0, 0, 0.0)


def test_counts_and_samplers_have_defaults() -> None:
    """No count is one picture, no sampler is DDIM; a sampler of the future is refused."""
    request = wire.to_render_request(renderer_pb2.RenderRequest())
    assert (request.count, request.sampler) == (1, Sampler.DDIM)
    euler = renderer_pb2.RenderRequest(sampler=renderer_pb2.SAMPLER_EULER)
    assert wire.to_render_request(euler).sampler is Sampler.EULER
    with pytest.raises(InvalidInput):
        wire.to_render_request(renderer_pb2.RenderRequest(sampler=99))  # type: ignore[arg-type]


def test_an_artifact_survives_the_way_there_and_back() -> None:
    """Every field of the message is in the domain object."""
    message = types_pb2.Artifact(
        checkpoint_id="bear-v4",
        profile="w8a8",
        digest="d" * 64,
        size_bytes=1,
        base_digest="b" * 64,
        base_size_bytes=2,
        base_model="m",
        recipe_version=3,
        triggers=["<bear-v4>"],
        source_sha256="s",
    )
    message.created_at.FromDatetime(datetime(2026, 11, 20, tzinfo=UTC))
    assert len(message.ListFields()) == len(message.DESCRIPTOR.fields)
    assert wire.from_artifact_ref(wire.to_artifact_ref(message)) == message


@pytest.mark.parametrize("digest", ["", "..", "d" * 63, "D" * 64])
def test_a_digest_that_is_none_is_refused(digest: str) -> None:
    """It would name another folder of the disk cache than the artifact's own."""
    with pytest.raises(InvalidInput):
        wire.to_artifact_ref(types_pb2.Artifact(digest=digest))
    if digest:
        with pytest.raises(InvalidInput):
            wire.to_artifact_ref(types_pb2.Artifact(digest="d" * 64, base_digest=digest))


def test_a_picture_travels_in_pieces_of_64_kib() -> None:
    """The pieces together are the picture; only the last one is marked."""
    data = bytes(range(256)) * 600
    picture = Picture(index=1, seed=5, media_type="image/png", data=data)
    images = [message.image for message in wire.from_event(picture)]
    assert b"".join(image.chunk for image in images) == data
    assert [len(image.chunk) for image in images] == [65536, 65536, 22528]
    assert [image.last for image in images] == [False, False, True]
    assert {(image.index, image.seed, image.media_type) for image in images} == {
        (1, 5, "image/png")
    }


def test_a_catalog_entry_names_its_state() -> None:
    """States are upper-case words without the enumeration's prefix."""
    message = catalog_pb2.GetCheckpointResponse()
    message.checkpoint.checkpoint_id = "bear-v4"
    message.checkpoint.state = types_pb2.CHECKPOINT_STATE_FAILED
    message.checkpoint.state_reason = "broken"
    entry = wire.to_catalog_entry(message)
    assert (entry.state, entry.reason, entry.artifacts) == ("FAILED", "broken", ())
