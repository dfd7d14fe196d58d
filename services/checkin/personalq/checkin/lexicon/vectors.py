"""How alike words are in meaning, from vectors distilled from a sentence embedder.

The files of `vectors/` are made by `build_vectors` and read on first use. Opposites and colours
are alike here ("tall" and "short"): what the word lists know, they must decide.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from operator import mul

from personalq.checkin.lexicon import wordnet

DIMENSIONS = 64

Vector = tuple[float, ...]


@cache
def _words() -> list[str]:
    text = (files(__package__) / "vectors" / "words.txt").read_text(encoding="ascii")
    return text.splitlines()


@cache
def _numbers() -> array[int]:
    return array("b", (files(__package__) / "vectors" / "vectors.int8").read_bytes())


def is_listed(word: str) -> bool:
    """Whether there is a vector of a lower-case word."""
    words = _words()
    place = bisect_left(words, word)
    return place < len(words) and words[place] == word


@cache
def others() -> frozenset[str]:
    """Words of five letters and more that the embedder knows and that have no vector: names."""
    text = (files(__package__) / "vectors" / "others.txt").read_text(encoding="ascii")
    return frozenset(text.splitlines())


def preload() -> None:
    """Read the files now, not in the middle of the first request."""
    _words()
    others()
    _numbers()


def _row(word: str) -> Vector | None:
    words = _words()
    index = bisect_left(words, word)
    if index == len(words) or words[index] != word:
        return None
    numbers = _numbers()[index * DIMENSIONS : (index + 1) * DIMENSIONS]
    return _unit(tuple(map(float, numbers)))


def _unit(vector: Vector) -> Vector:
    length = math.sqrt(sum(map(mul, vector, vector)))
    return tuple(number / length for number in vector) if length else vector


@lru_cache(maxsize=16384)
def word_vector(word: str) -> Vector | None:
    """The vector of length 1 of a word, or of the word it is a form of; None when unknown."""
    forms = [word, *wordnet.singulars(word)]
    for ending in ("ed", "ing", "y"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2:
            forms += [stem, f"{stem}e", stem[:-1] if stem[-1] == stem[-2] else stem]
    return next((row for form in forms if (row := _row(form)) is not None), None)


@lru_cache(maxsize=16384)
def phrase_vector(words: tuple[str, ...]) -> Vector | None:
    """The direction of the mean of the words that are known; None when none is."""
    rows = [row for word in words if (row := word_vector(word)) is not None]
    if not rows:
        return None
    return _unit(tuple(map(sum, zip(*rows, strict=True))))


def likeness(first: Sequence[str], second: Sequence[str]) -> float:
    """Cosine of two phrases, -1 to 1; 0 when either is unknown."""
    one, other = phrase_vector(tuple(first)), phrase_vector(tuple(second))
    if one is None or other is None:
        return 0.0
    return float(sum(map(mul, one, other)))
