"""LoRA as an exact side branch: y = W x + s · B (A x), never merged into integers.

Merging would round Ŵ + s B A again. Measured at 4 bits on the same grid (norms of the change and
of the weight, ⟨what is left, change⟩ / ‖change‖²): of a change of 2 % nothing is left, of 5 % an
eighth; of the miniature's LoRAs, which are 10 %, four fifths, with an error of two thirds the
change's size.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.hooks import RemovableHandle

from personalq.taq.errors import (
    LoraError,
    UnknownKeysError,
    UnsupportedFormatError,
    WidthMismatchError,
)
from personalq.taq.modules import QuantConv2d, QuantLinear, QuantModule

Part = Literal["unet", "text_encoder"]

BRANCHES = "taq_branches"  # the attribute under which a layer carries its branches
EXAMPLES = 3  # keys quoted in an error message


@dataclass(frozen=True)
class Factors:
    """One low-rank change: s · B A, in the dtype of the file.

    Linear: down A (r, in), up B (out, r). Conv2d: down (r, in, kh, kw), up (out, r, 1, 1).
    """

    down: Tensor
    up: Tensor
    scale: float  # alpha / r; 1 where the file has no alpha

    @property
    def rank(self) -> int:
        """The rank r."""
        return int(self.down.shape[0])


@dataclass(frozen=True)
class Lora:
    """What a LoRA file holds. Layer names are those of the model's `named_modules()`.

    kohya names have dots replaced by underscores; `attach_lora_` finds the layer they mean.
    """

    unet: dict[str, Factors]
    text_encoder: dict[str, Factors] = field(default_factory=dict)
    #: trigger → its token embeddings (n, hidden), one row per sub-token
    embeddings: dict[str, Tensor] = field(default_factory=dict)


class LowRankBranch(nn.Module):
    """s · B (A x) beside a Linear or Conv2d, quantized or not."""

    down: Tensor
    up: Tensor

    def __init__(self, layer: nn.Module, factors: Factors, strength: float) -> None:
        """Take the factors over in the layer's geometry."""
        super().__init__()
        self.register_buffer("down", factors.down, persistent=False)
        self.register_buffer("up", factors.up, persistent=False)
        self.scale = factors.scale * strength
        self._conv = layer if isinstance(layer, nn.Conv2d | QuantConv2d) else None

    def __setattr__(self, name: str, value: Any) -> None:
        """Keep the carrying layer out of the module tree: it is the parent, not a part."""
        if name == "_conv":
            object.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)

    def forward(self, x: Tensor) -> Tensor:
        """Return what the branch adds to the layer's output for its input `x`."""
        down, up = self.down.to(x.dtype), self.up.to(x.dtype)
        conv = self._conv
        if conv is None:
            return F.linear(F.linear(x, down), up) * self.scale
        low = F.conv2d(x, down, None, conv.stride, conv.padding, conv.dilation)
        return F.conv2d(low, up) * self.scale


class Branches(nn.ModuleList):
    """The branches of one layer, and the hook that adds them to its output."""

    hook: RemovableHandle


def read_lora(path: Path) -> Lora:
    """Read a LoRA from a safetensors file, with the alpha its metadata states.

    Raises:
        UnsupportedFormatError: not a safetensors file, or an adapter of an unsupported kind.
        UnknownKeysError, LoraError: as `parse_lora`.
    """
    try:
        with safe_open(path, framework="pt") as file:
            state_dict = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - no mapping
            return parse_lora(state_dict, file.metadata() or {})
    except SafetensorError as error:
        raise UnsupportedFormatError(f"{path.name} is not a safetensors file: {error}.") from error


