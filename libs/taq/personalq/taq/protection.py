"""Which text tokens keep their precision: the paper's trigger span, and what to hold it against.

A set is written as a union of names: `trigger`, `bos+trigger`, `bos+conditioned:16`.

    none         no token: plain quantization
    trigger      the tokens of the trigger, the index set S of Section III-B
    conditioned  the rows of K and V that the trigger changes most, and that are looked at
    bos          the start token, which takes most of the attention (as MixDQ and DGQ do)
    noun         the class noun's tokens, where it stands in the prompt
    random       as many other words' tokens as the trigger has: a control
    all          every token, padding too: no text is quantized
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from personalq.taq.errors import RecipeError
from personalq.taq.triggers import (
    as_tokenizers,
    find,
    max_tokens,
    token_offsets,
    trigger_spans,
)

SETS = ("none", "bos", "trigger", "conditioned", "noun", "random", "all")
NEED_A_TRIGGER = frozenset({"trigger", "conditioned", "random"})
DEFAULT_BUDGET = 16  # rows of `conditioned`

_PART = re.compile(r"([a-z]+)(?::([0-9]+))?")


@dataclass(frozen=True)
class Words:
    """A prompt and the words in it that matter."""

    prompt: str
    triggers: tuple[str, ...] = ()
    noun: str = ""  # the class noun: of the subject that the trigger stands for


@dataclass(frozen=True)
class Protected:
    """A union of sets of text tokens, from `parse`; `str` writes it in its one form."""

    sets: tuple[str, ...]  # in the order of SETS
    budget: int = DEFAULT_BUDGET  # how many rows `conditioned` keeps

    @classmethod
    def parse(cls, text: str) -> Protected:
        """Read a union such as `bos+conditioned:16`.

        Raises:
            RecipeError: an unknown or repeated name, a budget that is none, or `none` or `all`
                in a union, where they would say nothing.
        """
        budget, names = DEFAULT_BUDGET, []
        for part in text.split("+"):
            match = _PART.fullmatch(part)
            if match is None or match[1] not in SETS:
                raise RecipeError(
                    f"There is no protected set {part!r}; there are {', '.join(SETS)}, "
                    "and unions such as bos+trigger."
                )
            if match[2] is not None:
                if match[1] != "conditioned" or int(match[2]) < 1:
                    raise RecipeError(f"{part!r}: only conditioned has a budget, of 1 row or more.")
                budget = int(match[2])
            names.append(match[1])
        if len(set(names)) < len(names):
            raise RecipeError(f"The protected sets {text!r} name one twice.")
        if len(names) > 1 and {"none", "all"} & set(names):
            raise RecipeError(f"In {text!r}, none and all stand for themselves only.")
        return cls(tuple(name for name in SETS if name in names), budget)

    @property
    def uses_noun(self) -> bool:
        """Whether the class noun makes a difference."""
        return bool({"noun", "conditioned"} & set(self.sets))

    def __str__(self) -> str:
        """Return what `parse` reads."""
        return "+".join(
            f"{name}:{self.budget}" if name == "conditioned" else name for name in self.sets
        )


def resolve_protection(
    protected: Protected, triggers: Sequence[str], noun: str = ""
) -> tuple[Protected, str | None]:
    """Return what is protected for a checkpoint with these words, and why if it is another set.

    A third of published checkpoints have no trigger; the start token is kept instead. Measured
    on the miniature (4-bit rows of K and V, 32 prompts of 8 checkpoints, mean squared error of
    the predicted noise / of the final latents): none 3.62e-5 / 1.89e-3, noun 3.61e-5 / 1.90e-3,
    bos 3.48e-5 / 1.77e-3.
    """
    sets = set(protected.sets)
    if not any(trigger.strip() for trigger in triggers):
        if not NEED_A_TRIGGER & sets:
            return protected, None
        return _union(sets - NEED_A_TRIGGER | {"bos"}, protected), "the checkpoint has no trigger"
    if "conditioned" in sets and not noun.strip():
        reason = "the checkpoint has no class noun to compare its trigger with"
        return _union(sets - {"conditioned"} | {"trigger"}, protected), reason
    return protected, None


def protected_mask(
    protected: Protected,
    words: Sequence[Words],
    tokenizer: Any,
    *,
    conditioning: Callable[[Sequence[Words]], Tensor] | None = None,
    seed: int = 0,
    device: torch.device | str = "cpu",
) -> Tensor:
    """Return M: bool (B, T), true at the tokens of prompt b that keep their precision.

    Args:
        tokenizer: a fast tokenizer, or a list of those whose states are joined (SDXL has two):
            a token counts where it does for any of them.
        conditioning: for `conditioned`, the scores (B, T) of these prompts; called only then.
        seed: of `random`, whose choice depends on it and on the prompt alone.

    Raises:
        RecipeError: `conditioned` without `conditioning`.
        TokenizerError: as `trigger_spans`, or tokenizers of different lengths.
    """
    tokenizers = as_tokenizers(tokenizer)
    mask = torch.zeros(len(words), max_tokens(tokenizers[0]), dtype=torch.bool)
    for row, of_prompt in zip(mask, words, strict=True):
        for one in tokenizers:
            row[list(_positions(protected, of_prompt, one, seed))] = True
    if "conditioned" in protected.sets:
        if conditioning is None:
            raise RecipeError(
                "conditioned needs the scores of every row, from a UNet, a text encoder and the "
                "class noun; here are none."
            )
        mask |= _highest(conditioning(words).cpu(), protected.budget)
    return mask.to(device)


def plain_prompt(words: Words, tokenizer: Any) -> str:
    """Return the prompt with the class noun in the place of every trigger.

    Triggers that touch, as in `<s1><s2>`, stand for one subject.

    Raises:
        RecipeError: there is no noun.
        TokenizerError: as `trigger_spans`.
    """
    noun = words.noun.strip()
    if not noun:
        raise RecipeError("Without a class noun there is nothing to compare a trigger with.")
    plain, copied = "", 0
    for start, stop in _occurrences(words, tokenizer):
        plain += words.prompt[copied:start] + noun
        copied = stop
    return plain + words.prompt[copied:]


def counterparts(words: Words, tokenizer: Any) -> Tensor:
    """Return, for every row of the prompt, the row of `plain_prompt` to compare it with: int64 (T).

    A trigger's rows have the noun's last one. Rows of the same characters belong together though
    a trigger of another length has moved them, and so do end and padding rows, counted from
    the end of the text. What is beyond the last row has the last.

    Raises:
        RecipeError: there is no noun.
        TokenizerError: as `trigger_spans`.
    """
    there = token_offsets(plain_prompt(words, tokenizer), tokenizer)
    here = token_offsets(words.prompt, tokenizer)
    occurrences, noun_length = _occurrences(words, tokenizer), len(words.noun.strip())
    rows = torch.arange(max_tokens(tokenizer))
    rows[_text_end(here) :] += _text_end(there) - _text_end(here)
    for row, (start, stop) in enumerate(here):
        if stop > start:
            covering = _covering(there, _moved(start, stop, occurrences, noun_length))
            if not covering:
                rows[row] = len(rows)  # truncated there
            elif any(start < end and stop > first for first, end in occurrences):
                rows[row] = covering[-1]
            else:
                place = _covering(here, start).index(row)
                rows[row] = covering[min(place, len(covering) - 1)]
    return rows.clamp(max=len(rows) - 1)


def _occurrences(words: Words, tokenizer: Any) -> list[tuple[int, int]]:
    """Return the characters (start, stop) of every trigger, in order, those that touch as one."""
    found = sorted(
        match for trigger in words.triggers for match in find(words.prompt, trigger, tokenizer)
    )
    merged: list[tuple[int, int]] = []
    for start, stop in found:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def _moved(start: int, stop: int, occurrences: Sequence[tuple[int, int]], noun_length: int) -> int:
    """Return the character of the plain prompt that stands for the token of these characters."""
    moved = 0
    for first, end in occurrences:
        if start < end and stop > first:
            return first + moved + noun_length - 1
        if end <= start:
            moved += noun_length - (end - first)
    return start + moved


def _covering(offsets: Sequence[tuple[int, int]], character: int) -> list[int]:
    """Return the tokens of a character, in order; beyond ASCII it may have several."""
    return [i for i, (start, stop) in enumerate(offsets) if start <= character < stop]


def _text_end(offsets: Sequence[tuple[int, int]]) -> int:
    """Return the position of the end token: special tokens have no characters."""
    return max((i + 1 for i, (start, stop) in enumerate(offsets) if stop > start), default=1)


def _positions(protected: Protected, words: Words, tokenizer: Any, seed: int) -> set[int]:
    """Return the protected tokens of one prompt, those of `conditioned` left out."""
    named = set(protected.sets)
    if "all" in named:
        return set(range(max_tokens(tokenizer)))
    of_trigger = _tokens_of(words.prompt, words.triggers, tokenizer)
    found = {0} if "bos" in named else set()
    if "trigger" in named:
        found |= of_trigger
    if "noun" in named:
        # In <bear-v4> the noun is part of a name.
        found |= _tokens_of(words.prompt, [words.noun], tokenizer) - of_trigger
    if "random" in named:
        offsets = token_offsets(words.prompt, tokenizer)
        others = [i for i, (a, b) in enumerate(offsets) if b > a and i not in of_trigger]
        order = random.Random(f"{seed} {words.prompt}")  # noqa: S311 - reproducible, not secret
        found |= set(order.sample(others, min(len(of_trigger), len(others))))
    return found


def _tokens_of(prompt: str, names: Iterable[str], tokenizer: Any) -> set[int]:
    return {
        i
        for name in names
        for span in trigger_spans(prompt, name, tokenizer)
        for i in range(span.start, span.stop)
    }


def _highest(scores: Tensor, budget: int) -> Tensor:
    """Return the mask of the `budget` highest scores of each row, never of one that is zero."""
    top = scores.topk(min(budget, scores.shape[1]), dim=1)
    mask = torch.zeros_like(scores, dtype=torch.bool)
    return mask.scatter(1, top.indices, top.values > 0)


def _union(names: Iterable[str], like: Protected) -> Protected:
    wanted = set(names)
    sets = tuple(name for name in SETS if name in wanted)
    return replace(like, sets=sets)
