"""Places of training: which of a catalog's tags a person means by a word for a place.

A place is meant by its own tag, by tags of the same group, and by longer tags it is in
("mountain pass"). Only when there is none, a near place will do, from the file or from WordNet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from personalq.checkin import lexicon
from personalq.checkin.lexicon import canonical, wordnet
from personalq.checkin.lexicon.wordnet import Nature, nature

_UP = 2
"""Steps to a kind of place a tag may be named by: a "cathedral" where the tag is "church"."""
_DOWN = 3
_GENERAL = (
    "structure", "building", "room", "area", "facility", "workplace", "artifact", "region", "point",
    "object", "way", "place", "geological formation", "location", "land", "body of water",
    "geographical area", "district", "plot", "surface", "tract",
)  # fmt: skip


def tags_by_group(tags: Iterable[str]) -> dict[str, set[str]]:
    """Canonical tags by the groups they belong to."""
    groups = lexicon.environment_groups()
    found: dict[str, set[str]] = {name: set() for name in groups}
    for tag in tags:
        for name in _groups_of(tag, groups):
            found[name].add(tag)
    return found


def _groups_of(tag: str, groups: Mapping[str, frozenset[str]]) -> set[str]:
    parts = tag.split()
    for start in range(len(parts)):
        tail = " ".join(parts[start:])
        if whole := {name for name, group in groups.items() if tail in group}:
            how = {n for n, g in groups.items() if any(_describes(part, g) for part in parts)}
            return whole | (how if start else set())
    return {name for name, group in groups.items() if group & set(parts)}


def _describes(word: str, group: frozenset[str]) -> bool:
    """Whether an adjective says the place: "snowy" of "snowy field"."""
    return word in group and nature(word) is Nature.NO_NOUN


class Tags:
    """A catalog's tags, found by the places they are parts or kinds of."""

    def __init__(self, tags: Iterable[str] = ()) -> None:
        self._by_run: dict[str, set[str]] = {}
        self._by_sense: dict[int, set[str]] = {}
        self._by_kind: dict[int, set[str]] = {}
        for tag in tags:
            for run in _runs(tag):
                self._by_run.setdefault(run, set()).add(tag)
            senses = wordnet.senses(tag, said=False) or wordnet.senses(_last(tag), said=False)
            for sense in senses:
                self._by_sense.setdefault(sense, set()).add(tag)
            for kind in _kinds(senses, _DOWN):
                self._by_kind.setdefault(kind, set()).add(tag)

    def related(self, phrase: str) -> set[str]:
        """Tags a phrase outside of the groups means: those it is part of, else near kinds of place.

        Near is what is a kind of the other, or the same to WordNet.
        """
        forms = {phrase, *wordnet.singulars(phrase), lexicon.plural(phrase)}
        inside = {tag for form in forms for tag in self._by_run.get(form, ())}
        if inside:
            return inside
        senses = wordnet.senses(phrase, said=False)
        kinds = {tag for kind in _kinds(senses, _UP) for tag in self._by_sense.get(kind, ())}
        return kinds | {tag for sense in senses for tag in self._by_kind.get(sense, ())}


def _runs(tag: str) -> Iterator[str]:
    """Every run of words of a tag."""
    parts = tag.split()
    for start in range(len(parts)):
        for end in range(start + 1, len(parts) + 1):
            yield " ".join(parts[start:end])


def _last(tag: str) -> str:
    return tag.rpartition(" ")[2]


def _kinds(senses: Iterable[int], steps: int) -> set[int]:
    """The senses and what they are kinds of up to some steps, without what says too little."""
    return {n for sense in senses for n in wordnet.above(sense)[: steps + 1]} - _general()


@cache
def _general() -> frozenset[int]:
    return frozenset(n for word in _GENERAL for n in wordnet.senses(canonical(word), said=False))
