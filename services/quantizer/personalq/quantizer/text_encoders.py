"""Text encoders: a base's, and a full fine-tune's, found in its files and compared with those."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from diffusers.loaders.single_file_utils import (
    convert_ldm_clip_checkpoint,
    convert_open_clip_checkpoint,
)
from torch import Tensor, nn
from transformers import (
    CLIPTextConfig,
    CLIPTextModel,
    CLIPTextModelWithProjection,
    CLIPTokenizer,
)

from personalq.chassis.base_folders import TOKENIZERS
from personalq.chassis.checkpoint_files import read_json, text_encoder_files
from personalq.chassis.errors import InvalidInput
from personalq.quantizer.bases import BaseModel
from personalq.quantizer.weight_files import (
    OTHER_BASE,
    check_finite,
    check_shapes,
    read_weights,
    shapes_of,
)
from personalq.taq import (
    TextEncoder,
    TextEncoders,
    TextPart,
    half_precision,
    load_text_encoder_,
)
from personalq.taq.text_encoder import PREFIX

MODELS: Mapping[TextPart, Any] = {
    "text_encoder": CLIPTextModel,
    "text_encoder_2": CLIPTextModelWithProjection,
}
#: Of the text encoders in a single file, as transformers' layers: SD 1.x's, SDXL's first.
CLIP_PREFIXES: Mapping[TextPart, tuple[str, ...]] = {
    "text_encoder": ("cond_stage_model.transformer.", "conditioner.embedders.0.transformer."),
    "text_encoder_2": (),
}
#: The same as OpenCLIP's layers: SD 2.x's, SDXL's second.
OPEN_CLIP_PREFIXES: Mapping[TextPart, str] = {
    "text_encoder": "cond_stage_model.model.",
    "text_encoder_2": "conditioner.embedders.1.model.",
}
SECOND_PREFIX = "conditioner.embedders.1."
#: Of a text encoder in a single file, wherever it lies.
ANY_PREFIXES = ("cond_stage_model.", "conditioner.")

#: Beside the weights, and of no use to what a prompt gives the UNet.
UNUSED: Mapping[TextPart, tuple[str, ...]] = {
    "text_encoder": ("position_ids", "text_projection.weight", "text_projection", "logit_scale"),
    "text_encoder_2": ("position_ids", "logit_scale"),
}

#: What the shapes of the weights do not tell.
UNSEEN_OPTIONS = ("hidden_act", "layer_norm_eps", "num_attention_heads", "num_hidden_layers")


def read_text_encoders(
    base: BaseModel, trained: Mapping[TextPart, Mapping[str, Tensor]]
) -> TextEncoders:
    """Return what reads the prompts of a base, or of a fine-tune of it.

    Args:
        trained: weights to read them with instead of the base's, as `half_precision` returns them.
    """
    encoders = []
    for part in base.text_parts:
        if part in trained:
            model: Any = load_text_encoder_(empty_text_encoder(base, part), trained[part])
        else:
            model = MODELS[part].from_pretrained(base.folder / part, use_safetensors=True)
            model = model.float().eval()
        tokenizer = CLIPTokenizer.from_pretrained(base.folder / TOKENIZERS[part])
        encoders.append(TextEncoder(tokenizer=tokenizer, model=model))
    return TextEncoders(encoders=tuple(encoders), zero_empty=base.zero_empty)


def empty_text_encoder(base: BaseModel, part: TextPart) -> nn.Module:
    """Return a text encoder of the base's without weights, on the meta device."""
    config = CLIPTextConfig.from_pretrained(base.folder / part)
    with torch.device("meta"):
        model: nn.Module = MODELS[part](config)
        return model


def refuse_second_encoder(source: Path, keys: Iterable[str], base: BaseModel) -> None:
    """Refuse a fine-tune whose prompts two text encoders read, where one reads its base's.

    Raises:
        InvalidInput: it is one.
    """
    if "text_encoder_2" in base.text_parts:
        return
    if (source / "text_encoder_2").is_dir() or any(key.startswith(SECOND_PREFIX) for key in keys):
        raise InvalidInput(
            f"the fine-tune has two text encoders, as SDXL has, {base.base_model} has one: "
            f"{OTHER_BASE}"
        )


