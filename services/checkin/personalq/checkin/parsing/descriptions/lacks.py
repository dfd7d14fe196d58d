"""What the subject has not got, said apart: ", no fins", "that hasn't got legs", "hatless"."""

from __future__ import annotations

from personalq.checkin.lexicon import lacked
from personalq.checkin.parsing.descriptions.phrase import LACKED, NO_LACK, describe, read_phrase
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word


def read_lacks(draft: Draft) -> None:
    """Read what is not there, where it opens a clause or has a verb of its own."""
    for match in LACKED.finditer(draft.page.shadow):
        lead, word = draft.page.word_at(match.start()), draft.page.word_at(match.end())
        if lead is None or word is None or word.norm in NO_LACK or not draft.is_free(word):
            continue
        if draft.free(match.start(), match.end()) and (not match["bare"] or _opens(draft, lead)):
            read_phrase(draft, word.index)
    for word in draft.page.words:
        if lacked(word.norm) and draft.is_free(word) and _opens(draft, word):
            describe(draft, [word])


def _opens(draft: Draft, word: Word) -> bool:
    """Whether a clause begins with a word, or with "but" before it."""
    before = draft.page.words[word.index - 1] if word.index else None
    if before is None or not word.joined:
        return before is not None
    return before.norm in ("but", "and") and not before.joined