def parse_lora(state_dict: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> Lora:
    """Return the LoRA in `state_dict`, whatever key style it was written in.

    Known: PEFT and diffusers `unet.<layer>.lora_A.weight`, `unet.<layer>.lora.down.weight`,
    `<layer>.processor.to_q_lora.down.weight`, kohya `lora_unet_<layer>.lora_down.weight` with
    `.alpha`; `bundle_emb.<trigger>.string_to_param.*` are trigger embeddings.

    Args:
        metadata: of the safetensors file; diffusers states alpha there (`lora_adapter_metadata`).

    Raises:
        UnsupportedFormatError: the keys are those of another kind of adapter.
        UnknownKeysError: a key has no known form, a factor lacks its partner, or none is there.
        LoraError: shapes or alphas that make no low-rank change.
    """
    halves: dict[tuple[Part, str], dict[str, Tensor]] = {}
    embeddings: dict[str, list[Tensor]] = {}
    unknown = []
    for key in sorted(state_dict):
        if _SECOND_ENCODER.match(key):
            unknown.append(key)
        elif match := _EMBEDDING.fullmatch(key):
            embeddings.setdefault(match["trigger"], []).append(state_dict[key])
        elif match := _FACTOR.fullmatch(key):
            part, layer = _layer_name(match["layer"])
            halves.setdefault((part, layer), {})[_HALVES[match["half"]]] = state_dict[key]
        else:
            unknown.append(key)
    if unknown:
        _refuse_known_formats(unknown)
        raise UnknownKeysError(f"{len(unknown)} keys map to nothing: {_examples(unknown)}.")
    if not halves and not embeddings:
        raise UnknownKeysError("The file holds no LoRA layer and no embedding.")

    stated = _stated_scales(metadata or {})
    layers: dict[Part, dict[str, Factors]] = {"unet": {}, "text_encoder": {}}
    for (part, layer), tensors in halves.items():
        layers[part][layer] = _factors(layer, tensors, stated)
    return Lora(
        unet=layers["unet"],
        text_encoder=layers["text_encoder"],
        embeddings={trigger: _rows(tensors) for trigger, tensors in embeddings.items()},
    )


def attach_lora_(
    model: nn.Module, lora: Lora, *, strength: float = 1.0, part: Part = "unet"
) -> None:
    """Add the branches of `lora` to the layers of `model`, exactly and reversibly.

    Several LoRAs add up. Nothing is changed if the LoRA does not fit.

    Args:
        model: a UNet, quantized or not, or with part="text_encoder" a text encoder.
        strength: multiplies the change, as users' LoRA weight does.

    Raises:
        UnknownKeysError: a layer of the LoRA is not in the model.
        WidthMismatchError: a layer has another width there; the message names both.
    """
    wanted = lora.unet if part == "unet" else lora.text_encoder
    shapes = {name: _weight_shape(module) for name, module in _carriers(model)}
    resolved = resolve(wanted, shapes)
    carriers = dict(_carriers(model))
    for name, factors in resolved.items():
        layer = carriers[name]
        branches = getattr(layer, BRANCHES, None)
        if branches is None:
            branches = Branches()
            layer.add_module(BRANCHES, branches)
            # A hook serves quantized and full-precision layers alike and leaves them as they are.
            branches.hook = layer.register_forward_hook(_add_branches)
        device = next(t.device for t in (*layer.buffers(False), *layer.parameters(False)))
        branches.append(LowRankBranch(layer, factors, strength).to(device))


def detach_lora_(model: nn.Module) -> None:
    """Remove every branch from `model`; its outputs are exactly what they were before."""
    for _, layer in list(_carriers(model)):
        branches = getattr(layer, BRANCHES, None)
        if branches is not None:
            branches.hook.remove()
            delattr(layer, BRANCHES)


def has_lora(model: nn.Module) -> bool:
    """Tell whether any layer of `model` carries a branch."""
    return any(hasattr(layer, BRANCHES) for _, layer in _carriers(model))


def resolve(
    layers: Mapping[str, Factors], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Factors]:
    """Return `layers` under the model's own names and with the dimensions of its weights.

    Args:
        shapes: weight shape (out, in, …) of every Linear and Conv2d of the model, by name.

    Raises:
        UnknownKeysError: a layer is not in the model.
        WidthMismatchError: a layer has another width in the model.
    """
    flat_names = {_flat(name): name for name in shapes}
    names = {
        layer: layer if layer in shapes else flat_names.get(_flat(layer), "") for layer in layers
    }
    if unknown := [layer for layer, name in names.items() if not name]:
        raise UnknownKeysError(f"{len(unknown)} layers are not in the model: {_examples(unknown)}.")
    return {
        name: _fitted(name, layers[layer], shapes[name]) for layer, name in sorted(names.items())
    }


_HALVES = {
    "lora_A.weight": "down",
    "lora_B.weight": "up",
    "lora.down.weight": "down",
    "lora.up.weight": "up",
    "lora_down.weight": "down",
    "lora_up.weight": "up",
    "lora_linear_layer.down.weight": "down",
    "lora_linear_layer.up.weight": "up",
    "down.weight": "down",  # of <layer>.processor.to_q_lora.down.weight
    "up.weight": "up",
    "alpha": "alpha",
}
_FACTOR = re.compile(rf"(?P<layer>.+?)\.(?P<half>{'|'.join(map(re.escape, _HALVES))})")
_EMBEDDING = re.compile(r"bundle_emb\.(?P<trigger>.+)\.string_to_param\.(?P<token>.+)")
# It would read as a layer of the UNet.
_SECOND_ENCODER = re.compile(r"lora_te2_|text_encoder_2\.")
_PROCESSOR = re.compile(r"(.+)\.processor\.(to_[qkv]|to_out)_lora")
_OTHER_FORMATS = {
    r"(lora_te2_|text_encoder_2\.).+": "a LoRA of SDXL's second text encoder",
    r"(unet|text_encoder):\d+:(up|down)|<[^<>]+>": "a cloneofsimo LoRA with indexed keys",
    r".+\.lokr_(w1|w2|t2)(_a|_b)?": "a LyCORIS LoKr",
    r".+\.hada_(w1|w2|t1|t2)(_a|_b)?": "a LyCORIS LoHa",
    r"emb_params|string_to_param(\..+)?": "a textual inversion, not a LoRA",
    r"(down_blocks|up_blocks|mid_block|model\.diffusion_model)\..+\.(weight|bias)": "a full model",
}


def _layer_name(written: str) -> tuple[Part, str]:
    """Return the part of the pipeline and the layer that a key's prefix means."""
    part: Part = "unet"
    for prefix, of in _PREFIXES:
        if written.startswith(prefix):
            part, written = of, written.removeprefix(prefix)
    if match := _PROCESSOR.fullmatch(written):
        block, projection = match.groups()
        written = f"{block}.{'to_out.0' if projection == 'to_out' else projection}"
    return part, written


# In this order: conversions have stacked prefixes (`unet.unet.`, `lora_unet_unet_`).
_PREFIXES: tuple[tuple[str, Part], ...] = (
    ("base_model.model.text_model.", "text_encoder"),
    ("base_model.model.", "unet"),
    ("lora_unet_", "unet"),
    ("lora_te_", "text_encoder"),
    ("lora_te1_", "text_encoder"),
    ("text_encoder.", "text_encoder"),
    ("unet.", "unet"),
    ("unet.", "unet"),
    ("unet_", "unet"),
)


def _refuse_known_formats(keys: list[str]) -> None:
    for pattern, kind in _OTHER_FORMATS.items():
        if any(re.fullmatch(pattern, key) for key in keys):
            raise UnsupportedFormatError(f"The file is {kind}: {_examples(keys)}.")


def _stated_scales(metadata: Mapping[str, str]) -> dict[str, Any]:
    """Return PEFT's configuration of the UNet adapter from diffusers' metadata."""
    text = metadata.get("lora_adapter_metadata")
    if text is None:
        return {}
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise LoraError("The file's lora_adapter_metadata is not JSON.") from error
    if not isinstance(values, dict):
        raise LoraError("The file's lora_adapter_metadata is no JSON object.")
    return {k.removeprefix("unet."): v for k, v in values.items() if not k.startswith("text_")}


def _factors(layer: str, tensors: dict[str, Tensor], stated: Mapping[str, Any]) -> Factors:
    if not {"down", "up"} <= tensors.keys():
        raise UnknownKeysError(f"{layer} has only {', '.join(tensors)}; a LoRA needs both factors.")
    down, up = tensors["down"], tensors["up"]
    shapes = f"{tuple(down.shape)}, {tuple(up.shape)}"
    if up.ndim not in (2, 4) or down.ndim != up.ndim or not up.shape[1] == down.shape[0] > 0:
        raise LoraError(f"The factors of {layer} have no common rank: {shapes}.")
    if any(side != 1 for side in up.shape[2:]):
        raise LoraError(f"The second factor of {layer} is no 1 x 1 convolution: {shapes}.")
    rank = down.shape[0]
    alpha: Any = rank
    if "alpha" in tensors:
        alpha = tensors["alpha"]
    elif "lora_alpha" in stated:
        patterns = stated.get("alpha_pattern")
        by_layer = patterns if isinstance(patterns, dict) else {}
        alpha = by_layer.get(layer, stated["lora_alpha"])
    try:
        scale = float(alpha) / (rank**0.5 if stated.get("use_rslora") else rank)
    except (TypeError, ValueError, RuntimeError) as error:
        raise LoraError(f"The alpha of {layer} is no number.") from error
    if not math.isfinite(scale):
        raise LoraError(f"The alpha of {layer} is not finite.")
    return Factors(down, up, scale)


def _rows(tensors: list[Tensor]) -> Tensor:
    """Return (n, hidden) embeddings from a bundle's tensors, each (hidden) or (n, hidden)."""
    if any(t.ndim not in (1, 2) or not t.numel() for t in tensors) or (
        len({t.shape[-1] for t in tensors}) > 1
    ):
        shapes = ", ".join(str(tuple(t.shape)) for t in tensors)
        raise LoraError(f"A trigger's embeddings are no rows of one width: {shapes}.")
    return torch.cat([t.reshape(-1, t.shape[-1]) for t in tensors])


def _fitted(name: str, factors: Factors, shape: tuple[int, ...]) -> Factors:
    """Return `factors` with the number of dimensions of a weight of `shape`."""
    down, up = factors.down, factors.up
    made_for = (up.shape[0], down.shape[1])
    if made_for != shape[:2]:
        raise WidthMismatchError(
            f"The LoRA was made for another base model: {name} is {made_for[1]} → {made_for[0]} "
            f"wide in the LoRA and {shape[1]} → {shape[0]} in the model."
        )
    if len(shape) == 4 and down.ndim == 2:
        down, up = down[..., None, None], up[..., None, None]
    if len(shape) == 2 and down.ndim == 4:
        down, up = down.flatten(1), up.flatten(1)
    if down.shape[1:] != shape[1:]:
        raise WidthMismatchError(
            f"{name} has kernels of {tuple(shape[2:])} in the model "
            f"and {tuple(down.shape[2:])} in the LoRA."
        )
    return Factors(down, up, factors.scale)


def _flat(name: str) -> str:
    """Return a layer's name as kohya writes it; text models differ in a leading `text_model`."""
    return name.replace(".", "_").removeprefix("text_model_")


def _carriers(model: nn.Module) -> list[tuple[str, nn.Module]]:
    kinds = (nn.Linear, nn.Conv2d, QuantLinear, QuantConv2d)
    return [(name, module) for name, module in model.named_modules() if isinstance(module, kinds)]


def _weight_shape(layer: nn.Module) -> tuple[int, ...]:
    if isinstance(layer, QuantModule):
        return layer.weight_shape
    return tuple(cast(Tensor, layer.weight).shape)


def _add_branches(layer: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> Tensor:
    """Forward hook: add every branch's output."""
    for branch in getattr(layer, BRANCHES):
        output = output + branch(args[0])
    return output


def _examples(keys: list[str]) -> str:
    return ", ".join(keys[:EXAMPLES]) + (", …" if len(keys) > EXAMPLES else "")
