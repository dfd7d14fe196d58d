"""How well one trait of a card is the wanted one: its noun decides, its modifiers tell apart."""

from __future__ import annotations

from functools import lru_cache

from personalq.checkin import lexicon
from personalq.checkin.lexicon import canonical, thesaurus, wordnet
from personalq.checkin.lexicon.stems import stem
from personalq.checkin.reasoning.profiles.concepts import concepts
from personalq.checkin.reasoning.profiles.profile import Profile
from personalq.checkin.reasoning.profiles.traits import Trait

BARE = 0.55
"""How much the noun alone counts when the person also said what it is like."""
ELSEWHERE_ON_IT = 0.95
"""How much it counts where a card does not say that it is there: "a bell around its neck"."""
KIN = 0.9
"""How much a noun counts that is of the same kind in WordNet, or only spelled alike."""
WIDER = 0.6
"""How much a noun counts that only says of what kind the wanted one is: "cap", of a mortarboard."""


def trait_fit(wanted: Trait, said: Trait, card: Profile) -> float:
    """How well a card's phrase is the wanted one: the noun decides, modifiers tell apart."""
    nouns = card.nouns
    if len(wanted.words) > 1 and stem("".join(wanted.words[-2:])) in said.spelled:
        before = concepts(" ".join(wanted.words[:-2]))  # "deck chair", "deckchair"
        told = card.kind if stem(said.noun) in nouns else frozenset[str]()
        shared = sum(concept in said.concepts or concept in told for concept in before)
        return BARE + (1 - BARE) * shared / len(before) if before else 1.0
    if len(wanted.words) > 1 and stem(wanted.noun) in nouns:  # every horse is a horse
        own = float(wanted.head in said.concepts)  # "baby horse", "foal"
        shared = sum(
            concept in said.concepts
            or any(thing in said.things and concept in of for thing, of in wanted.things.items())
            for concept in wanted.modifiers
        )
        return shared / len(wanted.modifiers) if wanted.modifiers else own
    if wanted.head in said.concepts and not _only_tints(wanted, said):
        noun = 1.0
    elif wanted.noun in lexicon.words("clothing") and lexicon.is_wearable(said.noun):
        noun = KIN  # "blue clothing", "a navy raincoat"
    elif stem(wanted.noun) in said.spelled or (
        stem(said.noun) not in nouns
        and (_ends_alike(wanted.noun, said.noun) or are_kin(wanted.noun, said.noun))
    ):
        noun = WIDER if _is_wider(said.noun, wanted.noun) else KIN
    elif _who_does(wanted.noun) & said.spelled:
        noun = KIN  # "for golfers", a golf umbrella
    else:
        return 0.0
    if wanted.where and not is_there(wanted, said):
        noun *= BARE if said.where else ELSEWHERE_ON_IT
    if not wanted.modifiers:
        whole = wanted.head in said.concepts or len(wanted.words) == 1
        return noun if whole else noun * BARE  # "sailor cap", "shower cap"
    shared = sum(
        concept in said.concepts or _is_told(concept, wanted, said) for concept in wanted.modifiers
    )
    return noun * (BARE + (1 - BARE) * shared / len(wanted.modifiers))


@lru_cache(maxsize=16384)
def _who_does(noun: str) -> frozenset[str]:
    """The stems of what somebody does or uses: "golf" of "golfers"."""
    single = wordnet.base(noun)
    if not single.endswith("er") or wordnet.nature(single) is not wordnet.Nature.PERSON:
        return frozenset()
    done = {stem(single.removesuffix("er")), stem(f"{single.removesuffix('er')}ing")}
    told = " ".join(map(wordnet.definition, wordnet.senses(single, said=False)))
    return frozenset(done & {stem(word) for word in told.replace(",", " ").split()})


_SIDES = frozenset(["left", "right", "front", "=back", "top", "bottom"])


def is_there(wanted: Trait, said: Trait) -> bool:
    """Whether a thing is where it was said to be: on the left hip, not on the right one."""
    sides = _SIDES.intersection(wanted.where)
    told = _SIDES.intersection(said.where)
    if sides and told and sides.isdisjoint(told):
        return False
    return any(
        other in (place, stem(f"{place}line"))  # "neck", "neckline"
        for other in said.concepts
        for place in wanted.where
    )


def _is_told(concept: str, wanted: Trait, said: Trait) -> bool:
    """Whether a modifier is told in another word for it: "a cab sign", "a taxi sign"."""
    if any(thing in said.things and concept in of for thing, of in wanted.things.items()):
        return True
    return any(
        are_kin(word, other)
        for word in wanted.words
        if stem(word) == concept
        for other in said.words
    )


def _only_tints(wanted: Trait, said: Trait) -> bool:
    """Whether several things share no more than a colour: "coffees", "a brown desk"."""
    if not wanted.head.startswith("=") or wanted.head[1:] not in lexicon.words("colors"):
        return False
    several = next(wordnet.singulars(wanted.noun), None) is not None
    return several and stem(wanted.noun) not in said.spelled


def _ends_alike(one: str, other: str) -> bool:
    """Whether a compound ends in the other word: "headlights", "lights"."""
    short, long = sorted((stem(one), stem(other)), key=len)
    return len(short) > 4 and long.endswith(short)


@lru_cache(maxsize=16384)
def are_kin(one: str, other: str) -> bool:
    """Whether one noun is a kind of the other, as "mortarboard" of "cap"."""
    if canonical(one) in _sorts(other) or canonical(other) in _sorts(one):
        return True  # "hat", of a beanie
    first, second = wordnet.senses(one), wordnet.senses(other)
    if not first or not second:
        return False
    above_first = {n for sense in first for n in wordnet.above(sense)[:2]}
    above_second = {n for sense in second for n in wordnet.above(sense)[:2]}
    return bool(above_first & set(second)) or bool(above_second & set(first))


@lru_cache(maxsize=16384)
def _sorts(noun: str) -> frozenset[str]:
    return frozenset(kind.sort for kind, _ in thesaurus.kinds_in(noun))


@lru_cache(maxsize=16384)
def _is_wider(one: str, other: str) -> bool:
    """Whether the first of two kin nouns is the more general."""
    if canonical(one) in _sorts(other):
        return True
    first = set(wordnet.senses(one))
    above_second = {n for sense in wordnet.senses(other) for n in wordnet.above(sense)[1:2]}
    return not first & set(wordnet.senses(other)) and bool(above_second & first)
