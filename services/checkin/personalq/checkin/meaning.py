"""Which cards a description means, by how like it the catalog finds them.

Behind the subject a description is a phrase of the card in other words, so the likest phrase and
the whole text tell together. Before the subject it is a word or two, which phrases are too short to
be compared with: the whole text tells, of the words alone and with the subject they stand before.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from personalq.checkin.cards import Hit
from personalq.checkin.describe import pieces_of

LIKE = 0.40
"""Likeness of a clause to a phrase of a card from which on it may mean that phrase."""
LIKE_ANSWERED = 0.25
"""The same for an answer: it describes, whatever it says."""
LIKE_BARE = 0.55
"""The same for a single word: "wearing sunglasses" may as well be the scene."""
LIKE_ACTION = 0.40
"""The same for what the subject does, which mostly is the scene."""
LIKE_MODIFIER = 0.17
"""Likeness to a card's whole text of what stands before the subject, where no scene can."""
LIKE_MODIFIER_ORDERED = 0.25
"""The same beside an order, which picks one without it: "the latest happy goose"."""
RARE = 0.03
"""Likeness that a phrase loses, times the logarithm of the number of cards that have it."""
APART = 0.15
"""Below the likeliest card by this much, a card does not have what is meant."""
APART_TOGETHER = 0.09
"""The same where the whole text tells too."""
APART_MODIFIER = 0.16
"""The same of what stands before the subject: a sum of three."""
PHRASE = 0.3
"""How much the likest phrase counts there, beside the whole text."""


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """How like what was said each card is; one number per card."""

    top: float
    """Of the likeliest card, to be compared with how like it must be at least."""
    likeness: Sequence[float]
    apart: float


def of_phrase(said: Sequence[str], hits: Sequence[Hit]) -> Meaning | None:
    """The likest phrase of each card, and its whole text; None where nobody knows.

    A card without phrases is like nothing; one whose phrases wait to be embedded may be.
    """
    known = [any(phrase in hit.likeness for phrase in said) for hit in hits]
    if not any(known):
        return None
    if any(pieces_of(hit.card) for hit, told in zip(hits, known, strict=True) if not told):
        return None
    likest = [max(hit.likeness.get(phrase, -1.0) for phrase in said) for hit in hits]
    # A person who describes means to single out: what many cards say is the less likely meant.
    counts = Counter(round(value, 4) for value in likest)
    rare = [value - RARE * math.log(counts[round(value, 4)]) for value in likest]
    if not all(hit.text_likeness for hit in hits):
        return Meaning(top=max(likest), likeness=rare, apart=APART)
    whole = [max(hit.text_likeness.get(phrase, -1.0) for phrase in said) for hit in hits]
    together = [(one + other) / 2 for one, other in zip(rare, whole, strict=True)]
    return Meaning(top=max(likest), likeness=together, apart=APART_TOGETHER)


def of_modifier(said: Sequence[str], hits: Sequence[Hit]) -> Meaning | None:
    """The whole text of each card, against all that was said; None where nobody knows.

    Args:
        said: the words alone, then with the subject.
    """
    if not hits or not said or any(each not in hit.text_likeness for hit in hits for each in said):
        return None
    together = [
        sum(hit.text_likeness[each] for each in said) + PHRASE * hit.likeness.get(said[0], 0.0)
        for hit in hits
    ]
    top = max(hit.text_likeness[said[0]] for hit in hits)
    return Meaning(top=top, likeness=together, apart=APART_MODIFIER)


def near(meaning: Meaning, *, floor: float) -> list[float]:
    """1 for the likeliest card, less for those below it; 0 for all when none is like it."""
    if meaning.top < floor:
        return [0.0] * len(meaning.likeness)
    best = max(meaning.likeness)
    return [max(0.0, 1 - (best - value) / meaning.apart) for value in meaning.likeness]
