"""Colours as concepts of descriptions, and which of them people call by each other's names."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from personalq.checkin import lexicon

_ALIKE: tuple[AbstractSet[str], ...] = (
    {"=tan", "=brown"},
    {"=tan", "=cream"},
    {"=tan", "=golden"},
    {"=golden", "=yellow"},
    {"=golden", "=orange"},
    {"=orange", "=brown"},
    {"=orange", "=red"},
    {"=teal", "=blue"},
    {"=teal", "=green"},
    {"=cream", "=white"},
    {"=gray", "=black"},
    {"=pink", "=purple"},
)
"""Colours that people call by each other's names."""
COLOURS = frozenset(f"={name}" for name in lexicon.words("colors"))
"""The concepts of colours."""
NAMED = COLOURS - {"=colorful"}
"""The colour concepts that name one colour."""


def called_alike(colours: AbstractSet[str]) -> AbstractSet[str]:
    """Concepts of colours with those that people call by the same names."""
    return set(colours).union(*(alike for alike in _ALIKE if alike & colours))
