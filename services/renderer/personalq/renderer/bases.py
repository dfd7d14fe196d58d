"""Base models: what all checkpoints of one share. Loaded once, never changed."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import torch
from diffusers import AutoencoderKL, DDIMScheduler, EulerDiscreteScheduler, UNet2DConditionModel
from transformers import CLIPTextModel, CLIPTokenizer

from personalq.chassis.errors import InvalidInput
from personalq.chassis.sources import Source, fetch_source
from personalq.renderer.prompts import Vocabulary, extend
from personalq.renderer.requests import Geometry, Sampler

log = logging.getLogger(__name__)

PARTS = ("unet", "vae", "text_encoder", "tokenizer", "scheduler")
BASE_BYTES_MAX = 64 * 2**30

SCHEDULERS: Mapping[Sampler, Any] = {
    Sampler.DDIM: DDIMScheduler,
    Sampler.EULER: EulerDiscreteScheduler,
}


@dataclass(frozen=True, kw_only=True)
class Base:
    """The shared components of a base model on one device."""

    base_model: str
    vae: Any  # AutoencoderKL
    text_encoder: Any  # CLIPTextModel
    tokenizer: Any  # CLIPTokenizer; only ever copied
    vocabulary: Vocabulary  # of checkpoints that ship no tokens of their own
    unet_config: Mapping[str, Any]
    scheduler_config: Mapping[str, Any]
    device: torch.device
    dtype: torch.dtype

    @property
    def geometry(self) -> Geometry:
        """The picture sizes of this base."""
        pixels_per_latent = 2 ** (len(self.vae.config.block_out_channels) - 1)
        side = int(self.unet_config["sample_size"]) * pixels_per_latent
        return Geometry(side=side, pixels_per_latent=pixels_per_latent)

    def new_scheduler(self, sampler: Sampler) -> Any:
        """Return a scheduler of its own for one request: schedulers hold the state of a run."""
        return SCHEDULERS[sampler].from_config(self.scheduler_config)

    def empty_unet(self) -> Any:
        """Return a UNet without weights, on the meta device."""
        with torch.device("meta"):
            return UNet2DConditionModel.from_config(self.unet_config)

    def empty_text_encoder(self) -> Any:
        """Return a text encoder without weights, on the meta device."""
        with torch.device("meta"):
            return CLIPTextModel(self.text_encoder.config)


def load_base(base_model: str, folder: Path, *, device: torch.device, dtype: torch.dtype) -> Base:
    """Load a base model's components, without its UNet. Blocking.

    The text encoder and the VAE keep float32: they run once per request, and float16 VAEs give
    black pictures.
    """
    vae = AutoencoderKL.from_pretrained(folder / "vae", use_safetensors=True)
    encoder = CLIPTextModel.from_pretrained(folder / "text_encoder", use_safetensors=True)
    tokenizer = CLIPTokenizer.from_pretrained(folder / "tokenizer")
    base = Base(
        base_model=base_model,
        vae=vae.float().eval().requires_grad_(False).to(device),
        text_encoder=encoder.float().eval().requires_grad_(False).to(device),
        tokenizer=tokenizer,
        vocabulary=extend(tokenizer, {}),
        unet_config=UNet2DConditionModel.load_config(folder / "unet"),
        scheduler_config=json.loads((folder / "scheduler/scheduler_config.json").read_text()),
        device=device,
        dtype=dtype,
    )
    log.info("base model loaded", extra={"action": "load_base", "base_model": base_model})
    return base


async def locate(base_models: Mapping[str, str], directory: Path) -> dict[str, Path]:
    """Return the folder of each base model; what is not on this machine is fetched once.

    Args:
        base_models: base model → path or URI of a diffusers folder.
        directory: where fetched ones are kept.

    Raises:
        PersonalQError: a base model cannot be had; its message says why.
    """
    folders = {}
    for base_model, place in base_models.items():
        if "://" not in place or place.startswith("file://"):
            folder = Path(unquote(urlsplit(place).path)) if "://" in place else Path(place)
        else:
            kept = directory / hashlib.sha256(place.encode()).hexdigest()
            # Hidden is what a fetch that was killed left behind.
            folder = next(kept.glob("[!.]*"), kept)
            if not (folder / "unet").is_dir():
                shutil.rmtree(kept, ignore_errors=True)
                kept.mkdir(parents=True)
                folder = await fetch_source(Source(uri=place), kept, max_bytes=BASE_BYTES_MAX)
        if missing := [part for part in PARTS if not (folder / part).is_dir()]:
            raise InvalidInput(
                f"base model {base_model!r}: {place} has no {', '.join(missing)}; it must be a "
                "diffusers folder of a Stable Diffusion"
            )
        folders[base_model] = folder
    return folders
