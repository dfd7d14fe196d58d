"""Moments of a render become pictures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from personalq.chassis.errors import InvalidInput, Unavailable
from personalq.sdk.rendering import RenderOptions, collect, render_request, steps_of
from personalq.sdk.results import Done, Picture, Progress, RenderStep
from personalq.v1 import renderer_pb2, types_pb2


async def _events(*events: renderer_pb2.RenderEvent) -> AsyncIterator[renderer_pb2.RenderEvent]:
    for event in events:
        yield event


def _chunk(index: int, data: bytes, *, last: bool = False) -> renderer_pb2.RenderEvent:
    image = renderer_pb2.Image(
        index=index, seed=7 + index, media_type="image/png", chunk=data, last=last
    )
    return renderer_pb2.RenderEvent(image=image)


STARTED = renderer_pb2.RenderEvent(
    started=renderer_pb2.Started(artifact=types_pb2.Artifact(profile="w8a8"))
)
DONE = renderer_pb2.RenderEvent(
    done=renderer_pb2.Done(timings=renderer_pb2.Timings(denoise_seconds=1.5))
)


async def test_chunks_of_several_pictures_are_put_together() -> None:
    """Chunks may interleave; a picture comes whole or not at all."""
    events = _events(
        _chunk(0, b"ab"), _chunk(1, b"AB"), _chunk(0, b"cd", last=True), _chunk(1, b"", last=True)
    )
    steps = [step async for step in steps_of(events)]
    assert [(s.index, s.seed, s.data) for s in steps if isinstance(s, Picture)] == [
        (0, 7, b"abcd"),
        (1, 8, b"AB"),
    ]


async def test_a_moment_of_the_future_is_passed_over() -> None:
    """A newer renderer may tell more."""
    assert [step async for step in steps_of(_events(renderer_pb2.RenderEvent(), DONE))] != []


async def test_collect_returns_pictures_and_timings() -> None:
    """And every moment reaches the callback."""
    progress = renderer_pb2.RenderEvent(progress=renderer_pb2.Progress(step=1, steps=2))
    seen: list[RenderStep] = []
    rendering = await collect(
        steps_of(_events(STARTED, progress, _chunk(0, b"png", last=True), DONE)),
        on_step=seen.append,
    )
    assert rendering.picture.data == b"png"
    assert rendering.artifact.profile == "w8a8"
    assert rendering.timings.denoise_seconds == 1.5
    assert any(isinstance(step, Progress) for step in seen)
    assert isinstance(seen[-1], Done)


async def test_a_stream_that_breaks_off_is_an_error() -> None:
    """Half a picture is none."""
    with pytest.raises(Unavailable, match="try again"):
        await collect(steps_of(_events(STARTED, _chunk(0, b"half"))), on_step=None)


def test_what_is_left_out_stays_absent() -> None:
    """The renderer's defaults apply, not the client's."""
    request, metadata = render_request("bear-v4", "<bear-v4>", {})
    assert not request.HasField("seed")
    assert not request.HasField("steps")
    assert not request.HasField("guidance_scale")
    assert metadata == ()


def test_a_seed_and_a_guidance_of_zero_are_sent() -> None:
    """Zero is a value."""
    request, _ = render_request("a", "b", {"seed": 0, "steps": 0, "guidance": 0.0})
    assert request.HasField("seed")
    assert request.HasField("steps")
    assert request.HasField("guidance_scale")


def test_the_artifact_routes_the_render() -> None:
    """The affinity header names the artifact."""
    _, metadata = render_request("a", "b", {"affinity": "ab"})
    assert metadata == (("x-personalq-artifact", "ab"),)


@pytest.mark.parametrize(
    "options",
    [{"seed": 2**63}, {"steps": 2**31}, {"sampler": "magic"}, {"width": 1.5}, {"count": "two"}],
)
def test_a_value_no_request_can_carry_is_bad_input(options: RenderOptions) -> None:
    """It never surfaces as an error of protobuf."""
    with pytest.raises(InvalidInput):
        render_request("a", "b", options)


def test_a_picture_saves_itself(tmp_path: Path) -> None:
    """Folders are made on the way."""
    picture = Picture(index=0, seed=1, media_type="image/png", data=b"png")
    assert picture.save(tmp_path / "a" / "b.png").read_bytes() == b"png"
