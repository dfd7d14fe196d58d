"""Pictures of a method: the same prompts, noise and weights for every method."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from personalq.bench.fidelity.models import Model
from personalq.bench.fidelity.prompts import Case
from personalq.renderer.denoise import initial_noise
from personalq.renderer.pictures import unscaled
from personalq.taq import TextContext, TextStates
from personalq.taq.protection import Protected
from personalq.taq.simulation import Correction

BATCH = 25  # pictures drawn at a time
SCORES = 2**24
"""Tokens squared of all pictures of a batch: a head of simulated attention holds them all."""


@dataclass(frozen=True)
class Sampling:
    """How pictures are drawn."""

    steps: int = 10
    guidance: float = 3.0

    @property
    def guided(self) -> bool:
        """Whether there is an unconditional half; guidance of at most 1 has no effect."""
        return self.guidance > 1

    def combine(self, noise: Tensor) -> Tensor:
        """Return ε (B, C, h, w) of what the UNet predicted: both halves (2 B, …), or ε itself."""
        if not self.guided:
            return noise
        free, asked = noise.chunk(2)
        return free + self.guidance * (asked - free)


@dataclass(frozen=True)
class Engine:
    """A UNet ready to draw, and what its method does around it."""

    unet: nn.Module
    protected: Protected
    #: None for full precision, which takes text states as they are
    corrected: Correction | None = None
    simulated: bool = True


def generate(
    model: Model,
    engines: Callable[[str], Engine],
    cases: Sequence[Case],
    sampling: Sampling,
    progress: Callable[[int], None] = lambda _: None,
) -> NDArray[np.uint8]:
    """Return one picture (H, W, 3) for each case, in their order.

    Args:
        engines: gives the engine of a group of checkpoints that share a UNet; called once each.
        progress: is told how many pictures are done.
    """
    groups: dict[str, dict[tuple[str, str], list[int]]] = defaultdict(lambda: defaultdict(list))
    for index, case in enumerate(cases):
        groups[model.group_of(case.checkpoint_id)][case.checkpoint_id, case.noun].append(index)
    pictures: list[NDArray[np.uint8] | None] = [None] * len(cases)
    done, size = 0, batch_size(model, BATCH)
    for group, checkpoints in groups.items():
        engine = engines(group)
        for (checkpoint_id, _), indices in checkpoints.items():
            with model.personalized(engine.unet, checkpoint_id):
                for start in range(0, len(indices), size):
                    part = indices[start : start + size]
                    drawn = draw(model, engine, [cases[i] for i in part], sampling)
                    for index, picture in zip(part, drawn, strict=True):
                        pictures[index] = picture
                    done += len(part)
                    progress(done)
    return np.stack([picture for picture in pictures if picture is not None])


def batch_size(model: Model, most: int) -> int:
    """How many pictures fit into a batch, at most `most`: a single one where they are 512x512."""
    _, height, width = model.latent_shape
    return max(1, min(most, SCORES // (height * width) ** 2))


@torch.inference_mode()
def draw(
    model: Model, engine: Engine, cases: Sequence[Case], sampling: Sampling
) -> NDArray[np.uint8]:
    """Return pictures (B, H, W, 3) of one checkpoint's cases of one noun, its LoRA attached."""
    encoded = model.encode(engine.unet, cases, engine.protected, guided=sampling.guided)
    text: dict[str, Any] = {}
    if engine.simulated:
        context = TextContext.project(engine.unet, encoded.told.states, encoded.mask)
        text["cross_attention_kwargs"] = {"text": context}
    noise = initial_noise([case.seed for case in cases], model.latent_shape, model.base.device)
    return decode(model, denoise(model, engine, noise, encoded.told, text, sampling))


def denoise(
    model: Model,
    engine: Engine,
    latents: Tensor,
    told: TextStates,
    text: Mapping[str, Any],
    sampling: Sampling,
) -> Tensor:
    """Return final latents (B, C, h, w) from noise.

    Args:
        told: what B prompts tell the UNet, with guidance (2 B), the empty ones first.
        text: the UNet's further arguments, besides what `told` gives.
    """
    scheduler = model.scheduler(sampling.steps)
    unet: Any = engine.unet
    conditions = {**model.conditions(told), **text}
    for step, timestep in enumerate(scheduler.timesteps):
        batch = torch.cat([latents, latents]) if sampling.guided else latents
        noise = unet(batch, timestep, told.states, return_dict=False, **conditions)[0]
        noise = sampling.combine(noise)
        if engine.corrected is not None:
            noise = engine.corrected(noise, step)
        latents = scheduler.step(noise, timestep, latents, return_dict=False)[0]
    return latents


def decode(model: Model, latents: Tensor) -> NDArray[np.uint8]:
    """Return pictures (B, H, W, 3) of latents (B, C, h, w)."""
    vae = model.base.vae
    decoded = vae.decode(unscaled(vae, latents)).sample
    scaled = ((decoded.clamp(-1, 1) + 1) * 127.5).round()
    pictures: NDArray[np.uint8] = scaled.permute(0, 2, 3, 1).to(torch.uint8).cpu().numpy()
    return pictures
