"""How alike phrases are by the vectors of their words, where a card says nothing like a wish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from personalq.checkin import lexicon
from personalq.checkin.lexicon.stems import stem
from personalq.checkin.lexicon.vectors import likeness
from personalq.checkin.reasoning.descriptions.wishes import Wish
from personalq.checkin.reasoning.profiles.profile import Profile
from personalq.checkin.reasoning.profiles.traits import Trait

ALIKE_PHRASE = 0.40
ALIKE_WORD = 0.55
"""Likeness of meaning from which on a phrase, or a single word, may mean what a card says."""
ALIKE_REST = 0.15
"""What two phrases that share a word must be alike in without it."""
SPREAD = 0.12
"""Below the likeliest card's likeness by this much, a card does not have it."""


def by_vectors(wish: Wish, profiles: Sequence[Profile], *, floor: float) -> list[float]:
    """By likeness of meaning; colours and other adjectives of the lists are known not to fit."""
    groups, colors = lexicon.description_groups(), lexicon.words("colors")
    listed = colors if wish.phrase else frozenset(groups.values())
    words = tuple(word for word in wish.trait.words if groups.get(word) not in listed)
    if not words or (wish.phrase and wish.trait.noun not in words):
        return [0.0] * len(profiles)
    common = _common(profiles)
    found = [
        max((_likeness(words, said) for said in _comparable(wish, card, common)), default=0.0)
        for card in profiles
    ]
    top = max(found, default=0.0)
    floor = max(floor, ALIKE_PHRASE if wish.phrase else ALIKE_WORD)
    if top < floor:
        return [0.0] * len(profiles)
    strength = min(1.0, 0.5 + (top - floor) / 0.2)
    return [strength * max(0.0, 1 - (top - value) / SPREAD) for value in found]


def _likeness(words: tuple[str, ...], said: tuple[str, ...]) -> float:
    """Likeness of two phrases; words both have are no evidence when the rest is unlike."""
    own = tuple(word for word in words if word not in said)
    rest = tuple(word for word in said if word not in words)
    if 0 < len(own) < len(words) and likeness(own, rest) < ALIKE_REST:
        return 0.0
    return likeness(words, said)


def _comparable(wish: Wish, card: Profile, common: frozenset[Trait]) -> Iterator[tuple[str, ...]]:
    """Words of a card to compare with: the subject's own only when the wish is about it."""
    whole = stem(wish.trait.noun) in card.nouns
    for said in card.traits:
        if said in common or said.lacks != wish.trait.lacks:
            continue
        words = tuple(w for w in said.words if whole or stem(w) not in card.nouns)
        if wish.phrase:
            words = tuple(w for w in words if w not in lexicon.colours() and w != "sky")
            if words:  # the sky of "sky-blue" is like no cloud
                yield words
        else:
            yield from ((word,) for word in words)


def _common(profiles: Sequence[Profile]) -> frozenset[Trait]:
    """Traits most cards share: they tell nobody apart."""
    counts = Counter(said for card in profiles for said in set(card.traits))
    return frozenset(said for said, count in counts.items() if count > 0.5 * len(profiles) > 0.5)
