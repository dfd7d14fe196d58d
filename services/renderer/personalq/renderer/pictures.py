"""From latents to PNG, with what made them written inside."""

from __future__ import annotations

import io
from typing import Any

import torch
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from torch import Tensor

from personalq.renderer.requests import Provenance

MEDIA_TYPE = "image/png"
PREVIEW_SIDE = 128  # pixels, at most
KEY = "personalq:"  # prefix of our text chunks


@torch.inference_mode()
def decode(vae: Any, latents: Tensor) -> Image.Image:
    """Return the picture of latents (C, h, w): one at a time, since nothing takes more memory."""
    pixels = vae.decode(unscaled(vae, latents[None].float()), return_dict=False)[0][0]
    scaled = (pixels / 2 + 0.5).clamp(0, 1).mul(255).round().to(torch.uint8)
    return Image.fromarray(scaled.permute(1, 2, 0).cpu().numpy())


def unscaled(vae: Any, latents: Tensor) -> Any:
    """Return latents (B, C, h, w) in the VAE's own numbers.

    A configuration gives a factor, with it perhaps a shift, or mean and deviation of each channel.
    """
    config = vae.config
    mean, deviation = (
        getattr(config, name, None) or () for name in ("latents_mean", "latents_std")
    )
    if mean and deviation:
        shift, scale = (latents.new_tensor(x).view(1, -1, 1, 1) for x in (mean, deviation))
        return latents * scale / config.scaling_factor + shift
    return latents / config.scaling_factor + (getattr(config, "shift_factor", None) or 0.0)


def preview(picture: Image.Image) -> bytes:
    """Return a small PNG of a picture, which is made small itself."""
    picture.thumbnail((PREVIEW_SIDE, PREVIEW_SIDE))
    return png(picture)


def png(picture: Image.Image, text: dict[str, str] | None = None) -> bytes:
    """Return a picture as PNG with text chunks."""
    info = PngInfo()
    for key, value in (text or {}).items():
        info.add_itxt(key, value)
    out = io.BytesIO()
    picture.save(out, format="PNG", pnginfo=info)
    return out.getvalue()


def describe(provenance: Provenance, *, seed: int, index: int) -> dict[str, str]:
    """Return the text chunks of picture `index`, whose own seed is `seed`."""
    return {
        "Software": f"PersonalQ renderer {provenance.renderer_version}",
        f"{KEY}checkpoint": provenance.checkpoint_id,
        f"{KEY}artifact": provenance.artifact_digest,
        f"{KEY}profile": provenance.profile,
        f"{KEY}prompt": provenance.prompt,
        f"{KEY}negative_prompt": provenance.negative_prompt,
        f"{KEY}seed": str(seed),
        f"{KEY}index": str(index),
        f"{KEY}steps": str(provenance.steps),
        f"{KEY}guidance_scale": f"{provenance.guidance_scale:g}",
        f"{KEY}sampler": provenance.sampler.value,
        f"{KEY}version": provenance.renderer_version,
    }


def blacken(picture: Image.Image) -> Image.Image:
    """Return a black picture of the same size."""
    return Image.new(picture.mode, picture.size)
