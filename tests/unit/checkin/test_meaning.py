"""Which card is meant, by how like the catalog finds them."""

from __future__ import annotations

import pytest

from personalq.checkin.cards import Card, Hit
from personalq.checkin.reasoning.meaning import Place, compare, probabilities, readings

CARD = Card(checkpoint_id="goose", subjects=("goose",), description="A goose in a hat.")
PLAIN = Card(checkpoint_id="plain", subjects=("goose",))
SAID = ("a cap",)


def _hit(
    whole: float, *, words: float | None = None, phrase: float | None = None, card: Card = CARD
) -> Hit:
    return Hit(
        card=card,
        text_likeness={"a cap": whole},
        likeness={} if phrase is None else {"a cap": phrase},
        word_likeness={} if words is None else {"a cap": words},
    )


def _told(hits: list[Hit], place: Place = Place.BEHIND, *, bare: bool = False) -> list[float]:
    like = compare(SAID, hits)
    assert like is not None
    found = probabilities(readings(like, place, bare=bare))
    assert sum(found) == pytest.approx(1)
    return found


def test_whole_text_and_words_tell_together() -> None:
    """Of two with equally like words the one whose text is nearer, and the other way round."""
    by_text = _told([_hit(0.3, words=0.6), _hit(0.4, words=0.6)])
    by_words = _told([_hit(0.3, words=0.4), _hit(0.3, words=0.6)])
    assert by_text[0] < by_text[1]
    assert by_words[0] < by_words[1]
    assert _told([_hit(0.3, words=0.3), _hit(0.5, words=0.7), _hit(0.3, words=0.3)])[1] > 0.9


def test_what_tells_nobody_apart_leaves_all_alike() -> None:
    """Everything is as far from a cap: the scene was spoken of."""
    first, *others = _told([_hit(0.22, words=0.21), _hit(0.2, words=0.2), _hit(0.21, words=0.2)])
    assert first < 1.3 * min(others)


@pytest.mark.parametrize("by", ["words", "phrase"])
def test_where_it_stands_says_how_sure_it_is(by: str) -> None:
    """Before the subject it describes; behind it may be the scene; an answer always tells."""
    hits = [_hit(0.3, **{by: 0.3}), _hit(0.36, **{by: 0.4})]  # type: ignore[arg-type]
    sure = [_told(hits, place)[1] for place in (Place.DOES, Place.BEFORE, Place.ANSWER)]
    assert sure == sorted(sure)
    assert _told(hits, bare=True)[1] < _told(hits)[1] < sure[-1]


def test_the_likest_wording_counts() -> None:
    """A clause may be said in two ways."""
    hits = [
        Hit(card=CARD, text_likeness={"drilled": 0.1, "have drilled": 0.6},
            word_likeness={"drilled": 0.1, "have drilled": 0.6}),
        Hit(card=CARD, text_likeness={"drilled": 0.3, "have drilled": 0.1},
            word_likeness={"drilled": 0.3, "have drilled": 0.1}),
    ]  # fmt: skip
    like = compare(("drilled", "have drilled"), hits)
    assert like is not None
    assert like.detail[0] > like.detail[1]
    assert like.whole[0] > like.whole[1]


def test_a_card_without_a_description_is_like_nothing() -> None:
    """Its text still tells; one whose vectors are still to come makes nobody sure."""
    found = _told([_hit(0.3, words=0.6), _hit(0.3, words=0.3), _hit(0.3, card=PLAIN)])
    assert found[1] == pytest.approx(found[2])
    assert compare(SAID, [_hit(0.3, words=0.6), _hit(0.3)]) is None


def test_while_words_are_still_to_come_phrases_tell() -> None:
    """One card of two has vectors of words already."""
    like = compare(SAID, [_hit(0.3, words=0.6, phrase=0.2), _hit(0.3, phrase=0.5)])
    assert like is not None
    assert not like.by_words
    assert like.detail[0] < like.detail[1]


def test_nobody_knows_without_vectors() -> None:
    """Of a catalog without a model, or of a single card."""
    without = Hit(card=CARD)
    for hits in ([], [without], [without, without], [_hit(0.5, words=0.5)]):
        assert compare(SAID, hits) is None
    assert compare(SAID, [_hit(0.5, words=0.5), without]) is None
