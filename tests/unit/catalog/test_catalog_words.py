"""Words of cards and requests."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.catalog_cards import card

from personalq.catalog.words import (
    any_term,
    key,
    query_terms,
    stem,
    telling_terms,
    vector_literal,
)
from personalq.chassis.names import fold


@pytest.mark.parametrize(
    ("word", "common"),
    [
        ("bears", "bear"),
        ("bear's", "bear"),
        ("bears'", "bear"),
        ("houses", "house"),
        ("watches", "watch"),
        ("boxes", "box"),
        ("glasses", "glass"),
        ("glass", "glass"),
        ("berries", "berry"),
        ("mice", "mouse"),
        ("wolves", "wolf"),
        ("leaves", "leaf"),
        ("people", "person"),
        ("sitting", "sit"),
        ("smiling", "smile"),
        ("painted", "paint"),
        ("painting", "paint"),
        ("bus", "bus"),
        ("lens", "lens"),
        ("king", "king"),
        ("string", "string"),
        ("red", "red"),
        ("v4", "v4"),
        ("köpfe", "köpfe"),
    ],
)
def test_a_stem_joins_forms_of_one_word_and_no_others(word: str, common: str) -> None:
    """Plural, possessive, -ed and -ing forms meet; words that only look like one stay."""
    assert stem(word) == common


def test_labels_are_compared_without_case_width_and_number() -> None:
    """A constraint means the same however it is spelled."""
    assert key("Teddy  BEARS") == key("teddy bear") == "teddy bear"
    assert fold("Ｂear\u0000 V4") == "bear v4"


def test_a_trigger_survives_whole_and_in_parts() -> None:
    """`<bear-v4>` is found as it stands, where PostgreSQL's parser would see an XML tag."""
    literal = vector_literal(card("bear-v4"))
    for lexeme in ("'<bear-v4>':1A", "'bear-v4':2A", "'bear':3A", "'v4':4A"):
        assert lexeme in literal
    assert query_terms("draw <Bear-V4>, please")["<bear-v4>"] == "ABD"


def test_an_alias_counts_as_much_as_a_subject() -> None:
    """As one phrase and by its words."""
    literal = vector_literal(card("dog-1", aliases=("Mr. Woof",)))
    lexemes = dict(part.split(":") for part in literal.replace("mr. woof", "mr._woof").split(" "))
    assert lexemes["'mr._woof'"][-1] == lexemes["'woof'"][-1] == "A"


def test_each_word_counts_once_in_its_strongest_role() -> None:
    """A description that repeats the subject does not outweigh another card's subject."""
    literal = vector_literal(
        card("b", subjects=("bear",), description="A bear, a bear, the bear on a hill.")
    )
    assert literal.count("'bear'") == 1
    assert "'bear':3A" in literal
    assert "'hill':" in literal
    assert "'the'" not in literal


def test_words_of_the_scene_do_not_match_subjects() -> None:
    """After "on" and its like, a word may be met in styles and descriptions only."""
    terms = query_terms("a realistic bear on forest grass, watercolor")
    assert terms["bear"] == terms["realistic bear"] == terms["watercolor"] == "ABD"
    assert terms["forest"] == "BD"


def test_a_subject_behind_its_scene_is_still_a_subject() -> None:
    """A comma ends the scene."""
    assert query_terms("On a beach, a dog")["dog"] == "ABD"


@pytest.mark.parametrize("text", ["", "   ", "the of a", "…!?", "\u0000"])
def test_a_request_without_words_asks_for_nothing(text: str) -> None:
    """No terms, no sparse ranking."""
    assert query_terms(text) == {}
    assert any_term({}) == ""


def test_quotes_and_backslashes_are_data() -> None:
    """A literal cannot be broken out of; what PostgreSQL makes of it is tested with PostgreSQL."""
    assert any_term(query_terms("o'neil")) == "'o''neil':ABD | 'o':ABD | 'neil':ABD"
    assert any_term(query_terms("a\\b")) == r"'a\\b':ABD | 'b':ABD"


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_any_text_makes_a_bounded_query(text: str) -> None:
    """No text is too strange, none makes a query that grows with it."""
    assert len(query_terms(text * 20)) < 100


def test_common_words_tell_only_together() -> None:
    """Where too many cards say "red" and as many "scarf", those that say both are worth reading."""
    terms = {"red": "ABD", "scarf": "ABD", "heirloom": "BD"}
    assert telling_terms(terms, common=()) == "'red':ABD | 'scarf':ABD | 'heirloom':BD"
    assert telling_terms(terms, common={"red"}) == "'scarf':ABD | 'heirloom':BD"
    assert telling_terms(terms, common={"red", "scarf"}) == (
        "'heirloom':BD | ('red':ABD & 'scarf':ABD)"
    )
    assert telling_terms({"red": "ABD"}, common={"red"}) == ""
