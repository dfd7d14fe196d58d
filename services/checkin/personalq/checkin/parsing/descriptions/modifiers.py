"""Modifiers before the head: "fluffy brown" of "the fluffy brown bear"."""

from __future__ import annotations

from collections.abc import Sequence

from personalq.checkin import lexicon
from personalq.checkin.lexicon.wordnet import Nature, look_up, nature
from personalq.checkin.parsing.descriptions.phrase import REACH, add_description
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word
from personalq.checkin.parsing.word_roles import (
    is_adjective,
    is_compounded,
    is_particle,
    may_describe,
    only_joins,
)

_SIZED = frozenset(
    ["kids", "kid", "children", "men", "mens", "women", "womens", "ladies", "boys", "girls"]
)
"""Whose a thing is by its kind, not by its owner."""
_PARTS_COUNTED = frozenset(
    ["seater", "wheeler", "master", "door", "piece", "tier", "story", "storey"]
)
"""What things have so many of, by their kind."""


def read_modifiers(draft: Draft, first: int) -> None:
    """Words left of the head inside its phrase: "fluffy brown" of "the fluffy brown bear"."""
    words = draft.page.words
    found: list[Word] = []
    index = first
    while index > 0 and first - index < REACH:
        if not words[index].joined and not _listed(draft, index):
            break
        index -= 1
        word = words[index]
        if is_compounded(draft, index) and not only_joins(word):
            found.append(word)  # "curled-up"
            continue
        # "four-door", "two seater"
        counted = words[index + 1].hyphen or (index + 1 < first and _is_counted(words[index + 1]))
        if (word.norm in lexicon.words("determiners") and not counted) or word.possessive:
            if word.possessive and word.norm in _SIZED:
                found.append(word)
                continue  # "white kids' shoe"
            if word.possessive and draft.is_free(word) and _is_of_its_name(draft, index, first):
                found.append(word)
                continue  # "the white banker's lamp"
            break
        if index + 1 == first and _is_small(words, index) and draft.is_free(word):
            found.append(word)
            continue
        empty = word.norm in lexicon.words("empty_adjectives") or word.norm in ("all", "both")
        if empty or not draft.is_free(word):
            closed = word.norm in lexicon.words("prepositions") | lexicon.words("links")
            if closed and not word.hyphen:  # "brown oil-on-canvas castle"
                break
            continue
        if any(
            word.norm in lexicon.words(kind)
            for kind in ("prepositions", "links", "openers", "frames")
        ):
            if not _coordinates(draft, index) and not is_particle(words, index):
                break
            continue
        if may_describe(word, draft):
            found.append(word)
    found.reverse()
    worn = len(found) > 1 and is_adjective(found[0].norm) and lexicon.is_wearable(found[-1].norm)
    worn = worn and found[-1].norm not in lexicon.colours()  # "the muddy grey backpack"
    worn = worn and not lexicon.is_wearable(words[first].norm)  # "the tangerine wrap dress"
    add_description(draft, found, phrase=worn, before=_head_at(draft, first))


def _is_small(words: Sequence[Word], index: int) -> bool:
    """Whether "model" says what a thing is: "a model boat", "the red model boat"."""
    before = words[index - 1].norm if index else ""
    return words[index].norm == "model" and (before in ("a", "an") or before in lexicon.colours())


def _is_counted(word: Word) -> bool:
    """Whether a number before a word is a part of it: "two | seater"."""
    return word.norm in _PARTS_COUNTED


def _is_of_its_name(draft: Draft, index: int, first: int) -> bool:
    """Whether a possessive names a kind: "a white banker's lamp", but not "my sister's"."""
    word = draft.page.words[index]
    before = draft.page.words[index - 1] if index and word.joined else None
    own = before is not None and before.norm in ("my", "our", "your", "his", "her", "their")
    named = lexicon.names_thing(word.norm) or nature(word.norm) in (Nature.PERSON, Nature.MATTER)
    somebody = word.norm in lexicon.words("kinsfolk") or (word.capital and before is not None)
    return index + 1 == first and named and not own and not somebody


def _head_at(draft: Draft, first: int) -> str:
    """The subject whose first word it is, or the one the request is about: "the red one"."""
    noun = draft.noun_at(first) or next((n for n in draft.nouns if n.entry.subjects), None)
    return draft.span_of(noun.first, noun.last).of(draft.page.text) if noun else ""


def _coordinates(draft: Draft, index: int) -> bool:
    """Whether "and" stands between two adjectives: "the red and white bear"."""
    words = draft.page.words
    if words[index].norm not in ("and", "&") or index == 0:
        return False
    return all(_may_be_adjective(word.norm) for word in (words[index - 1], words[index + 1]))


def _may_be_adjective(norm: str) -> bool:
    """Whether a word may be one of two adjectives: "low and wide"."""
    entry = look_up(norm)
    return is_adjective(norm) or (entry is not None and entry.mostly_adjective)


def _listed(draft: Draft, index: int) -> bool:
    """A comma between adjectives: "fluffy, brown bear"."""
    words = draft.page.words
    if index == 0:
        return False
    gap = draft.page.shadow[words[index - 1].full_end : words[index].start].strip()
    norm = words[index - 1].norm
    named = draft.noun_at(index - 1)
    if named is not None and named.entry.subjects:
        return False  # "under a street lamp, 2026-08 model"
    if _is_where(draft, index - 1):
        return False  # "gliding through mist, February build"
    return gap == "," and (is_adjective(norm) or nature(norm) is Nature.NO_NOUN)


def _is_where(draft: Draft, index: int) -> bool:
    """Whether a word stands where a scene is told: "through | mist", but not "in | grey"."""
    words = draft.page.words
    before = index - 1
    while before > 0 and words[before].norm in lexicon.words("determiners"):
        before -= 1
    placed = before >= 0 and words[before].norm in lexicon.words("prepositions") - {"of"}
    return placed and words[index].joined and words[index].norm not in lexicon.colours()
