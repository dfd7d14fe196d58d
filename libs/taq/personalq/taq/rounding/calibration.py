"""The calibration set: captions from templates, and what a sampler asks of a UNet for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import nn

from personalq.taq.errors import ContextError
from personalq.taq.rounding.samples import UNetCall
from personalq.taq.text_states import TextStates

# The pools of Appendix D, Table 11, of the paper's older text. One value of each is drawn.
SCENES = (
    "on a sunny beach", "in a lush green park", "inside a cosy living-room",
    "on a snowy mountain at sunset", "running across a golden wheat field",
    "under cherry-blossom trees", "posing in front of the Eiffel Tower",
    "sitting on a skateboard at a skatepark", "playing fetch by a forest lake",
    "splashing in a backyard pool", "walking through bustling city streets",
    "lying on a vintage Persian rug", "climbing a rocky cliff by the sea",
    "resting beside a campfire", "sitting in a canoe on calm water",
    "wrapped in a warm blanket during a snowfall",
)  # fmt: skip
TIMES = (
    "at dawn", "at golden hour", "at blue hour", "on an overcast day",
    "under neon lights at night", "at high noon", "during a thunderstorm", "at twilight",
)  # fmt: skip
STYLES = (
    "high-resolution photograph", "analog film style", "soft focus portrait", "35 mm film",
    "ultra-wide angle shot", "macro shot", "HDR", "vintage Polaroid", "cinematic still",
    "professional studio lighting", "low-key lighting", "minimalist composition",
    "aerial drone view",
)  # fmt: skip
ACTIONS = (
    "wearing sunglasses", "jumping over an obstacle", "catching a frisbee", "tilting its head",
    "sleeping peacefully", "wagging its tail", "smiling at the camera", "with its tongue out",
    "howling playfully", "sniffing a flower", "splashing water", "wrapped in a scarf",
)  # fmt: skip


def captions(
    subjects: Sequence[str],
    *,
    pools: Sequence[Sequence[str]] = (SCENES, TIMES, STYLES, ACTIONS),
    count: int = 64,
    seed: int = 0,
) -> list[str]:
    """Return `count` captions "a photo of a {subject}, {scene}, {time}, {style}, {action}".

    Appendix D of the paper's older text. Every value of a pool, and every subject, occurs equally
    often or once more.

    Args:
        subjects: nouns, with a trigger where there is one: "<bear-v4> bear".
        pools: what follows the subject, one value of each; other words for other models.

    Raises:
        ContextError: there are no subjects, or a pool is empty.
    """
    if not subjects or not all(pools):
        raise ContextError("Captions need a subject and no empty pool.")
    generator = torch.Generator().manual_seed(seed)
    columns = [_deal(values, count, generator) for values in (subjects, *pools)]
    return ["a photo of a " + ", ".join(parts) for parts in zip(*columns, strict=True)]


def _deal(values: Sequence[str], count: int, generator: torch.Generator) -> list[str]:
    """Return `count` values, each as often as the others, in random order."""
    rounds = -(-count // len(values))
    order = [
        i for _ in range(rounds) for i in torch.randperm(len(values), generator=generator).tolist()
    ]
    return [values[i] for i in order[:count]]


@torch.no_grad()
def sampler_calls(
    unet: nn.Module,
    scheduler: Any,
    told: TextStates,
    empty: TextStates,
    *,
    latent_shape: tuple[int, int, int],
    picture: tuple[int, int],
    steps: int = 25,
    every: int = 1,
    guidance: float = 7.5,
    batch: int = 8,
    seed: int = 0,
) -> Iterator[UNetCall]:
    """Draw with classifier-free guidance, and yield every n-th call of the UNet.

    A call has 2 `batch` samples, first the unconditional ones: with `steps=25, every=1` this is
    Q-Diffusion's set, uniform over the timesteps. A guidance of at most 1 has no effect, as in
    diffusers: calls have `batch` samples then, all of captions.

    Args:
        unet: on the device of the text states.
        scheduler: a diffusers scheduler, best DDIM; its timesteps are set anew.
        told: what the N captions give the UNet, states (N, T, D).
        empty: what the empty caption gives it, states (1, T, D).
        latent_shape: (channels, height, width).
        picture: (height, width) in pixels, which SDXL is told.

    Raises:
        ContextError: the text states have other shapes.
    """
    states = told.states
    if states.ndim != 3 or empty.states.shape != (1, *states.shape[1:]):
        raise ContextError("Text states are (N, T, D), those of the empty caption (1, T, D).")
    generator = torch.Generator().manual_seed(seed)
    guided, (height, width) = guidance > 1, picture
    for start in range(0, len(told), batch):
        text = told[start : start + batch]
        latents = torch.randn(len(text), *latent_shape, generator=generator).to(states.device)
        if guided:
            text = TextStates.cat([empty[[0] * len(text)], text])
        conditions = text.conditions(height=height, width=width)
        scheduler.set_timesteps(steps)
        latents = latents * scheduler.init_noise_sigma
        for index, timestep in enumerate(scheduler.timesteps):
            batched = torch.cat([latents, latents]) if guided else latents
            call = UNetCall(
                scheduler.scale_model_input(batched, timestep), timestep, text.states, conditions
            )
            if index % every == 0:
                yield call
            noise = call.run(unet)
            if guided:
                free, asked = noise.chunk(2)
                noise = free + guidance * (asked - free)
            latents = scheduler.step(noise, timestep, latents, return_dict=False)[0]
