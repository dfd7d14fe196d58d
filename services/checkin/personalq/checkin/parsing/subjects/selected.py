"""Whether what follows a noun selects it: "bear model", "the dog I used yesterday"."""

from __future__ import annotations

from personalq.checkin import lexicon
from personalq.checkin.parsing.draft import Draft, Noun
from personalq.checkin.parsing.text import Word


def chosen_by_tail(draft: Draft, noun: Noun) -> bool:
    """Whether what follows selects it: "bear model", "dog v9", "the dog I used yesterday"."""
    words = draft.page.words
    if noun.last >= len(words):
        return False
    following = words[noun.last]
    if not following.joined:
        gap = draft.page.shadow[words[noun.last - 1].full_end : following.start]
        return gap.strip() == "#" and is_selecting(draft, following)
    if following.norm in lexicon.words("selectors") and following.norm not in ("one", "ones"):
        return True
    if following.norm in ("that", "which"):
        clause = words[noun.last + 1 : noun.last + 5]
        said = [word for word in clause if word.norm not in _WAS]
        norms = {word.norm for word in clause}
        if norms & {"has", "have", "had"} and not norms & {"been", "got", "we", "i", "you"}:
            return False  # "a dog that has just made a mess"
        return bool(said) and is_selecting(draft, said[0])
    return _chosen_by_verb(draft, following) or is_selecting(draft, following)


_WAS = frozenset(["was", "is", "were", "has", "have", "had", "been", "got", "we", "i", "you"])


def _chosen_by_verb(draft: Draft, word: Word) -> bool:
    """Whether a sentence says which one it is: "the mesa should be our oldest one"."""
    said = False
    while word.norm in _IS_WHICH and word.index + 1 < len(draft.page.words):
        said = said or word.norm in ("be", "is", "being")
        word = draft.page.words[word.index + 1]
    return said and word.joined and is_selecting(draft, word)


_IS_WHICH = frozenset(
    ["should", "must", "shall", "needs", "to", "be", "is", "being", "the", "my", "our"]
)


def is_selecting(draft: Draft, word: Word) -> bool:
    """Whether the word is one of those that chose a checkpoint."""
    return any(span.start <= word.start < span.end for span in draft.selecting)
