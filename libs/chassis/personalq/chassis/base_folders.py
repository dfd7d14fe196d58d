"""What the files of a base model's diffusers folder say that it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from personalq.chassis.checkpoint_files import read_json
from personalq.chassis.errors import InvalidInput

#: What a base of two text encoders has besides.
SECOND_PARTS = ("text_encoder_2", "tokenizer_2")


def check_base_folder(base_model: str, folder: Path, parts: Sequence[str]) -> None:
    """Refuse a folder that lacks one of `parts`, or whose UNet takes other conditions.

    Raises:
        InvalidInput: it does; the message names what is missing.
    """
    second = has_second_text_encoder(folder)
    wanted = (*parts, *SECOND_PARTS) if second else tuple(parts)
    if missing := [part for part in wanted if not (folder / part).is_dir()]:
        raise InvalidInput(
            f"base model {base_model!r}: {folder} has no {', '.join(missing)}; it must be a "
            "diffusers folder of a Stable Diffusion"
        )
    added = _config(folder / "unet" / "config.json").get("addition_embed_type")
    if added != ("text_time" if second else None):
        raise InvalidInput(
            f"base model {base_model!r}: its UNet takes {added or 'no'} conditions beside the "
            f"text's states, its folder has {'two text encoders' if second else 'one text encoder'}"
            "; served are Stable Diffusion 1.x and 2.x (none, one) and SDXL (text_time, two)"
        )


def has_second_text_encoder(folder: Path) -> bool:
    """Tell whether two text encoders read this base's prompts, as SDXL's do."""
    return (folder / SECOND_PARTS[0]).is_dir()


def zeroes_empty_prompts(folder: Path) -> bool:
    """Tell whether this base of two text encoders takes zeros for an empty prompt.

    As diffusers' StableDiffusionXLPipeline, which does unless told otherwise.
    """
    index = _config(folder / "model_index.json")
    return has_second_text_encoder(folder) and bool(index.get("force_zeros_for_empty_prompt", True))


def _config(path: Path) -> Mapping[str, Any]:
    values = read_json(path) if path.is_file() else None
    return values if isinstance(values, dict) else {}
