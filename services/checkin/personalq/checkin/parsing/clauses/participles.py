"""Whether a participle tells what the subject looks like or does, or where it is."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from personalq.checkin import lexicon
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word
from personalq.checkin.parsing.word_roles import PARTICIPLES, is_ing_verb, opens_compound

_HOW = frozenset(["with", "in", "by", "as", "like", "all", "up"])
"""Behind "covered", "dressed", "clawed": it looks so. "Perched on" says where it is."""
_MOVED = frozenset(["startled", "amazed", "astonished", "frightened", "surprised", "alarmed"])
"""The same before "at"."""
SHOWN = frozenset((
    "photographed", "rendered", "cropped", "zoomed", "blurred", "centered", "framed", "isolated",
    "reflected", "captured", "pictured", "filmed", "placed", "positioned", "lit",
))  # fmt: skip
"""Behind a comma they say how the picture is made."""
_CLAD = frozenset(["bound", "clad", "wound", "dyed", "woven", "sewn"])
"""Participles that do not end in "-ed", or are short."""
_HUNG = frozenset(["tied", "strung", "hung"])
"""The same, of what may hang in a tree."""
_CORDS = frozenset((
    "ribbon", "ribbons", "thread", "lights", "lace", "string", "rope", "cord", "chains", "tinsel",
    "bunting", "beads", "bow", "bows", "knot", "knots", "wire", "leather",
))  # fmt: skip
"""What something may be tied or hung in, and look so."""
_LEFT = frozenset(["parked", "seated", "stored", "located", "stranded", "moored", "anchored"])
"""Before "in" and "by" they say where it is."""
_GOT = frozenset(["got", "done", "made", "dressed", "dolled", "decked", "kitted", "wrapped"])
"""Before "up as" and "out in": it looks so."""
OWNERS = frozenset(["its", "his", "her", "their", "him", "it", "them"])
_PARTICLES = frozenset(["down", "over", "off", "out", "open", "apart", "together", "shut"])


def is_all_it_does(draft: Draft, word: Word) -> bool:
    """Whether a verb alone ends what is said: "the white parrot | flying", "the drum | shaking and
    trimmed with feathers".
    """
    behind = draft.page.words[word.index + 1 : word.index + 2]
    ends = not behind or not behind[0].joined or _leads_to_doing(draft, behind[0])
    return ends and word.norm.endswith("ing") and is_ing_verb(word.norm)


def _leads_to_doing(draft: Draft, word: Word) -> bool:
    """Whether "and" leads to another participle."""
    at = word.index + 1
    return word.norm == "and" and at < len(draft.page.words) and is_done_or_doing(draft, at)


def is_done_or_doing(draft: Draft, at: int) -> bool:
    """Whether a participle says how the subject is, or what it does: "rimed with ice"."""
    word = draft.page.words[at]
    if not word.joined or not draft.is_free(word) or opens_compound(draft, word):
        return False
    if word.norm.endswith("ing"):
        return is_ing_verb(word.norm) and not is_only_noun(word.norm)
    by_whom = [each.norm for each in draft.page.words[at + 1 : at + 2]] == ["by"]
    done = by_whom and (word.norm in PARTICIPLES or word.norm.endswith("ed"))
    return word.norm not in SHOWN and (done or tells_how(draft, at))


def of_its_own(draft: Draft, index: int) -> bool:
    """Whether a preposition opens something of the subject's: "on his knees", "in its beak"."""
    words = draft.page.words
    following = words[index + 1] if index + 1 < len(words) else None
    return following is not None and following.joined and following.norm in OWNERS


def is_on_itself(draft: Draft, index: int) -> bool:
    """Whether a preposition leads to a part of the subject: "on its side", "on its stand", not
    "in its den".
    """
    part = draft.page.words[index + 2 : index + 3]
    if not part or not part[0].joined or not of_its_own(draft, index):
        return False
    parts = lexicon.words("parts") | lexicon.words("sides") | _LIMBS
    lead = draft.page.words[index].norm
    return lead in lexicon.words("prepositions") and part[0].norm in parts


_LIMBS = frozenset((
    "head", "knees", "feet", "legs", "haunches", "stomach", "tummy", "hind", "cheek", "face",
    "eyes", "mouth", "stand", "base",
))  # fmt: skip


def is_only_noun(norm: str) -> bool:
    """Whether a word in "-ing" is a thing's name and done by nobody."""
    return norm in ("evening", "morning", "building", "ceiling", "wedding", "painting", "drawing")


def tells_how(draft: Draft, at: int) -> bool:
    """Whether a participle says what the subject looks like: "covered in nuts"."""
    words = draft.page.words[at : at + 3]
    norm = words[0].norm
    if norm in _GOT and words[2:] and words[1].norm in ("up", "out") and words[2].norm in _HOW:
        return True  # "done up like a present"
    if norm in _HUNG or norm in _LEFT:
        behind = [w.norm for w in draft.page.words[at + 1 : at + 6]]
        behind = behind[behind[:1] == ["up"] :]
        bound = norm in _HUNG and behind[:1] == ["in"] and _is_cord(draft, at + 2)
        return bound or behind[:1] in (["with"], ["like"], ["as"])
    participle = norm in _CLAD or (norm.endswith("ed") and len(norm) > 4)
    if norm in _MOVED and [w.norm for w in words[1:2]] == ["at"]:
        return True
    if (participle or norm in PARTICIPLES) and _is_with_particle(words):
        return True
    return participle and len(words) > 1 and words[1].norm in _HOW


def _is_cord(draft: Draft, at: int) -> bool:
    """Whether the thing named from a word on is a cord: "a red ribbon", not "a leather shop"."""
    run = [*itertools.takewhile(lambda word: word.joined, draft.page.words[at : at + 4])]
    cord = next((place for place, word in enumerate(run) if word.norm in _CORDS), None)
    if cord is None:
        return False
    behind = run[cord + 1 : cord + 2]
    following = (lexicon.words("prepositions") | lexicon.words("links")) - {"of"}
    return not behind or behind[0].norm in following


def _is_with_particle(words: Sequence[Word]) -> bool:
    """Whether "down" or "over" belongs to a participle: "burnt down to a stub", "folded over"."""
    if len(words) < 2 or not words[1].joined or words[1].norm not in _PARTICLES:
        return False
    return len(words) < 3 or not words[2].joined or words[2].norm in ("to", "and", "in", "like")


def is_done_off(draft: Draft, at: int) -> bool:
    """Whether "off" or "out" belongs to what is done to something: "shaking | off | water"."""
    words = draft.page.words[at : at + 3]
    if len(words) < 3 or words[1].norm not in ("off", "out") or not words[2].joined:
        return False
    return lexicon.names_thing(words[2].norm) or words[2].norm in ("its", "his", "her", "water")
