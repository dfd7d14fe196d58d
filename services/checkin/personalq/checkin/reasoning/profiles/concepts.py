"""Texts as concepts: words that mean the same fall together, and the shades that they name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from personalq.checkin import lexicon
from personalq.checkin.lexicon import canonical, wordnet
from personalq.checkin.lexicon.stems import stem
from personalq.checkin.lexicon.stuffs import stuffs_in
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.reasoning.colours import COLOURS

_WORD = re.compile(r"\w+")


def concepts(text: str) -> tuple[str, ...]:
    """A text as concept names in order: synonyms of the description file fall together."""
    return tuple(concept for concept, _ in worded_concepts(text))


@lru_cache(maxsize=16384)
def worded_concepts(text: str) -> tuple[tuple[str, str], ...]:
    """Concepts, each with the words that said it."""
    groups, openers = lexicon.description_groups(), lexicon.description_openers()
    words = [name for word in _WORD.findall(text.casefold()) if (name := canonical(word))]
    found = []
    index = 0
    while index < len(words):
        for length in (3, 2, 1) if words[index] in openers else (1,):
            phrase = " ".join(words[index : index + length])
            if length == 1 and (_is_breed(words, index) or _is_medium(words, index)):
                found.append((stem(phrase), phrase))
                index += 1
                break
            if phrase == "colored" and found and found[-1][0] in COLOURS:
                index += 1  # "aubergine-coloured" says no more than its colour
                break
            told = words[index - 1 : index] == ["colored"] and not any(
                map(lexicon.names_thing, words[index + length : index + length + 1])
            )  # not "a coloured terracotta pot"
            if told and (group := groups.get(f"{phrase} colored")):
                found.append((f"={group}", phrase))  # "coloured terracotta", which is no stuff
                index += length
                break
            if index + length <= len(words) and phrase in groups:
                found.append((f"={groups[phrase]}", phrase))
                index += length
                break
        else:
            color = _as_color(words, index)
            found.append((f"={color}" if color else _concept(words[index]), words[index]))
            index += 1
    return tuple(found)


@lru_cache(maxsize=16384)
def shades_in(text: str) -> frozenset[str]:
    """The shades a text names: "olive" of "an army green bag", "silver" of "silver gray"."""
    named = lexicon.shades()
    words = (said for _, said in worded_concepts(text))
    told = (named.get(said) or named.get(_shade_of(said)) for said in words)
    return frozenset(filter(None, told))


def _shade_of(said: str) -> str:
    """The first of two words, where the other is the colour it is a shade of: "silver gray"."""
    shade, _, colour = said.rpartition(" ")
    return shade if colour in lexicon.words("colors") else ""


def _as_color(words: Sequence[str], index: int) -> str:
    """The colour that a flower's name stands for beside a noun: "a rose lamp", "colored rose"."""
    color = lexicon.colors_of_things().get(words[index], "")
    before = words[index - 1] if index else ""
    return color if index + 1 < len(words) or before in _COLORED else ""


_COLORED = frozenset(["colored", "in", "is", "are", "out"])
"""Before the name of a thing that is a colour there: "the hull came out pumpkin"."""


def _is_breed(words: Sequence[str], index: int) -> bool:
    """Whether a shade is part of a name: a "tawny owl" may be white, a "red willow" is red."""
    colors = lexicon.words("colors")
    if words[index] in colors or lexicon.description_groups().get(words[index]) not in colors:
        return False
    if index + 2 < len(words):
        name_of_two = " ".join(words[index + 1 : index + 3])
        name = wordnet.look_up(name_of_two)
        animal = name is not None and is_kind_of(name_of_two, "animal")
        if stuffs_in(words[index + 1]) or animal:
            return False  # "a scarlet oak accordion", "an olive tree frog"
    entry = wordnet.look_up(" ".join(words[index : index + 2])) if index + 1 < len(words) else None
    return entry is not None and bool(entry.senses)


_DRAWINGS = frozenset((
    "drawing", "drawings", "sketch", "sketches", "pencil", "rendering", "portrait", "study",
    "drawn", "style",
))  # fmt: skip


def _is_medium(words: Sequence[str], index: int) -> bool:
    """Whether something is drawn with it: "charcoal drawing" tells no colour."""
    if words[index] != "charcoal" or _DRAWINGS.isdisjoint(words[index + 1 : index + 2]):
        return False
    return words[index + 1] != "pencil" or len(words) <= index + 2  # "a charcoal pencil skirt"


def _concept(word: str) -> str:
    """The stem of a word, or of the first word for the one thing it names: "auto" is a "car"."""
    name = lexicon.common_name(word)
    group = lexicon.description_groups().get(name)
    return f"={group}" if group else stem(name)
