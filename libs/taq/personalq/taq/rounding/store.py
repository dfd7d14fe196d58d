"""Rounded weights in a float model, and on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from personalq.taq.errors import ArtifactMismatchError, IntegrityError
from personalq.taq.quantizers import Grid, dequantize
from personalq.taq.scheme import RoundedWeight


@torch.no_grad()
def apply_(unet: nn.Module, rounded: Mapping[str, RoundedWeight]) -> None:
    """Put the values that the codes stand for into a float model, to simulate its rounding.

    Raises:
        ArtifactMismatchError: a layer does not exist or has a weight of another shape.
    """
    for name, (codes, grid) in rounded.items():
        try:
            weight = unet.get_parameter(f"{name}.weight")
        except AttributeError as error:
            raise ArtifactMismatchError(f"The model has no layer {name}.") from error
        if weight.shape != codes.shape:
            raise ArtifactMismatchError(
                f"{name} has a weight of shape {tuple(weight.shape)}, not {tuple(codes.shape)}."
            )
        weight.copy_(dequantize(codes, grid))


def save_rounded(rounded: Mapping[str, RoundedWeight], path: Path) -> None:
    """Write rounded weights as safetensors; the same weights give the same bytes.

    A run that is stopped meanwhile leaves no half a file under this name.

    Of each layer: `codes` int8 in the weight's shape, `scale` float32 and `zero_point` int8
    (out, 1, …), `limits` int16 (2): the smallest and largest code.
    """
    tensors = {}
    for name, (codes, grid) in sorted(rounded.items()):
        tensors[f"{name}.codes"] = codes.cpu().contiguous()
        tensors[f"{name}.scale"] = grid.scale.cpu().contiguous()
        tensors[f"{name}.zero_point"] = grid.zero_point.cpu().to(torch.int8).contiguous()
        tensors[f"{name}.limits"] = torch.tensor([grid.low, grid.high], dtype=torch.int16)
    unfinished = path.with_name(f".{path.name}.partial")
    save_file(tensors, unfinished)
    unfinished.replace(path)


def load_rounded(path: Path) -> dict[str, RoundedWeight]:
    """Read what `save_rounded` wrote, onto the CPU.

    Raises:
        IntegrityError: the file is missing, no safetensors file, or of another content.
    """
    try:
        tensors = load_file(path)
        names = sorted(key.removesuffix(".codes") for key in tensors if key.endswith(".codes"))
        if len(tensors) != 4 * len(names):
            raise IntegrityError(f"{path.name} does not hold rounded weights.")
        return {
            name: RoundedWeight(
                tensors[f"{name}.codes"],
                Grid(
                    tensors[f"{name}.scale"],
                    tensors[f"{name}.zero_point"].float(),
                    *tensors[f"{name}.limits"].tolist(),
                ),
            )
            for name in names
        }
    except (OSError, SafetensorError, KeyError) as error:
        raise IntegrityError(f"{path.name} does not hold rounded weights: {error}.") from error
