"""How well a card has what was wished for, by words alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from personalq.checkin import lexicon
from personalq.checkin.cards import Hit
from personalq.checkin.intent import Constraint, Intent
from personalq.checkin.lexicon.stems import stem
from personalq.checkin.lexicon.stuffs import is_a, is_general, may_be, stuffs_in
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.reasoning.colours import NAMED
from personalq.checkin.reasoning.descriptions.same_trait import (
    BARE,
    ELSEWHERE_ON_IT,
    KIN,
    are_kin,
    is_there,
    trait_fit,
)
from personalq.checkin.reasoning.descriptions.wishes import Wish, wishes
from personalq.checkin.reasoning.profiles.concepts import concepts, shades_in
from personalq.checkin.reasoning.profiles.profile import Profile, profile
from personalq.checkin.reasoning.profiles.traits import Trait, things_of, trait

ELSEWHERE = 0.5
"""How much an adjective counts that the card says of something else than the subject."""
OTHER = 0.5
"""How much it counts that a card has another thing of the kind, where one has the very thing."""
UNTOLD = 0.5
"""How much it counts where a card does not say that it lacks what was said to be missing."""
_FEW_MEANINGS = 3
"""Qualities that a word may mean and still says one plainly."""
_PAIRS = 16384
"""Pairs of a wish and a card that are kept: a request asks several times how they fit."""


def is_explained(wish: Wish, hits: Sequence[Hit]) -> bool:
    """Whether a card says so in words, so that meaning need not tell."""
    has = has_phrase if wish.phrase else has_adjective
    cards = (profile(hit.card) for hit in hits)
    fits = (max(has(wish.trait, card), in_other_words(wish, card)) for card in cards)
    return not wish.action and any(fit >= KIN for fit in fits)


def fit(wish: Wish, card: Profile) -> float:
    """How well a card has what was wished for, 0-1, by words alone."""
    has = has_phrase if wish.phrase else has_adjective
    return max(has(wish.trait, card), in_other_words(wish, card), is_told_so(wish, card))


def surely_fits(wish: Wish, card: Profile) -> bool:
    """Whether a card says that it has what was wished for, in words that mean little else: not
    "iced" for "glazed", which is shiny, too.
    """
    plain = wish.phrase or len(wish.trait.things) <= _FEW_MEANINGS
    if plain:
        return fit(wish, card) >= KIN
    return max(has_adjective(wish.trait, card), is_told_so(wish, card)) >= KIN


def says(constraint: Constraint, card: Profile) -> bool:
    """Whether a card has in words all that a description asks for."""
    fits = _fits(constraint, card)
    return bool(fits) and min(fits) >= KIN


def share(constraint: Constraint, card: Profile) -> float:
    """How much of what a description asks for a card has in words, 0-1."""
    fits = _fits(constraint, card)
    return sum(fits) / len(fits) if fits else 0.0


def _fits(constraint: Constraint, card: Profile) -> list[float]:
    """How well a card has each wish of a description, also of one that must hold."""
    told = wishes(Intent(constraints=(replace(constraint, hard=False),)))
    return [fit(wish, card) for wish in told]


def says_all(intent: Intent, hit: Hit, *, besides: Sequence[Hit]) -> bool:
    """Whether a card has in words what an answer described, and what any of some others has.

    Args:
        besides: cards that may be meant instead.
    """
    return all(
        wish.action or is_explained(wish, [hit]) or not (wish.answer or is_explained(wish, besides))
        for wish in wishes(intent)
    )


def in_other_words(wish: Wish, card: Profile) -> float:
    """How well a card has what was wished for by another word for the same thing."""
    if wish.trait.lacks or not wish.trait.things:
        return 0.0
    return (_names_it if wish.phrase else _names_how_it_is)(wish.trait, card)


@lru_cache(maxsize=_PAIRS)
def _names_it(wanted: Trait, card: Profile) -> float:
    shown = (each for each in card.traits if not each.lacks and each.things)
    return max((_same_thing(wanted, each) for each in shown), default=0.0)


@lru_cache(maxsize=_PAIRS)
def _names_how_it_is(wanted: Trait, card: Profile) -> float:
    if not card.things.isdisjoint(wanted.things):
        return 1.0
    shown = (each for each in card.traits if not each.lacks)
    said = any(not each.things.keys().isdisjoint(wanted.things) for each in shown)
    return ELSEWHERE if said else 0.0


def is_told_so(wish: Wish, card: Profile) -> float:
    """How well a wish is what people say of the card's kind, or of a kind of what it has."""
    if not wish.phrase:
        return float(wish.trait.head in card.told)
    return _is_had_by_its_kind(wish.trait, card)


