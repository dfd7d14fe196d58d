"""The rows of trained tokens, as keys and shapes tell: what would be refused when they are read."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

from personalq.chassis.key_styles import KeyMeaning
from personalq.chassis.safetensors_header import shorten

ROWS_MAX = 77  # what fits a CLIP prompt

_SECOND_ENCODER = re.compile(r"(?:bundle_emb\..+\.)?clip_g")

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(kw_only=True)
class _Rows:
    """Of one token for one text encoder."""

    count: int = 0
    widths: set[int] = field(default_factory=set)


def is_for_second_encoder(key: str) -> bool:
    """Whether an embedding's `key` is one for SDXL's second text encoder."""
    return _SECOND_ENCODER.fullmatch(key) is not None


def token_problems(tokens: Mapping[str, KeyMeaning], shapes: Shapes) -> list[str]:
    """What is wrong with the trained tokens of a checkpoint, in sentences.

    Args:
        tokens: key → the token that it has rows of.
        shapes: of all tensors.
    """
    first: dict[str, _Rows] = {}
    second: dict[str, _Rows] = {}
    for key, meaning in tokens.items():
        encoder = second if is_for_second_encoder(key) else first
        rows = encoder.setdefault(meaning.module, _Rows())
        rows.count += math.prod(shapes[key][:-1])
        rows.widths.add(shapes[key][-1])
    problems = [
        f"The rows of {_called(token)} are none, more than {ROWS_MAX} or not of one width: train "
        "it again."
        for encoder in (first, second)
        for token, rows in encoder.items()
        if not 0 < rows.count <= ROWS_MAX or len(rows.widths) > 1
    ]
    problems += _pair_problems(first, second)
    return problems or _name_problems(first)


def _pair_problems(first: Mapping[str, _Rows], second: Mapping[str, _Rows]) -> list[str]:
    """Rows for SDXL's second text encoder without as many for the first."""
    problems = []
    for token, rows in second.items():
        if token not in first:
            problems.append(
                f"Of {_called(token)} it has rows for SDXL's second text encoder alone (clip_g): "
                "publish it with those for the first (clip_l)."
            )
        elif rows.count != first[token].count:
            problems.append(
                f"Of {_called(token)} it has {first[token].count} rows for SDXL's first text "
                f"encoder (clip_l) and {rows.count} for the second (clip_g): save as many for each."
            )
    return problems


def _name_problems(tokens: Mapping[str, _Rows]) -> list[str]:
    """Names that are one token to CLIP; further rows are called as in diffusers: `<x>_1`, …."""
    spellings: dict[str, list[str]] = {}
    for token, rows in tokens.items():
        for name in (token, *(f"{token}_{i}" for i in range(1, rows.count))) if token else ():
            read = re.sub(r"\s+", " ", unicodedata.normalize("NFC", name)).lower()
            spellings.setdefault(read, []).append(name)
    return [
        f"Its tokens {' and '.join(shorten(name) for name in alike)} are one token to CLIP, which "
        "lower-cases (of several rows the second is called <token>_1): rename one of them."
        for alike in spellings.values()
        if len(alike) > 1
    ]


def _called(token: str) -> str:
    return shorten(token) if token else "its token"
