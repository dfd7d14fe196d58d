"""A base model's diffusers folder: where it lies, and what its files say that it is."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from personalq.chassis.checkpoint_files import read_json
from personalq.chassis.errors import InvalidInput
from personalq.chassis.sources import Source, fetch_source

#: Folders of text encoders, and of the tokenizer of each.
TOKENIZERS = {"text_encoder": "tokenizer", "text_encoder_2": "tokenizer_2"}
#: What a base of two text encoders has besides.
SECOND_PARTS = ("text_encoder_2", TOKENIZERS["text_encoder_2"])
#: Further conditions of a UNet, which nothing here would give it.
UNSERVED_OPTIONS = ("class_embed_type", "num_class_embeds", "encoder_hid_dim_type")
SIZES_TOLD = 6  # numbers that tell SDXL's UNet the picture's size
#: Of diffusers and transformers, where a configuration does not say.
CHANNELS, PROJECTION = 4, 512


async def base_folder(place: str, kept: Path, *, max_bytes: int) -> Path:
    """Return the folder at `place`; one that is not on this machine is fetched once.

    Args:
        place: a path or a URI.
        kept: what is fetched lies in this folder, which holds nothing else.

    Raises:
        PersonalQError: as `fetch_source`.
    """
    if "://" not in place:
        return Path(place)
    if place.startswith("file://"):
        return Path(unquote(urlsplit(place).path))
    # Hidden is what a fetch that was killed left behind.
    folder = next(kept.glob("[!.]*"), kept)
    if (folder / "unet").is_dir():
        return folder
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    return await fetch_source(Source(uri=place), kept, max_bytes=max_bytes)


def check_base_folder(base_model: str, folder: Path, parts: Sequence[str]) -> None:
    """Refuse a folder that lacks one of `parts`, or whose UNet takes other conditions.

    Raises:
        InvalidInput: it does; the message names what is missing, or the file that says so.
    """
    second = has_second_text_encoder(folder)
    wanted = (*parts, *SECOND_PARTS) if second else tuple(parts)
    if missing := [part for part in wanted if not (folder / part).is_dir()]:
        raise InvalidInput(
            f"base model {base_model!r}: {folder} has no {', '.join(missing)}; it must be a "
            "diffusers folder of a Stable Diffusion"
        )
    file = folder / "unet" / "config.json"
    unet = _config(file)
    added = unet.get("addition_embed_type")
    if added != ("text_time" if second else None):
        raise InvalidInput(
            f"base model {base_model!r}: its UNet takes {added or 'no'} conditions beside the "
            f"text's states, its folder has {'two text encoders' if second else 'one text encoder'}"
            "; served are Stable Diffusion 1.x and 2.x (none, one) and SDXL (text_time, two)"
        )
    vae, text_encoder = (
        _config(folder / part / "config.json") for part in ("vae", SECOND_PARTS[0])
    )
    try:
        _check_unet(unet)
        _check_channels(unet, vae)
        if second:
            _check_added(unet, text_encoder)
    except InvalidInput as error:
        raise InvalidInput(f"base model {base_model!r}: {file}: {error.message}") from error
    zeroes_empty_prompts(folder)


def has_second_text_encoder(folder: Path) -> bool:
    """Tell whether two text encoders read this base's prompts, as SDXL's do."""
    return (folder / SECOND_PARTS[0]).is_dir()


def zeroes_empty_prompts(folder: Path) -> bool:
    """Tell whether this base of two text encoders takes zeros for an empty prompt.

    As diffusers' StableDiffusionXLPipeline, which does unless told otherwise.

    Raises:
        InvalidInput: `model_index.json` says neither.
    """
    if not has_second_text_encoder(folder):
        return False
    file = folder / "model_index.json"
    told = _config(file).get("force_zeros_for_empty_prompt", True)
    if not isinstance(told, bool):
        raise InvalidInput(f"{file}: force_zeros_for_empty_prompt is {told!r}, not true or false")
    return told


def latent_side(unet: Mapping[str, Any]) -> int:
    """Return the side of the square latents that a UNet was made for, from its configuration.

    Raises:
        InvalidInput: it has none; the message does not say which file.
    """
    return _one_number(unet, "sample_size", "the side of a square")


def text_width(unet: Mapping[str, Any]) -> int:
    """Return the width of the states that a UNet reads; some write it for every block.

    Raises:
        InvalidInput: it has none; the message does not say which file.
    """
    return _one_number(unet, "cross_attention_dim", "one width of the text's states")


def _one_number(config: Mapping[str, Any], option: str, meaning: str) -> int:
    """Return a number that may be written several times."""
    value = config.get(option)
    written = list(value) if isinstance(value, list | tuple) else [value]
    first = written[0] if written else None
    if type(first) is not int or first < 1 or any(other != first for other in written):
        raise InvalidInput(f"its {option} is {value!r}, not {meaning}")
    return first


def _check_unet(unet: Mapping[str, Any]) -> None:
    """Refuse a UNet that takes further conditions, or does not say of which size."""
    for option in UNSERVED_OPTIONS:
        if unet.get(option) is not None:
            raise InvalidInput(f"its {option} is {unet[option]!r}: such conditions are not served")
    latent_side(unet)
    text_width(unet)


def _check_channels(unet: Mapping[str, Any], vae: Mapping[str, Any]) -> None:
    """Refuse a UNet of other latents than the VAE's, where there is one: an inpainting model's."""
    given, taken = vae.get("latent_channels", CHANNELS), unet.get("in_channels", CHANNELS)
    if vae and given != taken:
        raise InvalidInput(f"its in_channels are {taken!r}, the VAE's latent_channels {given!r}")


def _check_added(unet: Mapping[str, Any], text_encoder: Mapping[str, Any]) -> None:
    """Refuse a UNet that takes a pooled state or sizes of another width."""
    width = unet.get("projection_class_embeddings_input_dim")
    of_size: Any = unet.get("addition_time_embed_dim")
    pooled = text_encoder.get("projection_dim", PROJECTION)
    numbers = isinstance(of_size, int) and isinstance(pooled, int)
    if not numbers or width != SIZES_TOLD * of_size + pooled:
        raise InvalidInput(
            f"its projection_class_embeddings_input_dim is {width!r}, not {SIZES_TOLD} times its "
            f"addition_time_embed_dim ({of_size!r}) and the {SECOND_PARTS[0]}'s projection_dim "
            f"({pooled!r})"
        )


def _config(file: Path) -> Mapping[str, Any]:
    """Return a JSON object, {} where there is no such file."""
    if not file.is_file():
        return {}
    values = read_json(file)
    if not isinstance(values, dict):
        raise InvalidInput(f"{file} is no JSON object")
    return values
