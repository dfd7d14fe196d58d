"""Full fine-tunes from their files: diffusers folders, and single files in the original layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from diffusers import UNet2DConditionModel
from diffusers.loaders.single_file_utils import (
    convert_ldm_clip_checkpoint,
    convert_ldm_unet_checkpoint,
    convert_open_clip_checkpoint,
)
from safetensors import safe_open
from torch import Tensor, nn
from transformers import CLIPTextConfig, CLIPTextModel

from personalq.chassis.checkpoint_files import unet_files
from personalq.chassis.errors import InvalidInput
from personalq.quantizer.bases import BaseModel
from personalq.taq.formats.files import is_pickle, read_tensors

UNET_PREFIX = "model.diffusion_model."
#: Of the text encoder in a single file, as transformers' and as OpenCLIP's layers.
CLIP_PREFIX = "cond_stage_model.transformer."
OPEN_CLIP_PREFIX = "cond_stage_model.model."
TEXT_WEIGHTS = "model.safetensors"


def load_fine_tune(source: Path, base: BaseModel) -> UNet2DConditionModel:
    """Load the UNet of a full fine-tune, in float32.

    A fine-tune is served with its base's text encoder, so it must not have trained its own.

    Args:
        source: a diffusers folder, its `unet/`, a weights file of it, or a whole model in one
            file in the original layout (`model.diffusion_model.*`).

    Raises:
        InvalidInput: there are no such weights, they have other names or shapes than the base's,
            they are not finite, or a text encoder is with them that is not the base's.
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
    shapes = _shapes(files)
    if any(key.startswith(UNET_PREFIX) for key in shapes):
        state = _converted(_read(files, UNET_PREFIX), config, base)
        _check_shapes({key: tuple(tensor.shape) for key, tensor in state.items()}, unet, base)
        _check_text_encoder(_single_file_text_encoder(files, base), base)
    else:
        _check_shapes(shapes, unet, base)
        _check_text_encoder(_folder_text_encoder(source), base)
        state = _read(files, "")
    for key, tensor in state.items():
        check_finite(key, tensor)
    unet.load_state_dict({key: tensor.float() for key, tensor in state.items()}, assign=True)
    return unet.eval()


def empty_text_encoder(base: BaseModel) -> CLIPTextModel:
    """Return the base's text encoder without weights, on the meta device."""
    config = CLIPTextConfig.from_pretrained(base.folder / "text_encoder")
    with torch.device("meta"):
        return CLIPTextModel(config)


def check_finite(name: str, *tensors: Tensor) -> None:
    """Refuse numbers that a diverged training leaves.

    Raises:
        InvalidInput: one of `tensors` has an infinite number or one that is none.
    """
    wide = (t.float() if t.is_floating_point() and t.itemsize == 1 else t for t in tensors)
    if not all(bool(tensor.isfinite().all()) for tensor in wide):  # float8 has no isfinite
        raise InvalidInput(
            f"{name} holds numbers that are infinite or no numbers: the training diverged; publish "
            "an earlier state of it"
        )


