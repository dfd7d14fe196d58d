"""Mistyped words: what is meant is read, what is typed is what gives way."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.checkin_cards import NOW, card, studio
from support.fake_catalog import vocabulary_of

from personalq.checkin.intent import Attribute, Intent, OrderKey
from personalq.checkin.mapping.map import rewrite
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.parsing.typos import correct, is_word
from personalq.checkin.vocabulary import compile_lexicon

_LIGHTHOUSE = card("tower-v3", "lighthouse", "pop art", "2026-02-03", "A red lighthouse.")
LEXICON = compile_lexicon(vocabulary_of([*studio(), _LIGHTHOUSE]))
CONTEXT = Context(now=NOW, zone=ZoneInfo("UTC"))
SPELLINGS = ("volcano", "lighthouse", "raven", "barista", "bengal")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("a velocirapter", "a velociraptor"), ("a volcanoo", "a volcanoo"), ("rapter", "rapter")],
)
def test_a_kind_that_no_card_lists(typed: str, meant: str) -> None:
    """Of a subject that the catalog has; any other word of English is as unknown as before."""
    assert correct(typed, (), subjects={"velociraptor"}.__contains__).text == meant


def _read(prompt: str) -> Intent:
    return parse(prompt, LEXICON, CONTEXT)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("the lighthose at sea", "the lighthouse at sea"),
        ("my newst and oldset one", "my newest and oldest one"),
        ("from Febuary, verison 3", "from february, version 3"),
        ("a realisitc, cartoony dog", "a realistic, cartoony dog"),
        ("Lighthuose v2", "lighthouse v2"),
        ("a bycicle", "a bicycle"),
        ("a volcanoe", "a volcano"),
    ],
)
def test_slips(typed: str, meant: str) -> None:
    """One letter missing, added or changed, or two swapped."""
    assert correct(typed, SPELLINGS).text == meant


@pytest.mark.parametrize(
    "text",
    [
        "a bowl of ramen beside two baristas",  # no ravens; a plural
        "though the bengal is chewed, it yodels",
        "Lena at Lighthose, <verison-3>",  # names are not words
        "newt, bare, dock, a chaise longue",  # short words
        "forrest and holmes by the magna carta, a stalin pact",  # names the embedder knows
    ],
)
def test_what_is_no_slip(text: str) -> None:
    """Words of English, of the catalog, names and short words stay."""
    assert correct(text, SPELLINGS).text == text


def test_what_was_typed_is_replaced() -> None:
    """The mention lies where the noun was typed, and the trigger goes there."""
    prompt = "my newst lighthose, wehre gulls circle the lighthose"
    intent = _read(prompt)
    order = intent.order
    assert order is not None and order.order is OrderKey.NEWEST and order.span is not None
    assert order.span.of(prompt) == "newst"
    assert {mention.span.of(prompt) for mention in intent.mentions} == {"lighthose"}
    trigger = _LIGHTHOUSE.triggers[0]
    written = rewrite(prompt, intent, _LIGHTHOUSE)
    assert written.rewritten_prompt.startswith(f"my newst {trigger}, wehre gulls")
    assert "lighthose" not in written.rewritten_prompt


def test_a_month_and_a_style() -> None:
    """Constraints come of them as of the words that were meant."""
    right, typed = _read("the february watercolor tree"), _read("the febuary watercolr tree")
    for attribute in (Attribute.CREATED_AT, Attribute.STYLE):
        (wanted,), (found,) = right.all(attribute), typed.all(attribute)
        assert (wanted.intervals, wanted.values) == (found.intervals, found.values)


@given(st.lists(st.sampled_from(["lighthose", "newst", "dog", "a", "febuary", "☕", "x" * 7])))
def test_places_are_those_of_the_typed_text(words: list[str]) -> None:
    """Every span lies in the prompt, and content and constraints are words of it."""
    prompt = " ".join(words)
    intent = _read(prompt)
    spans = [*intent.content, *intent.selecting, *(m.span for m in intent.mentions)]
    spans += [c.span for c in intent.constraints if c.span is not None]
    for span in spans:
        assert 0 <= span.start <= span.end <= len(prompt)
        assert span.of(prompt) == span.of(prompt).strip()


def test_only_so_many_words_are_looked_at() -> None:
    """A text of nonsense costs no more than one with a few slips; what it begins with is read."""
    nonsense = " ".join(f"zq{chr(97 + i // 26)}{chr(97 + i % 26)}xw" for i in range(100))
    assert correct(f"the newst one {nonsense}", ()).text.startswith("the newest one zq")
    assert correct(f"{nonsense} the newst one", ()).changes == ()


def test_words_of_the_grammar_are_words() -> None:
    """No word that the parser knows is taken for another."""
    for word in ("though", "whichever", "newest", "trained", "yodelling", "brushed", "finetuned"):
        assert is_word(word), word