@lru_cache(maxsize=_PAIRS)
def _is_had_by_its_kind(wanted: Trait, card: Profile) -> float:
    said = (
        each
        for each in card.told_traits
        if (wanted.head == each.head or are_kin(wanted.noun, each.noun))
        and (each.modifiers == () or set(wanted.concepts) & set(each.modifiers))
    )
    return max((trait_fit(wanted, each, card) for each in said), default=0.0)


@lru_cache(maxsize=_PAIRS)
def has_adjective(wanted: Trait, card: Profile) -> float:
    """How well a card is what an adjective says."""
    named = " ".join(wanted.words)
    colour = lexicon.colors_of_things().get(wanted.noun) if len(wanted.words) == 1 else None
    if colour is not None and f"={colour}" in card.kind:  # "a cinnamon hedgehog"
        return 1.0 if any(wanted.noun in said.words for said in card.traits) else OTHER
    if (
        stuffs_in(named) == {named}
        and card.stuffs
        and not any(may_be(stuff, named) for stuff in card.stuffs)
    ):
        return ELSEWHERE if wanted.head in card.everything else 0.0  # steel, for aluminium
    if wanted.head in card.kind or card.own_shades & shades_in(" ".join(wanted.words)):
        return 1.0
    if is_general(named) and any(is_a(stuff, named) for stuff in card.stuffs):
        return 1.0
    if any(named in said.words and stem(said.noun) in card.nouns for said in card.traits):
        return 1.0  # "top" of a top hat
    if wanted.head in card.everything:
        return ELSEWHERE
    if lexicon.names_thing(wanted.noun) and any(
        stem(word) != stem(said.noun) and is_kind_of(word, wanted.noun)
        for said in card.traits
        if stem(said.noun) in card.nouns
        for word in said.words
    ):
        return KIN  # "a bird plushie", a penguin
    absent = trait(f"no {thing}") if (thing := lexicon.lacked(wanted.noun)) else None
    return _lacks(absent, card) if absent else 0.0


@lru_cache(maxsize=_PAIRS)
def has_phrase(wanted: Trait, card: Profile) -> float:
    """How well a card has the thing that a phrase names, or lacks it."""
    if not wanted.lacks:
        if _is_clad(wanted, card):
            return 1.0
        told = (said for said in card.traits if not said.lacks)
        return max((trait_fit(wanted, said, card) for said in told), default=0.0)
    found = _lacks(wanted, card)
    if found > 0:
        return found
    shown = (said for said in card.traits if not said.lacks)  # "no hat": who has none says nothing
    return UNTOLD if all(trait_fit(wanted, said, card) < BARE for said in shown) else 0.0


def _is_clad(wanted: Trait, card: Profile) -> bool:
    """Whether it is dressed in a colour: "in purple clothes", of a pirate dressed in plum."""
    colours = NAMED.intersection(wanted.modifiers)
    clothes = wanted.noun in lexicon.words("clothing")
    return clothes and bool(colours) and colours <= card.kind


def _lacks(wanted: Trait, card: Profile) -> float:
    """How well a card says that it has not got a thing: "no fur", "hairless"."""
    if any(_is_without(word, wanted) for said in card.traits for word in said.words):
        return 1.0
    if not things_of(f"without {wanted.noun}").keys().isdisjoint(card.things):
        return 1.0  # "barefoot", of who has no shoes on
    told = [said for said in card.traits if said.lacks]
    if any(set(said.concepts) <= set(wanted.concepts) for said in told):
        return 1.0  # what has no buttons has no selector buttons
    return max((trait_fit(wanted, said, card) for said in told), default=0.0)


def _is_without(word: str, wanted: Trait) -> bool:
    thing = lexicon.lacked(word)
    alike = concepts(word) == concepts(f"{wanted.noun}less")  # "hairless", "no fur"
    return bool(thing) and (
        alike or concepts(thing) == (wanted.head,) or are_kin(thing, wanted.noun)
    )


def _same_thing(wanted: Trait, said: Trait) -> float:
    """How well a phrase fits that names the wanted thing in other words."""
    for thing, covered in wanted.things.items():
        if thing in said.things and wanted.head in covered:
            rest = [c for c in wanted.concepts if c not in covered and c not in wanted.where]
            shared = sum(concept in said.concepts for concept in rest)
            there = not wanted.where or is_there(wanted, said)
            fit = BARE + (1 - BARE) * shared / len(rest) if rest else 1.0
            return fit if there else fit * (BARE if said.where else ELSEWHERE_ON_IT)
    return 0.0
