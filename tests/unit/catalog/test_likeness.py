"""How like cards are to what is looked for, from their vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from personalq.catalog.likeness import CardVectors, likeness_of
from personalq.catalog.ports import QUERY_WORDS, Embedded


def _card(
    text: Sequence[float],
    phrases: Sequence[Sequence[float]] = (),
    words: Sequence[Sequence[float]] = (),
) -> CardVectors:
    return CardVectors(rows=np.array([text, *phrases, *words], np.float32), phrases=len(phrases))


def _said(vector: Sequence[float], *words: Sequence[float]) -> Embedded:
    return Embedded(vector=vector, words=words)


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def test_the_likest_phrase_and_the_whole_text() -> None:
    """Of every phrase that is looked for, in its place."""
    [like] = likeness_of([_card(Y, [X, (0.6, 0.8, 0.0)])], [_said(X), _said(Y), _said(Z)])
    assert like.phrases == pytest.approx((1.0, 0.8, 0.0), abs=1e-3)
    assert like.text == pytest.approx((0.0, 1.0, 0.0))
    assert like.words == ()


def test_words_are_compared_each_with_its_likest() -> None:
    """The mean over the words said: X has itself, Z is half like (0, 0.87, 0.5)."""
    card = _card(Y, [Y], [X, (0.0, 0.75**0.5, 0.5)])
    [like] = likeness_of([card], [_said(Y, X, Z), _said(X, X)])
    assert like.words == pytest.approx((0.75, 1.0), abs=1e-3)


def test_what_has_no_vectors_says_nothing() -> None:
    """A card not embedded yet, one without phrases, one whose words are out of date."""
    none, bare, wordless = likeness_of([None, _card(X), _card(X, [Y])], [_said(X, X)])
    assert (none.phrases, none.text, none.words) == ((), (), ())
    assert (bare.phrases, bare.text, bare.words) == ((), (1.0,), ())
    assert (wordless.phrases, wordless.words) == ((0.0,), ())


def test_words_are_left_out_where_a_phrase_has_none() -> None:
    """An embedding server knows whole texts only."""
    card = _card(X, [X], [X])
    assert likeness_of([card], [_said(X, X), _said(X)])[0].words == ()
    assert likeness_of([card], [_said(X, X), _said(X, X)])[0].words == (1.0, 1.0)


def test_of_long_phrases_the_first_words_count() -> None:
    """Twelve of one, and 32 of all together."""
    card = _card(X, [X], [X])
    [like] = likeness_of([card], [_said(X, *[X] * QUERY_WORDS, Y)])
    assert like.words == (1.0,)
    [like] = likeness_of([card], [_said(X, *[X] * 4, Y)] * 8)
    assert like.words == (1.0,) * 8


def test_a_card_has_the_same_in_whatever_company() -> None:
    """To the last digit, or another card could change what is selected."""
    chance = np.random.default_rng(0)
    cards = [
        _card(rows[0], rows[1:4], rows[4:])
        for rows in chance.standard_normal((40, 17, 384)).tolist()
    ]
    said = [_said(rows[0], *rows[1:]) for rows in chance.standard_normal((3, 5, 384)).tolist()]
    together = likeness_of(cards, said)
    assert [likeness_of([card], said)[0] for card in cards] == list(together)
