"""What else things are called, and how people tell a kind whose name they do not remember.

`same.txt` has a thing in each line, with the words that mean it: "clothes peg | clothespin".
`qualities.txt` has what things are like: "inflatable | blow-up | filled with air".
`kinds.txt` has a kind in each: its names, what it is a kind of, and what people say of it instead:
"calzone | pizza | folded-over | closed". `sayings.txt` has a thing or a quality in each: its names
and what people say instead: "stethoscope | doctor's listening tube | ready to check your
heartbeat". Written from general knowledge, for comparing what was
described with cards; of a sentence only the subjects of the catalog are read with them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import TypeVar

from personalq.checkin.lexicon import canonical, colours, wordnet
from personalq.checkin.lexicon.stems import stem

_FEW = 2
"""Senses of a noun that hardly means anything else."""
_LONGEST = 4
"""Words of the longest name."""
_WORD = re.compile(r"\w+")
_SHORT = 3
"""Letters of a word that one with a "y" behind it has nothing to do with: "tin", "mum"."""
_CLIPPED = re.compile(r"[^aeiou]+[aeiou][^aeiouwxy]$")
"""A word that doubles its end: "scar", "scarred", and not "scared"."""
_SMALL = frozenset(["a", "an", "the", "its", "his", "her", "their", "s"])
"""What makes no difference: "a bite taken out of it", "bite taken out"."""
_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of thing, as people tell it."""

    sort: str
    """What it is a kind of, canonical: "pizza"."""
    told: tuple[str, ...]
    """What is true of it and of few others of its sort: "folded-over"."""


class _Table(dict[str, _T]):
    """Rows by phrases in stems."""

    @cached_property
    def openers(self) -> frozenset[str]:
        """The stems that phrases begin with."""
        return frozenset(phrase.partition(" ")[0] for phrase in self)


def preload() -> None:
    """Read the files now rather than at the first request."""
    _named("same")
    _named("qualities")
    _sayings()
    _told()
    _names()
    _modified()
    _words.cache_clear()


@lru_cache(maxsize=4096)
def things_in(text: str) -> Mapping[str, frozenset[str]]:
    """The things that a text names, and what they are like, with the stems of the words."""
    words = _words(text)  # "a reclining armchair" is a recliner, and it is reclining
    stems = tuple(map(stem, words))
    found = (*_found_at(stems, _named("same")), *_found_at(stems, _named("qualities")))
    return {
        thing: frozenset(stems[start:end])
        for things, start, end in found
        for thing, phrases in things.items()
        if any(_is_one_of(words[start:end], phrase) for phrase in phrases)
    }


@lru_cache(maxsize=4096)
def is_quality(word: str) -> bool:
    """Whether a single word is listed as how something is: "floppy", but not "buckle"."""
    listed = _named("qualities").get(stem(word)) or {}
    return any(word in phrases for phrases in listed.values())


def others_for(name: str) -> Sequence[str]:
    """The other words that mean what a name does: "nest box" for "birdhouse"; none that mean
    "seated" for a seat, nor other kinds of what a kind is of: "china doll" for a baby doll.
    """
    own = _words(name)
    noun = own[-1] if len(own) > 1 else ""
    rows = (
        row
        for row, words in _others().get(" ".join(map(stem, own)), ())
        if len(words) == len(own) and all(map(_is_form, own, words)) and row[0] != noun
    )
    return tuple(dict.fromkeys(itertools.chain.from_iterable(rows)))


def _is_form(one: str, other: str) -> bool:
    """Whether two words are the same but for their number."""
    return one == other or other in wordnet.singulars(one) or one in wordnet.singulars(other)


def is_a_name(phrase: str) -> bool:
    """Whether a phrase is what some thing, quality or kind is called, as cards may call it."""
    return _key(phrase) in _names()


@lru_cache(maxsize=16384)
def sayings_in(text: str) -> Sequence[tuple[str, tuple[str, ...]]]:
    """The things and qualities that a text names, each with what people say of it instead.

    A word for two things has both: a grill for meat and one of gold teeth.
    """
    words = _words(text)
    return [
        row
        for rows, start, end in _found_at(tuple(map(stem, words)), _sayings())
        for row in rows
        if _is_one_of(words[start:end], row[0])
    ]


