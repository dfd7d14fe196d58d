"""Cards that say they are of another kind than the one asked for: a grizzly is no panda.

"A corgi" may be any dog of a catalog that only says "dog". Where a card says which kind it is, and
WordNet knows both kinds and relates neither to the other, it is not meant.
"""

from __future__ import annotations

from functools import lru_cache

from personalq.checkin import lexicon
from personalq.checkin.cards import Card
from personalq.checkin.describe import pieces_of
from personalq.checkin.intent import Constraint
from personalq.checkin.lexicon import canonical, wordnet
from personalq.checkin.nouns import is_kind_of, meant

_LONGEST = 2
"""Words of the longest kind looked for: "sun bear"."""


def is_other_kind(card: Card, subject: Constraint) -> bool:
    """Whether a card is of a kind that the noun asked for is none of.

    Args:
        subject: in a word narrower than the catalog's subjects.
    """
    wanted = canonical(subject.text)
    if not meant(wanted, said=False) or _is_age(wanted) or wanted in lexicon.words("of_any_kind"):
        return False
    general = tuple(map(canonical, subject.values))
    kinds = _kinds((*pieces_of(card)[:1], *card.subjects), general)
    return bool(kinds) and not any(
        is_kind_of(kind, wanted) or is_kind_of(wanted, kind) for kind in kinds
    )


@lru_cache(maxsize=16384)
def _kinds(texts: tuple[str, ...], general: tuple[str, ...]) -> tuple[str, ...]:
    """The words of texts that are kinds of a general noun: "grizzly bear" of "bear"."""
    found = []
    for text in texts:
        words = canonical(text).replace("-", " ").split()
        for start in range(len(words)):
            for length in range(_LONGEST, 0, -1):
                phrase = " ".join(words[start : start + length])
                if len(phrase.split()) == length and _is_kind(phrase, general):
                    found.append(phrase)
                    break
    return tuple(found)


def _is_kind(phrase: str, general: tuple[str, ...]) -> bool:
    return phrase not in general and any(
        is_kind_of(phrase, noun) and not is_kind_of(noun, phrase) for noun in general
    )


def _is_age(noun: str) -> bool:
    """Whether a noun says how old it is rather than of what kind: a puppy may be a corgi."""
    young = set(wordnet.senses("young", said=False))
    return any(young & set(wordnet.above(number)) for number in meant(noun, said=False))
