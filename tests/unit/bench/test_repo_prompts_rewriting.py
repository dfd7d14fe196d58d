"""Which rewritten prompts are valid, judged from the texts alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.repo_prompts import card

from personalq.bench.repo_prompts.rewriting import is_valid

BEAR = card("bear-v4", triggers=["<bear-v4>"], subjects=["bear", "teddy bear"])


@pytest.mark.parametrize(
    ("prompt", "rewritten"),
    [
        ("a bear on grass", "a <bear-v4> on grass"),
        ("a teddy bear on grass", "a <bear-v4> on grass"),
        ("Bear on grass", "<bear-v4> on grass"),
        ("bears on grass", "<bear-v4> on grass"),
        ("the bear's hat", "the <bear-v4>'s hat"),
        ("the bear and the other bear", "the <bear-v4> and the other <bear-v4>"),
        ("a <bear-v4> on grass", "a <bear-v4> on grass"),
        ("bear-v4 on grass", "<bear-v4> on grass"),
        ("on a wooden table", "<bear-v4>, on a wooden table"),
        ("the latest model at night", "the latest <bear-v4> model at night"),
        ("a quick sketch", "a quick sketch of <bear-v4>"),
        ("a bear cave at night", "<bear-v4>, a bear cave at night"),
    ],
)
def test_the_trigger_where_the_noun_was(prompt: str, rewritten: str) -> None:
    """Any number, any case, every mention; beside the prompt where it names no such noun."""
    assert is_valid(prompt, rewritten, BEAR)


@pytest.mark.parametrize(
    ("prompt", "rewritten"),
    [
        ("a bear on grass", "a bear on grass"),
        ("a bear on grass", "a <bear-v5> on grass"),
        ("a bear on grass", "<bear-v4> on grass"),
        ("a bear on grass", "a <bear-v4> on the grass"),
        ("a bear on grass ", "a <bear-v4> on grass"),
        ("a bear on grass", "A <bear-v4> on grass"),
        ("a bear on grass", "a bear on <bear-v4>"),
        ("a bear on grass", "<bear-v4>, a bear on grass"),
        ("a bear on grass", "a <bear-v4><bear-v4> on grass"),
        ("a bearskin rug", "a <bear-v4>skin rug"),
        ("a cat on grass", "a <bear-v4> on grass"),
        ("on a wooden table", "a lovely <bear-v4>, on a wooden table"),
        ("on a wooden table", "<bear-v4>, on a table"),
    ],
)
def test_anything_else_is_invalid(prompt: str, rewritten: str) -> None:
    """Missing, doubled, misplaced, or with other words changed."""
    assert not is_valid(prompt, rewritten, BEAR)


def test_another_name_of_the_subject_counts_when_check_in_says_so() -> None:
    """No list here knows every synonym; what was said to be replaced must still be all of it."""
    assert is_valid("my grizzly on grass", "my <bear-v4> on grass", BEAR, ["grizzly"])
    assert not is_valid("my old grizzly on grass", "my <bear-v4> on grass", BEAR, ["grizzly"])


def test_without_a_trigger_only_the_prompt_itself_is_valid() -> None:
    """Nothing is replaced by nothing."""
    silent = card("bear-v4", triggers=[])
    assert is_valid("a bear on grass", "a bear on grass", silent)
    assert not is_valid("a bear on grass", "a  on grass", silent)


@given(before=st.text(max_size=20), after=st.text(max_size=20))
def test_a_noun_between_any_words_gives_way(before: str, after: str) -> None:
    """Whatever characters stand around it."""
    prompt, rewritten = f"{before} bear {after}", f"{before} <bear-v4> {after}"
    assert is_valid(prompt, rewritten, BEAR)
    assert not is_valid(prompt, rewritten + "x", BEAR)
