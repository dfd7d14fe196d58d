"""The UNet that is measured: a published configuration with random weights, and its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

SD15: dict[str, Any] = {
    "sample_size": 64,
    "block_out_channels": (320, 640, 1280, 1280),
    "layers_per_block": 2,
    "cross_attention_dim": 768,
    "attention_head_dim": 8,  # diffusers takes it as the number of heads
}
#: The same topology, small enough for a first look.
NARROW: dict[str, Any] = SD15 | {"sample_size": 16, "block_out_channels": (32, 64, 128, 128)}
TOKENS = 77
BATCH = 2  # one picture, both halves of guidance
SEED = 0


@dataclass(frozen=True)
class Inputs:
    """One denoising step of one picture."""

    sample: Tensor  # (BATCH, 4, h, w)
    timestep: Tensor  # ()
    text: Tensor  # (BATCH, TOKENS, D)


def build(config: dict[str, Any]) -> nn.Module:
    """Return the UNet with random weights, the same every time."""
    from diffusers import UNet2DConditionModel

    torch.manual_seed(SEED)
    unet: nn.Module = UNet2DConditionModel(**config)
    return unet.eval().requires_grad_(False)


def inputs(config: dict[str, Any], device: str, dtype: torch.dtype) -> Inputs:
    """Return the inputs, the same values for every contender, images channels last."""
    generator = torch.Generator().manual_seed(SEED + 1)
    side = config["sample_size"]
    sample = torch.randn(BATCH, 4, side, side, generator=generator)
    text = torch.randn(BATCH, TOKENS, config["cross_attention_dim"], generator=generator)
    sample = sample.to(device, dtype).contiguous(memory_format=torch.channels_last)
    return Inputs(sample, torch.tensor(500, device=device), text.to(device, dtype))
