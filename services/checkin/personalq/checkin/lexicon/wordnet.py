"""Nouns of things: their senses, synonyms and what they are kinds of, from WordNet 3.0.

The files of `wordnet/` are made by `build`; they are read on first use and searched in place. A
synset is the number of its line in `synsets.tsv` (letter of its file, parents, lemmas) and in
`definitions.txt` (what it is). A line of `words.tsv` holds a word's senses as `synset:count`, how
often it was seen as another noun (`-`), an adjective (`+`) or a verb (`!`), and the singulars it is
the irregular plural of (`=`).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from importlib.resources import files
from itertools import islice

_PICTURED = {"a": 1.0, "o": 0.6, "r": 0.6, "v": 0.5, "f": 0.5, "t": 0.5, "p": 0.3, "b": 0.3}
"""Weight of a sense never seen in WordNet's texts, by the letter of its file: people picture
animals and artifacts rather than substances."""
_UNSEEN = 0.25
"""What is left of that weight when another sense of the word was seen."""
_NOT_PICTURED = 0.3
_SHARE = 0.4
"""Weight a sense must have against the likeliest one."""
_ENDINGS = (
    ("ies", "y"), ("ves", "f"), ("ves", "fe"), ("men", "man"), ("ses", "s"), ("xes", "x"),
    ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("oes", "o"), ("s", ""),
)  # fmt: skip
"""Regular plurals (morphy(7WN)) and some of the irregular."""


class Nature(Enum):
    """What sort of thing a word names in the first place."""

    THING = "thing"
    PERSON = "person"
    PLACE = "place"
    MATTER = "matter"
    """A substance, a shape or something in the air: "velvet", "mist"."""
    ABSTRACT = "abstract"
    """A noun for nothing one could point at: "mood"."""
    NO_NOUN = "no noun"
    """An adjective or a verb in the first place: "cosy"."""
    UNKNOWN = "unknown"


_NATURES = {
    "p": Nature.PERSON, "l": Nature.PLACE, "m": Nature.MATTER, "h": Nature.MATTER,
    "s": Nature.MATTER,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class WordEntry:
    """What the data says about one canonical word or phrase."""

    senses: tuple[tuple[int, int], ...] = ()
    """(synset, count), in the order of WordNet's offsets."""
    singulars: tuple[str, ...] = ()
    other_noun: int | None = None
    """How often seen as a noun of nothing pictured; None when it is no such noun."""
    adjective: int | None = None
    verb: int | None = None

    @property
    def noun_count(self) -> int:
        """How often it was seen as a noun at all."""
        return sum(count for _, count in self.senses) + (self.other_noun or 0)

    @property
    def mostly_adjective(self) -> bool:
        """Whether it was seen as an adjective more often than as a noun."""
        return (self.adjective or 0) > self.noun_count

    @property
    def describes(self) -> bool:
        """Whether it says of a noun how it is rather than making a compound: "fat", "yellow"."""
        return self.adjective is not None and (self.mostly_adjective or not self.senses)

    @property
    def mostly_verb(self) -> bool:
        """Whether it was seen as a verb more often than as a noun."""
        return (self.verb or 0) > self.noun_count


@cache
def _lines(name: str) -> list[str]:
    return (files(__package__) / "wordnet" / name).read_text(encoding="ascii").splitlines()


def every_word() -> Iterator[str]:
    """Every word and phrase of the data, sorted."""
    return (line.partition("\t")[0] for line in _lines("words.tsv"))


def beginning_with(letters: str) -> Iterator[str]:
    """Every single word of the data that begins so, sorted."""
    lines = _lines("words.tsv")
    for line in islice(lines, bisect_left(lines, letters), None):
        word = line.partition("\t")[0]
        if not word.startswith(letters):
            break
        if word.isalpha():
            yield word


@lru_cache(maxsize=16384)
def look_up(phrase: str) -> WordEntry | None:
    """The entry of a canonical phrase, as spelled; None when WordNet has no such word."""
    lines = _lines("words.tsv")
    index = bisect_left(lines, f"{phrase}\t")
    if index == len(lines) or not lines[index].startswith(f"{phrase}\t"):
        return None
    # the singulars come last and may be phrases: "=aide de camp"
    counts, *singulars = lines[index].replace("\t", " ").removeprefix(phrase).split(" =")
    senses, seen = [], {}
    for field in counts.split():
        name, _, count = field.partition(":")
        if name in ("-", "+", "!"):
            seen[name] = int(count)
        else:
            senses.append((int(name, 36), int(count or 0)))
    return WordEntry(
        senses=tuple(senses),
        singulars=tuple(singulars),
        other_noun=seen.get("-"),
        adjective=seen.get("+"),
        verb=seen.get("!"),
    )


