"""Checkpoints called by their names: when a word is one, and when it is just a word."""

from __future__ import annotations

import pytest
from support.checkin_cards import card
from support.checkin_requests import ASK, NONE
from support.checkin_session import Session, outcome_name

from personalq.checkin.names import MAX_NAMES, candidates
from personalq.checkin.outcome import Selection

CARDS = (
    card("dog-1", "dog", "photorealistic", "2026-04-02", "A brown dachshund.", aliases="Biscuit",
         triggers=("<biscuit>",)),
    card("dog-2", "dog", "photorealistic", "2026-05-02", "A black labrador.",
         aliases="Rex, Lucky, Mr. Woof, Sunny", triggers=("<dog-2>",)),
    card("cat-1", "cat", "sketch", "2026-05-03", "A gray cat.", aliases="Shadow"),
    card("pot-1", "teapot", "photorealistic", "2026-06-03", "A blue teapot.",
         name="Grandma's teapot"),
    card("pot-2", "teapot", "photorealistic", "2026-07-03", "A red teapot.", name="Blue teapot"),
    card("horse-1", "horse", "photorealistic", "2026-07-05", "A white horse.", aliases="April"),
    card("robot-1", "robot", "photorealistic", "2026-07-05", "A tin robot.", triggers=("toy",)),
    card("fox-1", "fox", "cartoon", "2026-07-05", "A cartoon fox.", triggers=("sks fox",)),
    card("owl-1", "owl", "photorealistic", "2026-07-05", "An owl.", triggers=("<s1><s2>",)),
    card("owl-2", "owl", "photorealistic", "2026-07-05", "An owl.", triggers=("★owl★",)),
)  # fmt: skip


@pytest.fixture(scope="module")
def session() -> Session:
    """Check-in over cards with names."""
    return Session(CARDS)


@pytest.mark.parametrize(
    ("prompt", "chosen", "rewritten"),
    [
        ("Biscuit on a surfboard", "dog-1", "<biscuit> on a surfboard"),
        ("biscuit on a surfboard", "dog-1", "<biscuit> on a surfboard"),
        ("BISCUIT ON A SURFBOARD", "dog-1", "<biscuit> ON A SURFBOARD"),
        ("a photo of Biscuit's bowl", "dog-1", "a photo of <biscuit>'s bowl"),
        ("my dog Biscuit on a beach", "dog-1", "my dog <biscuit> on a beach"),
        ("the Biscuit on the beach, from April", "dog-1", "the <biscuit> on the beach, from April"),
        ("a dog named Biscuit at sea", "dog-1", "a dog named <biscuit> at sea"),
        ("Biscuit and Rex playing", "dog-1", "<biscuit> and Rex playing"),
        ("a photo of <dog-2> and Biscuit", "dog-2", "a photo of <dog-2> and Biscuit"),
        ("mr woof asleep", "dog-2", "<dog-2> asleep"),
        ("Lucky in the rain", "dog-2", "<dog-2> in the rain"),
        ("a photo of Shadow asleep", "cat-1", "a photo of <cat-1> asleep"),
        ("a photo of “shadow” asleep", "cat-1", "a photo of “<cat-1>” asleep"),
        ("Grandma's teapot on a table", "pot-1", "<pot-1> on a table"),
        ("grandma’s teapot on a table", "pot-1", "<pot-1> on a table"),
        ("<toy> on a shelf", "robot-1", "toy on a shelf"),
        ("sks fox jumping", "fox-1", "sks fox jumping"),
        ("an <S1><S2> flying", "owl-1", "an <s1><s2> flying"),
        ("a ★owl★ flying", "owl-2", "a ★owl★ flying"),
        ("DOG-1 on grass", "dog-1", "<biscuit> on grass"),
    ],
)
def test_a_name_selects_and_gives_way_to_the_trigger(
    session: Session, prompt: str, chosen: str, rewritten: str
) -> None:
    """However it is written, it stands for its checkpoint alone."""
    outcome = session.ask(prompt)
    assert isinstance(outcome, Selection), outcome
    assert outcome.candidate.card.checkpoint_id == chosen
    assert outcome.rewrite.rewritten_prompt == rewritten


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("a lucky cat on a sofa", "cat-1"),
        ("a cat on a bright sunny morning", "cat-1"),
        ("a cat, the weather is sunny", "cat-1"),
        ("Sunny morning with a cat", "cat-1"),
        ("a cat in the shadow of a tree", "cat-1"),
        ("the horse, trained in April", NONE),
        ("a red teapot on a table", "pot-2"),
        ("the blue teapot on a table", "pot-1"),
        ("a toy on a shelf", NONE),
        ("a biscuit on a plate", NONE),
    ],
)
def test_an_ordinary_word_is_no_name(session: Session, prompt: str, expected: str) -> None:
    """A name that is also a word counts only where a name stands."""
    assert outcome_name(session.ask(prompt)) == expected


def test_versions_may_share_an_alias() -> None:
    """The other words of the request choose among them."""
    versions = [
        card(f"rex-{month}", "dog", look, f"2026-0{month}-02", aliases="Rex")
        for month, look in ((3, "sketch"), (4, "photorealistic"), (5, "sketch"))
    ]
    session = Session(versions)
    assert outcome_name(session.ask("the latest Rex on a beach")) == "rex-5"
    assert outcome_name(session.ask("Rex on a beach, from March")) == "rex-3"
    assert outcome_name(session.ask("a photo of Rex, the photorealistic one")) == "rex-4"


def test_an_answer_may_be_a_name() -> None:
    """What people call it is easier to say than what it looks like."""
    session = Session(CARDS[:2])
    question = session.ask("a dog on grass")
    assert outcome_name(question) == ASK
    assert outcome_name(session.answer("a dog on grass", question, "Rex")) == "dog-2"  # type: ignore[arg-type]


def test_a_card_without_a_name_of_its_own_is_not_disturbed() -> None:
    """Adding names to other cards changes nothing for a request that says none."""
    plain = [card("bear-1", "bear", "photorealistic", "2026-04-02", "A brown bear.")]
    prompts = ("a lucky bear in the shadow", "the bear from April", "Bear with a biscuit")
    for prompt in prompts:
        alone = outcome_name(Session(plain).ask(prompt))
        assert outcome_name(Session([*plain, *CARDS]).ask(prompt)) == alone == "bear-1"


def test_the_runs_asked_about_are_few_and_short() -> None:
    """Up to six words that stand together, each run once, the shorter ones first."""
    asked = candidates(("Mr. Whiskers, on a <b-1>", "mr. whiskers"))
    assert asked[:5] == ("<b-1>", "a", "mr", "on", "whiskers")
    assert "mr. whiskers" in asked
    assert not any("," in run for run in asked)
    assert len(candidates((" ".join(f"w{i}" for i in range(2000)),))) == MAX_NAMES
