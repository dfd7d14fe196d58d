"""Any text is survived, and nothing is changed that is not said to be."""

from __future__ import annotations

import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.checkin_cards import card, studio
from support.checkin_session import Session, outcome_name

from personalq.chassis.errors import InvalidInput
from personalq.checkin.intent import Intent
from personalq.checkin.outcome import Clarification, Selection

SESSION = Session(studio())
_WORDS = """
    a an the my bear teddy dogs cat's puppy house tree dog-v9 <bear-v4> <nobody> April may
    spring last week yesterday used trained v3 version 12 47th latest newest but one
    recently most realistic sketch watercolor not cartoon in on at of with from beach
    forest night , . ( ) - ' ’ … 🐻 ß İ ﬁ ｂｅａｒ ４ ² ½ 2026-04 Q1 before Christmas between
    March and May photo model red scarf wearing 9999999 <<>> \x00 \u202e مرحبا 熊
"""
WORDS = st.sampled_from(_WORDS.split())
PHRASES = st.lists(WORDS, max_size=25).map(" ".join)
TEXTS = st.one_of(st.text(max_size=200), PHRASES)
RELAXED = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def check_intent(prompt: str, intent: Intent) -> None:
    """Every span of an intent lies in the prompt and slices back to its words."""
    for constraint in intent.constraints:
        if constraint.span is not None:
            assert 0 <= constraint.span.start < constraint.span.end <= len(prompt)
            assert constraint.span.of(prompt) == constraint.text
    for span in intent.content:
        assert 0 <= span.start < span.end <= len(prompt)


@RELAXED
@given(TEXTS)
def test_any_prompt_has_an_outcome(prompt: str) -> None:
    """No text crashes Check-in; spans slice back; the rewrite differs only where it says."""
    try:
        answered = SESSION.answered(prompt)
    except InvalidInput:
        assert not prompt.strip() or not prompt.isprintable()
        return
    check_intent(prompt, answered.intent)
    outcome = answered.outcome
    if not isinstance(outcome, Selection):
        return
    rewrite = outcome.rewrite
    for span in (*rewrite.trigger_spans, *rewrite.render_trigger_spans):
        assert span.start < span.end
    trigger_texts = {span.of(rewrite.rewritten_prompt) for span in rewrite.trigger_spans}
    assert trigger_texts == {
        span.of(rewrite.render_prompt) for span in rewrite.render_trigger_spans
    }
    if rewrite.replaced:
        rebuilt = rewrite.rewritten_prompt
        pairs = list(zip(rewrite.trigger_spans, rewrite.replaced, strict=True))
        for span, replaced in reversed(pairs):
            assert replaced.span.of(prompt) == replaced.text
            rebuilt = rebuilt[: span.start] + replaced.text + rebuilt[span.end :]
        assert rebuilt == prompt


@RELAXED
@given(TEXTS)
def test_any_answer_has_an_outcome(text: str) -> None:
    """No answer crashes Check-in."""
    question = SESSION.ask("a bear at sea")
    assert isinstance(question, Clarification)
    try:
        SESSION.answer("a bear at sea", question, text)
    except InvalidInput:
        assert not text.strip() or not text.isprintable()


PROMPTS = [
    "the April bear",
    "newest dog",
    "the husky",
    "a bear",
    "v4 of the bear",
    "a sketch",
    "zebra",
]


def test_order_of_cards_never_matters() -> None:
    """The same cards in another order have the same outcomes."""
    shuffled = studio()
    random.Random(3).shuffle(shuffled)  # noqa: S311
    other = Session(shuffled)
    for prompt in PROMPTS:
        assert outcome_name(SESSION.ask(prompt)) == outcome_name(other.ask(prompt))


def test_unrelated_card_changes_no_selection() -> None:
    """A card of another subject leaves unique selections as they are."""
    more = Session([*studio(), card("kettle-v1", "kettle", "comic", "2026-11-19", "A kettle.")])
    for prompt in PROMPTS:
        name = outcome_name(SESSION.ask(prompt))
        if name not in ("", "?"):
            assert outcome_name(more.ask(prompt)) == name


def test_ten_thousand_identical_cards() -> None:
    """Versions that differ in nothing are one intent: the newest, without a question."""
    same = [
        card(f"dog-{n}", "dog", "sketch", "2026-05-01", "A dog.", triggers=("<dog>",))
        for n in range(10_000)
    ]
    assert isinstance(Session(same).ask("a dog"), Selection)


def test_no_cards_and_one_card() -> None:
    """An empty catalog matches nothing; a single card is never asked about."""
    assert outcome_name(Session([]).ask("a bear")) == ""
    assert outcome_name(Session(studio()[:1]).ask("a bear on a hill")) == "bear-v1"


def test_hostile_prompts_end_in_time() -> None:
    """Repetition does not blow up the grammar (2,000 characters each)."""
    for piece in (
        "i ",
        "the ",
        "last ",
        "not the ",
        "a a ",
        "v1 or ",
        "may ",
        "from ",
        "- ",
        "bear's ",
    ):
        SESSION.answered((piece * 2000)[:1999].strip() + "x")