def singulars(phrase: str) -> Iterator[str]:
    """Words WordNet knows that `phrase` may be the plural of."""
    head, _, last = phrase.rpartition(" ")
    entry = look_up(last)
    found = list(entry.singulars) if entry else []
    for ending, single in _ENDINGS:
        if last.endswith(ending) and len(last) - len(ending) + len(single) > 2:
            found.append(last.removesuffix(ending) + single)
    for word in dict.fromkeys(found):
        candidate = f"{head} {word}".strip()
        if not last.endswith("ss") and look_up(candidate) is not None:
            yield candidate


def may_be_noun(word: str) -> bool:
    """Whether a word, or a singular of it, is a noun in any sense."""
    entries = (look_up(form) for form in (word, *singulars(word)))
    return any(e is not None and bool(e.senses or e.other_noun is not None) for e in entries)


def preload() -> None:
    """Read the files now, not in the middle of the first request."""
    for name in ("words.tsv", "synsets.tsv", "definitions.txt"):
        _lines(name)


@lru_cache(maxsize=16384)
def base(phrase: str) -> str:
    """The phrase itself when it names things, else the singular that does."""
    entry = look_up(phrase)
    if entry is not None and entry.senses:
        return phrase
    return next((word for word in singulars(phrase) if _senses_of(word)), phrase)


def _senses_of(word: str) -> tuple[tuple[int, int], ...]:
    entry = look_up(word)
    return entry.senses if entry else ()


@lru_cache(maxsize=16384)
def synset(number: int) -> tuple[str, tuple[int, ...], tuple[str, ...]]:
    """(letter, parents, lemmas) of a synset."""
    letter, parents, lemmas = _lines("synsets.tsv")[number].split("\t")
    return letter, tuple(int(p, 36) for p in parents.split()), tuple(lemmas.split("|"))


def definition(number: int) -> str:
    """What a dictionary says a synset is; may be empty."""
    return _lines("definitions.txt")[number]


@lru_cache(maxsize=16384)
def weights(phrase: str) -> dict[int, float]:
    """How likely each sense of a singular or plural phrase is meant in a picture, unnormalised."""
    senses = _senses_of(base(phrase))
    seen = any(count for _, count in senses)
    weighed = {}
    for number, count in senses:
        prior = _PICTURED.get(synset(number)[0], 0.2)
        weighed[number] = math.sqrt(count) + prior * (_UNSEEN if seen and not count else 1.0)
    return weighed


@lru_cache(maxsize=65536)
def senses(phrase: str, *, said: bool = True) -> tuple[int, ...]:
    """The likely synsets of a phrase, likeliest first.

    With `said` the word may also mean something that is not pictured ("spring"); without it the
    word is known to be the subject of a checkpoint.
    """
    weighed = weights(phrase)
    entry = look_up(base(phrase))
    if not weighed or entry is None:
        return ()
    top = max(weighed.values())
    if said and entry.other_noun is not None:
        top = max(top, math.sqrt(entry.other_noun) + _NOT_PICTURED)
    likely = [number for number, weight in weighed.items() if weight >= _SHARE * top]
    return tuple(sorted(likely, key=lambda number: -weighed[number]))


@lru_cache(maxsize=16384)
def above(number: int) -> tuple[int, ...]:
    """A synset and all it is a kind of, nearest first."""
    found = [number]
    for current in found:
        found += [parent for parent in synset(current)[1] if parent not in found]
    return tuple(found)


@lru_cache(maxsize=16384)
def nature(word: str) -> Nature:
    """What sort of thing a word names in the first place."""
    entry = look_up(word)
    if entry is None or not (entry.senses or entry.other_noun is not None):
        single = next(iter(singulars(word)), None)
        if single is not None and single != word:
            return nature(single)
    if entry is None:
        return Nature.UNKNOWN
    if entry.mostly_adjective or (not entry.senses and entry.other_noun is None):
        return Nature.NO_NOUN
    likely = senses(word)
    if not likely:
        return Nature.ABSTRACT
    return _NATURES.get(synset(likely[0])[0], Nature.THING)
