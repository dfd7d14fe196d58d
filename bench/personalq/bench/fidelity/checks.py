"""Does a checkpoint go with the model under test? Asked before hours of drawing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diffusers import UNet2DConditionModel

from personalq.bench.fidelity.models import Model
from personalq.chassis.base_folders import latent_side, text_width
from personalq.chassis.errors import InvalidInput
from personalq.taq import TEXT_PARTS, Lora, TaqError, layer_shapes, resolve


def check_checkpoint(model: Model, checkpoint_id: str) -> None:
    """Refuse a checkpoint that cannot be drawn with a model.

    Raises:
        InvalidInput: there is none of this name, its LoRA cannot be read or changes layers or
            tokens that the model does not have, or its UNet reads other latents or texts.
    """
    model.group_of(checkpoint_id)
    subject = model.subjects[checkpoint_id]
    try:
        if subject.own_unet:
            _check_unet(_config(subject.own_unet), model)
        elif lora := subject.lora:
            _check_lora(lora, model)
    except (TaqError, InvalidInput) as error:
        raise InvalidInput(
            f"{subject.folder} does not go with the model {model.base.base_model}: {error}"
        ) from error


def _check_unet(config: Mapping[str, Any], model: Model) -> None:
    own, expected = _read_by(config), _read_by(model.base.unet_config)
    if own != expected:
        raise InvalidInput(
            "channels and side of latents, width of text states and added conditions are "
            f"{own}, the model's {expected}"
        )


def _read_by(unet: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a UNet reads, from its configuration."""
    added = unet.get("addition_embed_type")
    return unet.get("in_channels"), latent_side(unet), text_width(unet), added


def _config(folder: Path) -> Mapping[str, Any]:
    try:
        config: Mapping[str, Any] = UNet2DConditionModel.load_config(folder)
    except OSError as error:
        raise InvalidInput(f"{folder} has no configuration: {error}") from error
    return config


def _check_lora(lora: Lora, model: Model) -> None:
    resolve(lora.layers("unet"), layer_shapes(model.base.empty_unet()))
    encoders = dict(zip(model.base.text_parts, model.base.text.encoders, strict=True))
    for part in TEXT_PARTS:
        shapes = layer_shapes(encoders[part].model) if part in encoders else {}
        resolve(lora.layers(part), shapes)
    for part, encoder in encoders.items():
        width = encoder.model.get_input_embeddings().embedding_dim
        if lora.rows(part).keys() != lora.embeddings.keys():
            raise InvalidInput("its trained tokens are not for all of the model's text encoders")
        if any(rows.shape[-1] != width for rows in lora.rows(part).values()):
            raise InvalidInput(f"its trained tokens do not have the width {width} of {part}")
