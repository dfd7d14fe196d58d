"""Writing and reading the base model in the standard diffusers layout."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
from torch import nn
from transformers import CLIPTextModel, CLIPTokenizer

from personalq.miniature.clip import Clip, load_clip, save_clip
from personalq.miniature.devices import device
from personalq.miniature.unet import build_scheduler


@dataclass(frozen=True)
class Base:
    """The parts of the base model in fp32, ready for inference or training."""

    tokenizer: CLIPTokenizer
    text_encoder: CLIPTextModel
    vae: AutoencoderKL
    unet: UNet2DConditionModel
    scheduler: DDIMScheduler


def half_exact_(module: nn.Module) -> None:
    """Round the parameters to values that fp16 can hold, in place."""
    for parameter in module.parameters():
        parameter.data = parameter.data.half().float()


def export_base(folder: Path, clip: Clip, vae: AutoencoderKL, unet: UNet2DConditionModel) -> None:
    """Write `folder`/base and `folder`/clip in fp16, replacing what is there part by part.

    The tokenizer in `folder`/base/tokenizer stays as `write_tokenizer` left it.
    """
    partial = folder / "base.part"
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(folder / "base" / "tokenizer", partial / "tokenizer")
    for name, module in (("text_encoder", clip.text), ("vae", vae), ("unet", unet)):
        module.half().save_pretrained(partial / name)
        module.float()
    build_scheduler().save_pretrained(partial / "scheduler")
    index = {
        "_class_name": "StableDiffusionPipeline",
        "_diffusers_version": "0.30.0",
        "feature_extractor": [None, None],
        "image_encoder": [None, None],
        "requires_safety_checker": False,
        "safety_checker": [None, None],
        "scheduler": ["diffusers", "DDIMScheduler"],
        "text_encoder": ["transformers", "CLIPTextModel"],
        "tokenizer": ["transformers", "CLIPTokenizer"],
        "unet": ["diffusers", "UNet2DConditionModel"],
        "vae": ["diffusers", "AutoencoderKL"],
    }
    (partial / "model_index.json").write_text(json.dumps(index, indent=2))
    for config_file in partial.glob("*/*config.json"):
        _tidy_config(config_file)
    old = folder / "base.old"
    shutil.rmtree(old, ignore_errors=True)
    (folder / "base").rename(old)
    partial.rename(folder / "base")
    shutil.rmtree(old)
    save_clip(clip, folder / "clip")


def _tidy_config(config_file: Path) -> None:
    """Drop the path that `save_pretrained` remembers; let transformers load in fp32 by default."""
    config = json.loads(config_file.read_text())
    config.pop("_name_or_path", None)
    if "dtype" in config:
        config["dtype"] = "float32"
    config_file.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def load_base(folder: Path, unet: Path | None = None) -> Base:
    """The base in `folder` in fp32, on the GPU if there is one.

    `unet` names the folder of another UNet to use instead of the base's own.
    """
    pipe = StableDiffusionPipeline.from_pretrained(folder, safety_checker=None)
    own = pipe.unet
    if unet is not None:
        own = UNet2DConditionModel.from_pretrained(unet)
    for module in (pipe.text_encoder, pipe.vae, own):
        module.to(device()).eval().requires_grad_(False)
    return Base(pipe.tokenizer, pipe.text_encoder, pipe.vae, own, pipe.scheduler)


def load_judge(weights: Path) -> Clip:
    """The CLIP that belongs to the base in `weights`."""
    return load_clip(weights / "clip", weights / "base" / "text_encoder")
