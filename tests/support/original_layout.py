"""Stable Diffusion in the layout of its first release: one file, `model.diffusion_model.*`.

SDXL's in that of its own: `conditioner.embedders.*` for its text encoders.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

UNET = "model.diffusion_model."
TEXT_ENCODER = "cond_stage_model.transformer.text_model."
OPEN_CLIP = "cond_stage_model.model."
SDXL_TEXT_ENCODER = "conditioner.embedders.0.transformer.text_model."
SDXL_OPEN_CLIP = "conditioner.embedders.1.model."
ENCODERS = ("text_encoder", "text_encoder_2")
_CLIP_LAYERS = {
    "layer_norm1": "ln_1",
    "layer_norm2": "ln_2",
    "mlp.fc1": "mlp.c_fc",
    "mlp.fc2": "mlp.c_proj",
    "self_attn.out_proj": "attn.out_proj",
}
_RESNET = {
    "norm1": "in_layers.0",
    "conv1": "in_layers.2",
    "time_emb_proj": "emb_layers.1",
    "norm2": "out_layers.0",
    "conv2": "out_layers.3",
    "conv_shortcut": "skip_connection",
}
_OUTER = {
    "conv_in": "input_blocks.0.0",
    "time_embedding.linear_1": "time_embed.0",
    "time_embedding.linear_2": "time_embed.2",
    "add_embedding.linear_1": "label_emb.0.0",
    "add_embedding.linear_2": "label_emb.0.2",
    "conv_norm_out": "out.0",
    "conv_out": "out.2",
    "mid_block.resnets.0": "middle_block.0",
    "mid_block.attentions.0": "middle_block.1",
    "mid_block.resnets.1": "middle_block.2",
}


def write_single_file(
    model: Path,
    file: Path,
    *,
    text_encoder: Path | None = None,
    dtype: torch.dtype = torch.float32,
) -> Path:
    """Write the UNet of the diffusers folder `model`, and a text encoder, into one file."""
    state = load_file(model / "unet" / "diffusion_pytorch_model.safetensors")
    tensors = {UNET + key: tensor for key, tensor in original_names(state).items()}
    tensors["first_stage_model.decoder.conv_in.weight"] = torch.zeros(1)
    if text_encoder is not None:
        for key, tensor in load_file(text_encoder / "model.safetensors").items():
            tensors[TEXT_ENCODER + key.removeprefix("text_model.")] = tensor
    save_file({key: tensor.to(dtype) for key, tensor in tensors.items()}, file)
    return file


def write_sdxl_single_file(model: Path, file: Path) -> Path:
    """Write the UNet of the diffusers folder `model` and its text encoders into one file."""
    write_single_file(model, file)
    tensors = load_file(file)
    first, second = (model / part / "model.safetensors" for part in ENCODERS)
    if first.exists():
        for key, tensor in load_file(first).items():
            tensors[SDXL_TEXT_ENCODER + key.removeprefix("text_model.")] = tensor
    if second.exists():
        state = load_file(second)
        named = open_clip_names(state, prefix=SDXL_OPEN_CLIP)
        del named[f"{SDXL_OPEN_CLIP}transformer.resblocks.23.ln_1.weight"]
        named[f"{SDXL_OPEN_CLIP}text_projection"] = state["text_projection.weight"].T.contiguous()
        tensors |= named
    save_file(tensors, file)
    return file


def open_clip_names(
    state: Mapping[str, torch.Tensor], *, prefix: str = OPEN_CLIP
) -> dict[str, torch.Tensor]:
    """Return a `CLIPTextModel`'s tensors as a single file of SD 2.x has them.

    With what OpenCLIP keeps beside them, and with the last layer that SD 2.x does not use.
    """
    short = {key.removeprefix("text_model."): tensor for key, tensor in state.items()}
    width = short["final_layer_norm.weight"].shape[0]
    named = {
        "token_embedding.weight": short["embeddings.token_embedding.weight"],
        "positional_embedding": short["embeddings.position_embedding.weight"],
        "ln_final.weight": short["final_layer_norm.weight"],
        "ln_final.bias": short["final_layer_norm.bias"],
        "text_projection": torch.zeros(width, width),
        "logit_scale": torch.tensor(4.6),
        "attn_mask": torch.zeros(77, 77),
        "transformer.resblocks.23.ln_1.weight": torch.ones(width),
    }
    for key in short:
        if not (match := re.fullmatch(r"encoder\.layers\.(\d+)\.(.+)\.(weight|bias)", key)):
            continue
        number, layer, kind = match.groups()
        block = f"transformer.resblocks.{number}"
        if layer in _CLIP_LAYERS:
            named[f"{block}.{_CLIP_LAYERS[layer]}.{kind}"] = short[key]
        elif layer == "self_attn.q_proj":
            joined = [short[key.replace("q_proj", f"{part}_proj")] for part in "qkv"]
            named[f"{block}.attn.in_proj_{kind}"] = torch.cat(joined)
    return {prefix + key: tensor for key, tensor in named.items()}


def original_names(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return a diffusers UNet's tensors under the names of the original layout."""
    places = dict(_OUTER)
    for side in ("down", "up"):
        places |= _places(side, state)
    renamed = {}
    for key, tensor in state.items():
        place = next(place for place in places if key.startswith(place + "."))
        rest = key.removeprefix(place + ".")
        for new, old in _RESNET.items() if ".resnets." in key else ():
            rest = re.sub(rf"^{new}\.", f"{old}.", rest)
        renamed[f"{places[place]}.{rest}"] = tensor
    return renamed


def _places(side: str, state: Mapping[str, torch.Tensor]) -> dict[str, str]:
    """Where each part of the down or up blocks stood; blocks were counted, not nested."""
    blocks: dict[str, dict[str, set[int]]] = {}
    pattern = re.compile(rf"{side}_blocks\.(\d+)\.(resnets|attentions|\w+samplers)\.(\d+)\.")
    for key in state:
        if match := pattern.match(key):
            parts = blocks.setdefault(match[1], {})
            parts.setdefault(match[2], set()).add(int(match[3]))
    places, number = {}, 1 if side == "down" else 0
    outer = "input_blocks" if side == "down" else "output_blocks"
    for block in sorted(blocks, key=int):
        parts, name = blocks[block], f"{side}_blocks.{block}"
        for layer in sorted(parts["resnets"]):
            places[f"{name}.resnets.{layer}"] = f"{outer}.{number}.0"
            if layer in parts.get("attentions", ()):
                places[f"{name}.attentions.{layer}"] = f"{outer}.{number}.1"
            number += 1
        if "downsamplers" in parts:
            places[f"{name}.downsamplers.0.conv"] = f"{outer}.{number}.0.op"
            number += 1
        if "upsamplers" in parts:
            after = 2 if "attentions" in parts else 1
            places[f"{name}.upsamplers.0.conv"] = f"{outer}.{number - 1}.{after}.conv"
    return places
