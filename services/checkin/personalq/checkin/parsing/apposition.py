"""Other places of a request that speak of the subject again: "a stallion – the horse with …"."""

from __future__ import annotations

from collections.abc import Sequence

from personalq.checkin import lexicon
from personalq.checkin.parsing.draft import Draft, Noun
from personalq.checkin.parsing.text import Word

_SORTS = frozenset(["kind", "sort", "type"])


def renamed(draft: Draft, heads: Sequence[Noun]) -> list[Noun]:
    """Nouns that name the subject again in a phrase of their own: ", the horse with a mane"."""
    subjects = {subject for noun in heads for subject in noun.entry.subjects}
    return [
        noun
        for noun in draft.nouns
        if noun not in heads
        and subjects & set(noun.entry.subjects)
        and _opens_anew(draft.page.words, noun.first)
    ]


def sorts(words: Sequence[Word]) -> list[int]:
    """Where a word stands for the subject's sort: ", the clunky kind my father wears"."""
    found = []
    for word in words:
        following = words[word.index + 1] if word.index + 1 < len(words) else None
        of = following is not None and following.joined and following.norm == "of"
        if word.norm in _SORTS and not of and _opens_anew(words, word.index, article="the"):
            found.append(word.index)
    return found


def _opens_anew(words: Sequence[Word], index: int, *, article: str = "") -> bool:
    """Whether a comma or a dash stands before the noun phrase whose noun is at `index`."""
    while index > 0 and words[index].joined:
        index -= 1
        norm = words[index].norm
        if norm in lexicon.words("prepositions") or norm in lexicon.words("links"):
            return False
    return index > 0 and (not article or words[index].norm == article)
