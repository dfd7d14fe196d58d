"""The denoising loop: noise in, latents out.

Classifier-free guidance runs both halves as one batch: ε = ε_∅ + g (ε_text − ε_∅).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from personalq.taq import TextContext

OnStep = Callable[[int, Tensor], None]


def initial_noise(
    seeds: Sequence[int], shape: tuple[int, int, int], device: torch.device
) -> Tensor:
    """Return unit noise (len(seeds), *shape), one seed per picture.

    Drawn on the CPU, so that a seed means the same picture on every device, and alone or among
    others.
    """
    noise = [
        torch.randn(shape, generator=torch.Generator("cpu").manual_seed(seed)) for seed in seeds
    ]
    return torch.stack(noise).to(device)


@torch.inference_mode()
def denoise(
    unet: nn.Module,
    scheduler: Any,
    noise: Tensor,
    text: TextContext,
    *,
    conditions: Mapping[str, Any],
    steps: int,
    guidance: float,
    dtype: torch.dtype,
    on_step: OnStep,
) -> Tensor:
    """Return latents (B, C, h, w) from unit noise of that shape.

    Args:
        scheduler: of this request alone; it holds the state of the run.
        text: B prompts, or with guidance 2 B: first the unconditional ones.
        conditions: further arguments of the UNet, with a row for each of the prompts.
        dtype: of the UNet's input.
        on_step: told after each step its number, from 1, and the picture's latents as they are
            foreseen; may raise to stop.
    """
    scheduler.set_timesteps(steps, device=noise.device)
    latents: Tensor = noise * scheduler.init_noise_sigma
    guided = len(text) == 2 * len(noise)
    for number, t in enumerate(scheduler.timesteps, start=1):
        batch = latents.repeat(2, 1, 1, 1) if guided else latents
        batch = scheduler.scale_model_input(batch, t).to(dtype)
        output = unet(
            batch, t, None, cross_attention_kwargs={"text": text}, **conditions, return_dict=False
        )
        predicted = output[0].float()
        if guided:
            plain, wanted = predicted.chunk(2)
            predicted = plain + guidance * (wanted - plain)
        step = scheduler.step(predicted, t, latents)
        latents = step.prev_sample
        on_step(number, step.pred_original_sample)
    return latents