def single_file_text_encoder(
    files: Sequence[Path], base: BaseModel, part: TextPart
) -> dict[str, Tensor]:
    """Return a text encoder of a file in the original layout, {} if it has none.

    OpenCLIP's layers get transformers' names by diffusers' converter, which passes over the last
    one of SD 2.x: its pictures are made of the states before it.

    Raises:
        InvalidInput: they are no layers of OpenCLIP's, or of another layout altogether.
    """
    if tensors := read_weights(files, CLIP_PREFIXES[part]):
        return dict(convert_ldm_clip_checkpoint(tensors))
    prefix = OPEN_CLIP_PREFIXES[part]
    if not (tensors := read_weights(files, prefix)):
        second = part == "text_encoder_2"
        unread = [
            key
            for key, tensor in read_weights(files, ANY_PREFIXES).items()
            if key.startswith(SECOND_PREFIX) is second
            and tensor.is_floating_point()
            and not key.endswith(UNUSED["text_encoder"])
        ]
        if unread:
            raise InvalidInput(
                f"the file has a text encoder in a layout that is not read ({min(unread)}): "
                "publish the fine-tune as a diffusers folder"
            )
        return {}
    try:
        return dict(convert_open_clip_checkpoint(empty_text_encoder(base, part), tensors, prefix))
    except (KeyError, IndexError, ValueError) as error:
        raise InvalidInput(
            f"the text encoder ({prefix}*) is not laid out as OpenCLIP's: {error}; "
            "publish the fine-tune as a diffusers folder"
        ) from error


def folder_text_encoder(source: Path, base: BaseModel, part: TextPart) -> dict[str, Tensor]:
    """Return a text encoder of a diffusers folder, {} if it has none.

    Raises:
        InvalidInput: it computes otherwise than the base's.
        CorruptFile: there is a folder for it without its weights, or they are pickles; its
            configuration is too large for one.
    """
    config = source / part / "config.json"
    options = read_json(config) if config.is_file() else None
    if isinstance(options, dict):
        _check_options(options, base, part)
    return read_weights(text_encoder_files(source, part))


def trained_text_encoder(
    found: Mapping[str, Tensor], base: BaseModel, part: TextPart
) -> dict[str, Tensor] | None:
    """Return the weights of a text encoder as they are stored; None if they are the base's.

    They are the base's if both may be roundings of the same numbers, or are equal once stored.

    Args:
        found: by transformers' names; {} is the base's.

    Raises:
        InvalidInput: they have other names or shapes than the base's, or are not finite.
    """
    if not found:
        return None
    given = _weights(found, part)
    wanted = _weights(empty_text_encoder(base, part).state_dict(), part)
    check_shapes(shapes_of(given), shapes_of(wanted), f"a {part} of {base.base_model}")
    own = _weights(read_weights(text_encoder_files(base.folder, part)), part)
    if all(_same(tensor, own[key]) for key, tensor in given.items()):
        return None
    for key, tensor in given.items():
        check_finite(key, tensor)
    return half_precision(given)


def _weights(state: Mapping[str, Tensor], part: TextPart) -> dict[str, Tensor]:
    """Return what the states of a prompt depend on, by names that all versions agree on."""
    return {
        key.removeprefix(PREFIX): tensor
        for key, tensor in state.items()
        if tensor.is_floating_point() and not key.endswith(UNUSED[part])
    }


def _check_options(options: Mapping[str, object], base: BaseModel, part: TextPart) -> None:
    usual, wanted = CLIPTextConfig(), CLIPTextConfig.from_pretrained(base.folder / part)
    for option in UNSEEN_OPTIONS:
        given = options.get(option, getattr(usual, option))
        if given != getattr(wanted, option):
            raise InvalidInput(
                f"the weights are not a {part} of {base.base_model}: their {option} is "
                f"{given}, the base's {getattr(wanted, option)}; {OTHER_BASE}"
            )


def _same(first: Tensor, second: Tensor) -> bool:
    """Whether two tensors may be the same numbers, rounded to the precision of each.

    Compared is no finer than what is stored.
    """
    fine, coarse = sorted((first, second), key=lambda tensor: torch.finfo(tensor.dtype).eps)
    if torch.finfo(coarse.dtype).eps <= torch.finfo(torch.float16).eps:
        return torch.equal(first.half(), second.half())
    if fine.dtype == coarse.dtype or fine.dtype.itemsize == coarse.dtype.itemsize == 1:
        return torch.equal(first.float(), second.float())
    # What is rounded twice may end beside what is rounded once. Numbers that round to a `fine` one
    # lie between the middles to its neighbours, and round to a `coarse` one between those of them.
    least, most = (
        ((fine.float() + torch.nextafter(fine, torch.full_like(fine, end)).float()) / 2)
        .to(coarse.dtype)
        .float()
        for end in (-torch.inf, torch.inf)
    )
    return bool(((least <= coarse.float()) & (coarse.float() <= most)).all())