def _shapes(files: Sequence[Path]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for path in files:
        if is_pickle(path):
            found |= {k: tuple(t.shape) for k, t in read_tensors(path, mmap=True)[0].items()}
            continue
        with safe_open(path, framework="pt") as file:
            for key in file.keys():  # noqa: SIM118 - no mapping
                found[key] = tuple(file.get_slice(key).get_shape())
    return found


def _read(files: Sequence[Path], prefix: str) -> dict[str, Tensor]:
    """Return the tensors whose keys begin with `prefix`, under their own keys."""
    found: dict[str, Tensor] = {}
    for path in files:
        if is_pickle(path):
            tensors, _ = read_tensors(path, mmap=True)
            found |= {key: tensor for key, tensor in tensors.items() if key.startswith(prefix)}
            continue
        with safe_open(path, framework="pt") as file:
            for key in file.keys():  # noqa: SIM118 - no mapping
                if key.startswith(prefix):
                    found[key] = file.get_tensor(key)
    return found


def _converted(
    original: dict[str, Tensor], config: Mapping[str, object], base: BaseModel
) -> dict[str, Tensor]:
    """Return a UNet in the original layout under diffusers' names, by diffusers' converter."""
    count = len(original)
    try:
        state: dict[str, Tensor] = convert_ldm_unet_checkpoint(original, config)
    except (KeyError, IndexError, ValueError) as error:
        raise InvalidInput(
            f"the weights are not a UNet of {base.base_model} in the original layout: {error} is "
            "missing"
        ) from error
    if len(state) != count:
        raise InvalidInput(
            f"the weights are not a UNet of {base.base_model}: of {count} tensors in the original "
            f"layout {len(state)} have a place in it"
        )
    return state


def _check_shapes(found: Mapping[str, tuple[int, ...]], unet: nn.Module, base: BaseModel) -> None:
    wanted = {key: tuple(tensor.shape) for key, tensor in unet.state_dict().items()}
    other_names = sorted(wanted.keys() ^ found.keys())
    if other_names:
        raise InvalidInput(
            f"the weights are not a UNet of {base.base_model}: {len(other_names)} tensors are "
            f"missing or unknown, among them {other_names[0]}"
        )
    for key, shape in wanted.items():
        if found[key] != shape:
            raise InvalidInput(
                f"the weights are not a UNet of {base.base_model}: {key} is {found[key]}, the "
                f"base's is {shape}"
            )


def _single_file_text_encoder(files: Sequence[Path], base: BaseModel) -> dict[str, Tensor]:
    if tensors := _read(files, CLIP_PREFIX):
        return dict(convert_ldm_clip_checkpoint(tensors))
    if tensors := _read(files, OPEN_CLIP_PREFIX):
        return dict(convert_open_clip_checkpoint(empty_text_encoder(base), tensors))
    return {}


def _folder_text_encoder(source: Path) -> dict[str, Tensor]:
    """Return the text encoder of a diffusers folder, {} if it has none.

    Raises:
        InvalidInput: it has one whose weights are no single safetensors file.
    """
    folder = source / "text_encoder"
    if not folder.is_dir():
        return {}
    weights = sorted(folder.glob("*.safetensors"))
    if not weights:
        raise InvalidInput(
            "the folder's text_encoder/ has no safetensors file, so it cannot be told from the "
            "base's: save it with safe_serialization=True, or leave it out if it was not trained"
        )
    return _read([folder / TEXT_WEIGHTS if folder / TEXT_WEIGHTS in weights else weights[0]], "")


def _check_text_encoder(found: Mapping[str, Tensor], base: BaseModel) -> None:
    """Refuse a text encoder that is not the base's, but for the precision that both have."""
    if not found:
        return
    own = _short_names(_read(sorted((base.folder / "text_encoder").glob("*.safetensors")), ""))
    given = _short_names(found)
    for key in sorted(own):
        wanted, tensor = own[key], given.get(key)
        if tensor is None or tensor.shape != wanted.shape or not _same(tensor, wanted):
            raise InvalidInput(
                f"the fine-tune's text encoder is not that of {base.base_model} ({key} differs), "
                "and only the UNet of a fine-tune is served: train with the text encoder frozen, "
                "or publish a LoRA, whose text encoder layers are served"
            )


def _short_names(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return weights without the prefix that transformers has dropped, and without buffers."""
    return {
        key.removeprefix("text_model."): tensor
        for key, tensor in state.items()
        if tensor.is_floating_point() and not key.startswith(("text_projection", "logit_scale"))
    }


def _same(first: Tensor, second: Tensor) -> bool:
    """Whether two tensors are equal in the lower of their precisions."""
    lower = min(first.dtype, second.dtype, key=lambda dtype: -torch.finfo(dtype).eps)
    return torch.equal(first.to(lower), second.to(lower))
