"""Trained token embeddings: of a textual inversion, or in a LoRA's file.

SDXL's have rows for each of its text encoders, `clip_l` for the first and `clip_g` for the second.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from personalq.taq.errors import LoraError, UnsupportedFormatError
from personalq.taq.lora import TextPart

ROWS_MAX = 77  # what fits a CLIP prompt

_BUNDLED = re.compile(r"bundle_emb\.(?P<token>.+)\.(string_to_param\..+|clip_l|(?P<second>clip_g))")
_BRACKETED = re.compile(r"<[^<>]{1,80}>")
_UNNAMED = re.compile(r"emb_params|clip_l|(?P<second>clip_g)|string_to_param(\..*)?")


def token_of(key: str) -> tuple[TextPart, str] | None:
    """Return whose embedding `key` holds, None if it is none.

    The text encoder, and the token: "" if it is not named.
    """
    if _BRACKETED.fullmatch(key):
        return "text_encoder", key
    match = _BUNDLED.fullmatch(key) or _UNNAMED.fullmatch(key)
    if match is None:
        return None
    part: TextPart = "text_encoder_2" if match["second"] else "text_encoder"
    return part, match.groupdict().get("token", "")


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
        LoraError: a token's tensors are no rows of one width, or more than a prompt takes; two
            tokens are one to CLIP.
    """
    found: dict[str, Tensor] = {}
    names: list[str] = []
    for written, parts in tensors.items():
        token = written or name
        if not token:
            raise UnsupportedFormatError(
                "The file holds an embedding and does not name its token: say which trigger it "
                "is for."
            )
        found[token] = _rows(token, parts)
        if len(found[token]) > ROWS_MAX:
            raise LoraError(f"{token} has {len(found[token])} embeddings, a prompt {ROWS_MAX}.")
        names += token_names(token, len(found[token]))
    check_token_names(names)
    return found


def token_names(token: str, rows: int) -> list[str]:
    """Return what the tokens of an embedding are called, as in diffusers: `<x>`, `<x>_1`, …."""
    return [token, *(f"{token}_{i}" for i in range(1, rows))]


def check_token_names(names: Iterable[str]) -> None:
    """Refuse names that are one token to CLIP.

    Raises:
        LoraError: two of them are, of several rows the generated ones too.
    """
    known: dict[str, str] = {}
    for name in names:
        if (read := _as_read(name)) in known:
            raise LoraError(
                f"The tokens {known[read]} and {name} are one token to CLIP, which lower-cases (of "
                "several rows the second is called <token>_1): rename one of them."
            )
        known[read] = name


def _as_read(name: str) -> str:
    """Return what CLIP's tokenizer makes of a name before it looks it up."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", name)).lower()


def check_pairs(first: Mapping[str, Tensor], second: Mapping[str, Tensor]) -> None:
    """Refuse rows for SDXL's second text encoder without as many for the first.

    Raises:
        LoraError: a token has another number of rows for the one than for the other.
    """
    for token, rows in second.items():
        beside = len(first[token]) if token in first else 0
        if len(rows) != beside:
            raise LoraError(
                f"{token} has {len(rows)} embeddings for SDXL's second text encoder and {beside} "
                "for the first."
            )


def _rows(token: str, tensors: list[Tensor]) -> Tensor:
    if any(t.ndim not in (1, 2) or not t.numel() for t in tensors) or (
        len({t.shape[-1] for t in tensors}) > 1
    ):
        shapes = ", ".join(str(tuple(t.shape)) for t in tensors)
        raise LoraError(f"The embeddings of {token} are no rows of one width: {shapes}.")
    return torch.cat([t.reshape(-1, t.shape[-1]) for t in tensors])
