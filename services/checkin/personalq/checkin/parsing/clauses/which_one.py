"""Clauses behind "the one", which say which is meant wherever that is."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from personalq.checkin import lexicon
from personalq.checkin.lexicon import wordnet
from personalq.checkin.lexicon.wordnet import look_up
from personalq.checkin.parsing.clauses.participles import OWNERS, is_only_noun
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word
from personalq.checkin.parsing.word_roles import (
    PARTICIPLES,
    is_adjective,
    is_ing_verb,
    opens_compound,
)

_CHOOSING = frozenset(
    ["mean", "meaning", "use", "using", "pick", "picking", "take", "taking", "it", "is"]
)
_BESIDE = frozenset(["next", "beside"])
_SEVERAL = frozenset(["two", "three", "both", "several", "pair"])
_FINITE = frozenset(["is", "are", "was", "were", "will"])
_GOES_ON = frozenset(["and", "that", "which", "who"])


def tells_apart(draft: Draft, at: int) -> bool:
    """Whether a clause says which one is meant, wherever that is: ", the one | standing on stilts",
    "I mean the one | busy with needles", but not "put the one | standing there", "the one | lit
    window in the street", "the one | standing at the wheel is a dog".
    """
    if at < 2:
        return False
    words = draft.page.words
    one, first = words[at - 1 : at + 1]
    the = words[at - 2]
    while the.index and the.joined and is_adjective(the.norm):
        the = words[the.index - 1]  # "the orange one | winking"
    if (the.norm, one.norm) != ("the", "one") or not (one.joined and first.joined):
        return False
    chosen = the.index > 0 and the.joined
    if chosen and words[the.index - 1].norm not in _CHOOSING:
        return False
    if (not chosen and _are_several(draft, the.index)) or _is_sentence(words, at):
        return False  # "two kettles, the one leaning over the other"
    norm = first.norm
    behind = words[at + 1] if at + 1 < len(words) and words[at + 1].joined else None
    if norm in _BESIDE:
        return all(word.norm not in OWNERS for word in words[at + 2 : at + 3])
    places = lexicon.words("prepositions")
    modifies = behind is not None and lexicon.names_thing(behind.norm) and behind.norm not in places
    if norm.endswith("ing") and len(norm) > 4:
        single = modifies and behind is not None and not _is_several(behind)
        of_a_thing = modifies and (single or opens_compound(draft, first))
        return is_ing_verb(norm) and not of_a_thing and not is_only_noun(norm)
    if modifies:
        return False
    if norm in PARTICIPLES or norm == "left" or (norm.endswith("ed") and len(norm) > 4):
        return True
    entry = look_up(norm)
    told = is_adjective(norm) or (entry is not None and entry.mostly_adjective)
    return told and norm not in places and norm != "like"  # "the one | near the pier"


def _is_several(word: Word) -> bool:
    return next(wordnet.singulars(word.norm), None) is not None


def _are_several(draft: Draft, end: int) -> bool:
    """Whether a count of the subject stands before word `end`: "two kettles"."""
    words = draft.page.words[:end]
    return any(word.norm in _SEVERAL and draft.nouns_cover(word.index + 1) for word in words)


def _is_sentence(words: Sequence[Word], at: int) -> bool:
    """Whether a verb makes a sentence of a clause: "standing at the wheel | is a dog"."""
    for word in itertools.takewhile(lambda w: w.index == at or w.joined, words[at:]):
        if word.norm in _FINITE and words[word.index - 1].norm not in _GOES_ON:
            return True
    return False
