"""The three journeys of the demo: announce, ask, render."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from personalq.miniature import MiniatureCheckpoint
from personalq.sdk.client import MAX_QUESTIONS, AsyncPersonalQ
from personalq.sdk.concurrency import together
from personalq.sdk.demo.script import TODAY, Line
from personalq.sdk.embedded.miniature import announcement, card_fields
from personalq.sdk.results import (
    Artifact,
    Checkpoint,
    Clarification,
    Outcome,
    Rendering,
    Selection,
)

FULL, TAQ = "full", "w8a8"
PROFILES = (FULL, TAQ)
STAGES = 1 + len(PROFILES)  # of a checkpoint: registered, then an artifact for each profile


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A question of Check-in and the answer given."""

    question: str
    options: tuple[str, ...]
    answer: str


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request and what came of it."""

    line: Line
    exchanges: tuple[Exchange, ...]
    outcome: Outcome


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """A chosen checkpoint, rendered twice with the same seed."""

    full: Rendering
    taq: Rendering


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A request with all that came of it; no pictures where nothing was chosen."""

    asked: Asked
    checkpoint: MiniatureCheckpoint | None = None
    rendered: Rendered | None = None
    clip_i_full: float | None = None
    clip_i_taq: float | None = None


async def announce(
    client: AsyncPersonalQ,
    checkpoints: Sequence[MiniatureCheckpoint],
    *,
    on_progress: Callable[[str, int], None],
) -> list[Checkpoint]:
    """Publish CheckpointLanded for each, and wait until each has its artifacts.

    Args:
        client: Of the running stack.
        checkpoints: What was trained.
        on_progress: Gets a checkpoint's id and how many of its STAGES are done.
    """

    async def one(each: MiniatureCheckpoint) -> Checkpoint:
        def on_state(card: Checkpoint) -> None:
            made = {artifact.profile for artifact in card.artifacts}
            on_progress(card.checkpoint_id, 1 + len(made.intersection(PROFILES)))

        published = await client.publish(
            each.path,
            **announcement(each),
            **card_fields(each),
            wait=True,
            wait_profiles=PROFILES,
            on_state=on_state,
        )
        return published.checkpoint or await client.checkpoint(each.checkpoint_id)

    return await together(one(each) for each in checkpoints)


async def ask(client: AsyncPersonalQ, line: Line) -> Asked:
    """Ask Check-in, and answer as the script says (the first option where it says nothing)."""
    outcome = await client.select(line.prompt, profile=TAQ, explain=True, reference_time=TODAY)
    exchanges: list[Exchange] = []
    while isinstance(outcome, Clarification) and len(exchanges) < MAX_QUESTIONS:
        labels = tuple(option.label for option in outcome.options)
        first = not exchanges
        answer = line.answer if first and line.answer else labels[0]
        exchanges.append(Exchange(question=outcome.question, options=labels, answer=answer))
        outcome = await client.answer(outcome, answer)
    return Asked(line=line, exchanges=tuple(exchanges), outcome=outcome)


async def render(
    client: AsyncPersonalQ, chosen: Selection, checkpoint: MiniatureCheckpoint, *, seed: int
) -> Rendered:
    """Render the selection in full precision and from its TAQ artifact."""

    async def one(profile: str) -> Rendering:
        return await client.render_image(
            chosen.checkpoint.checkpoint_id,
            chosen.render_prompt,
            profile=profile,
            seed=seed,
            steps=checkpoint.num_inference_steps,
            guidance=checkpoint.guidance_scale,
        )

    # One after the other, so that each has the machine to itself while it is timed.
    return Rendered(full=await one(FULL), taq=await one(TAQ))


def serving_bytes(artifact: Artifact) -> int:
    """Bytes of weights that serving one artifact takes: its own, and those of its base."""
    return artifact.size_bytes + artifact.base_size_bytes


def step_ms(rendering: Rendering) -> float:
    """Milliseconds of a denoising step."""
    return rendering.timings.denoise_seconds * 1000 / max(rendering.provenance.steps, 1)
