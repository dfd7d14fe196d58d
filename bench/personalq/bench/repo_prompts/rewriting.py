"""Is a rewritten prompt the prompt with the trigger in place of the noun, and nothing else?

Judged from the two texts and the card alone, without any part of Check-in: the rewritten text is
cut at its triggers, and the pieces must be found in the prompt again, in order and to the last
character. What stood between them gave way; it must name the card's subject.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache

import inflect

from personalq.bench.repo_prompts.files import Card

#: What may be inserted together with a trigger: "<t>, a beach", "a sketch of <t>".
_GLUE = re.compile(r"[\s,.:;-]*(?:(?:in the style )?of\s+)?")
_WORD = re.compile(r"\w")
#: A noun before one of these, or before no word at all, stands for itself: in "dog house" it does
#: not.
_ENDS_A_NOUN = re.compile(
    r"\s*(?:$|[^\w\s-]|(?:and|are|as|at|behind|beside|but|by|for|from|has|in|into|is|like|near|of|"
    r"on|or|over|that|the|to|trained|under|was|we|which|who|with|wearing|you|i)\b)",
    re.IGNORECASE,
)


def is_valid(prompt: str, rewritten: str, card: Card, replaced: Sequence[str] = ()) -> bool:
    """Whether the canonical trigger stands exactly where the noun was, all else byte for byte.

    Where the prompt names no such noun, one inserted trigger is right; for a card without triggers
    only the prompt itself is.

    Args:
        replaced: words that Check-in says it replaced: other names of the subject, which no list
            here knows.
    """
    if not card.trigger:
        return rewritten == prompt
    pieces = rewritten.split(card.trigger)
    if len(pieces) == 1:
        return False
    names = _names(card)
    allowed = names | {each.casefold() for each in (*card.triggers, card.checkpoint_id, *replaced)}
    if any(_all_named(prompt, gaps, allowed) for gaps in _alignments(prompt, pieces)):
        return True
    return not _mentions(prompt, names) and _is_insertion(prompt, pieces)


def _alignments(
    prompt: str, pieces: Sequence[str], start: int = 0
) -> Iterator[tuple[tuple[int, int], ...]]:
    """All ways to find the pieces in the prompt in order; each is the gaps between them."""
    first, *rest = pieces
    if not prompt.startswith(first, start):
        return
    start += len(first)
    if not rest:
        if start == len(prompt):
            yield ()
        return
    for end in range(start + 1, len(prompt) + 1):
        for gaps in _alignments(prompt, rest, end):
            yield ((start, end), *gaps)


def _all_named(prompt: str, gaps: Sequence[tuple[int, int]], allowed: Collection[str]) -> bool:
    return all(
        _is_whole(prompt, *gap) and prompt[slice(*gap)].casefold() in allowed for gap in gaps
    )


def _is_whole(prompt: str, start: int, end: int) -> bool:
    """Whether no word is cut; a plural's or a possessive's ending may stay behind."""
    if start and _WORD.match(prompt[start - 1]) and _WORD.match(prompt[start]):
        return False
    return re.match(r"(?:e?s)?(?!\w)", prompt[end:], re.IGNORECASE) is not None


def _is_insertion(prompt: str, pieces: Sequence[str]) -> bool:
    """Whether taking out one trigger, and what joined it to the text, gives the prompt back."""
    if len(pieces) != 2:
        return False
    before, after = pieces
    length = len(before) + len(after)
    for kept in range(len(before) + 1):
        left, glue = before[:kept], before[kept:]
        if not (prompt.startswith(left) and _GLUE.fullmatch(glue)):
            continue
        right = prompt[len(left) :]
        if after.endswith(right) and _GLUE.fullmatch(after[: len(after) - len(right)]):
            return length >= len(prompt)
    return False


def _mentions(prompt: str, names: Collection[str]) -> bool:
    """Whether the prompt calls the subject by one of the card's own words."""
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    if not pattern:
        return False
    found = re.finditer(rf"(?<![\w-])(?:{pattern})(?![\w-])", prompt, re.IGNORECASE)
    return any(_ENDS_A_NOUN.match(prompt, each.end()) for each in found)


def _names(card: Card) -> frozenset[str]:
    """The card's subjects and their last words, in both numbers, in lower case."""
    words = {subject.casefold() for subject in card.subjects}
    words |= {word.split()[-1] for word in words if word.split()}
    return frozenset(words | {_plural(word) for word in words})


@cache
def _plural(noun: str) -> str:
    return inflect.engine().plural_noun(noun)
