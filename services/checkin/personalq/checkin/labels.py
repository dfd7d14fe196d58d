"""What a catalog's looks and places are called, to compare what nobody listed with them by meaning.

"Printed from a carved block" is in no list, but near to what a woodcut is called; "wine country"
is near a vineyard. The catalog's embedding model says how near (`ports.Catalog.compare`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from personalq.checkin import lexicon
from personalq.checkin.lexicon import canonical
from personalq.checkin.places import tags_by_group

_WORDINGS = 24
"""Of one label; the shortest say it most plainly."""
_ALL = 900
"""Of all labels that are compared at once; a catalog takes 1,000."""
_LONGEST = 60


@dataclass(frozen=True, kw_only=True)
class Label:
    """One look or place that cards have."""

    tags: frozenset[str]
    """The catalog's tags for it, in canonical form."""
    wordings: tuple[str, ...]
    """What people call it, the tags among it."""


def look_labels(styles: Iterable[str]) -> tuple[Label, ...]:
    """The looks of a catalog's style tags."""
    groups = lexicon.style_groups()
    tags: dict[str, set[str]] = {}
    for tag in map(canonical, styles):
        tags.setdefault(lexicon.look_of(tag), set()).add(tag)
    return _labels(
        (tags[look], groups[look].words if look in groups else ()) for look in sorted(tags)
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
        (same, {word for name in kind for word in words.get(name, ())})
        for kind, same in alike.items()
    )


def _labels(told: Iterable[tuple[set[str], Iterable[str]]]) -> tuple[Label, ...]:
    labels: list[Label] = []
    left = _ALL
    for tags, words in told:
        short = sorted({w for w in words if len(w) <= _LONGEST} - tags, key=lambda w: (len(w), w))
        wordings = (*sorted(tag for tag in tags if len(tag) <= _LONGEST), *short)[:_WORDINGS]
        if not wordings or len(wordings) > left:
            continue
        left -= len(wordings)
        labels.append(Label(tags=frozenset(tags), wordings=wordings))
    return tuple(labels)


def likeness_of(
    tags: Iterable[str], labels: Sequence[Label], likeness: Sequence[float]
) -> float | None:
    """How like something is to a card's likest tag; None where it has none that was compared."""
    own = set(map(canonical, tags))
    told = zip(labels, likeness, strict=True)
    return max((value for label, value in told if label.tags & own), default=None)


def nearest(labels: Sequence[Label], likeness: Sequence[float], *, clearly: float) -> Label | None:
    """The label something means; None where none is near, or none is nearer than all others.

    Args:
        clearly: what the likeness of the nearest and its lead over the next must be together.
    """
    if not likeness:
        return None
    first, *others = sorted(zip(likeness, labels, strict=True), key=lambda each: -each[0])
    lead = first[0] - max((value for value, _ in others), default=0.0)
    return first[1] if first[0] + lead >= clearly else None
