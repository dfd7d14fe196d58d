"""What things are made of: families of stuffs, and words that say one in general."""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
from importlib.resources import files

from personalq.checkin.lexicon import canonical, thesaurus

_LONGEST = 3
"""Words of the longest name."""


@cache
def _general() -> dict[str, frozenset[str]]:
    """Words that say a family in general to the families: "metallic"."""
    return _by_word("words")


@cache
def _kinds() -> dict[str, frozenset[str]]:
    """Stuffs to the families they are of: "brass"."""
    return _by_word("kinds")


def _by_word(column: str) -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    text = (files(__package__) / "stuffs.toml").read_text(encoding="utf-8")
    for family, row in tomllib.loads(text).items():
        for word in row[column]:
            table.setdefault(canonical(word), set()).add(family)
    return {word: frozenset(found) for word, found in table.items()}


@lru_cache(maxsize=16384)
def stuffs_in(text: str) -> frozenset[str]:
    """The stuffs that a text names, the longest names first: "cast iron" and not "iron"."""
    words = canonical(text).replace(",", " ").split()
    found = []
    index = 0
    while index < len(words):
        for length in range(min(_LONGEST, len(words) - index), 0, -1):
            name = " ".join(words[index : index + length])
            if name in _general() or name in _kinds():
                found.append(name)
                index += length
                break
        else:
            index += 1
    return frozenset(found)


def is_general(stuff: str) -> bool:
    """Whether a word says a family of stuffs: "wooden"."""
    return stuff in _general()


def is_a(stuff: str, wanted: str) -> bool:
    """Whether a stuff is what was asked for: brass, of "brass" or "metal"."""
    of = _kinds().get(stuff, frozenset()) | _general().get(stuff, frozenset())
    same = bool(thesaurus.things_in(stuff).keys() & thesaurus.things_in(wanted).keys())
    same = same or f" {wanted} " in f" {stuff} "  # cast iron is iron
    same = same or wanted.removesuffix("en") == stuff.removesuffix("en")  # "woolen", "wool"
    return same or bool(of & _general().get(wanted, frozenset()))


def may_be(stuff: str, wanted: str) -> bool:
    """The same, or whether it says too little to be none: "wooden", of "oak"."""
    return is_a(stuff, wanted) or is_a(wanted, stuff)
