"""Which colours of a description are the subject's own, and which are tastes, stuffs or names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.lexicon import canonical
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.reasoning.colours import COLOURS
from personalq.checkin.reasoning.profiles.concepts import worded_concepts
from personalq.checkin.reasoning.profiles.traits import Trait

ALL_OVER = compile_form(" all over$", flags=re.IGNORECASE)


def without_flavours(found: Trait) -> frozenset[str]:
    """Its concepts: "a lilac chocolate cupcake" is lilac and not brown."""
    worded = worded_concepts(" ".join(found.words))
    flavours = {concept for concept, said in worded if said in _EATEN}
    colours = {c for c, said in worded if c in COLOURS and said not in _EATEN}
    return frozenset(found.concepts) - (flavours - colours if colours else set())


def groups_of(found: Trait) -> frozenset[str]:
    """The groups of words among a trait's concepts."""
    return frozenset(concept[1:] for concept in found.concepts if concept.startswith("="))


_EATEN = frozenset(["coffee", "chocolate", "cream", "honey", "caramel", "salmon", "cherry", "rust"])
"""Colours that alone are rather things: "a mug with coffee"."""


def is_flavour_named(piece: str, nouns: set[str]) -> bool:
    """Whether a word alone is a colour of what nobody eats: "a bunny, cream", but no cake."""
    food = (_is_food(noun) for noun in nouns)
    return canonical(piece) in _EATEN and not any(food)


_TASTES = _EATEN | {
    "walnut", "hazelnut", "chestnut", "lemon", "lime", "mint", "pistachio", "vanilla", "pumpkin",
    "peach", "apricot", "raspberry", "strawberry", "plum", "mocha", "almond", "ginger", "mustard",
}  # fmt: skip


def coloured_in(pieces: Sequence[str]) -> set[str]:
    """Words that something is in, or that stand beside another: "a cake in lime and black"."""
    return {word for piece in pieces for match in _IN.finditer(piece) for word in match[0].split()}


_IN = compile_form(
    r"(?<!covered )(?<!dipped )(?<!coated )(?<!glazed )(?<!rolled )(?<!soaked )"
    r"(?<!\w)in (pale |dark |light )?[\w-]+( and [\w-]+)?",
    flags=re.IGNORECASE,
)


def tastes_of(words: set[str], kind: set[str], nouns: set[str], coloured: set[str]) -> set[str]:
    """The colours that are none of what is eaten, where it has another: "a crimson walnut cake"."""
    groups = lexicon.description_groups()
    told = {word for word in words if f"={groups.get(word)}" in COLOURS}
    tastes = (told & _TASTES) - coloured
    others = {f"={groups.get(word)}" for word in told - tastes}
    if not tastes or not others & kind or not any(map(_is_food, nouns)):
        return set()
    return {f"={groups.get(word)}" for word in tastes} - others


@lru_cache(maxsize=16384)
def _is_food(noun: str) -> bool:
    """Whether a noun names what is eaten or drunk."""
    return any(is_kind_of(noun, kind) for kind in ("food", "beverage", "baked goods"))


METALS = frozenset(["bronze", "copper", "gold", "silver", "brass", "pewter", "chrome", "steel"])
"""Of a thing that has another colour they are what it is made of: "a black harp, in bronze"."""


@cache
def bare_colours() -> frozenset[str]:
    """Words that alone are colours."""
    return lexicon.colours() - _EATEN


def bare_colour(piece: str) -> str:
    """The concept of the colour that a word alone stands for: "a robot, pumpkin, with a tray"."""
    if piece[:1].isupper():
        return ""  # a name: "a cat, Rose, in boots"
    word = canonical(ALL_OVER.sub("", piece))
    groups = lexicon.description_groups()
    named = (groups.get(each, "") for each in (word, f"{word} colored"))
    return next((f"={name}" for name in named if f"={name}" in COLOURS), "")
