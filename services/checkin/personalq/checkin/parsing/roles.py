"""Beings in a role: "a hedgehog cook" is a hedgehog, "a dog walker" is no dog."""

from __future__ import annotations

from functools import cache, lru_cache

from personalq.checkin.lexicon import wordnet
from personalq.checkin.lexicon.wordnet import Nature, nature

_BEINGS = ("animal", "person", "mythical being", "imaginary being", "robot")
_KEEPERS = frozenset(
    ["keeper", "walker", "lover", "rider", "hunter", "rescuer", "slayer", "tamer", "trainer",
     "owner", "breeder", "sitter", "groomer", "whisperer", "handler", "charmer", "catcher",
     "watcher", "feeder", "killer", "lady", "man", "woman", "person", "people", "boy", "girl",
     "guy", "kid", "fan", "expert", "model", "collector", "farmer", "fighter", "thief"]
)  # fmt: skip
"""Who has to do with the being that is named before them."""


def plays(being: str, role: str) -> bool:
    """Whether a noun right behind another says what that one plays."""
    return nature(role) is Nature.PERSON and role not in _KEEPERS and _is_being(being)


@lru_cache(maxsize=4096)
def _is_being(noun: str) -> bool:
    return any(_beings() & set(wordnet.above(sense)) for sense in wordnet.senses(noun))


@cache
def _beings() -> frozenset[int]:
    return frozenset(sense for being in _BEINGS for sense in wordnet.senses(being))
