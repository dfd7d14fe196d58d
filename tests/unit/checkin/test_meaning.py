"""Which card is meant, by how like the catalog finds them."""

from __future__ import annotations

from collections.abc import Mapping

from personalq.checkin.cards import Card, Hit
from personalq.checkin.meaning import LIKE, LIKE_MODIFIER, near, of_modifier, of_phrase

CARD = Card(checkpoint_id="goose", subjects=("goose",), description="A goose in a hat.")


def _hit(likeness: Mapping[str, float], whole: Mapping[str, float]) -> Hit:
    return Hit(card=CARD, likeness=likeness, text_likeness=whole)


def test_a_phrase_and_the_whole_text_tell_together() -> None:
    """Of two with an equally like phrase the one whose text is nearer."""
    hits = [_hit({"a cap": 0.6}, {"a cap": 0.3}), _hit({"a cap": 0.6}, {"a cap": 0.4})]
    meaning = of_phrase(["a cap"], hits)
    assert meaning is not None
    first, second = near(meaning, floor=LIKE)
    assert first < second == 1.0


def test_before_the_subject_the_whole_text_tells() -> None:
    """Of the words alone and with the subject; the likest phrase counts a little."""
    said = ("angry", "angry goose")
    hits = [
        _hit({"angry": 0.1}, {"angry": 0.3, "angry goose": 0.7}),
        _hit({"angry": 0.2}, {"angry": 0.1, "angry goose": 0.6}),
    ]
    meaning = of_modifier(said, hits)
    assert meaning is not None
    assert near(meaning, floor=LIKE_MODIFIER) == [1.0, 0.0]
    assert near(meaning, floor=0.35) == [0.0, 0.0]


def test_nobody_knows_without_vectors() -> None:
    """Of a catalog without a model, or of cards that wait for their vectors."""
    told, untold = _hit({"a cap": 0.6}, {"a cap": 0.3}), _hit({}, {})
    for hits in ([], [untold], [told, untold]):
        assert of_phrase(["a cap"], hits) is None
        assert of_modifier(("a cap",), hits) is None


def test_an_older_catalog_tells_by_phrases() -> None:
    """It knows no likeness of whole texts."""
    meaning = of_phrase(["a cap"], [_hit({"a cap": 0.6}, {}), _hit({"a cap": 0.5}, {})])
    assert meaning is not None
    assert near(meaning, floor=LIKE)[0] == 1.0
