"""A thing that no card of a subject has, said by its plain name: "the horse with headphones".

Where cards are told in everyday words, who says *headphones* would be answered by a card that says
so, or says it in another word for them. Other words for what a card has ("gear for listening to
music") name nothing that cards could have named, and what goes on ("with snowflakes falling", "with
a dog at the door") may as well be the picture's. Where one card was chosen because what it has is
like the thing, by less than `_ALIKE`, that is no reason: a stethoscope is no headphones.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.cards import Hit
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.lexicon import canonical, thesaurus
from personalq.checkin.lexicon.stuffs import stuffs_in
from personalq.checkin.nouns import is_kind_of, is_worn
from personalq.checkin.parsing.text import ends_before
from personalq.checkin.reasoning.descriptions.fits import fit
from personalq.checkin.reasoning.descriptions.wishes import wishes
from personalq.checkin.reasoning.meaning import likest
from personalq.checkin.reasoning.own import FEWEST, insisting_on, is_named
from personalq.checkin.reasoning.profiles.profile import pieces_of, profile

_ALIKE = 0.6
"""Likeness from which on a card may have it in words that name it otherwise."""
_A = r"((an?|the|its|his|her|some|two|three|four) )?$"
_HAS = compile_form(
    rf"(?<!\w)((that|which|who) has|with|wearing|wears|sporting|"
    rf"(the|my|our|that|this) ([\w-]+ ){{1,3}}(?P<worn>in)) {_A}",
    flags=re.IGNORECASE,
)
_UNWANTED = (
    "(not|without|(do|did)(n't| not) (want|like|mean)|except( for)?|excluding|other than|"
    "anything but|skip|avoid)"
)
_NOT = (
    rf"(?<!\w){_UNWANTED} (an?|the|my|our|this|that)\b"
    r"(?![^.;:!?]*\bbut (the|my|our)\b)[^.,;:!?]*$"
)
_IS_NOT = compile_form(_NOT, flags=re.IGNORECASE)
_IS_TOLD_BY = compile_form(
    r"(?<!\w)(the|my|our|that) ([\w-]+ )?one (with|wearing|sporting|(that|which|who) (has|wears)) "
    rf"{_A}|"
    r"(?<!\w)(is there|do (you|we|I) (still )?have|have (you|we|I) got) (an?|the|any|some|our|my) "
    rf"([\w-]+ ){{1,3}}(with|wearing) {_A}",
    flags=re.IGNORECASE,
)
"""Before what is surely of the card that is wanted: "the one with", "is there a horse with"."""
_DRAW = (
    "(draw|paint|generate|render|create|make|dress|put|place|add|sketch|depict|illustrate|imagine|"
    "picture|turn|(image|picture|photo|portrait|drawing|painting|sketch|poster|illustration) of)"
)
_TO_BE_SHOWN = compile_form(
    rf"(?<!\w){_DRAW} (me )?(an?|the|my|our|this|that)\b[^.;:!?]*$|"
    rf"(^|[.;:!?] ?){_DRAW} (?!(with|wearing|wears|sporting)\b)[^.;:!?]*$|"
    rf"{_NOT}|"
    r"(?<!\w)an? ([\w-]+ ){1,3}(with|wearing|wears|sporting|in) ((an?|the|some|two) )?$",
    flags=re.IGNORECASE,
)
"""The picture is to have it, or it is what is not wanted: "a horse with a tent", "not the horse
with a tent", but "the dress with a bow", "not sure which, the horse with a tent".
"""
_ON_IT = compile_form(r" (on|in) (the|its|his|her) [\w-]+$")
"""Where the subject has it: "a thistle on the lid"."""
_BUILT_IN = compile_form(r"^built~in ", flags=re.IGNORECASE)
"""Before what is surely the subject's: "with a built-in speaker"."""
_LOOKS = frozenset((
    "graffiti", "tapestry", "mosaic", "caricature", "collage", "silhouette", "etching", "engraving",
    "lithograph", "woodcut", "fresco", "stencil", "blueprint", "hologram",
))  # fmt: skip
"""Looks that are things, too, where cards have none of that name."""
_CHOSEN = compile_form(
    r" (one|model|checkpoint|version|build|lora|variant|edition)(?!\w)", flags=re.IGNORECASE
)
_IS_CHOSEN = compile_form(r"(?<!\w)(the|our|my) $", flags=re.IGNORECASE)
_STAYS = ("artifact", "plant")
"""What stays on it; snow, a cat or a butterfly may as well be on it in the picture."""
_WHOSE = compile_form(r"^[a-z-]+['’]s (?=\w)")
"""Whose such a thing is: "a knight's helmet"."""
_HELD = ("tool", "device", "equipment", "jewelry", "footwear", "body part")
"""What somebody has who is told by it; a tent, a moon or a cake may as well be near."""
_ENDS = compile_form(
    r" ?($|[,.;:!?)(–—-])| (please|thanks)\b|"
    r" (in|on|at|by|under|beside|near|inside|behind|next to|in front of|for) (an?|some|my|our)\b",
    flags=re.IGNORECASE,
)
"""Behind the thing; "on the strings" goes on with it."""


