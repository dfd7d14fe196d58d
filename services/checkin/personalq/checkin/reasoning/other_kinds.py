"""Cards that say they are of another kind than the one asked for: a grizzly is no panda.

"A corgi" may be any dog of a catalog that only says "dog". Where every card says which kind it is,
and WordNet knows both kinds and relates neither to the other, none is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from personalq.checkin import lexicon
from personalq.checkin.cards import Card
from personalq.checkin.intent import Constraint
from personalq.checkin.lexicon import canonical, wordnet
from personalq.checkin.nouns import is_kind_of, meant
from personalq.checkin.reasoning.describe import pieces_of

_LONGEST = 2
"""Words of the longest kind looked for: "sun bear"."""


def are_others(cards: Sequence[Card], subject: Constraint) -> bool:
    """Whether every card says that it is of another kind than the one asked for.

    Of people nothing is said: a man may be a nurse.

    Args:
        subject: in a word narrower than the catalog's subjects.
    """
    people = any(wordnet.synset(n)[0] == "p" for n in meant(canonical(subject.text), said=False))
    return bool(cards) and not people and all(_is_of(card, subject) is False for card in cards)


def _is_of(card: Card, subject: Constraint) -> bool | None:
    """Whether a card says that it is of a kind, or of another one; None when it says neither."""
    wanted = canonical(subject.text)
    if not meant(wanted, said=False) or _is_age(wanted) or wanted in lexicon.words("of_any_kind"):
        return None
    general = tuple(map(canonical, subject.values))
    kinds = _kinds((*pieces_of(card)[:1], *card.subjects), general)
    if not kinds:
        return None
    return any(is_kind_of(kind, wanted) or is_kind_of(wanted, kind) for kind in kinds)


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