@lru_cache(maxsize=4096)
def told_in(text: str) -> Mapping[str, frozenset[str]]:
    """The things and qualities that a text names or tells in other words that mean nothing else,
    with the stems of those words: a parasol, of "sunshade", an icy one, of "frozen water".
    """
    words = _words(text)
    stems = tuple(map(stem, words))
    return {
        thing: frozenset(stems[start:end])
        for phrases, start, end in _found_at(stems, _told())
        for thing, phrase in phrases
        if _is_one_of(words[start:end], phrase)
    }


@lru_cache(maxsize=32768)
def _is_one_of(said: tuple[str, ...], names: str) -> bool:
    """Whether words are one of some names, not others of the same stems: no "tiny" is of tin, no
    "plan" a plane.
    """
    stems = tuple(map(stem, said))
    return any(
        own == stems and all(map(_is_same, name, said)) for name, own in _names_with_stems(names)
    )


@lru_cache(maxsize=32768)
def _names_with_stems(names: str) -> Sequence[tuple[Sequence[str], Sequence[str]]]:
    return [(name, tuple(map(stem, name))) for name in map(_words, names.split("/"))]


def _is_same(one: str, other: str) -> bool:
    """Whether two words of one stem are forms of one word, as far as their endings tell: not
    "tin" and "tiny", "can" and "caned", "plan" and "plane".
    """
    short, long = sorted((one, other), key=len)
    if short == long or long in (f"{short}s", f"{short}es", f"{short[:-1]}ies"):
        return True
    if long.endswith("y") or short.endswith("y"):
        return len(stem(long)) > _SHORT
    return long != f"{short}e" and not (_CLIPPED.match(short) and long == f"{short}ed")


@lru_cache(maxsize=16384)
def kinds_in(text: str) -> Sequence[tuple[Kind, tuple[str, ...]]]:
    """The kinds that a text names, each with the stems of the words that do.

    A rocking chair is told as one where the text calls it a rocking armchair.
    """
    words = _words(text)
    stems = tuple(map(stem, words))
    named = [(kind, run) for found, run in _found(stems, _kinds()) for kind in found]
    told = {word for _, run in named if len(run) > 1 for word in run}
    others = _under_other_nouns(words, stems)
    return [*named, *(each for each in others if not told.issuperset(each[1][:-1]))]


def _under_other_nouns(
    words: Sequence[str], stems: Sequence[str]
) -> Iterator[tuple[Kind, tuple[str, ...]]]:
    """The kinds whose noun a text has another word for, which means the same or says more."""
    for first in range(len(words) - 1):
        for last in range(first + 1, min(first + _LONGEST, len(words))):
            for kind in _modified().get(" ".join(stems[first:last]), ()):
                if _is_sort(words[last], kind.sort):
                    yield kind, tuple(stems[first : last + 1])


@lru_cache(maxsize=16384)
def _is_sort(noun: str, sort: str) -> bool:
    """Whether a noun is another word for a sort of thing, or a kind of it: "armchair", "chair"."""
    wanted = set(wordnet.senses(sort, said=False))
    return any(
        wanted.intersection(wordnet.above(number))
        for number in wordnet.senses(wordnet.base(noun), said=False)
    )


@cache
def _named(file: str) -> _Table[dict[str, list[str]]]:
    """Phrases of a file, in stems, to the first of those that mean the same, in each row, with the
    phrases of these stems.
    """
    table: _Table[dict[str, list[str]]] = _Table()
    for name, *others in _rows(file):
        for phrase in (name, *others):
            plain = phrase.removeprefix("with ")
            table.setdefault(_key(plain), {}).setdefault(name, []).append(plain)
    return table


@cache
def _others() -> dict[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]]:
    """Phrases, in stems, to the rows they stand in, the last first, with their words there."""
    table: dict[str, dict[tuple[tuple[str, ...], tuple[str, ...]], None]] = {}
    for row in reversed(list(map(tuple, _rows("same")))):
        for phrase in row:
            words = _words(phrase)
            table.setdefault(" ".join(map(stem, words)), {})[row, words] = None
    return {key: tuple(rows) for key, rows in table.items()}


@cache
def _names() -> frozenset[str]:
    """In stems, what is listed as a name of something; not what is said instead."""
    alike = (phrase for row in _rows("same") for phrase in row)
    listed = (
        name
        for file in ("kinds", "sayings")
        for names, *_ in _rows(file)
        for name in names.split("/")
    )
    return frozenset(map(_key, (*alike, *listed)))


