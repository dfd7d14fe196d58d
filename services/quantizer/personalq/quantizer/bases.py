"""Base models: their folders, and what identifies them."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from personalq.chassis.errors import InvalidInput
from personalq.chassis.sources import Source, digest_of, fetch_source
from personalq.quantizer.jobs import key_of

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
    fingerprint: str  # over the files of PARTS
    tokenizer_fingerprint: str
    text_width: int  # of the text encoder's states and token embeddings
    cross_attention_width: int  # of the UNet


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
        if "://" not in place or place.startswith("file://"):
            folder = Path(unquote(urlsplit(place).path)) if "://" in place else Path(place)
        else:
            kept = directory / key_of(place=place)
            # Hidden is what a fetch that was killed left behind.
            folder = next(kept.glob("[!.]*"), kept)
            if not (folder / "unet").is_dir():
                shutil.rmtree(kept, ignore_errors=True)
                kept.mkdir(parents=True)
                folder = await fetch_source(Source(uri=place), kept, max_bytes=bytes_max)
        if missing := [part for part in PARTS if not (folder / part).is_dir()]:
            raise InvalidInput(
                f"base model {base_model!r}: {place} has no {', '.join(missing)}; it must be a "
                "diffusers folder of a Stable Diffusion"
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
    """Hash a base model's files and read its widths."""
    digests = {part: digest_of(folder / part)[0] for part in PARTS}
    fingerprint = "".join(f"{part} {digest}\n" for part, digest in sorted(digests.items()))
    encoder = json.loads((folder / "text_encoder" / "config.json").read_text())
    unet = json.loads((folder / "unet" / "config.json").read_text())
    log.info("base model read", extra={"action": "read_base", "base_model": base_model})
    return BaseModel(
        base_model=base_model,
        folder=folder,
        fingerprint=hashlib.sha256(fingerprint.encode()).hexdigest(),
        tokenizer_fingerprint=digests["tokenizer"],
        text_width=int(encoder["hidden_size"]),
        cross_attention_width=int(unet["cross_attention_dim"]),
    )
