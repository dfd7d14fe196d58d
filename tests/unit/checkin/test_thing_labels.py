"""What the things on a card are."""

from __future__ import annotations

import pytest

from personalq.checkin.cards import Card
from personalq.checkin.labels import LONGEST_WORDING, MOST_WORDINGS, Label
from personalq.checkin.lexicon import stems, thesaurus
from personalq.checkin.lexicon.thesaurus import told_in
from personalq.checkin.thing_labels import chunks, telling, things_on


def _things(description: str, subject: str = "guitar") -> dict[str, tuple[str, ...]]:
    card = Card(checkpoint_id="it", subjects=(subject,), description=description)
    return {"".join(label.tags): label.wordings for label in things_on(card)}


def test_things_are_told_by_a_dictionary() -> None:
    """Longest names first; what the card is of, colours and small words are left out."""
    told = _things("A red guitar with a mother-of-pearl inlay and a ladybug on the neck.")
    assert told["mother of pearl"] == ("the iridescent internal layer of a mollusk shell",)
    assert any("spotted beetle" in said for said in told["ladybug"])
    assert "neck" in told
    assert {"guitar", "red", "mother", "pearl", "on"}.isdisjoint(told)


def test_plurals_are_the_thing() -> None:
    """Several are of the same kind."""
    assert _things("A guitar with two ladybugs.")["ladybug"] == _things("A ladybug.")["ladybug"]


def test_kinds_are_told_as_people_do() -> None:
    """By all that is said of them at once, with what they are kinds of."""
    (said,) = _things("A brown calzone.", "pizza")["calzon, pizza"]
    assert "folded-over" in said
    assert said.endswith(" pizza")


def test_things_and_qualities_are_told_as_people_do() -> None:
    """Each saying by itself: many are near to one of them that are not near to all."""
    told = _things("A mischievous guitar with two stethoscopes.")
    assert "doctor's listening tube" in told["stethoscope, as told"]
    assert "up to no good" in told["mischievous/impish, as told"]


def test_a_word_for_two_things_is_told_as_both() -> None:
    """A grill for meat, and one of gold teeth."""
    told = _things("A guitar with a grill.")
    assert sum(tag.endswith(", as told") for tag in told) >= 2


@pytest.mark.parametrize(
    ("description", "named", "other"),
    [
        ("A guitar with a tiny hat.", "tiny", "tin"),
        ("A guitar with a plan of the house.", "", "airplane"),
        ("A guitar that you can check.", "checked", "cane seat"),
        ("A guitar with a planet.", "", "airplane"),
        ("A dusty guitar.", "dusty", ""),
        ("A guitar with starry skies.", "stars", ""),
        ("A scared guitar.", "frightened", "facial scar"),
    ],
)
def test_words_of_one_stem_are_not_one_word(description: str, named: str, other: str) -> None:
    """A tiny hat is of no tin, a plan no plane, and what can be checked has no cane seat."""
    told = {name.split("/")[0].removesuffix(", as told") for name in _things(description)}
    assert not named or named in told
    assert other not in told


def test_a_match_is_looked_at_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the text is twice the work: the whole is not read again for each match."""
    told_in("tiny tin")  # the tables are made
    stemmed = []

    def stem(word: str) -> str:
        stemmed.append(word)
        return stems.stem(word)

    monkeypatch.setattr(thesaurus, "stem", stem)
    told_in("tiny tin " * 200)
    once = len(stemmed)
    told_in("tiny tin " * 400)
    assert len(stemmed) - once == 2 * once


def test_what_is_told_is_short_enough() -> None:
    """For a catalog to compare, and cut between words."""
    told = _things("A guitar with a grandfather clock, a stork, a lobster and a falcon.")
    assert all(0 < len(said) <= LONGEST_WORDING for wordings in told.values() for said in wordings)


def test_what_most_have_tells_none_apart() -> None:
    """The rarest come first, as many as are compared at once."""
    bell, hat, scarf = (
        Label(tags=frozenset({name}), wordings=(name,)) for name in ("bell", "hat", "scarf")
    )
    assert telling([(bell, hat), (bell, scarf), (bell, scarf), ()]) == (hat, scarf)
    many = [
        (Label(tags=frozenset({str(n)}), wordings=(f"{n}", f"a {n}")),)
        for n in range(MOST_WORDINGS)
    ]
    assert sum(len(label.wordings) for label in telling(many)) == MOST_WORDINGS
    assert telling([]) == ()


def test_parts_hold_all() -> None:
    """In order, each of about as many wordings as asked for."""
    labels = [Label(tags=frozenset({str(n)}), wordings=("a", "b")) for n in range(5)]
    assert [len(part) for part in chunks(labels, 4)] == [2, 2, 1]
    assert [label for part in chunks(labels, 4) for label in part] == labels
