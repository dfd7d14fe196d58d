"""The UNets that are served, by their published configurations, and the same in miniature."""

from __future__ import annotations

from typing import Any

from torch import nn

SD15: dict[str, Any] = {
    "sample_size": 64,
    "in_channels": 4,
    "out_channels": 4,
    "block_out_channels": (320, 640, 1280, 1280),
    "layers_per_block": 2,
    "cross_attention_dim": 768,
    "attention_head_dim": 8,  # diffusers takes it as the number of heads
    "down_block_types": (
        "CrossAttnDownBlock2D",
        "CrossAttnDownBlock2D",
        "CrossAttnDownBlock2D",
        "DownBlock2D",
    ),
    "up_block_types": (
        "UpBlock2D",
        "CrossAttnUpBlock2D",
        "CrossAttnUpBlock2D",
        "CrossAttnUpBlock2D",
    ),
}

SDXL: dict[str, Any] = {
    "sample_size": 128,
    "in_channels": 4,
    "out_channels": 4,
    "block_out_channels": (320, 640, 1280),
    "layers_per_block": 2,
    "cross_attention_dim": 2048,
    "attention_head_dim": (5, 10, 20),
    "transformer_layers_per_block": (1, 2, 10),
    "use_linear_projection": True,
    "addition_embed_type": "text_time",
    "addition_time_embed_dim": 256,
    "projection_class_embeddings_input_dim": 2816,
    "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
    "up_block_types": ("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
}

#: Distilled from SDXL: other weights, pictures of half the size.
SDXL_TURBO: dict[str, Any] = SDXL | {"sample_size": 64}

NARROW_TEXT = 64  # cross_attention_dim of the narrow ones
POOLED = 32  # width of SDXL's pooled text embedding there
TIME_IDS = 6  # numbers of SDXL's size and crop condition


def narrow(configuration: dict[str, Any]) -> dict[str, Any]:
    """Return the same topology with few channels: every block, layer and condition is there."""
    changes: dict[str, Any] = {"sample_size": 8, "cross_attention_dim": NARROW_TEXT}
    if "addition_embed_type" not in configuration:
        changes |= {"block_out_channels": (32, 64, 96, 96)}
    else:
        changes |= {
            "block_out_channels": (32, 64, 96),
            "attention_head_dim": (1, 2, 4),
            "addition_time_embed_dim": 8,
            "projection_class_embeddings_input_dim": TIME_IDS * 8 + POOLED,
        }
    return configuration | changes


def build(configuration: dict[str, Any]) -> Any:
    """Return an untrained UNet2DConditionModel on the default device."""
    from diffusers import UNet2DConditionModel

    return UNet2DConditionModel(**configuration).eval()


def named(unet: nn.Module, kind: type[nn.Module]) -> dict[str, Any]:
    """Return the modules of one kind by name."""
    return {name: module for name, module in unet.named_modules() if isinstance(module, kind)}
