"""How like in meaning the phrases of a query are to what a card's description says.

Computed here and not by PostgreSQL: the vectors of cards that are found again and again lie in
memory (`store_vectors.py`), and the cards are looked for while the phrases are embedded (decision
033).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from personalq.catalog.ports import QUERY_WORDS, Embedded, Vector

#: Words that are looked for at most, of all phrases together.
_WORDS = 32


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CardVectors:
    """What is stored of a card for one model, all of length 1."""

    #: Of the whole text, then of each phrase of the description, then of each word of these phrases
    #: in its context: (1 + phrases + words, width).
    rows: NDArray[np.float32]
    #: How many are of phrases.
    phrases: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CardLikeness:
    """Cosines of a card, for each phrase that is looked for; empty where nothing can tell."""

    #: Of the likest phrase of the description.
    phrases: tuple[float, ...] = ()
    #: Of the whole text.
    text: tuple[float, ...] = ()
    #: Mean over the words of what is looked for of each one's likest word (MaxSim).
    words: tuple[float, ...] = ()


def likeness_of(
    cards: Sequence[CardVectors | None], phrases: Sequence[Embedded]
) -> Sequence[CardLikeness]:
    """How like each card is to each phrase.

    Card by card: a product of all of them rounds each one's numbers by what stands beside it, and
    a card is to have the same in whatever company.

    Args:
        cards: None for one that has no vectors.
        phrases: what is looked for, at least one. Words are compared where all of them have some.
    """
    words: Sequence[Sequence[Vector]] = []
    if all(phrase.words for phrase in phrases):
        each = min(QUERY_WORDS, _WORDS // len(phrases))
        words = [phrase.words[:each] for phrase in phrases]
    said = [*(phrase.vector for phrase in phrases), *itertools.chain.from_iterable(words)]
    # Rounded as what it is compared with is stored: alike for the very same words.
    columns = np.array(said, np.float32).astype(np.float16).astype(np.float32).T
    ends = np.cumsum([len(phrases), *map(len, words)]).tolist()
    spans = list(itertools.pairwise(ends))
    return [
        CardLikeness() if card is None else _likeness(card, columns, ends[0], spans)
        for card in cards
    ]


def _likeness(
    card: CardVectors, said: NDArray[np.float32], phrases: int, words: Sequence[tuple[int, int]]
) -> CardLikeness:
    """How like one card is.

    Args:
        said: vectors of the phrases, then of their words, (width, phrases + words).
        words: where those of each phrase are; none where words are not compared.
    """
    cosines = card.rows @ said
    of_phrases, of_words = np.split(cosines[1:], [card.phrases])
    likest_phrase = of_phrases[:, :phrases].max(axis=0).tolist() if len(of_phrases) else ()
    likest_word: list[float] = of_words.max(axis=0).tolist() if len(of_words) else []
    return CardLikeness(
        phrases=tuple(likest_phrase),
        text=tuple(cosines[0, :phrases].tolist()),
        words=tuple(sum(likest_word[a:b]) / (b - a) for a, b in words) if likest_word else (),
    )
