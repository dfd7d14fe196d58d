"""The noun chunks of a request, and what ends one."""

from __future__ import annotations

from personalq.checkin import lexicon
from personalq.checkin.lexicon import wordnet
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.heads.choices import (
    ASKING,
    STRUNG,
    asks_if_there,
    follows_choice,
    is_asking,
    is_brought,
    is_can,
    is_choice,
    is_chosen,
    is_gone_with,
    is_sought,
    is_what_we_do,
    names_something,
    takes_object,
)
from personalq.checkin.parsing.text import Word
from personalq.checkin.parsing.word_roles import is_particle


def noun_chunks(draft: Draft) -> list[list[Word]]:
    """The noun phrases that may be what is asked for, in order: at the start, after a frame's "of",
    after a comma.
    """
    chunks: list[list[Word]] = []
    current: list[Word] = []
    scene = False
    for word in draft.page.words:
        breaks = not word.joined
        closes = word.norm in lexicon.words("prepositions") and not word.hyphen  # "done-up"
        boundary = (closes and not is_particle(draft.page.words, word.index)) or (
            word.norm in lexicon.words("links") or word.norm in lexicon.words("openers")
        )
        boundary = boundary and not (word.hyphen and word.norm == "like")  # "the pirate-like owl"
        boundary = boundary and not (current and is_can(draft.page.words, word.index))
        if breaks:
            if current and not scene:
                chunks.append(current)
            current, scene = [], False
        if boundary and draft.is_free(word):
            if current and not scene:
                chunks.append(current)
            transparent = (
                (word.norm == "of" or (word.norm == "with" and _is_picture(current)))
                and bool(current)
                and (
                    current[-1].norm in lexicon.words("shown_of")
                    or current[-1].norm in lexicon.words("selectors")
                    or not draft.is_free(current[-1])
                )
            )
            head_again = transparent or word.norm in lexicon.words("openers") or word.norm in ASKING
            asked = word.norm == "have" and bool(word.index) and is_asking(draft, word.index)
            among = word.norm != "from" and is_choice(draft, word)
            there = word.norm == "there" and asks_if_there(draft, word.index)
            sought = word.norm == "for" and is_sought(draft, word.index)
            sought = sought or (word.norm == "with" and is_gone_with(draft, word))
            sought = sought or is_brought(draft, word)
            head_again = head_again or asked or among or there or sought
            scene = not head_again and not (
                word.norm in ("for", "of") and not current and not scene
            )
            current = []
            continue
        if not current and is_what_we_do(draft, word):
            continue
        if not scene and not current and word.norm.endswith("ing") and _is_finite(word, draft):
            scene = True
            continue
        acts = _is_finite(word, draft) and not is_chosen(word, current, draft)
        acts = acts or (word.norm in STRUNG and word.joined and _leads_on(draft, word))
        acts = acts or follows_choice(word, current, draft) or takes_object(word, current, draft)
        acts = acts and not word.hyphen  # "the well-worn watch"
        acts = acts and not _ends_compound(draft, word)
        if not scene and names_something(current) and acts:
            chunks.append(current)
            current, scene = [], True
            continue
        current.append(word)
    if current and not scene:
        chunks.append(current)
    return chunks


def _leads_on(draft: Draft, word: Word) -> bool:
    """Whether a preposition follows: "a hammock | strung | between two pillars"."""
    following = draft.page.words[word.index + 1 : word.index + 2]
    return bool(following) and following[0].norm in lexicon.words("prepositions")


def _ends_compound(draft: Draft, word: Word) -> bool:
    """Whether a verb's first form is a thing behind what can be no subject of it: "the umbrella |
    stand", "my canoe | paddle"; but "watch the dog run".
    """
    words = draft.page.words
    before = words[word.index - 2 : word.index]
    following = words[word.index + 1 : word.index + 2]
    if len(before) < 2 or not (word.joined and before[1].joined):
        return False
    led = words[word.index - 3].norm if word.index > 2 and before[0].joined else ""
    determined = before[0].norm in ("the", "my", "our", "this", "that", "a", "an")
    goes_on = bool(following) and following[0].joined and following[0].norm in _OBJECTS
    base = not word.norm.endswith(("s", "ed", "ing")) and wordnet.may_be_noun(word.norm)
    several = next(wordnet.singulars(before[1].norm), None) is not None
    acting = any(is_kind_of(before[1].norm, each) for each in _ACTING)
    thing = lexicon.names_thing(before[1].norm) and not acting
    return base and thing and determined and not (led in _SEEN_DOING or several or goes_on)


_ACTING = ("person", "animal", "doll", "toy", "robot", "figure")
"""What may itself be told to do something: "my bear | dance"."""
_SEEN_DOING = frozenset((
    "watch", "see", "let", "make", "have", "help", "show", "hear", "having", "making", "watching",
    "letting", "and",
))  # fmt: skip
"""Before somebody and what they do, in the verb's first form."""
_OBJECTS = frozenset(["a", "an", "the", "his", "her", "its", "it", "them", "up", "down", "out"])


def _is_picture(chunk: list[Word]) -> bool:
    """Whether a thing with something shows that: "a postcard | with a helicopter"."""
    return bool(chunk) and chunk[-1].norm in lexicon.words("pictures")


def _is_finite(word: Word, draft: Draft) -> bool:
    if any(behind.hyphen for behind in draft.page.words[word.index + 1 : word.index + 2]):
        return False  # "a roll-top desk"
    if draft.noun_at(word.index) or draft.style_at(word.index) or not draft.is_free(word):
        return False
    return word.norm in lexicon.verb_forms() and word.norm not in lexicon.words("frames")
