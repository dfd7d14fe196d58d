"""Who is named: "T Okoro", "kestrel-team", "the packaging crew", "Oskar" for freelance-oskar."""

from __future__ import annotations

import re
from collections.abc import Iterator

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Span
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.owners.deeds import by_whom, deed, is_asked_of, is_owners
from personalq.checkin.parsing.text import Word, ends_before

_PEOPLE = ("crew", "team", "group", "people", "folks", "guys", "department", "lot", "squad")
_BEFORE_MONTH = ("this", "last", "next", "past", "previous", "late", "early", "mid")
"""Before a month, which is no name there: "this June's", "early June's"."""
_IS = compile_form(r"(?<!\w)(is|are|was|were|be|of) $")
_NAME = compile_form(r"(?<![\w.])\w+([._-]\w+)+(?![\w])")


def named(draft: Draft) -> Iterator[tuple[Span, int, str, bool]]:
    """(name, end with a possessive ending, owner, possessive) of every owner spelled out."""
    shadow, owners = draft.page.shadow, draft.lexicon.owners
    for match in _NAME.finditer(shadow):
        owner = owners.get(re.sub(r"[._-]", " ", match[0]))
        if owner is not None:
            possessive = shadow.startswith(("'s", "' "), match.end())
            end = match.end() + 2 * shadow.startswith("'s", match.end())
            part = draft.page.word_before(match.end() + 1)
            word = _with_people(draft, part, draft.page.word_at(match.start())) if part else None
            if word is not None and word is not part:
                yield Span(match.start(), word.end), word.full_end, owner, word.possessive
            else:
                yield Span(match.start(), match.end()), end, owner, possessive
    for first, last, owner in owners.find(draft.page.words):
        word = _with_people(draft, draft.page.words[last - 1], draft.page.words[first])
        yield Span(draft.page.words[first].start, word.end), word.full_end, owner, word.possessive
    for first, last, owner in draft.lexicon.nicknames.find(draft.page.words):
        word = draft.page.words[last - 1]
        before = (
            draft.page.words[first - 1].norm if first and draft.page.words[first].joined else ""
        )
        if before in _BEFORE_MONTH and word.norm in lexicon.calendar("months"):
            continue
        if _is_half_a_name(draft, word):
            continue
        bare = word.norm.endswith("s") and draft.lexicon.nicknames.get(word.norm[:-1]) == owner
        if _is_theirs(draft, draft.span_of(first, last), word, bare=bare):
            yield draft.span_of(first, last), word.full_end, owner, True


def _is_half_a_name(draft: Draft, word: Word) -> bool:
    """Whether another name goes on behind it: the "North" of the North Pole is no Studio North."""
    following = draft.page.words[word.index + 1 : word.index + 2]
    goes_on = bool(following) and following[0].joined and following[0].capital
    known = goes_on and draft.noun_at(following[0].index) is not None
    if goes_on and word.capital and not word.possessive and not known:
        return True
    place = bool(following) and following[0].joined and following[0].norm in _PLACES
    return place and word.norm in _DIRECTIONS and not word.possessive


_DIRECTIONS = frozenset(["north", "south", "east", "west"])
_PLACES = frozenset(
    ["pole", "sea", "coast", "shore", "bank", "wall", "wind", "side", "wing", "gate"]
)
"""Behind a direction: "at the north pole"."""


def _with_people(draft: Draft, name: Word, first: Word | None) -> Word:
    """The last word of a name: "the packaging | crew's", "the harbor-lab | people"."""
    following = draft.page.words[name.index + 1 : name.index + 2]
    people = bool(following) and following[0].joined and following[0].norm in _PEOPLE
    before = draft.page.words[first.index - 1].norm if first is not None and first.index else ""
    told = people and (before == "the" or following[0].possessive)
    return following[0] if told and not name.possessive else name


def _is_theirs(draft: Draft, span: Span, word: Word, *, bare: bool) -> bool:
    """Whether something is said to be theirs who go by a nickname, and to be what is asked for."""
    end = word.full_end
    if is_asked_of(draft, span, end) or is_owners(by_whom(draft, span.start)):
        return True
    if deed(draft, span, end) is not None:
        return True
    following = draft.page.words[word.index + 1 : word.index + 2]
    if word.possessive and following and draft.leads_to_selector(following[0].index):
        return True  # "a guitar on a hill - Nadia's one"
    if any(noun.entry.subjects and noun.last <= word.index for noun in draft.nouns):
        ends = draft.page.word_at(end)
        told = ends_before(_IS, draft.page.shadow, span.start) is not None
        return word.possessive and told and (ends is None or not ends.joined)
    owns = word.possessive or bare
    if owns and draft.answering and not following:
        return True
    return owns and bool(following) and draft.leads_to_head(following[0].index, reach=4)
