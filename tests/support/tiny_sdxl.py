"""A tiny random SDXL, in the layout of the real one: two text encoders, a UNet told sizes."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from support.tiny_sd import LATENT_SIDE, tiny_text_encoder, tiny_vae, write_tokenizer

HIDDEN, HIDDEN_2 = 32, 48  # widths of the text encoders
POOLED = 48  # of the second's projection
TIME_WIDTH = 8  # of each of the six numbers that tell the picture's size


def make_tiny_sdxl(
    folder: Path,
    *,
    seed: int = 0,
    turbo: bool = False,
    zero_empty: bool = True,
    layers_per_block: int = 2,
) -> Path:
    """Write a diffusers folder with all parts of SDXL, or SDXL-Turbo, and return it."""
    from diffusers import (
        EulerAncestralDiscreteScheduler,
        EulerDiscreteScheduler,
        UNet2DConditionModel,
    )
    from transformers import CLIPTextModel, CLIPTextModelWithProjection

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        vocabulary = write_tokenizer(folder / "tokenizer")
        write_tokenizer(folder / "tokenizer_2", pad="!")
        parts = {
            "unet": UNet2DConditionModel(
                sample_size=LATENT_SIDE,
                block_out_channels=(32, 64),
                layers_per_block=layers_per_block,
                norm_num_groups=8,
                cross_attention_dim=HIDDEN + HIDDEN_2,
                attention_head_dim=(2, 4),
                transformer_layers_per_block=(1, 2),
                use_linear_projection=True,
                addition_embed_type="text_time",
                addition_time_embed_dim=TIME_WIDTH,
                projection_class_embeddings_input_dim=6 * TIME_WIDTH + POOLED,
                down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
                up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            ),
            "vae": tiny_vae(scaling_factor=0.13025, force_upcast=True),
            "text_encoder": tiny_text_encoder(CLIPTextModel, vocabulary, HIDDEN),
            "text_encoder_2": tiny_text_encoder(
                CLIPTextModelWithProjection,
                vocabulary,
                HIDDEN_2,
                projection_dim=POOLED,
                hidden_act="gelu",
                eos_token_id=2,  # as SDXL's configuration has it
                pad_token_id=1,
            ),
        }
    noise = {
        "beta_start": 0.00085,
        "beta_end": 0.012,
        "beta_schedule": "scaled_linear",
        "steps_offset": 1,
        "timestep_spacing": "trailing" if turbo else "leading",
    }
    kind = EulerAncestralDiscreteScheduler if turbo else EulerDiscreteScheduler
    for name, part in parts.items():
        part.save_pretrained(folder / name)
    kind(**noise).save_pretrained(folder / "scheduler")
    scheduler = folder / "scheduler/scheduler_config.json"
    # Of other samplers, as the published configurations tell them too.
    told = {"clip_sample": False, "set_alpha_to_one": False}
    scheduler.write_text(json.dumps(json.loads(scheduler.read_text()) | told))
    index = {
        "_class_name": "StableDiffusionXLPipeline",
        "force_zeros_for_empty_prompt": zero_empty,
        "scheduler": ["diffusers", kind.__name__],
        "text_encoder": ["transformers", "CLIPTextModel"],
        "text_encoder_2": ["transformers", "CLIPTextModelWithProjection"],
        "tokenizer": ["transformers", "CLIPTokenizer"],
        "tokenizer_2": ["transformers", "CLIPTokenizer"],
        "unet": ["diffusers", "UNet2DConditionModel"],
        "vae": ["diffusers", "AutoencoderKL"],
    }
    (folder / "model_index.json").write_text(json.dumps(index))
    return folder
