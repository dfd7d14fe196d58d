"""Where a trigger stands in a tokenized prompt (Section III-B, the index set S).

Spans are found by character offsets, not by searching for the trigger's ids: in `<s1><s2>`
the two triggers share the token `><`, so the ids of `<s1>` alone occur nowhere. That token
belongs to both.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from personalq.taq.errors import TokenizerError

UNBOUNDED_TOKENS = 1_000_000  # tokenizers without a limit report an absurdly large one


@dataclass(frozen=True, order=True)
class TokenSpan:
    """The tokens start, …, stop − 1 of a tokenized prompt, special tokens counted."""

    start: int
    stop: int


def trigger_spans(prompt: str, trigger: str, tokenizer: Any) -> list[TokenSpan]:
    """Return the span of every occurrence of `trigger` in `prompt`, in order.

    A token that covers any character of an occurrence belongs to its span. What is truncated
    at the tokenizer's `model_max_length` is left out; an absent or empty trigger has no span.
    Letter case counts only where it does for the tokenizer (CLIP lower-cases). A trigger that
    begins or ends with a letter or digit matches whole words only.

    Args:
        tokenizer: a Hugging Face fast tokenizer, or anything called like one.

    Raises:
        TokenizerError: the tokenizer reports no character offsets or has no maximal length.
    """
    if not trigger.strip():
        return []
    offsets = token_offsets(prompt, tokenizer)
    spans = []
    for start, stop in find(prompt, trigger, tokenizer):
        # Special tokens have the empty offset (0, 0) and therefore overlap nothing.
        inside = [i for i, (a, b) in enumerate(offsets) if a < stop and b > start]
        if inside:
            spans.append(TokenSpan(inside[0], inside[-1] + 1))
    return spans


def trigger_mask(
    prompts: Sequence[str],
    triggers: Sequence[str | Sequence[str]],
    tokenizer: Any,
    device: torch.device | str = "cpu",
) -> Tensor:
    """Return M: bool (B, T), true where a token of prompt b belongs to one of its triggers.

    T is the tokenizer's `model_max_length`, the length to which prompts are padded.

    Args:
        triggers: for each prompt its trigger, several, or none (an empty string or sequence).
        tokenizer: as `trigger_spans`, or a list of those whose encoders' states are joined on
            the last axis, as SDXL's two are: row i is then protected if token i belongs to a
            trigger for any of them.

    Raises:
        TokenizerError: as `trigger_spans`, or tokenizers of different lengths.
        ValueError: not one entry of `triggers` per prompt.
    """
    tokenizers = as_tokenizers(tokenizer)
    mask = torch.zeros(len(prompts), max_tokens(tokenizers[0]), dtype=torch.bool)
    for row, prompt, wanted in zip(mask, prompts, triggers, strict=True):
        for trigger in [wanted] if isinstance(wanted, str) else wanted:
            for one in tokenizers:
                for span in trigger_spans(prompt, trigger, one):
                    row[span.start : span.stop] = True
    return mask.to(device)


def as_tokenizers(tokenizer: Any) -> list[Any]:
    """Return one tokenizer or several as a list.

    Raises:
        TokenizerError: none, or they pad to different lengths.
    """
    several = list(tokenizer) if isinstance(tokenizer, list | tuple) else [tokenizer]
    lengths = {max_tokens(one) for one in several}
    if len(lengths) != 1:
        raise TokenizerError(f"Joined text states have one length, not {sorted(lengths)}.")
    return several


def find(prompt: str, trigger: str, tokenizer: Any) -> list[tuple[int, int]]:
    """Return the characters (start, stop) of every occurrence of `trigger` in `prompt`."""
    if not trigger.strip():
        return []
    return [match.span() for match in _pattern(trigger, tokenizer).finditer(prompt)]


def max_tokens(tokenizer: Any) -> int:
    """Return the length to which the tokenizer truncates and pads.

    Raises:
        TokenizerError: the tokenizer has none.
    """
    limit = int(tokenizer.model_max_length)
    if limit > UNBOUNDED_TOKENS:
        raise TokenizerError(
            "The tokenizer has no maximal length; set model_max_length (CLIP: 77)."
        )
    return limit


def token_offsets(prompt: str, tokenizer: Any) -> list[tuple[int, int]]:
    """Return the (start, stop) characters of each token, special tokens as (0, 0).

    What is beyond the tokenizer's `model_max_length` is cut off; padding is not counted.

    Raises:
        TokenizerError: as `trigger_spans`.
    """
    limit = max_tokens(tokenizer)
    try:
        encoded = tokenizer(prompt, return_offsets_mapping=True, truncation=True, max_length=limit)
    except NotImplementedError as error:  # what a slow Hugging Face tokenizer raises
        raise TokenizerError from error
    return [(int(a), int(b)) for a, b in encoded["offset_mapping"]]


def _pattern(trigger: str, tokenizer: Any) -> re.Pattern[str]:
    """Return the expression that finds `trigger` where the tokenizer would read it."""
    words = trigger.split()
    # CLIP composes accents before it reads: either spelling of one is the same text.
    spellings = sorted({unicodedata.normalize(form, trigger) for form in ("NFC", "NFD")})
    text = "|".join(r"\s+".join(map(re.escape, spelling.split())) for spelling in spellings)
    before = r"(?<!\w)" if re.match(r"\w", words[0][0]) else ""
    after = r"(?!\w)" if re.match(r"\w", words[-1][-1]) else ""
    # Whether case counts is a property of the tokenizer and, with added tokens, of the
    # trigger; the tokenizer itself is the only one to know.
    forms = {trigger, trigger.lower(), trigger.upper()}
    ignores_case = len({tuple(tokenizer(form)["input_ids"]) for form in forms}) == 1
    return re.compile(f"{before}(?:{text}){after}", re.IGNORECASE if ignores_case else 0)
