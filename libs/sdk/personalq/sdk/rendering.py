"""A render as the client sees it: options in, moments out, pictures put together."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable
from typing import TypedDict

from personalq.chassis.errors import InvalidInput, Unavailable
from personalq.sdk import wire
from personalq.sdk.results import Artifact, Done, Picture, Rendering, RenderStep, Started
from personalq.v1 import renderer_pb2

AFFINITY_HEADER = "x-personalq-artifact"
SAMPLERS = ("ddim", "euler")

OnStep = Callable[[RenderStep], object]


class RenderOptions(TypedDict, total=False):
    """How to render. What is left out is the renderer's default."""

    negative_prompt: str  # what to steer away from
    profile: str  # "w8a8", "w4a8" or "full"
    seed: int | None  # of the first picture; random, and reported, when absent
    steps: int | None  # denoising steps, 1-200
    guidance: float | None  # guidance scale, 0-50; 1 or less turns it off
    count: int  # pictures, 1-8
    sampler: str  # "ddim" or "euler"
    width: int  # pixels; the base model's own when 0
    height: int  # pixels; the base model's own when 0
    preview_every: int  # steps between previews; none when 0
    artifact_digest: str  # insist on this artifact
    affinity: str  # artifact digest that routes to a pod which may hold it


def render_request(
    checkpoint_id: str, prompt: str, options: RenderOptions
) -> tuple[renderer_pb2.RenderRequest, tuple[tuple[str, str], ...]]:
    """The request and its metadata.

    Raises:
        InvalidInput: a value does not fit into the request at all; the renderer checks the rest.
    """
    sampler = options.get("sampler", "")
    if sampler and sampler not in SAMPLERS:
        raise InvalidInput(
            f"no sampler {sampler!r}: choose one of {', '.join(SAMPLERS)}", field="sampler"
        )
    with wire.fitting("a render"):
        request = renderer_pb2.RenderRequest(
            checkpoint_id=checkpoint_id,
            prompt=prompt,
            negative_prompt=options.get("negative_prompt", ""),
            profile=options.get("profile", ""),
            seed=options.get("seed"),
            steps=options.get("steps"),
            guidance_scale=options.get("guidance"),
            count=options.get("count", 1),
            sampler=wire.sampler(sampler),
            width=options.get("width", 0),
            height=options.get("height", 0),
            preview_every=options.get("preview_every", 0),
            artifact_digest=options.get("artifact_digest", ""),
        )
    digest = options.get("affinity", "") or options.get("artifact_digest", "")
    return request, ((AFFINITY_HEADER, digest),) if digest else ()


async def steps_of(
    events: AsyncIterable[renderer_pb2.RenderEvent],
) -> AsyncGenerator[RenderStep, None]:
    """RenderEvents → steps; the chunks of each picture put together."""
    chunks: dict[int, bytearray] = {}
    async for event in events:
        match event.WhichOneof("event"):
            case "queued":
                yield wire.queued(event.queued)
            case "started":
                yield wire.started(event.started)
            case "progress":
                yield wire.progress(event.progress)
            case "image":
                piece = event.image
                data = chunks.setdefault(piece.index, bytearray())
                data += piece.chunk
                if piece.last:
                    yield Picture(
                        index=piece.index,
                        seed=piece.seed,
                        media_type=piece.media_type,
                        data=bytes(chunks.pop(piece.index)),
                    )
            case "done":
                yield wire.done(event.done)
            case _:  # a moment that a newer renderer tells of
                continue


async def collect(steps: AsyncIterable[RenderStep], *, on_step: OnStep | None) -> Rendering:
    """The outcome of a render; `on_step` sees each moment.

    Raises:
        Unavailable: the stream ended before its end.
    """
    pictures: list[Picture] = []
    artifact: Artifact | None = None
    done: Done | None = None
    async for step in steps:
        if on_step is not None:
            on_step(step)
        match step:
            case Started():
                artifact = step.artifact
            case Picture():
                pictures.append(step)
            case Done():
                done = step
            case _:
                pass
    if artifact is None or done is None or not pictures:
        raise Unavailable("the renderer ended the stream before the picture was whole: try again")
    return Rendering(
        pictures=tuple(pictures),
        artifact=artifact,
        timings=done.timings,
        provenance=done.provenance,
    )
