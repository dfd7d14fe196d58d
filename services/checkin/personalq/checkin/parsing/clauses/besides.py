"""What the subject has besides, behind a comma or "and"."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute
from personalq.checkin.lexicon import wordnet
from personalq.checkin.parsing.clauses.participles import (
    SHOWN,
    is_done_or_doing,
    is_only_noun,
    tells_how,
)
from personalq.checkin.parsing.clauses.stuff import in_a_stuff
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word
from personalq.checkin.parsing.word_roles import is_ing_verb, is_of_the_scene

_FOLLOWING = frozenset((
    "according", "assuming", "considering", "following", "including", "starting", "regarding",
    "concerning", "depending", "excluding", "ignoring", "meaning",
))  # fmt: skip
"""What ends in "-ing" and nothing does."""
_BESIDES = frozenset(["with", "whose", "which"])
"""What a subject has besides what was described: "with an upper floor, | which has a fence"."""
_BEING = frozenset(["is", "has", "wears", "seems", "looks"])
"""Behind "who" or "that" they say what it is like."""
_MADE = frozenset(["made", "built", "crafted", "carved", "sewn", "knitted", "woven"])
"""Before what it is of besides: "that serves food, | made of cardboard"."""


def is_aside(draft: Draft, word: Word) -> bool:
    """Whether a comma leads to what the subject has besides: "in oils, | crowned with leaves"."""
    words = draft.page.words
    if not word.index or word.index + 1 >= len(words):
        return False
    if word.joined:
        return _goes_on_about_it(draft, word)
    before, following = words[word.index - 1], words[word.index + 1]
    if before.norm == "please" and before.index:
        before = words[before.index - 1]
    told = word.norm.endswith("ed") and len(word.norm) > 4 and following.norm in ("with", "by")
    made = word.norm in _MADE and following.norm in ("of", "from", "out")
    in_stuff = word.norm.endswith("ed") and len(in_a_stuff(draft, word.index + 1)) > 1
    made = made or in_stuff  # "upholstered in leather"
    told_last = _is_last_described(draft, _before_all_over(words, before)) or (
        made and _before_scene(draft, before)
    )
    does = word.norm == "that" and _is_in_the_present(following)  # ", that loves novels"
    which = does or (word.norm in ("who", "which", "that") and following.norm in _BEING)
    which = which and [w.norm for w in words[word.index + 2 : word.index + 3]] != ["all"]
    if which and _is_chosen_by(draft, before):  # "made in May, who is waving"
        return draft.is_free(word)
    if told_last and (told or made or does or word.norm in _BESIDES):
        return draft.is_free(word) and not is_of_the_scene(words, word.index)
    if word.norm == "with" and _is_chosen_by(draft, before):
        return draft.is_free(word) and not _is_of_another(draft, word)
    behind = not draft.is_free(before) or before.norm in lexicon.words("selectors")
    told = told or (word.norm == "which" and not draft.is_free(before))
    shown = word.norm in SHOWN
    told = told or (not shown and draft.ends_subject(before) and tells_how(draft, word.index))
    if before.norm in lexicon.words("selectors") and _is_told_aside(draft, word):
        return True
    return behind and (told or made) and draft.is_free(word)


def _is_in_the_present(word: Word) -> bool:
    """Whether it is a verb in the present: "loves", and not "that dress"."""
    if not word.joined or not word.norm.endswith("s"):
        return False
    one = next(wordnet.singulars(word.norm), None)
    entry = wordnet.look_up(one) if one else None
    if entry is not None and entry.verb is not None:
        return True  # "that spits flames": of several it would be "those"
    return word.norm in lexicon.verb_forms() and not lexicon.names_thing(word.norm)


def _is_told_aside(draft: Draft, word: Word) -> bool:
    """Whether the one that was chosen does something: "the rust one, | leaning to one side"."""
    the = draft.page.words[max(0, word.index - 4) : word.index - 1]
    doing = word.norm.endswith("ing") and is_ing_verb(word.norm) and not is_only_noun(word.norm)
    doing = doing and word.norm not in _FOLLOWING
    return doing and draft.is_free(word) and any(each.norm == "the" for each in the)


def _goes_on_about_it(draft: Draft, word: Word) -> bool:
    """Whether "and" adds a clause to what has been read: "trained in an attic and | that sings"."""
    lead = draft.page.words[word.index - 1]
    before = draft.page.words[lead.index - 1] if lead.index and lead.joined else None
    if lead.norm != "and" or before is None or not draft.is_free(word):
        return False
    if _is_last_described(draft, before) and word.norm in _MADE:
        return True  # "with freckles and | made of rags"
    acts = word.norm.endswith("ing") and word.norm not in lexicon.words("bearing")
    scene = acts and draft.nouns_cover(before.index)  # "the dog and cooking dinner"
    more = word.norm in ("that", "which", "with", "whose", "has")
    more = more or (not scene and is_done_or_doing(draft, word.index))
    return not draft.is_free(before) and more


def _before_all_over(words: Sequence[Word], word: Word) -> Word:
    """The word before "all over", which only says how much of it has a colour."""
    over = word.norm == "over" and word.index > 1 and words[word.index - 1].norm == "all"
    return words[word.index - 2] if over else word


def _is_last_described(draft: Draft, word: Word) -> bool:
    """Whether a description ends with a word."""
    return any(
        c.attribute is Attribute.DESCRIPTION and c.span is not None and c.span.end == word.full_end
        for c in draft.constraints
    )


def _is_of_another(draft: Draft, word: Word) -> bool:
    """Whether what follows is seen beside the subject: "anime, with a dog", "with a sunset"."""
    words = draft.page.words
    run = list(itertools.takewhile(lambda each: each.joined, words[word.index + 1 :]))
    scenes = any(each.norm in lexicon.words("scenes") for each in run)
    named = (n for n in draft.nouns if n.entry.subjects and not n.entry.kind)
    others = any(run and run[0].index <= n.first <= run[-1].index for n in named)
    return scenes or others or is_of_the_scene(words, word.index)


def _is_chosen_by(draft: Draft, word: Word) -> bool:
    """Whether a look or a time of making ends with a word: "in plasticine, | with a bag"."""
    told = (Attribute.STYLE, Attribute.CREATED_AT, Attribute.ENVIRONMENT)
    return any(
        c.attribute in told and c.span is not None and c.span.end == word.full_end
        for c in draft.constraints
    )


def _before_scene(draft: Draft, word: Word) -> bool:
    """Whether a scene up to a word is behind a description: "that prints pictures on the spot"."""
    while word.joined and word.index and draft.is_free(word):
        word = draft.page.words[word.index - 1]
        if _is_last_described(draft, word):
            return True
    return False
