"""Activation ranges from a few denoising trajectories of templated prompts.

Guided DDIM from seeded noise, prompts in batches with their unconditional halves, so that every
layer sees what it will see when it serves: all noise levels, with and without text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from diffusers import DDIMScheduler
from torch import Tensor, nn
from transformers import CLIPTextModel, CLIPTokenizer

from personalq.taq import Calibration, Range

VERSION = 1  # raised when other ranges come out of the same arguments
GUIDANCE = 5.0
PROMPTS_PER_BATCH = 4


@torch.inference_mode()
def encode_prompts(
    base_folder: Path, prompts: Sequence[str], *, encoder: nn.Module | None = None
) -> Tensor:
    """Return the text states (1 + len(prompts), T, D); the first row is the empty prompt.

    Args:
        encoder: reads the prompts instead of the base's.
    """
    tokenizer = CLIPTokenizer.from_pretrained(base_folder / "tokenizer")
    if encoder is None:
        folder = base_folder / "text_encoder"
        encoder = CLIPTextModel.from_pretrained(folder, use_safetensors=True).eval()
    tokens = tokenizer(
        ["", *prompts],
        padding="max_length",
        truncation=True,
        max_length=tokenizer.model_max_length,
        return_tensors="pt",
    )
    states: Tensor = encoder(tokens["input_ids"]).last_hidden_state
    return states


@torch.no_grad()
def observe(
    unet: nn.Module,
    states: Tensor,
    base_folder: Path,
    *,
    steps: int,
    bits: int,
    seed: int = 0,
    between_steps: Callable[[], None] = lambda: None,
) -> dict[str, Range]:
    """Return the ranges that `unet` needs at `bits`.

    Args:
        states: as `encode_prompts` returns them.
        between_steps: called before each step; may raise to stop.
    """
    model: Any = unet
    device = next(unet.parameters()).device
    side = model.config.sample_size
    scheduler: Any = DDIMScheduler.from_pretrained(base_folder / "scheduler")
    generator = torch.Generator().manual_seed(seed)
    with Calibration(unet) as calibration:
        for first in range(1, len(states), PROMPTS_PER_BATCH):
            text = states[first : first + PROMPTS_PER_BATCH]
            both = torch.cat([states[:1].expand(len(text), -1, -1), text]).to(device)
            shape = (len(text), model.config.in_channels, side, side)
            latents = torch.randn(shape, generator=generator).to(device)
            scheduler.set_timesteps(steps)
            for t in scheduler.timesteps:
                between_steps()
                noise = unet(latents.repeat(2, 1, 1, 1), t, both, return_dict=False)[0]
                plain, wanted = noise.chunk(2)
                guided = plain + GUIDANCE * (wanted - plain)
                latents = scheduler.step(guided, t, latents, return_dict=False)[0]
    return calibration.ranges(bits)
