"""Base models: their folders, and what identifies them."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import CLIPTokenizer

from personalq.chassis.base_folders import (
    SECOND_PARTS,
    TOKENIZERS,
    base_folder,
    check_base_folder,
    has_second_text_encoder,
    latent_side,
    text_width,
    zeroes_empty_prompts,
)
from personalq.chassis.errors import InvalidInput
from personalq.chassis.sources import digest_of
from personalq.quantizer.jobs import key_of
from personalq.taq import TEXT_PARTS, TextPart, tokenizer_fingerprint

log = logging.getLogger(__name__)

#: What quantization depends on; the VAE, for example, may change without effect.
PARTS = ("unet", "text_encoder", "tokenizer", "scheduler")


class UnknownBaseModel(InvalidInput):
    """The checkpoint's base model is not configured here."""


@dataclass(frozen=True, kw_only=True)
class BaseModel:
    """A diffusers folder and the identity of its files."""

    base_model: str
    folder: Path
    fingerprint: str  # over the files of PARTS and, of SDXL, what else its conditions depend on
    tokenizer_fingerprint: str  # of what they do, not of their files
    #: of each text encoder's states and token embeddings
    text_widths: Mapping[TextPart, int]
    cross_attention_width: int  # of the UNet
    zero_empty: bool  # as `TextEncoders`
    side: int  # pixels, of the pictures it was trained on; 0 where no condition tells it

    @property
    def text_parts(self) -> tuple[TextPart, ...]:
        """Its text encoders: one, or SDXL's two."""
        return tuple(self.text_widths)


async def locate(
    base_models: Mapping[str, str], directory: Path, *, bytes_max: int
) -> dict[str, Path]:
    """Return the folder of each base model; what is not on this machine is fetched once.

    Args:
        base_models: base model → path or URI of a diffusers folder.
        directory: where fetched ones are kept.

    Raises:
        PersonalQError: a base model cannot be had; its message says why.
    """
    folders = {}
    for base_model, place in base_models.items():
        folder = await base_folder(place, directory / key_of(place=place), max_bytes=bytes_max)
        # SDXL is told the size of pictures, which is the VAE's.
        check_base_folder(
            base_model, folder, (*PARTS, "vae") if has_second_text_encoder(folder) else PARTS
        )
        folders[base_model] = folder
    return folders


class BaseModels:
    """The configured base models, each read when first asked for. Not thread-safe."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = dict(folders)
        self._read: dict[str, BaseModel] = {}

    def get(self, base_model: str) -> BaseModel:
        """Return a base model; the first time its files are hashed.

        Raises:
            UnknownBaseModel: it is not configured.
        """
        if base_model not in self._folders:
            raise UnknownBaseModel(
                f"base model {base_model!r} is not configured here; known are "
                f"{', '.join(sorted(self._folders))}"
            )
        if base_model not in self._read:
            self._read[base_model] = read_base(base_model, self._folders[base_model])
        return self._read[base_model]


def read_base(base_model: str, folder: Path) -> BaseModel:
    """Hash a base model's files, read its widths and its tokenizers."""
    second = has_second_text_encoder(folder)
    unet, side = _config(folder / "unet"), 0
    identity: dict[str, object] = {
        part: digest_of(folder / part)[0] for part in (*PARTS, *(SECOND_PARTS if second else ()))
    }
    if second:
        blocks = len(_config(folder / "vae")["block_out_channels"])
        side = latent_side(unet) * 2 ** (blocks - 1)
        identity |= {"side": side, "zero_empty": zeroes_empty_prompts(folder)}
    parts = TEXT_PARTS if second else TEXT_PARTS[:1]
    log.info("base model read", extra={"action": "read_base", "base_model": base_model})
    return BaseModel(
        base_model=base_model,
        folder=folder,
        fingerprint=_sha256("".join(f"{key} {told}\n" for key, told in sorted(identity.items()))),
        tokenizer_fingerprint=tokenizer_fingerprint(
            [CLIPTokenizer.from_pretrained(folder / TOKENIZERS[part]) for part in parts]
        ),
        text_widths={part: int(_config(folder / part)["hidden_size"]) for part in parts},
        cross_attention_width=text_width(unet),
        zero_empty=zeroes_empty_prompts(folder),
        side=side,
    )


def _config(folder: Path) -> dict[str, Any]:
    """Return the configuration of one part of a base model."""
    values: dict[str, Any] = json.loads((folder / "config.json").read_text())
    return values


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
