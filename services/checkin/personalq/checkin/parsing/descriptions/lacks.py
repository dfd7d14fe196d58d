"""What the subject has not got, said apart: ", no fins", "that hasn't got legs", "hatless"."""

from __future__ import annotations

from personalq.checkin.lexicon import lacked, names_thing, words
from personalq.checkin.parsing.descriptions.phrase import (
    LACKED,
    NO_LACK,
    add_description,
    read_phrase,
)
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word


def read_lacks(draft: Draft) -> None:
    """Read what is not there, where it opens a clause or has a verb of its own."""
    for match in LACKED.finditer(draft.page.shadow):
        lead, word = draft.page.word_at(match.start()), draft.page.word_at(match.end())
        if lead is None or word is None or word.norm in NO_LACK or not draft.is_free(word):
            continue
        told = _opens(draft, lead) if match["bare"] else _is_told_of_it(draft, lead)
        if draft.free(match.start(), match.end()) and told and _is_thing(draft, word):
            read_phrase(draft, word.index)
    for word in draft.page.words:
        behind = draft.page.words[word.index + 1 : word.index + 2]
        ends = not behind or not behind[0].joined or behind[0].norm == "this"
        if ends and lacked(word.norm) and draft.is_free(word) and _opens(draft, word):
            add_description(draft, [word])


def _is_thing(draft: Draft, word: Word) -> bool:
    """Whether a thing is named in a word or the next: "fins", "selector buttons", but no scene."""
    run = draft.page.words[word.index : word.index + 2]
    said = [w.norm for w in run if w is word or w.joined]
    if words("scenes").union(words("camera")).intersection(said):
        return False
    return any(names_thing(norm) for norm in said)


def _is_told_of_it(draft: Draft, lead: Word) -> bool:
    """Whether it is the subject that is said to have none: "a barrow that hasn't got legs"."""
    index = lead.index
    while index and draft.page.words[index].joined:
        index -= 1
        said = draft.page.words[index]
        if said.norm in ("it", "he", "she", "one", "ones", "they"):
            return True
        if said.norm not in ("that", "which", "who"):
            return any(n.first <= index < n.last and n.entry.subjects for n in draft.nouns)
    return False


def _opens(draft: Draft, word: Word) -> bool:
    """Whether a clause begins with a word, or with "but" before it."""
    before = draft.page.words[word.index - 1] if word.index else None
    if before is None or not word.joined:
        return before is not None
    return before.norm in ("but", "and") and not before.joined
