"""Traits: one thing each that a text says of its subject."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.lexicon import canonical, thesaurus
from personalq.checkin.lexicon.stems import stem
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.reasoning.profiles.concepts import worded_concepts

_PUT = frozenset((
    "sewn", "tied", "knotted", "attached", "strapped", "stuck", "pinned", "clipped", "stitched",
    "ironed", "glued", "fixed", "fastened", "buckled", "wrapped", "draped", "printed", "engraved",
    "mounted", "slung", "looped", "wound", "tucked", "hooked", "perched", "hung", "all",
))  # fmt: skip
"""Behind a thing they say how it is there: "a star sewn on", "decals all over"."""


@dataclass(frozen=True, kw_only=True)
class Trait:
    """One thing a text says of its subject: "fluffy brown", "a crystal ball in its claws"."""

    words: tuple[str, ...]
    """Content words, canonical."""
    concepts: tuple[str, ...]
    head: str
    """Concept of the noun: the last word before a preposition ("ball")."""
    noun: str
    """That word."""
    spelled: frozenset[str] = frozenset()
    """Stems of the words, and of two as one: "deck chair" is also "deckchair"."""
    where: tuple[str, ...] = ()
    """Concepts of what follows a preposition: "neck" of "a bell around its neck"."""
    lacks: bool = False
    """It is what is not there: "no wheels", "without wheels"."""
    things: Mapping[str, frozenset[str]] = field(default_factory=dict, hash=False)
    """Things that it names in one of several words for them, with the concepts of those words."""

    @property
    def modifiers(self) -> tuple[str, ...]:
        """Concepts of the other words of the noun."""
        others = (self.head, *self.where)
        return tuple(concept for concept in self.concepts if concept not in others)


_INNER = frozenset(
    ["in", "on", "around", "round", "over", "at", "of", "from", "under", "across", "along", "down",
     "inside", "behind", "between", "for", "to", "through", "near", "about", "that", "which"]
)  # fmt: skip
"""Words that end the noun of a trait and begin where it is."""
_LACKING = compile_form(
    "(an? |the )?((that|which|who) )?((is|are|was|has|have|comes?) )?(got no|no|without|"
    r"missing(?! one\b)|lacking|devoid of|free of|(hasn't|has not|haven't) got|"
    r"(doesn't|does not|don't) have) (?P<before>\S.*)|(?P<behind>.*\S) (missing|gone)",
    flags=re.IGNORECASE | re.DOTALL,
)
PARTED = compile_form(r" (?=(without|missing(?! one\b)|lacking)\s)", flags=re.IGNORECASE)
DOING = compile_form(r"(?<= )(?P<doing>[a-z]+ing) (?=(an?|the|its|his|her|their) )")
"""What somebody does with a thing, which is not what they are: "a gnome | pushing | a barrow"."""


@lru_cache(maxsize=16384)
def trait(text: str) -> Trait | None:
    """A phrase as a trait; None when no word of it says anything."""
    lacking = _LACKING.fullmatch(text.strip())
    if lacking is None:
        return _trait(text)
    found = _trait(lacking["before"] or lacking["behind"])
    return replace(found, lacks=True) if found else None


def _trait(text: str) -> Trait | None:
    words: list[str] = []
    found: list[str] = []
    where: list[str] = []
    head = noun = ""
    ended = False
    quantities = lexicon.words("quantities")
    before = ""
    doing = {canonical(match["doing"]) for match in DOING.finditer(text)}
    for concept, said in worded_concepts(text):
        last = said.split()[-1]
        side = before in ("the", "its") and said in lexicon.words("sides")  # "on the front"
        before = said
        if found and ((said in _INNER and not side) or said in doing):
            ended = True
        if (concept == said or concept == stem(said)) and _is_empty(said) and not side:
            continue
        if said in quantities:
            continue
        words += said.split()
        found.append(concept)
        if ended and noun:
            where.append(concept)
        if not ended and (not noun or not (_is_adverb(said) or last in _PUT)):
            head, noun = concept, last
    if not found:
        return None
    pairs = (f"{one}{other}" for one, other in itertools.pairwise(words))
    return Trait(
        words=tuple(words),
        concepts=tuple(found),
        head=head or found[0],
        noun=noun or words[0],
        where=tuple(where),
        spelled=frozenset(map(stem, (*words, *pairs))),
        things=things_of(text),
    )


@lru_cache(maxsize=16384)
def things_of(text: str) -> Mapping[str, frozenset[str]]:
    """The things that a text names in one of several words, with the concepts of those words."""
    named = {**thesaurus.told_in(text), **thesaurus.things_in(text)}
    worded = worded_concepts(text) if named else ()
    return {
        thing: frozenset(c for c, said in worded if stems.issuperset(map(stem, said.split())))
        for thing, stems in named.items()
    }


def _is_adverb(word: str) -> bool:
    """Whether a word behind a noun says how or where: "stickers everywhere"."""
    unheard = nature(word) is Nature.UNKNOWN and not thesaurus.kinds_in(word)
    return unheard and canonical(word) not in lexicon.description_groups()


def _is_empty(word: str) -> bool:
    """Whether a word pictures nothing by itself."""
    return len(word) < 2 or word in _empty_words()


@cache
def _empty_words() -> frozenset[str]:
    kinds = ("determiners", "prepositions", "links", "openers", "empty_adjectives")
    return frozenset().union(*map(lexicon.words, kinds))
