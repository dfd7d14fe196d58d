"""Full fine-tunes from their files: diffusers folders, and single files in the original layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from diffusers import UNet2DConditionModel
from diffusers.loaders.single_file_utils import convert_ldm_unet_checkpoint
from torch import Tensor

from personalq.chassis.checkpoint_files import unet_files
from personalq.chassis.errors import InvalidInput
from personalq.quantizer.bases import BaseModel
from personalq.quantizer.text_encoders import (
    folder_text_encoder,
    refuse_second_encoder,
    single_file_text_encoder,
    trained_text_encoder,
)
from personalq.quantizer.weight_files import (
    check_finite,
    check_shapes,
    read_shapes,
    read_weights,
    shapes_of,
)
from personalq.taq import TextPart

UNET_PREFIX = "model.diffusion_model."


@dataclass(frozen=True, kw_only=True)
class FineTune:
    """What a full fine-tune changes of its base."""

    unet: UNet2DConditionModel  # float32
    #: weights as `half_precision` returns them, of those that are not the base's
    text_encoders: Mapping[TextPart, Mapping[str, Tensor]]


def load_fine_tune(source: Path, base: BaseModel) -> FineTune:
    """Load the UNet of a full fine-tune, and the text encoders that it trained.

    Args:
        source: a diffusers folder, its `unet/`, a weights file of it, or a whole model in one
            file in the original layout (`model.diffusion_model.*`).

    Raises:
        InvalidInput: there are no such weights, they have other names or shapes than the base's,
            they are not finite in float16, or there is a second text encoder and the base has none.
        CorruptFile: a file that should be there is missing.
        UnsupportedFormatError: a pickle holds more than tensors.
    """
    files = unet_files(source)
    if not files:
        raise InvalidInput(
            "the folder has no unet/diffusion_pytorch_model.safetensors; publish the fine-tune as "
            "a diffusers folder, or as one file with all of it"
        )
    config = UNet2DConditionModel.load_config(base.folder / "unet")
    with torch.device("meta"):
        unet: UNet2DConditionModel = UNet2DConditionModel.from_config(config)
    wanted, part = shapes_of(unet.state_dict()), f"a UNet of {base.base_model}"
    shapes = read_shapes(files)
    refuse_second_encoder(source, shapes, base)
    single_file = any(key.startswith(UNET_PREFIX) for key in shapes)
    if single_file:
        empty = {
            key: torch.empty(shape, device="meta")
            for key, shape in shapes.items()
            if key.startswith(UNET_PREFIX)
        }
        shapes = shapes_of(_converted(empty, config, part))
    check_shapes(shapes, wanted, part)
    # Compared before the UNet's weights are in memory, of SDXL gigabytes.
    text_encoders: dict[TextPart, Mapping[str, Tensor]] = {}
    for encoder in base.text_parts:
        if single_file:
            found = single_file_text_encoder(files, base, encoder)
        else:
            found = folder_text_encoder(source, base, encoder)
        if (trained := trained_text_encoder(found, base, encoder)) is not None:
            text_encoders[encoder] = trained
    state = read_weights(files, UNET_PREFIX if single_file else "")
    if single_file:
        state = _converted(state, config, part)
    for key, tensor in state.items():
        check_finite(f"{key}, in float16 as it is stored,", tensor.half())
    # One by one, so that the stored half precision does not lie beside all of it.
    unet.load_state_dict({key: state.pop(key).float() for key in list(state)}, assign=True)
    return FineTune(unet=unet.eval(), text_encoders=text_encoders)


def _converted(
    original: dict[str, Tensor], config: Mapping[str, object], part: str
) -> dict[str, Tensor]:
    """Return a UNet in the original layout under diffusers' names, by diffusers' converter."""
    count = len(original)
    try:
        state: dict[str, Tensor] = convert_ldm_unet_checkpoint(original, config)
    except (KeyError, IndexError, ValueError) as error:
        raise InvalidInput(
            f"the weights are not {part} in the original layout: {error} is missing"
        ) from error
    if missing := [key for key, tensor in state.items() if tensor is None]:
        raise InvalidInput(
            f"the weights are not {part} in the original layout: {missing[0]} is missing"
        )
    if len(state) != count:
        raise InvalidInput(
            f"the weights are not {part}: of {count} tensors in the original layout {len(state)} "
            "have a place in it"
        )
    return state
