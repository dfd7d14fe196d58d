"""A batched DDIM loop with classifier-free guidance over the base or a personalized UNet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from diffusers import DDIMScheduler, UNet2DConditionModel
from numpy.typing import NDArray

from personalq.miniature.base import Base
from personalq.miniature.devices import autocast
from personalq.miniature.places import RECOMMENDED_GUIDANCE, RECOMMENDED_STEPS
from personalq.miniature.unet import encode_texts
from personalq.miniature.vae import decode

_BATCH = 16


@torch.inference_mode()
def generate(
    base: Base,
    captions: Sequence[str],
    seeds: Sequence[int],
    unet: UNet2DConditionModel | None = None,
    steps: int = RECOMMENDED_STEPS,
    guidance: float = RECOMMENDED_GUIDANCE,
) -> NDArray[np.uint8]:
    """One picture (64, 64, 3) for each caption and seed; `unet` replaces the base's own."""
    pictures = []
    for start in range(0, len(captions), _BATCH):
        part = slice(start, start + _BATCH)
        pictures.append(
            _generate_batch(base, captions[part], seeds[part], unet or base.unet, steps, guidance)
        )
    return np.concatenate(pictures)


def _generate_batch(
    base: Base,
    captions: Sequence[str],
    seeds: Sequence[int],
    unet: UNet2DConditionModel,
    steps: int,
    guidance: float,
) -> NDArray[np.uint8]:
    scheduler = DDIMScheduler.from_config(base.scheduler.config)
    scheduler.set_timesteps(steps)
    texts = [""] * len(captions) + list(captions)
    states = encode_texts(texts, base.tokenizer, base.text_encoder).to(unet.device)
    latents = torch.stack(
        [torch.randn((4, 16, 16), generator=torch.Generator().manual_seed(seed)) for seed in seeds]
    ).to(unet.device)
    for timestep in scheduler.timesteps:
        with autocast():
            output = unet(torch.cat([latents, latents]), timestep, states, return_dict=False)[0]
        free, guided = output.float().chunk(2)
        noise = free + guidance * (guided - free)
        latents = scheduler.step(noise, timestep, latents, return_dict=False)[0]
    return decode(base.vae, latents)
