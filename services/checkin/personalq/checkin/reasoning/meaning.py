"""Which cards a description means, by how like it the catalog finds them.

A word or two before the subject, a phrase behind it, or what it does may be what tells one card
from the others, or say nothing of them. So the likeness of each card, above the mean of all, is a
logit, and that it tells nobody apart is one more possibility. Who says "of several layers" means a
detail, not a card: what several cards share is a possibility too, by the mean of theirs, and makes
them equally likely. The weights were fitted to requests worded by hand
(`docs/decisions/010-phrase-vectors.md`, `024-shared-details.md`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.cards import Hit
from personalq.checkin.lexicon import canonical
from personalq.checkin.nouns import is_worn
from personalq.checkin.reasoning.profiles.profile import pieces_of

_WHERE = lexicon.words("prepositions") - {"like", "for", "as", "than", "without"}
_TELLS_WHERE = compile_form(
    rf"\W*((\w+ing|deep|high|far|right|just|out|there|somewhere) )?({'|'.join(sorted(_WHERE))})\s|"
    r"\W*(placed|set|shown|pictured|outdoors|indoors|outside|inside)(?!\w)",
    flags=re.IGNORECASE,
)
"""It may well say where or when the subject is to be: "on a fence", "sitting on a fence"."""
_IN = compile_form(
    r"\W*(\w+ing )?in ([\w'’-]+ )*?(?P<what>[\w-]+)"
    rf"(?= ?($|[,.;])| ({'|'.join(sorted(_WHERE))})\s)",
    flags=re.IGNORECASE,
)
"""Or what it has on: "in a ballerina's skirt"."""


class Place(StrEnum):
    """Where a description stands."""

    BEFORE = "before"
    """Before the subject: "the furious goose"."""
    BEHIND = "behind"
    """Behind it: "with a torn ear"."""
    DOES = "does"
    """What it does, which mostly is the scene."""
    ANSWER = "answer"
    """Alone: it answers a question, and describes, whatever it says."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Logits per unit of cosine, and of telling nobody apart."""

    whole: float
    """Of the card's whole text."""
    detail: float
    """Of the likest words, or of the likest phrase."""
    look: float
    """Of the likest of what its looks are called, above what any two phrases may be."""
    thing: float
    """Of the likest of what its things are, above the same."""
    nobody: Mapping[Place, float]
    bare: float
    """More, of one or two words behind the subject: "in sunglasses" may as well be the scene."""
    shared: float
    """Of a detail that several cards share, per mean logit of theirs."""
    sharing: float
    """More, of such a detail."""


BY_WORDS = Weights(
    whole=5.9,
    detail=17.3,
    look=24.8,
    thing=24.0,
    nobody={Place.BEFORE: 1.5, Place.BEHIND: 2.4, Place.DOES: 2.5, Place.ANSWER: -math.inf},
    bare=1.0,
    shared=1.9,
    sharing=-2.9,
)
BY_PHRASES = Weights(
    whole=9.8,
    detail=10.8,
    look=22.4,
    thing=16.7,
    nobody={Place.BEFORE: 1.7, Place.BEHIND: 1.9, Place.DOES: 3.9, Place.ANSWER: -math.inf},
    bare=2.2,
    shared=1.8,
    sharing=-3.1,
)
"""The same where the embedding model does not tell of words."""
LOOK = 0.45
"""Likeness of a look that means nothing: "standing in a puddle" is as near to watercolor."""
THING = 0.4
"""The same of a thing."""
STRIKING_WORDS, STRIKING_LOOK, STRIKING_THING = 0.6, 0.75, 0.65
"""Likeness from which on words, a look or a thing of cards are strikingly like a scene."""
STRIKING_LEAD = 0.1
"""What they must be ahead of all other cards by."""
STRIKING_WORDS_FAR, FAR = 0.5, 0.2
"""Likeness and lead of words that are as striking, where no place is told."""
RARE = 0.03
"""Likeness of a detail that is lost, times the logarithm of the number of cards that have it: who
describes means to single out."""


@dataclass(frozen=True, kw_only=True)
class Likeness:
    """How like what was said each card is, above the mean of all."""

    whole: Sequence[float]
    detail: Sequence[float]
    look: Sequence[float]
    thing: Sequence[float]
    by_words: bool


def compare(said: Sequence[str], hits: Sequence[Hit]) -> Likeness | None:
    """Compare a description with cards; None where the catalog cannot tell, or there is one card.

    Args:
        said: the description, and other wordings of it; the likest counts.
    """
    by_words = any(hit.word_likeness for hit in hits) and all(
        hit.word_likeness for hit in hits if hit.likeness
    )
    whole = [_likest(said, hit.text_likeness) for hit in hits]
    detail = [_likest(said, hit.word_likeness if by_words else hit.likeness) for hit in hits]
    told = [value for value in detail if value is not None]
    if len(hits) < 2 or None in whole or not told:
        return None
    # A card without a description is like nothing; one whose vectors are still to come may be.
    if any(d is None and pieces_of(hit.card) for d, hit in zip(detail, hits, strict=True)):
        return None
    return Likeness(
        whole=_above_mean([value or 0.0 for value in whole]),
        detail=_above_mean(_rare([min(told) if value is None else value for value in detail])),
        look=_above_mean([max(LOOK, _likest(said, hit.look_likeness) or 0.0) for hit in hits]),
        thing=_above_mean([max(THING, _likest(said, hit.thing_likeness) or 0.0) for hit in hits]),
        by_words=by_words,
    )


