"""Places of training: which of a catalog's tags a person means by a word for a place.

A place is meant by its own tag, by tags of the same group, and by longer tags it is in
("mountain pass"). Only when there is none, a near place will do, from the file or from WordNet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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


def related(phrase: str, tags: Iterable[str]) -> set[str]:
    """Tags a phrase outside of the groups means: those it is part of, else a near kind of place."""
    forms = {phrase, *wordnet.singulars(phrase), lexicon.plural(phrase)}
    tags = tuple(tags)
    inside = {tag for tag in tags if any(f" {form} " in f" {tag} " for form in forms)}
    return inside or {tag for tag in tags if _is_near(phrase, tag)}


def _is_near(phrase: str, tag: str) -> bool:
    """Whether one is a kind of the other, or both are the same to WordNet."""
    said = wordnet.senses(phrase, said=False)
    had = wordnet.senses(tag, said=False) or wordnet.senses(tag.split()[-1], said=False)
    general = {n for word in _GENERAL for n in wordnet.senses(canonical(word), said=False)}
    above_said = {n for sense in said for n in wordnet.above(sense)[: _UP + 1]} - general
    above_had = {n for sense in had for n in wordnet.above(sense)[: _DOWN + 1]} - general
    return bool(above_said & set(had)) or bool(above_had & set(said))
