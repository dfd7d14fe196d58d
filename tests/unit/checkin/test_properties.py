"""Any text is survived, and nothing is changed that is not said to be."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.checkin_cards import card, studio
from support.checkin_session import Session, outcome_name

from personalq.chassis.errors import InvalidInput
from personalq.checkin.intent import Attribute, Intent, Span
from personalq.checkin.outcome import Clarification, Rewrite, Selection

SESSION = Session(studio())
KNOWN_TRIGGERS = {trigger for each in studio() for trigger in each.triggers}
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
    check_rewrite(prompt, outcome.rewrite)


def check_rewrite(prompt: str, rewrite: Rewrite) -> None:
    """The prompt comes back when the replacements, or the one insertion, are taken back."""
    text, spans = rewrite.rewritten_prompt, rewrite.trigger_spans
    triggers = {span.of(text) for span in spans}
    assert triggers == {span.of(rewrite.render_prompt) for span in rewrite.render_trigger_spans}
    assert all(trigger in KNOWN_TRIGGERS for trigger in triggers)
    assert rewrite.render_prompt.strip()
    if rewrite.replaced or text == prompt:
        given_back, shift = text, 0
        for item in rewrite.replaced:
            assert item.span.of(prompt) == item.text
            (place,) = (s for s in spans if s.start == item.span.start + shift)
            at = Span(item.span.start, item.span.start + place.end - place.start)
            given_back = given_back[: at.start] + item.text + given_back[at.end :]
            shift += (place.end - place.start) - len(item.text)
        assert given_back == prompt
        return
    (place,) = spans
    before, after = text[: place.start], text[place.end :]
    joints = ("", " of ", " in the style of ")
    without = [before.removesuffix(joint) for joint in joints if before.endswith(joint)]
    rests = [after, after.removeprefix(", "), after.removeprefix(" ")]
    assert any(left + right in (prompt, prompt.rstrip()) for left in without for right in rests)


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


SUBJECTS = st.sampled_from(
    ["bear", "teddy", "dog", "dogs", "puppy", "cat", "watch", "car", "house", "tree", "flower"]
)
CHOOSING = st.sampled_from(
    [
        "April",
        "newest",
        "sketch",
        "watercolor",
        "v4",
        "v9",
        "first",
        "snow",
        "photorealistic",
        "recently created",
        "spring",
        "not the cartoon",
        "third newest",
        "most used",
        "beach-trained",
        "grey",
        "golden",
    ]
)
SCENES = st.sampled_from(
    [
        "on a hill",
        "at night",
        "asleep",
        "from June",
        "with a red scarf",
        "trained in May",
        "I used last week",
        "next to a tree",
        "made by bob",
        "the April build",
        "version 9",
    ]
)
REQUESTS = st.builds(
    lambda choosing, subject, scenes: " ".join(("the", *choosing, subject, *scenes)),
    st.lists(CHOOSING, max_size=2),
    SUBJECTS,
    st.lists(SCENES, max_size=2),
)
SHUFFLED = Session(random.Random(3).sample(studio(), 30))  # noqa: S311
MORE = Session(
    [*studio(), card("zeppelin-v4", "zeppelin", "stained glass", "2026-11-19", "A long airship.")]
)


@RELAXED
@given(st.one_of(REQUESTS, PHRASES))
def test_order_of_cards_never_matters(prompt: str) -> None:
    """The same cards in another order have the same answer, to the word and in its order."""
    try:
        answered = SESSION.answered(prompt)
    except InvalidInput:
        return
    assert answered == SHUFFLED.answered(prompt)


@RELAXED
@given(REQUESTS)
def test_an_unrelated_card_changes_no_selection(prompt: str) -> None:
    """A card of another subject leaves unique selections as they are."""
    alone = SESSION.answered(prompt)
    if isinstance(alone.outcome, Selection) and alone.intent.first(Attribute.SUBJECT):
        assert outcome_name(MORE.ask(prompt)) == outcome_name(alone.outcome)


@RELAXED
@given(REQUESTS, st.integers(0, 4))
def test_a_restated_answer_gives_the_same_result(prompt: str, choice: int) -> None:
    """An option in capitals, with politeness, or sent again chooses the same."""
    asked = SESSION.ask(prompt)
    if not isinstance(asked, Clarification):
        return
    label = asked.options[choice % len(asked.options)].label
    first = SESSION.answer(prompt, asked, label)
    for restated in (label, label.upper(), f"{label}, please", f"  {label}. "):
        assert outcome_name(SESSION.answer(prompt, asked, restated)) == outcome_name(first)


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


HOSTILE = (
    "a bear'; DROP TABLE catalog.cards; --",
    '" OR 1=1 -- the April bear',
    "the bear') UNION SELECT * FROM pg_shadow --",
    "bear & | ! :* <-> ( dog",
    "%s %(tenant)s {0} $1 the April bear \\",
    "\u202eدب من أبريل bear\u202c",
    "הדוב מאפריל bear 🐻",
    "April is bear one be the behind picket A it not in - style that a must fence cartoon",
)


@pytest.mark.parametrize("prompt", HOSTILE)
def test_hostile_prompts_are_text(prompt: str) -> None:
    """SQL, formats and right-to-left text are read as words."""
    answered = SESSION.answered(prompt)
    check_intent(prompt, answered.intent)
    assert outcome_name(answered.outcome) in ("bear-v4", "?", "")
    if isinstance(answered.outcome, Selection):
        check_rewrite(prompt, answered.outcome.rewrite)


def test_a_long_prompt_is_refused_with_the_limit() -> None:
    """10,000 characters: an error that says how many there are and how many may be."""
    with pytest.raises(InvalidInput, match=r"10000 characters; the limit is 2000"):
        SESSION.ask("a bear on a hill, " * 555 + "a bear and")


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