@dataclass(frozen=True, kw_only=True)
class Meant:
    """What a description may mean, and how likely each is; all together 1."""

    one: Sequence[float]
    """Of each card, that it alone is meant."""
    several: Sequence[float]
    """Of each detail that several cards have, that it is."""
    nobody: float
    """That no card is told from the others."""


def readings(
    like: Likeness, place: Place, *, bare: bool = False, shared: Sequence[Sequence[int]] = ()
) -> Meant:
    """How likely a description means each card alone, a detail that several have, or none.

    Args:
        bare: it is one or two words.
        shared: the places of the cards of each detail that several have.
    """
    weights = BY_WORDS if like.by_words else BY_PHRASES
    logits = [
        weights.whole * whole
        + weights.detail * detail
        + weights.look * look
        + weights.thing * thing
        for whole, detail, look, thing in zip(
            like.whole, like.detail, like.look, like.thing, strict=True
        )
    ]
    nobody = weights.nobody[place] + (weights.bare if bare else 0.0)
    details = [
        weights.shared * sum(logits[at] for at in places) / len(places) + weights.sharing
        for places in shared
    ]
    top = max(*logits, *details, nobody)
    one = [math.exp(logit - top) for logit in logits]
    several = [math.exp(detail - top) for detail in details]
    untold = math.exp(nobody - top)
    total = sum(one) + sum(several) + untold
    return Meant(
        one=[each / total for each in one],
        several=[each / total for each in several],
        nobody=untold / total,
    )


def probabilities(meant: Meant, shared: Sequence[Sequence[int]] = ()) -> list[float]:
    """How likely each card is meant, their sum 1; the same for all as far as nobody is told apart.

    Args:
        shared: as for `readings`.
    """
    odds = [each + meant.nobody / len(meant.one) for each in meant.one]
    for likely, places in zip(meant.several, shared, strict=True):
        for at in places:
            odds[at] += likely / len(places)
    return odds


def striking(said: Sequence[str], hits: Sequence[Hit]) -> frozenset[int]:
    """The places of the cards that are strikingly like what was said, unlike all others.

    At most half of the cards, and one where a place is told: "on a stack of pancakes" is like every
    card that has food on it, and "at a school" like a bell, so that things tell nothing then. Of
    words, looks and things all that tell must tell of a card.
    """
    placed = all(map(_TELLS_WHERE.match, said))
    most = 1 if placed else len(hits) // 2
    far = () if placed else ((STRIKING_WORDS_FAR, FAR),)
    things = (
        () if placed and not all(map(_is_dressed, said)) else ((STRIKING_THING, STRIKING_LEAD),)
    )
    told = (
        _striking([_likest(said, like) or 0.0 for like in likeness], leads, most)
        for likeness, leads in (
            ([hit.word_likeness for hit in hits], ((STRIKING_WORDS, STRIKING_LEAD), *far)),
            ([hit.look_likeness for hit in hits], ((STRIKING_LOOK, STRIKING_LEAD),)),
            ([hit.thing_likeness for hit in hits], things),
        )
    )
    found = [places for places in told if places]
    return frozenset.intersection(*found) if found else frozenset()


def _is_dressed(said: str) -> bool:
    told = _IN.match(said)
    return told is not None and is_worn(canonical(told["what"]))


def _striking(
    likeness: Sequence[float], leads: Sequence[tuple[float, float]], most: int
) -> frozenset[int]:
    """The places of the likest cards, as few as are ahead of all others."""
    order = sorted(range(len(likeness)), key=lambda place: -likeness[place])
    values = [likeness[place] for place in order]
    ends = (
        end
        for end in range(1, min(most, len(order) - 1) + 1)
        for least, lead in leads
        if values[end - 1] >= max(least, values[end] + lead)
    )
    return frozenset(order[: next(ends, 0)])


def likest(said: Sequence[str], hit: Hit) -> float:
    """How like the likest wording of a description a card's words or things are; 0 where the
    catalog cannot tell.
    """
    told = (_likest(said, like) for like in (hit.word_likeness, hit.thing_likeness))
    return max((like for like in told if like is not None), default=0.0)


def _likest(said: Sequence[str], told: Mapping[str, float]) -> float | None:
    return max((told[each] for each in said if each in told), default=None)


def _rare(likeness: Sequence[float]) -> list[float]:
    counts = Counter(round(each, 4) for each in likeness)
    return [each - RARE * math.log(counts[round(each, 4)]) for each in likeness]


def _above_mean(likeness: Sequence[float]) -> list[float]:
    mean = sum(likeness) / len(likeness)
    return [each - mean for each in likeness]