@cache
def _sayings() -> _Table[tuple[tuple[str, tuple[str, ...]], ...]]:
    """Names of things, in stems, to the names of each row they stand in and what is said there."""
    table: dict[str, dict[tuple[str, tuple[str, ...]], None]] = {}
    for names, *said in _rows("sayings"):
        for name in names.split("/"):
            table.setdefault(_key(name), {})[names, tuple(said)] = None
    return _Table((name, tuple(rows)) for name, rows in table.items())


@cache
def _told() -> _Table[tuple[tuple[str, str], ...]]:
    """Names of things, and what is said of one alone in two words or by a noun, to those names,
    with the words.
    """
    told: dict[str, dict[str, str]] = {}
    for names, *said in _rows("sayings"):
        first, *others = names.split("/")
        plain = (each for each in (*others, *said) if _means_one_thing(each))
        for phrase in (first, *plain):
            told.setdefault(_key(phrase), {})[names] = phrase
    # "Tin" and "tiny" have one stem; what is said of two things means neither.
    alone = ((key, things) for key, things in told.items() if len(things) == 1)
    return _Table((key, tuple(things.items())) for key, things in alone)


def _means_one_thing(phrase: str) -> bool:
    """Whether a phrase is two words, or a noun that hardly means anything else: "sunshade"."""
    if len(_key(phrase).split()) != 1:
        return len(_key(phrase).split()) == 2
    thing = wordnet.nature(phrase) is wordnet.Nature.THING
    return thing and len(wordnet.senses(phrase, said=False)) <= _FEW


@cache
def _kinds() -> _Table[tuple[Kind, ...]]:
    """Names of kinds, in stems, to what is told of them; a colour tells no kind."""
    table: dict[str, list[Kind]] = {}
    for names, sort, *told in _rows("kinds"):
        plain = tuple(said for said in told if colours().isdisjoint(canonical(said).split()))
        kind = Kind(sort=canonical(sort), told=plain)
        for name in names.split("/"):
            for word in (name, *others_for(name)):
                if kind not in (same := table.setdefault(_key(word), [])):
                    same.append(kind)
    return _Table((name, tuple(found)) for name, found in table.items())


@cache
def _modified() -> dict[str, tuple[Kind, ...]]:
    """What stands before the noun of kinds that are called by their sort: "rocking" of a chair."""
    table: dict[str, tuple[Kind, ...]] = {}
    for names, sort, *_ in _rows("kinds"):
        for name in names.split("/"):
            *before, noun = _words(name)
            key = " ".join(map(stem, before))
            if before and _is_sort(noun, canonical(sort)):
                found = dict.fromkeys((*table.get(key, ()), *_kinds()[_key(name)]))
                table[key] = tuple(found)
    return table


def _stems(text: str) -> tuple[str, ...]:
    return tuple(map(stem, _words(text)))


@lru_cache(maxsize=65536)  # the tables ask for each phrase of a file two and three times
def _words(text: str) -> tuple[str, ...]:
    words = (canonical(word) for word in _WORD.findall(text.casefold()))
    return tuple(word for word in words if word not in _SMALL)


def _key(phrase: str) -> str:
    return " ".join(_stems(phrase))


def _found(words: Sequence[str], table: _Table[_T]) -> Iterator[tuple[_T, tuple[str, ...]]]:
    """What a table has of words, the longest first, with the words."""
    for named, start, end in _found_at(words, table):
        yield named, tuple(words[start:end])


def _found_at(words: Sequence[str], table: _Table[_T]) -> Iterator[tuple[_T, int, int]]:
    """The same with where the words begin and end."""
    openers, taken = table.openers, 0
    for index, word in enumerate(words):
        if index < taken or word not in openers:
            continue
        for length in range(min(_LONGEST, len(words) - index), 0, -1):
            if (named := table.get(" ".join(words[index : index + length]))) is not None:
                taken = index + length
                yield named, index, taken
                break


def _rows(name: str) -> list[list[str]]:
    text = (files(__package__) / f"{name}.txt").read_text(encoding="utf-8")
    return [[each.strip() for each in line.split("|")] for line in text.splitlines()]
