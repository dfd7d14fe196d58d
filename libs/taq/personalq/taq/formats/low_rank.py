"""The factors of a plain LoRA, and what scales any adapter."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from personalq.taq.errors import LoraError, UnknownKeysError
from personalq.taq.formats.names import ALPHA, DOWN, MID, UP
from personalq.taq.lora import PARTS, Factors, Part

MAX_PATTERN_CHARACTERS = 200
MAX_WILDCARDS = 4  # of a pattern; each multiplies the time that a match may take
#: Of all matches of a file's patterns. One for each of a UNet's layers, of 1700, are 3 · 10⁷.
MAX_STEPS = 1 << 29
#: Of a layer. Twice the largest of SD 1.5 and SDXL, a convolution of 2560 → 1280 channels.
MAX_NUMBERS = 1 << 26
#: Times as many numbers as are stored. A LoHa of SD 1.5's layers needs 20, in Tucker form 80.
MAX_GROWTH = 256


class AlphaPattern:
    """PEFT's `alpha_pattern`: alphas of layers that an expression fits, of the first that does.

    Raises:
        LoraError: an expression is none, or could take too long.
    """

    def __init__(self, patterns: Mapping[str, Any]) -> None:
        """Compile each expression once: a file may have one for each of its layers."""
        self._steps = 0
        self._compiled = [(*_compiled(pattern), alpha) for pattern, alpha in patterns.items()]

    def alpha_of(self, layer: str) -> Any:
        """Return the alpha of a layer, None if no expression fits its name or its end.

        Raises:
            LoraError: this and the layers before could take too long.
        """
        if not self._compiled:
            return None
        if len(layer) > MAX_PATTERN_CHARACTERS:
            raise LoraError(f"The alpha_pattern of {layer} is for too long a name.")
        for expression, wildcards, alpha in self._compiled:
            # Each wildcard may end anywhere, and the layer's end begin behind every dot.
            self._steps += (layer.count(".") + 1) * math.comb(len(layer) + wildcards, wildcards)
            if self._steps > MAX_STEPS:
                raise LoraError(f"The alpha_pattern of {layer} is too involved for so many layers.")
            if expression.match(layer):
                return alpha
        return None


def _compiled(pattern: str) -> tuple[re.Pattern[str], int]:
    """Return an expression for a layer's whole name or its end, and the wildcards in it."""
    wildcards = len(re.findall(r"[*+?{]", pattern))
    if (
        len(pattern) > MAX_PATTERN_CHARACTERS
        or wildcards > MAX_WILDCARDS
        or re.search(r"\)[*+?{]", pattern)
    ):
        raise LoraError(f"The alpha_pattern {pattern[:60]!r} is too long or too involved.")
    try:
        return re.compile(rf"(.*\.)?({pattern})$"), wildcards
    except (re.error, OverflowError, RecursionError) as error:
        raise LoraError(f"The alpha_pattern {pattern[:60]!r} is no expression: {error}.") from error


def low_rank(layer: str, tensors: Mapping[str, Tensor], stated: Mapping[str, Any]) -> Factors:
    """Return the change of a layer from its tensors by role.

    A third factor in the middle, that some convolutions have (r, r, kh, kw), is multiplied into
    the first, exactly but for float32.

    Args:
        stated: of `stated_scales`; {} if the file has none.

    Raises:
        UnknownKeysError: a factor has no partner.
        LoraError: shapes or alphas that make no low-rank change.
    """
    if not {DOWN, UP} <= tensors.keys():
        raise UnknownKeysError(f"{layer} has only {', '.join(tensors)}; a LoRA needs both factors.")
    down, up = tensors[DOWN], tensors[UP]
    shapes = f"{tuple(down.shape)}, {tuple(up.shape)}"
    if up.ndim not in (2, 4) or down.ndim != up.ndim or not up.shape[1] == down.shape[0] > 0:
        raise LoraError(f"The factors of {layer} have no common rank: {shapes}.")
    if any(side != 1 for side in up.shape[2:]):
        raise LoraError(f"The second factor of {layer} is no 1 x 1 convolution: {shapes}.")
    if MID in tensors:
        down = _with_middle(layer, tensors)
    rank = down.shape[0]
    if ALPHA in tensors:
        return Factors(down, up, scale_of(layer, tensors[ALPHA], rank))
    pattern = stated.get("alpha_pattern")
    alpha = pattern.alpha_of(layer) if isinstance(pattern, AlphaPattern) else None
    if alpha is None:
        alpha = stated.get("lora_alpha", rank)
    root = bool(stated.get("use_rslora")) and "lora_alpha" in stated
    return Factors(down, up, scale_of(layer, alpha, rank, root=root))


def scale_of(layer: str, alpha: Any, rank: int, *, root: bool = False) -> float:
    """Return alpha / rank, or with `root` alpha / √rank; alpha 0 stands for the rank.

    Raises:
        LoraError: alpha is no finite number.
    """
    try:
        value = float(alpha)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise LoraError(f"The alpha of {layer} is no number.") from error
    if not math.isfinite(value):
        raise LoraError(f"The alpha of {layer} is not finite.")
    return (value or rank) / (math.sqrt(rank) if root else rank)


def check_product(layer: str, numbers: int, tensors: Mapping[str, Tensor]) -> None:
    """Refuse a product of `numbers` numbers that is out of proportion to the layer's tensors.

    To be asked before it is formed: a file of some kilobytes could stand for one of any size.

    Raises:
        LoraError: no layer is that large, or no adapter grows that much.
    """
    stored = sum(tensor.numel() for tensor in tensors.values())
    if numbers > min(MAX_NUMBERS, MAX_GROWTH * stored):
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in tensors.values())
        raise LoraError(
            f"The factors of {layer} would multiply to {numbers} numbers, which is no layer's "
            f"change: {shapes}."
        )


def stated_scales(metadata: Mapping[str, str]) -> dict[Part, dict[str, Any]]:
    """Return PEFT's configuration of each part's adapter from diffusers' metadata.

    Its `alpha_pattern`, if it has one, is an `AlphaPattern`.

    Raises:
        LoraError: the metadata says it in another form.
    """
    text = metadata.get("lora_adapter_metadata", "{}")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LoraError("The file's lora_adapter_metadata is not JSON.") from error
    if not isinstance(values, dict):
        raise LoraError("The file's lora_adapter_metadata is no JSON object.")
    common = {key: value for key, value in values.items() if "." not in key}
    stated = {part: common | _below(values, f"{part}.") for part in PARTS}
    for of_part in stated.values():
        if isinstance(patterns := of_part.get("alpha_pattern"), dict):
            of_part["alpha_pattern"] = AlphaPattern(patterns)
    return stated


def _below(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {k.removeprefix(prefix): v for k, v in values.items() if k.startswith(prefix)}


def _with_middle(layer: str, tensors: Mapping[str, Tensor]) -> Tensor:
    """Return (r, in, kh, kw) of a first factor (r, in, 1, 1) and a middle one (r, r, kh, kw)."""
    down, middle = tensors[DOWN], tensors[MID]
    rank = down.shape[0]
    if middle.ndim != 4 or middle.shape[:2] != (rank, rank) or down.shape[2:] != (1, 1):
        raise LoraError(
            f"The middle factor of {layer} does not fit: {tuple(middle.shape)}, "
            f"{tuple(down.shape)}."
        )
    check_product(layer, down.numel() * math.prod(middle.shape[2:]), tensors)
    return torch.einsum("ijhw,jn->inhw", middle.float(), down[..., 0, 0].float())
