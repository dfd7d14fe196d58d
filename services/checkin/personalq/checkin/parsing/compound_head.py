"""Things nobody has that are named by several words: "the jack-in-the-box", "marble run on a"."""

from __future__ import annotations

import itertools

from personalq.checkin import lexicon
from personalq.checkin.intent import Constraint
from personalq.checkin.lexicon import wordnet
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.heads.unknown_head import missing_subject
from personalq.checkin.parsing.text import Word

_LONGEST = 8
"""Words that hyphens join to the first, of the longest thing."""
_DETERMINERS = ("a", "an", "the", "my", "our")
_ADVERBS = ("over", "up", "through", "off", "out", "down", "away", "back", "one", "on", "in")


def compound_head(draft: Draft) -> Constraint | None:
    """What a request asks for in such words; None where it names a subject, or nothing so."""
    if draft.answering or draft.triggers or any(noun.entry.subjects for noun in draft.nouns):
        return None
    run = _hyphenated(draft) or _opening(draft)
    return missing_subject(draft, draft.span_of(run[0].index, run[-1].index + 1)) if run else None


def _hyphenated(draft: Draft) -> list[Word]:
    """The first thing whose words hyphens join, at the start or behind what asks for it."""
    words = draft.page.words
    for first in words:
        if first.hyphen:
            continue
        rest = itertools.takewhile(lambda word: word.hyphen, words[first.index + 1 :])
        run = [first, *itertools.islice(rest, _LONGEST)]
        thing = " ".join(word.norm for word in run)
        if len(run) == 1 or not lexicon.names_thing(thing):
            continue
        if run[-1].norm in _ADVERBS or draft.style_at(first.index) is not None:
            continue  # "a do-over", "a still-life"
        before = words[first.index - 1] if first.index and first.joined else None
        asked = before is None or before.norm in _DETERMINERS or not draft.is_free(before)
        placed = before is not None and _is_placed(draft, before)
        if asked and not placed and all(map(draft.is_free, run)) and not _goes_on(draft, run[-1]):
            return run
    return []


def _is_placed(draft: Draft, determiner: Word) -> bool:
    """Whether it stands where something is: "on a | merry-go-round"."""
    lead = draft.page.words[determiner.index - 1] if determiner.index else None
    return (
        lead is not None
        and determiner.joined
        and lead.norm in lexicon.words("prepositions") - {"of"}
    )


def _goes_on(draft: Draft, word: Word) -> bool:
    """Whether it only says of what kind the next word is: "a t-shirt | print"."""
    following = draft.page.words[word.index + 1 : word.index + 2]
    ends = lexicon.words("prepositions") | lexicon.words("links") | lexicon.words("selectors")
    return bool(following) and following[0].joined and following[0].norm not in ends


def _opening(draft: Draft) -> list[Word]:
    """Two nouns that a request opens with, the second of which may be a verb: "marble run on a"."""
    run = list(draft.page.words[:2])
    if len(run) < 2 or not run[1].joined or not all(map(draft.is_free, run)):
        return []
    closed = lexicon.words("selectors") | lexicon.words("determiners")
    if any(word.norm in closed for word in run):
        return []  # "model run in the rain"
    following = draft.page.words[2:3]
    placed = bool(following) and following[0].joined and not following[0].hyphen
    placed = placed and following[0].norm in lexicon.words("prepositions") - {"of"}
    second = run[1].norm
    base = not second.endswith(("s", "ed", "ing")) and wordnet.may_be_noun(second)
    acts = second in lexicon.verb_forms() and base
    first = run[0].norm
    known = draft.lexicon.subjects.get(first)
    thing = wordnet.may_be_noun(first) and first not in lexicon.colours()
    unknown = known is None or not known.subjects
    return run if placed and acts and thing and unknown else []
