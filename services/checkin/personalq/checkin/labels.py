"""What a catalog's looks and places are called, to compare what nobody listed with them by meaning.

"Printed from a carved block" is in no list, but near to what a woodcut is called; "wine country"
is near a vineyard. The catalog's embedding model says how near (`ports.Catalog.compare`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from personalq.checkin import lexicon
from personalq.checkin.lexicon import canonical
from personalq.checkin.places import tags_by_group

_WORDINGS = 24
"""Of one label; the shortest say it most plainly."""
_TOLD_WORDINGS = 64
"""The same of one that what people say of it is among."""
MOST_WORDINGS = 900
"""Of all labels that are compared at once."""
LONGEST_WORDING = 100
"""Characters of a wording that a catalog compares."""
_LONGEST_NAME = 60
"""Characters of what a look or a place is called."""


@dataclass(frozen=True, kw_only=True)
class Label:
    """One look, place or thing that cards have."""

    tags: frozenset[str]
    """The catalog's tags for it, in canonical form; of a thing its name."""
    wordings: tuple[str, ...]
    """What people call it, the tags among it; of a thing what it is."""


def look_labels(styles: Iterable[str], *, told: bool = False) -> tuple[Label, ...]:
    """The looks of a catalog's style tags.

    Args:
        told: also with what people say of a look; any phrase is a little like one of so many.
    """
    groups = lexicon.style_groups()
    tags: dict[str, set[str]] = {}
    for tag in sorted({canonical(tag) for tag in styles} - {""}):
        tags.setdefault(lexicon.look_of(tag), set()).add(tag)
    sayings = lexicon.sayings() if told else {}
    return _labels(
        (
            (tags[look], groups[look].words if look in groups else (), sayings.get(look, ()))
            for look in sorted(tags)
        ),
        wordings=_TOLD_WORDINGS if told else _WORDINGS,
    )


def place_labels(environments: Iterable[str]) -> tuple[Label, ...]:
    """The places of a catalog's environment tags; tags of the same kinds of place are one."""
    tags = sorted({canonical(tag) for tag in environments} - {""})
    kinds: dict[str, frozenset[str]] = {tag: frozenset({tag}) for tag in tags}
    for name, members in tags_by_group(tags).items():
        for tag in members:
            kinds[tag] = (kinds[tag] - {tag}) | {name}
    alike: dict[frozenset[str], set[str]] = {}
    for tag in tags:
        alike.setdefault(kinds[tag], set()).add(tag)
    words = lexicon.environment_groups()
    return _labels(
        (
            (same, {word for name in kind for word in words.get(name, ())}, _scenery(same | kind))
            for kind, same in alike.items()
        ),
        wordings=_TOLD_WORDINGS,
    )


def _scenery(names: Iterable[str]) -> tuple[str, ...]:
    """What is told of some places, by turns."""
    told = lexicon.scenery()
    each = zip_longest(*(told[name] for name in sorted(names) if name in told))
    return tuple(dict.fromkeys(said for turn in each for said in turn if said))


def _labels(
    told: Iterable[tuple[set[str], Iterable[str], Iterable[str]]], *, wordings: int
) -> tuple[Label, ...]:
    """The labels, each with as many wordings as leave all the others as many.

    Nothing where not even their tags fit: what is not compared would be nearest to another.

    Args:
        told: the tags of each, other names for it, and what else people say of it.
        wordings: the most of one label.
    """
    called = []
    for tags, words, others in told:
        names = sorted(set(words) - tags, key=lambda word: (len(word), word))
        by_turns = (word for turn in zip_longest(names, others) for word in turn if word)
        called.append((tags, tuple(dict.fromkeys((*sorted(tags), *by_turns)))))
    named = [
        Label(tags=frozenset(tags), wordings=tuple(w for w in words if len(w) <= _LONGEST_NAME))
        for tags, words in called
    ]
    named = [label for label in named if label.wordings]
    most = next((n for n in range(wordings, 0, -1) if _count(named, n) <= MOST_WORDINGS), 0)
    return tuple(replace(label, wordings=label.wordings[:most]) for label in named if most)


def _count(labels: Iterable[Label], most: int) -> int:
    return sum(min(len(label.wordings), most) for label in labels)


def nearest(labels: Sequence[Label], likeness: Sequence[float], *, clearly: float) -> Label | None:
    """The label something means; None where none is near, or none is nearer than all others.

    Args:
        clearly: what the likeness of the nearest and its lead over the next must be together.
    """
    if not likeness:
        return None
    first, *others = sorted(zip(likeness, labels, strict=True), key=lambda each: -each[0])
    lead = first[0] - others[0][0] if others else 0.0  # it is ahead of nobody
    return first[1] if first[0] + lead >= clearly else None
