"""Other nouns a request may be about, for kinds that no card lists: "A night with the hydra"."""

from __future__ import annotations

from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word
from personalq.checkin.parsing.unknown_head import missing_subject

_MOST = 3
"""Nouns looked up at most."""
_NO_KINDS = (
    "scenes",
    "frames",
    "indefinite",
    "plain",
    "selectors",
    "determiners",
    "openers",
    "prepositions",
    "links",
)
_CLOSED = ("prepositions", "links")
_DEFINITE = ("the", "my", "our")


def things(draft: Draft) -> tuple[Constraint, ...]:
    """Nouns a card's description may call its subject by, likeliest first, with no other subject.

    Those spoken of as known come first, then those no preposition places in the scene. Where the
    request has an unknown head, only the known ones that are in no place, unless all are listed.
    """
    subject = any(c.attribute is Attribute.SUBJECT for c in draft.constraints)
    if subject or draft.answering or draft.triggers:
        return ()
    unknown = draft.unknown_subject.span if draft.unknown_subject is not None else None
    listed = unknown is not None and _is_listed(draft, unknown)
    found: list[tuple[int, Constraint]] = []
    for word in draft.page.words:
        if (unknown is not None and unknown.meets(word.span)) or not _ends_noun(draft, word):
            continue
        first, definite, placed = _opening(draft, word)
        if unknown is not None and (placed or not (definite or listed)):
            continue
        thing = missing_subject(draft, Span(first.start, word.end))
        found.append((0 if definite else 2 if placed else 1, thing))
    found.sort(key=lambda item: item[0])
    return tuple(thing for _, thing in found[:_MOST])


def _is_listed(draft: Draft, unknown: Span) -> bool:
    """Whether the unknown head is one of several bare words: "low tide, mud, red sloop"."""
    word = draft.page.word_at(unknown.start)
    return word is not None and not word.joined and _behind(draft, word) is None


def _ends_noun(draft: Draft, word: Word) -> bool:
    """Whether a noun ends here that could be a kind of thing: "a red twelve-string"."""
    following = _behind(draft, word)
    if following is not None and following.hyphen:
        return False
    if not word.hyphen:
        no_kind = any(word.norm in lexicon.words(kind) for kind in _NO_KINDS)
        if no_kind or word.norm in lexicon.colours() or lexicon.is_no_thing(word.norm):
            return False
    if following is not None and not _closes(following):
        return False
    described = (c.span for c in draft.constraints if c.attribute is Attribute.DESCRIPTION)
    free = draft.is_free(word) or any(span and span.meets(word.span) for span in described)
    return free and len(word.norm) > 1 and word.norm.isalpha()


def _behind(draft: Draft, word: Word) -> Word | None:
    """The next word of the same phrase."""
    following = draft.page.words[word.index + 1 : word.index + 2]
    return following[0] if following and following[0].joined else None


def _closes(word: Word) -> bool:
    """Whether a noun ends before a word."""
    closed = any(word.norm in lexicon.words(kind) for kind in _CLOSED)
    return closed or lexicon.is_no_thing(word.norm) or word.norm in lexicon.verb_forms()


def _opening(draft: Draft, last: Word) -> tuple[Word, bool, bool]:
    """The first word of a compound, whether it is spoken of as known, whether it is in a place."""
    words = draft.page.words
    first = last
    while first.hyphen:
        first = words[first.index - 1]
    before = first
    while before.joined and before.index:
        before = words[before.index - 1]
        if before.norm in _DEFINITE:
            lead = words[before.index - 1].norm if before.joined else ""
            acted_on = lead.endswith("ing") or lead in lexicon.verb_forms()
            return first, not acted_on, lead in lexicon.words("prepositions")
        if any(before.norm in lexicon.words(kind) for kind in _CLOSED):
            return first, False, before.norm in lexicon.words("prepositions")
    return first, False, False
