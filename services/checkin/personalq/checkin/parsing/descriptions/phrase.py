"""Described phrases: which words of the subject's phrase or of "with …" are claimed."""

from __future__ import annotations

import re

from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word, ends_before
from personalq.checkin.parsing.word_roles import (
    acts,
    belongs,
    goes_on,
    is_adjective,
    is_compounded,
    is_numeral,
    is_particle,
    may_describe,
    qualifies,
)

REACH = 7
"""Words of the longest described phrase."""
_NEGATION = re.compile(
    r"(?<!\w)(?:not|except(?:\s+for)?|excluding|other\s+than|anything\s+but)\s+"
    r"(?:(?:the|a|an|that|one|ones|with|in|wearing)\s+)*$"
)
_DEGREES = frozenset(
    ["and", "very", "quite", "all", "rather", "a", "bit", "light", "dark", "pale", "bright", "deep"]
)
"""May stand before the adjectives of a predicate: "it's light purple"."""
LACKING = frozenset(["no", "without", "missing", "lacking"])
NO_LACK = frozenset(["matter", "longer", "one", "rush", "problem", "triggers", "trigger"])
_BEFORE_LACKED = frozenset(["a", "an", "any", "its", "his", "her", "their"])
"""May stand between such a word and what is not there."""


def read_predicate(draft: Draft, index: int) -> int:
    """Adjectives after a verb: "is green and small"; the place after them."""
    words = draft.page.words
    found: list[Word] = []
    while index < len(words) and words[index].joined:
        word = words[index]
        if word.norm not in _DEGREES:
            if (
                not is_adjective(word.norm)
                or not may_describe(word, draft)
                or goes_on(draft, index)
            ):
                break
            found.append(word)
        index += 1
    describe(draft, found)
    return index


def read_phrase(draft: Draft, index: int) -> int:
    """Add the noun phrase that begins here as one description; the place after it."""
    words = draft.page.words
    start = index
    found: list[Word] = []
    last = index
    while index < len(words) and index - start < REACH:
        word = words[index]
        if not word.joined:
            break
        if is_compounded(draft, index) and not (found and word.norm == "mid"):
            found.append(word)
        elif word.norm in lexicon.words("phrase_ends") and not qualifies(word, found):
            if not (found and belongs(draft, index)):
                if not found and (word.norm in ("in", "of", "with") or index > start):
                    index += 1  # "covered in …", "an outside staircase"
                    continue
                break
        elif found and (acts(draft, word, found) or word.norm == "mid"):
            break
        elif may_describe(word, draft) or is_numeral(word, found):
            found.append(word)
        elif not draft.is_free(word):
            break
        index += 1
        last = index
    describe(draft, found, phrase=True)
    return last


def _start(draft: Draft, first: Word) -> int:
    """Where a description begins, with its count, or what says that it lacks: "no wheels"."""
    words = draft.page.words
    index = first.index
    if first.hyphen and draft.is_free(words[index - 1]):
        return words[index - 1].start  # "one-armed"
    if first.joined and first.norm.endswith("ed") and _is_empty(words[index - 1]):
        return words[index - 1].start  # "good natured"
    while words[index].joined and words[index - 1].norm in _BEFORE_LACKED:
        index -= 1
    lacked = words[index].joined and words[index - 1].norm in LACKING
    return words[index - 1].start if lacked else first.start


def _end(draft: Draft, last: Word) -> int:
    """Where a description ends, with what belongs to its participle: "beat up"."""
    words = draft.page.words
    return (words[last.index + 1] if is_particle(words, last.index + 1) else last).end


def _is_empty(word: Word) -> bool:
    return word.norm in lexicon.words("empty_adjectives")


def describe(
    draft: Draft,
    found: list[Word],
    *,
    phrase: bool = False,
    vague: bool = False,
    before: str = "",
) -> None:
    """Add a description; what stands `before` a subject is compared by meaning with it."""
    if not found:
        return
    span = Span(_start(draft, found[0]), _end(draft, found[-1]))
    known = {
        word for c in draft.constraints if c.attribute is Attribute.DESCRIPTION for word in c.values
    }
    values = tuple(word.norm for word in found if word.norm not in known)
    if not values:
        return
    unwanted = ends_before(_NEGATION, draft.page.shadow, span.start) is not None
    text = span.of(draft.page.text)
    named = f"{values[-1]} {canonical(before)}" if before and not phrase else ""
    if named in lexicon.description_groups():
        values = (*values, *canonical(before).split())  # "the baby horse"
    plain = all(word in lexicon.colours() for word in values)  # which words tell better
    said = (text,) if before and not plain else ()
    draft.constraints.append(
        Constraint(
            attribute=Attribute.DESCRIPTION,
            values=values,
            excluded=unwanted,
            hard=unwanted,
            phrase=phrase,
            coarse=vague,
            said=(draft.page.text.strip(),) if draft.answering else said,
            span=span,
            text=text,
            label=("not " if unwanted else "") + " ".join(values),
        )
    )
