"""Activation ranges from a few denoising trajectories of templated prompts.

Guided DDIM from seeded noise, prompts in batches with their unconditional halves, so that every
layer sees what it will see when it serves: all noise levels, with and without text.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from diffusers import DDIMScheduler
from torch import nn

from personalq.chassis.base_folders import latent_side
from personalq.taq import Calibration, Range, TextStates

VERSION = 3  # raised when other ranges come out of the same arguments
GUIDANCE = 5.0
PROMPTS_PER_BATCH = 4
LARGE_SIDE = 128  # of SDXL's latents: what its layers hold of such a batch takes gigabytes


@torch.no_grad()
def observe(
    unet: nn.Module,
    told: TextStates,
    base_folder: Path,
    *,
    steps: int,
    bits: int,
    side: int,
    seed: int = 0,
    between_steps: Callable[[], None] = lambda: None,
) -> dict[str, Range]:
    """Return the ranges that `unet` needs at `bits`.

    Args:
        told: by the prompts; the first is the empty one.
        side: of the pictures, in pixels, where the UNet is told it.
        between_steps: called before each step; may raise to stop.
    """
    model: Any = unet
    device = next(unet.parameters()).device
    latents_side = latent_side(model.config)
    per_batch = PROMPTS_PER_BATCH if latents_side < LARGE_SIDE else 1
    scheduler: Any = DDIMScheduler.from_pretrained(base_folder / "scheduler")
    generator = torch.Generator().manual_seed(seed)
    with Calibration(unet) as calibration:
        for first in range(1, len(told), per_batch):
            rows = range(first, min(first + per_batch, len(told)))
            both = told[[0] * len(rows) + [*rows]].to(device)
            conditions = both.conditions(height=side, width=side)
            shape = (len(rows), model.config.in_channels, latents_side, latents_side)
            latents = torch.randn(shape, generator=generator).to(device)
            scheduler.set_timesteps(steps)
            for t in scheduler.timesteps:
                between_steps()
                batch = latents.repeat(2, 1, 1, 1)
                noise = unet(batch, t, both.states, **conditions, return_dict=False)[0]
                plain, wanted = noise.chunk(2)
                guided = plain + GUIDANCE * (wanted - plain)
                latents = scheduler.step(guided, t, latents, return_dict=False)[0]
    return calibration.ranges(bits)
