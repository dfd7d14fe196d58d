"""One render on the device: prompt → text context → latents → pictures. Synchronous."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from PIL.Image import Image
from torch import Tensor

from personalq.chassis.base_folders import latent_side
from personalq.renderer import __version__, metrics, pictures
from personalq.renderer.artifacts import ArtifactRef
from personalq.renderer.denoise import denoise, initial_noise
from personalq.renderer.device import Cancellation
from personalq.renderer.models import Model
from personalq.renderer.ports import SafetyChecker
from personalq.renderer.prompts import encode
from personalq.renderer.requests import Picture, Progress, Provenance, RenderPlan, Timings
from personalq.taq import TextContext, TextStates, attention_received, conditioning

SCORED_SEED, SCORED_TIME = 0, 500  # the noise and the middle of its time


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The end of a drawing: where the time went and what made the pictures."""

    timings: Timings  # without the waiting and the loading
    provenance: Provenance


def draw(
    emit: Callable[[Progress | Picture | Drawn], None],
    *,
    model: Model,
    artifact: ArtifactRef,
    plan: RenderPlan,
    cancellation: Cancellation,
    safety: SafetyChecker | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Render `plan` and emit each step, each picture and the end.

    Raises:
        Cancelled: `cancellation` was set; no later than one step, or one picture's decoding, after.
    """
    base = model.base
    times = [clock()]
    with model.attached() as unet:
        text, conditions, protected = _context(model, unet, plan, artifact.triggers)
        times.append(clock())
        latents = denoise(
            unet,
            base.new_scheduler(plan.sampler),
            initial_noise(plan.seeds, _latent_shape(model, plan), base.device),
            text,
            conditions=conditions,
            steps=plan.steps,
            guidance=plan.guidance_scale,
            dtype=base.dtype,
            on_step=partial(_after_step, emit, model, plan, cancellation, safety),
        )
        times.append(clock())
    drawn = []
    for one in latents:
        cancellation.check()
        drawn.append(pictures.decode(base.vae, one))
    drawn = _allowed(drawn, safety)
    times.append(clock())
    metrics.STEP_SECONDS.labels(artifact.profile).observe((times[2] - times[1]) / plan.steps)
    provenance = Provenance(
        checkpoint_id=artifact.checkpoint_id,
        artifact_digest=artifact.digest,
        profile=artifact.profile,
        prompt=plan.prompt,
        negative_prompt=plan.negative_prompt,
        seed=plan.seed,
        steps=plan.steps,
        guidance_scale=plan.guidance_scale,
        sampler=plan.sampler,
        protected_tokens=protected,
        renderer_version=__version__,
    )
    for index, (seed, picture) in enumerate(zip(plan.seeds, drawn, strict=True)):
        data = pictures.png(picture, pictures.describe(provenance, seed=seed, index=index))
        emit(Picture(index=index, seed=seed, media_type=pictures.MEDIA_TYPE, data=data))
    timings = Timings(
        encode=times[1] - times[0], denoise=times[2] - times[1], decode=times[3] - times[2]
    )
    emit(Drawn(timings=timings, provenance=provenance))


@torch.inference_mode()
def _context(
    model: Model, unet: torch.nn.Module, plan: RenderPlan, triggers: tuple[str, ...]
) -> tuple[TextContext, dict[str, Any], tuple[int, ...]]:
    """Return the keys and values of the batch, computed once, what else the prompts tell the UNet,
    and the protected positions.
    """
    prompts = [plan.negative_prompt, plan.prompt] if plan.guided else [plan.prompt]
    encoded = encode(
        prompts,
        [triggers] * len(prompts),
        reader=model.reader,
        protection=model.protection,
        score=partial(_score, model, unet),
    )
    told = encoded.told
    context = TextContext.project(unet, told.states.to(model.base.dtype), encoded.mask)
    rows = [row for row in range(len(prompts)) for _ in range(plan.count)]
    conditions = told[rows].conditions(height=plan.height, width=plan.width)
    positions = encoded.mask[-1].nonzero().flatten().tolist()
    return context[rows], conditions, tuple(positions)


def _score(model: Model, unet: torch.nn.Module, told: TextStates, plain: Tensor) -> Tensor:
    """Return how much each text row depends on the trigger: one more forward pass, of noise."""
    config, dtype = model.base.unet_config, model.base.dtype
    side = latent_side(config)
    noise = initial_noise(
        [SCORED_SEED] * len(told), (int(config["in_channels"]), side, side), model.base.device
    )
    states, plain = told.states.to(dtype), plain.to(dtype)
    pixels = model.base.geometry.side
    conditions = told.conditions(height=pixels, width=pixels)
    attention = attention_received(unet, noise.to(dtype), SCORED_TIME, states, **conditions)
    return conditioning(unet, states, plain, attention)


def _latent_shape(model: Model, plan: RenderPlan) -> tuple[int, int, int]:
    pixels = model.base.geometry.pixels_per_latent
    channels = int(model.base.unet_config["in_channels"])
    return channels, plan.height // pixels, plan.width // pixels


def _after_step(
    emit: Callable[[Progress], None],
    model: Model,
    plan: RenderPlan,
    cancellation: Cancellation,
    safety: SafetyChecker | None,
    step: int,
    foreseen: Tensor,
) -> None:
    cancellation.check()
    preview = b""
    if plan.preview_every and step % plan.preview_every == 0 and step < plan.steps:
        (picture,) = _allowed([pictures.decode(model.base.vae, foreseen[0])], safety)
        preview = pictures.preview(picture)
    emit(Progress(step=step, steps=plan.steps, preview=preview))


def _allowed(drawn: Sequence[Image], safety: SafetyChecker | None) -> list[Image]:
    """Return the pictures as they may leave."""
    if safety is None:
        return list(drawn)
    allowed = safety.allowed(drawn)
    return [p if ok else pictures.blacken(p) for p, ok in zip(drawn, allowed, strict=True)]