def without_that_thing(intent: Intent, hits: Sequence[Hit], prompt: str) -> Intent | None:
    """The intent that says what nothing fits; None where some card may have it.

    Args:
        hits: all that satisfy it.
    """
    if intent.answered or is_named(intent) or len(hits) < FEWEST:
        return None
    if not all(pieces_of(hit.card) for hit in hits):
        return None
    subject = intent.first(Attribute.SUBJECT)
    wanted = (c for c in intent.described if not _goes_without_saying(c, subject))
    asked = (c for c in wanted if _is_asked_for(c, prompt) or _is_a_look(c, subject, prompt))
    return next((insisting_on(intent, c) for c in asked if _is_on_none(_bare(c), hits)), None)


def _is_a_look(constraint: Constraint, subject: Constraint | None, prompt: str) -> bool:
    """Whether it chooses by a look: "the tapestry one", "our graffiti parrot"."""
    span = constraint.span
    if span is None or constraint.hard or constraint.excluded or constraint.coarse:
        return False
    if canonical(constraint.text) not in _LOOKS or constraint.scene:
        return False
    leads = subject is not None and subject.span is not None and span.end + 1 == subject.span.start
    chosen = leads or _CHOSEN.match(prompt, span.end) is not None
    return chosen and ends_before(_IS_CHOSEN, prompt, span.start) is not None


def _is_asked_for(constraint: Constraint, prompt: str) -> bool:
    """Whether the subject is said to have a thing by its plain name, and no more of it."""
    span = constraint.span
    if span is None or constraint.hard or constraint.excluded or not constraint.phrase:
        return False
    if constraint.coarse or constraint.scene or constraint.leads:
        return False
    lead = ends_before(_HAS, prompt, span.start)
    thing = _plain_name(constraint.text)
    if lead is None or not thing or _ENDS.match(prompt, span.end) is None:
        return False
    if _BUILT_IN.match(constraint.text):
        is_had = True
    elif _ON_IT.search(constraint.text):
        is_had = any(is_kind_of(thing.split()[-1], each) for each in _STAYS)
    elif lead["worn"]:
        is_had = is_worn(thing.split()[-1])
    elif ends_before(_IS_TOLD_BY, prompt, span.start):
        return _IS_NOT.search(prompt, 0, lead.end()) is None
    else:
        is_had = _is_had(thing)
    return is_had and _TO_BE_SHOWN.search(prompt, 0, lead.end()) is None


def _plain_name(text: str) -> str:
    """What is named behind what it is like, if cards may name it so."""
    alone = _BUILT_IN.sub("", _ON_IT.sub("", text))
    told = (canonical(each).split() for each in (alone, _WHOSE.sub("", alone)))
    plain = [[*itertools.dropwhile(_tells_how, words)] for words in told]
    bare = [[*itertools.dropwhile(_is_like, words)] for words in plain]
    name = next(filter(thesaurus.is_a_name, map(" ".join, (*plain, *bare))), "")
    if is_kind_of(name.rpartition(" ")[2], "shape"):
        return ""  # a crescent may be a moon
    return name


def _is_had(thing: str) -> bool:
    """Whether it is worn, held or a part, where other things may as well be near."""
    noun = thing.split()[-1]
    return is_worn(noun) or any(is_kind_of(noun, each) for each in _HELD)


def _goes_without_saying(constraint: Constraint, subject: Constraint | None) -> bool:
    """Whether it is a part of a living thing, which every such thing has: "a horse with a tail"."""
    part = canonical(_ON_IT.sub("", constraint.text)).split()[-1:]
    if subject is None or not any(is_kind_of(word, "body part") for word in part):
        return False
    return any(is_kind_of(name, kind) for name in subject.values for kind in ("animal", "person"))


def _tells_how(word: str) -> bool:
    return word in lexicon.colours() or word in ("tiny", "small", "little", "big", "large", "giant")


def _is_like(word: str) -> bool:
    """Whether it says what a thing is like, and not what it is made of: "Irish", not "metal"."""
    return lexicon.is_adjective_like(word) and not stuffs_in(word)


def _bare(constraint: Constraint) -> Constraint:
    """What is built in as a thing by itself: a card may say "a speaker"."""
    text = _BUILT_IN.sub("", constraint.text)
    if text == constraint.text:
        return constraint
    values = tuple(canonical(text).split())
    return replace(constraint, text=text, values=values, said=(constraint.text, *constraint.said))


def _is_on_none(constraint: Constraint, hits: Sequence[Hit]) -> bool:
    told = wishes(Intent(constraints=(constraint,)))
    return bool(told) and all(
        not wish.trait.lacks
        and bool(hit.word_likeness or hit.thing_likeness)
        and fit(wish, profile(hit.card)) == 0
        and likest(wish.said, hit) < _ALIKE
        for wish in told
        for hit in hits
    )
