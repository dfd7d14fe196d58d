"""Pictures of a method: the same prompts, noise and weights for every method."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from personalq.bench.fidelity.models import Model
from personalq.bench.fidelity.prompts import Case
from personalq.taq import TextContext, attach_lora_, detach_lora_
from personalq.taq.protection import Protected
from personalq.taq.simulation import Correction

BATCH = 25  # pictures drawn at a time


@dataclass(frozen=True)
class Sampling:
    """How pictures are drawn."""

    steps: int = 10
    guidance: float = 3.0


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
    groups: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for index, case in enumerate(cases):
        groups[model.group_of(case.checkpoint_id)][case.checkpoint_id].append(index)
    pictures: list[NDArray[np.uint8] | None] = [None] * len(cases)
    done = 0
    for group, checkpoints in groups.items():
        engine = engines(group)
        for checkpoint_id, indices in checkpoints.items():
            with with_lora(engine.unet, model, checkpoint_id):
                for start in range(0, len(indices), BATCH):
                    part = indices[start : start + BATCH]
                    drawn = draw(model, engine, [cases[i] for i in part], sampling)
                    for index, picture in zip(part, drawn, strict=True):
                        pictures[index] = picture
                    done += len(part)
                    progress(done)
    return np.stack([picture for picture in pictures if picture is not None])


@contextmanager
def with_lora(unet: nn.Module, model: Model, checkpoint_id: str) -> Iterator[None]:
    """Let `unet` be a checkpoint within the block: its LoRA is an exact side branch."""
    lora = model.subjects[checkpoint_id].lora
    if lora is not None:
        attach_lora_(unet, lora)
    try:
        yield
    finally:
        detach_lora_(unet)


@torch.inference_mode()
def draw(
    model: Model, engine: Engine, cases: Sequence[Case], sampling: Sampling
) -> NDArray[np.uint8]:
    """Return pictures (B, H, W, 3) of one checkpoint's cases, its LoRA attached."""
    encoded = model.encode(engine.unet, cases, engine.protected)
    text: dict[str, Any] = {}
    if engine.simulated:
        context = TextContext.project(engine.unet, encoded.told.states, encoded.mask)
        text["cross_attention_kwargs"] = {"text": context}
    latents = starting_noise(engine.unet, [case.seed for case in cases])
    latents = denoise(model, engine, latents, encoded.told.states, text, sampling)
    return decode(model.vae, latents)


def denoise(
    model: Model,
    engine: Engine,
    latents: Tensor,
    states: Tensor,
    text: Mapping[str, Any],
    sampling: Sampling,
) -> Tensor:
    """Return final latents (B, C, h, w) from noise; states (2 B, T, D), the empty ones first."""
    scheduler = model.scheduler(sampling.steps)
    unet: Any = engine.unet
    for step, timestep in enumerate(scheduler.timesteps):
        both = torch.cat([latents, latents])
        noise = unet(both, timestep, states, return_dict=False, **text)[0]
        free, guided = noise.chunk(2)
        noise = free + sampling.guidance * (guided - free)
        if engine.corrected is not None:
            noise = engine.corrected(noise, step)
        latents = scheduler.step(noise, timestep, latents, return_dict=False)[0]
    return latents


def starting_noise(unet: nn.Module, seeds: Sequence[int]) -> Tensor:
    """Return standard normal latents (B, C, h, w), each from its own seed."""
    config: Any = unet.config
    shape = (config.in_channels, config.sample_size, config.sample_size)
    return torch.stack(
        [torch.randn(shape, generator=torch.Generator().manual_seed(seed)) for seed in seeds]
    )


def decode(vae: Any, latents: Tensor) -> NDArray[np.uint8]:
    """Return pictures (B, H, W, 3) of latents (B, C, h, w)."""
    decoded = vae.decode(latents / vae.config.scaling_factor).sample
    scaled = ((decoded.clamp(-1, 1) + 1) * 127.5).round()
    pictures: NDArray[np.uint8] = scaled.permute(0, 2, 3, 1).to(torch.uint8).numpy()
    return pictures
