"""Base models: what all checkpoints of one share. Loaded once, never changed."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from diffusers import AutoencoderKL, DDIMScheduler, EulerDiscreteScheduler, UNet2DConditionModel
from transformers import CLIPTextModel, CLIPTextModelWithProjection, CLIPTokenizer

from personalq.chassis.base_folders import (
    TOKENIZERS,
    base_folder,
    check_base_folder,
    has_second_text_encoder,
    latent_side,
    zeroes_empty_prompts,
)
from personalq.renderer.prompts import Reader, extend
from personalq.renderer.requests import Geometry, Sampler
from personalq.taq import (
    TEXT_PARTS,
    TextEncoder,
    TextEncoders,
    TextPart,
    tokenizer_fingerprint,
)

log = logging.getLogger(__name__)

PARTS = ("unet", "vae", "text_encoder", "tokenizer", "scheduler")
BASE_BYTES_MAX = 64 * 2**30

MODELS: Mapping[TextPart, Any] = {
    "text_encoder": CLIPTextModel,
    "text_encoder_2": CLIPTextModelWithProjection,
}
SCHEDULERS: Mapping[Sampler, Any] = {
    Sampler.DDIM: DDIMScheduler,
    Sampler.EULER: EulerDiscreteScheduler,
}


@dataclass(frozen=True, kw_only=True)
class Base:
    """The shared components of a base model on one device."""

    base_model: str
    vae: Any  # AutoencoderKL
    text: TextEncoders  # one, or SDXL's two; their tokenizers are only ever copied
    tokenizer_fingerprint: str
    reader: Reader  # of checkpoints that ship no tokens of their own
    unet_config: Mapping[str, Any]
    scheduler_config: Mapping[str, Any]
    device: torch.device
    dtype: torch.dtype

    @property
    def geometry(self) -> Geometry:
        """The picture sizes of this base."""
        pixels_per_latent = 2 ** (len(self.vae.config.block_out_channels) - 1)
        side = latent_side(self.unet_config) * pixels_per_latent
        return Geometry(side=side, pixels_per_latent=pixels_per_latent)

    def new_scheduler(self, sampler: Sampler) -> Any:
        """Return a scheduler of its own for one request: schedulers hold the state of a run."""
        return SCHEDULERS[sampler].from_config(self.scheduler_config)

    def empty_unet(self) -> Any:
        """Return a UNet without weights, on the meta device."""
        with torch.device("meta"):
            return UNet2DConditionModel.from_config(self.unet_config)

    @property
    def text_parts(self) -> tuple[TextPart, ...]:
        """The names of its text encoders."""
        return TEXT_PARTS[: len(self.text.encoders)]

    def empty_text_encoder(self, part: TextPart) -> Any:
        """Return one of its text encoders without weights, on the meta device."""
        with torch.device("meta"):
            return MODELS[part](self.text.encoders[TEXT_PARTS.index(part)].model.config)


def load_base(base_model: str, folder: Path, *, device: torch.device, dtype: torch.dtype) -> Base:
    """Load a base model's components, without its UNet. Blocking.

    Text encoders and the VAE keep float32: they run once per request, and float16 VAEs give black
    pictures, SDXL's above all (`force_upcast`).
    """
    vae = AutoencoderKL.from_pretrained(folder / "vae", use_safetensors=True)
    parts = TEXT_PARTS if has_second_text_encoder(folder) else TEXT_PARTS[:1]
    text = TextEncoders(
        encoders=tuple(_load_text_encoder(folder, part, device) for part in parts),
        zero_empty=zeroes_empty_prompts(folder),
    )
    base = Base(
        base_model=base_model,
        vae=vae.float().eval().requires_grad_(False).to(device),
        text=text,
        tokenizer_fingerprint=tokenizer_fingerprint(text.tokenizers),
        reader=extend(text, *({} for _ in parts)),
        unet_config=UNet2DConditionModel.load_config(folder / "unet"),
        scheduler_config=json.loads((folder / "scheduler/scheduler_config.json").read_text()),
        device=device,
        dtype=dtype,
    )
    log.info("base model loaded", extra={"action": "load_base", "base_model": base_model})
    return base


def _load_text_encoder(folder: Path, part: TextPart, device: torch.device) -> TextEncoder:
    model = MODELS[part].from_pretrained(folder / part, use_safetensors=True)
    return TextEncoder(
        tokenizer=CLIPTokenizer.from_pretrained(folder / TOKENIZERS[part]),
        model=model.float().eval().requires_grad_(False).to(device),
    )


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
        kept = directory / hashlib.sha256(place.encode()).hexdigest()
        folder = await base_folder(place, kept, max_bytes=BASE_BYTES_MAX)
        check_base_folder(base_model, folder, PARTS)
        folders[base_model] = folder
    return folders
