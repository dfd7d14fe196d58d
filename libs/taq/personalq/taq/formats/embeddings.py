"""Trained token embeddings: of a textual inversion, or in a LoRA's file."""

from __future__ import annotations

import re
from collections.abc import Mapping

import torch
from torch import Tensor

from personalq.taq.errors import LoraError, UnsupportedFormatError

ROWS_MAX = 77  # what fits a CLIP prompt

_BUNDLED = re.compile(r"bundle_emb\.(?P<token>.+)\.string_to_param\.(?P<part>.+)")
_BRACKETED = re.compile(r"<[^<>]{1,80}>")
_UNNAMED = re.compile(r"emb_params|clip_l|string_to_param(\..*)?")


def token_of(key: str) -> str | None:
    """Return the token whose embedding `key` holds: "" if it is not named, None if it is none."""
    if match := _BUNDLED.fullmatch(key):
        return match["token"]
    if _BRACKETED.fullmatch(key):
        return key
    return "" if _UNNAMED.fullmatch(key) else None


def is_lone_embedding(state_dict: Mapping[str, Tensor]) -> bool:
    """Tell whether the only tensor is an embedding under its token's own text (diffusers)."""
    if len(state_dict) != 1:
        return False
    ((key, tensor),) = state_dict.items()
    rows = tensor.shape[0] if tensor.ndim == 2 else 1
    return "." not in key and tensor.ndim in (1, 2) and 0 < rows <= ROWS_MAX


def collect(tensors: Mapping[str, list[Tensor]], name: str) -> dict[str, Tensor]:
    """Return token → (n, hidden) from each token's tensors, (hidden) or (n, hidden).

    Args:
        name: for the embedding that has none.

    Raises:
        UnsupportedFormatError: an embedding has no name, and none is given.
        LoraError: a token's tensors are no rows of one width, or two tokens are one to CLIP.
    """
    found: dict[str, Tensor] = {}
    for written, parts in tensors.items():
        token = written or name
        if not token:
            raise UnsupportedFormatError(
                "The file holds an embedding and does not name its token: say which trigger it "
                "is for."
            )
        # CLIP lower-cases what it reads.
        if alike := [known for known in found if known.lower() == token.lower()]:
            raise LoraError(
                f"The tokens {alike[0]} and {token} differ in case only, which is one token to "
                "CLIP: rename one of them."
            )
        found[token] = _rows(token, parts)
    return found


def _rows(token: str, tensors: list[Tensor]) -> Tensor:
    if any(t.ndim not in (1, 2) or not t.numel() for t in tensors) or (
        len({t.shape[-1] for t in tensors}) > 1
    ):
        shapes = ", ".join(str(tuple(t.shape)) for t in tensors)
        raise LoraError(f"The embeddings of {token} are no rows of one width: {shapes}.")
    return torch.cat([t.reshape(-1, t.shape[-1]) for t in tensors])
