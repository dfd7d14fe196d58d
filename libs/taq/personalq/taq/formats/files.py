"""Tensors and texts from a file: safetensors, or a PyTorch pickle that may only hold tensors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from personalq.taq.errors import UnsupportedFormatError

PICKLE_SUFFIXES = (".bin", ".pt", ".pth", ".ckpt")


def is_pickle(path: Path) -> bool:
    """Tell whether a file calls itself a PyTorch pickle."""
    return path.suffix.lower() in PICKLE_SUFFIXES


def read_tensors(path: Path, *, mmap: bool = False) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors of a file by key, and its metadata.

    Args:
        mmap: leave a pickle's numbers on disk until they are used; the file must stay.

    Raises:
        UnsupportedFormatError: it is not what its name says, damaged, or a pickle with more than
            tensors, of which nothing is run.
    """
    if is_pickle(path):
        try:
            return _flattened(torch.load(path, map_location="cpu", weights_only=True, mmap=mmap))
        except FileNotFoundError:
            raise
        except Exception as error:  # of a damaged pickle torch raises whatever it comes across
            reason = str(error).partition("\n")[0]
            raise UnsupportedFormatError(
                f"{path.name} is no PyTorch file of tensors alone: {reason}"
            ) from error
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - no mapping
            return tensors, file.metadata() or {}
    except SafetensorError as error:
        raise UnsupportedFormatError(f"{path.name} is not a safetensors file: {error}.") from error


def _flattened(content: Any) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors of a pickle's dictionary by key, and its texts.

    A trainer's checkpoint has them in its `state_dict`; what else it holds is not looked at.
    The web UI's embeddings are `{"string_to_param": {"*": …}, "name": …}`; they get the key that
    names their token.
    """
    if not isinstance(content, Mapping):
        raise ValueError("it holds no dictionary.")
    if isinstance(content.get("state_dict"), Mapping):
        content = content["state_dict"]
    name = content.get("name")
    tensors: dict[str, Tensor] = {}
    metadata: dict[str, str] = {}
    for key, value in content.items():
        if isinstance(value, Tensor):
            tensors[str(key)] = _whole(key, value)
        elif key == "string_to_param" and isinstance(value, Mapping):
            for token, tensor in value.items():
                if not isinstance(tensor, Tensor):
                    raise ValueError(f"string_to_param.{token} is no tensor.")
                called = name if token == "*" and isinstance(name, str) else str(token)  # noqa: S105 - a wildcard
                written = f"bundle_emb.{called}.string_to_param.*"
                tensors[written if called != "*" else "string_to_param.*"] = _whole(token, tensor)
        elif isinstance(value, str | int | float):
            metadata[str(key)] = str(value)
        elif isinstance(value, Mapping) and any(isinstance(v, Tensor) for v in value.values()):
            raise ValueError(f"its tensors are nested below {key!r}.")
    return tensors, metadata


def _whole(key: object, tensor: Tensor) -> Tensor:
    """Return a tensor that has its numbers, not one that repeats a few of them without end."""
    if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
        raise ValueError(f"{key} is larger than its numbers.")
    return tensor.detach()
