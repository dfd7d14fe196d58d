"""Answers: stateless questions, free text, and questions from elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.checkin_cards import card, studio
from support.checkin_session import Session

from personalq.chassis.errors import InvalidInput
from personalq.checkin.answering.answer import Reply
from personalq.checkin.intent import Attribute
from personalq.checkin.outcome import Clarification, NoMatch, Selection


@pytest.fixture(scope="module")
def session() -> Session:
    """Check-in over the studio's cards."""
    return Session(studio())


def asked(session: Session, prompt: str) -> Clarification:
    """The question a prompt leads to."""
    outcome = session.ask(prompt)
    assert isinstance(outcome, Clarification), outcome
    return outcome


def test_every_option_label_is_understood(session: Session) -> None:
    """Each label of each question, sent back, selects a card or narrows the choice."""
    prompts = ["a bear at sea", "sketch of a dog", "Spring sketch", "a pet", "a photo of a car"]
    for prompt in prompts:
        question = asked(session, prompt)
        for option in question.options:
            outcome = session.answer(prompt, question, option.label)
            assert not isinstance(outcome, NoMatch), (prompt, option.label)


def test_options_name_no_id(session: Session) -> None:
    """Questions are in everyday words."""
    ids = [card.checkpoint_id for card in studio()]
    for prompt in ("a bear at sea", "Spring sketch", "a pet", "a dog"):
        question = asked(session, prompt)
        text = " ".join([question.question, *(option.label for option in question.options)])
        assert not any(checkpoint_id in text for checkpoint_id in ids)


@pytest.mark.parametrize(
    "text",
    ["any", "any of them", "whatever", "Whatever!", "doesn't matter", "I don't care", "you choose",
     "either is fine", "no preference", "surprise me", "oh, just any one please"],
)  # fmt: skip
def test_any_of_them(session: Session, text: str) -> None:
    """Someone who does not mind gets the newest."""
    question = asked(session, "a bear at sea")
    outcome = session.answer("a bear at sea", question, text)
    assert isinstance(outcome, Selection)
    assert outcome.candidate.card.checkpoint_id == "bear-v6"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the first one", "dog-v7"),
        ("2", "dog-v9"),
        ("option 2", "dog-v9"),
        ("the latter", "dog-v9"),
        ("May", "dog-v9"),
        ("hmm, the April one I think", "dog-v7"),
        ("v9", "dog-v9"),
        ("the newer one", "dog-v9"),
        ("the one with the floppy ears", "dog-v7"),
        ("not the beagle", "dog-v9"),
        ("the cartoon one instead", "dog-v13"),
        ("dog-v12", "dog-v12"),
    ],
)
def test_free_text(session: Session, text: str, expected: str) -> None:
    """Whatever the person answers is read like a prompt."""
    question = asked(session, "spring sketch of the dog")
    outcome = session.answer("spring sketch of the dog", question, text)
    assert isinstance(outcome, Selection), outcome
    assert outcome.candidate.card.checkpoint_id == expected


def test_restated_answer_changes_nothing(session: Session) -> None:
    """The same answer again, in answer to the same question, has the same outcome."""
    prompt = "a bear at sea"
    question = asked(session, prompt)
    once = session.answer(prompt, question, "the tan one")
    again = session.answer(prompt, question, "the tan one")
    assert once == again


def test_several_turns(session: Session) -> None:
    """Answers add up."""
    prompt = "a pet at sea"
    first = asked(session, prompt)
    one = Reply(question_id=first.question_id, text="the dog")
    second = session.answered(prompt, answers=(one,)).outcome
    assert isinstance(second, Clarification)
    two = Reply(question_id=second.question_id, text="the husky")
    final = session.answered(prompt, answers=(one, two)).outcome
    assert isinstance(final, Selection)
    assert final.candidate.card.checkpoint_id == "dog-v9"


@pytest.mark.parametrize(
    "token", ["", "q1", "q1.x.y", "q2.W10.00", "q1.é.é", "q1.W10.é", "x" * 20000]
)
def test_unknown_question(session: Session, token: str) -> None:
    """An id that was never given out is refused."""
    with pytest.raises(InvalidInput) as refused:
        session.answered("a bear at sea", answers=(Reply(question_id=token, text="any"),))
    assert "answers.question_id" in refused.value.violations


def test_cards_of_many_tags() -> None:
    """A question about cards with thirty places each is short, and its options can be chosen."""
    places = [", ".join(f"{'場' * 50}{n}{tag}" for tag in range(30)) for n in range(4)]
    cards = [
        card(f"kite-{n}", "kite", "", "2026-05-02", environments=own)
        for n, own in enumerate(places)
    ]
    crowded = Session(cards)
    question = asked(crowded, "a kite")
    assert question.attribute is Attribute.ENVIRONMENT
    assert len(question.question) < 1000
    for option in question.options[:-1]:
        chosen = crowded.answer("a kite", question, option.label)
        assert isinstance(chosen, Selection)
        assert option.value.split(", ")[0] in chosen.candidate.card.environments


def test_foreign_question(session: Session) -> None:
    """A question of another prompt, or a changed one, is refused."""
    question = asked(session, "a bear at sea")
    with pytest.raises(InvalidInput):
        session.answer("a bear at the sea", question, "any")
    head, body, mac = question.question_id.split(".")
    changed = replace(question, question_id=f"{head}.{body[:-2]}AA.{mac}")
    with pytest.raises(InvalidInput):
        session.answer("a bear at sea", changed, "any")


def test_month_is_asked_when_a_season_was_said(session: Session) -> None:
    """A season leaves the month open: that is what is asked (paper, Table 7)."""
    question = asked(session, "spring sketch of the dog")
    assert question.attribute is Attribute.CREATED_AT
    assert question.question == "Which month do you mean, April or May?"
    assert [option.label for option in question.options] == ["April", "May", "any of them"]


@pytest.mark.parametrize("text", ["neither, the oil painting", "none of the others, the oil one"])
def test_refused_option_that_is_meant(text: str) -> None:
    """What follows a refusal may mean one of the options: their labels do not say everything."""
    cards = [
        card("owl-v1", "owl", "sketch", "2026-03-01", "A blue owl with a hat."),
        card("owl-v2", "owl", "oil painting", "2026-03-04", "A blue owl with a tie."),
    ]
    session = Session(cards)
    question = asked(session, "an owl on a lamp post")
    assert question.attribute is Attribute.DESCRIPTION
    outcome = session.answer("an owl on a lamp post", question, text)
    assert isinstance(outcome, Selection)
    assert outcome.candidate.card.checkpoint_id == "owl-v2"


def test_place_in_an_answer() -> None:
    """A checkpoint trained among trees was trained in a forest."""
    cards = [
        card("boat-v1", "boat", "sketch", "2026-03-01", "A navy boat.", environments="forest"),
        card("boat-v2", "boat", "sketch", "2026-03-04", "A white boat.", environments="beach"),
    ]
    session = Session(cards)
    question = asked(session, "a boat on a red carpet")
    outcome = session.answer("a boat on a red carpet", question, "the one trained among trees")
    assert isinstance(outcome, Selection)
    assert outcome.candidate.card.checkpoint_id == "boat-v1"


def test_a_thing_named_by_a_season() -> None:
    """Christmas baubles hang on one of them; nobody asks for one trained at Christmas."""
    cards = [
        card("cactus-1", "cactus", "anime", "2026-03-01", "A cactus hung with christmas baubles."),
        card("cactus-2", "cactus", "anime", "2026-04-01", "A cactus in a clay pot."),
        card("cactus-3", "cactus", "sketch", "2025-12-25", "A cactus with a bent tip."),
    ]
    session, prompt = Session(cards), "the anime cactus on a fridge"
    for answer, chosen in (
        ("the christmas baubles one", "cactus-1"),
        ("the one from last Christmas", "cactus-3"),
    ):
        outcome = session.answer(prompt, asked(session, prompt), answer)
        assert isinstance(outcome, Selection), answer
        assert outcome.candidate.card.checkpoint_id == chosen


def test_a_holiday_that_an_option_says() -> None:
    """Of two elves, "the Christmas elf" is the one called so, whenever it was made."""
    cards = [
        card("elf-1", "elf", "pastel", "2026-05-30", "A green Christmas elf.", version=1),
        card("elf-2", "elf", "pastel", "2026-05-30", "A gold dark elf.", version=2),
    ]
    session = Session(cards)
    question = asked(session, "an elf in pastel")
    outcome = session.answer("an elf in pastel", question, "the Christmas elf")
    assert isinstance(outcome, Selection), outcome
    assert outcome.candidate.card.checkpoint_id == "elf-1"


def test_a_part_of_the_subject_in_an_answer() -> None:
    """A turbine on the roof is no place of training."""
    cards = [
        card("tower-1", "tower", "anime", "2026-03-01", "A tower with a wind turbine on the roof."),
        card("tower-2", "tower", "anime", "2026-04-01", "A tower of bricks.", environments="roof"),
    ]
    session, prompt = Session(cards), "the tower in a bottle"
    answer = "the one with a wind turbine on the roof"
    outcome = session.answer(prompt, asked(session, prompt), answer)
    assert isinstance(outcome, Selection)
    assert outcome.candidate.card.checkpoint_id == "tower-1"


@pytest.mark.parametrize("answer", ["the summer owl", "the summer picture", "summer stuff"])
def test_a_season_with_the_subject_in_an_answer(answer: str) -> None:
    """That is when it was trained."""
    cards = [
        card(f"owl-{month}", "owl", "anime", f"2026-{month:02d}-10", "A brown owl.")
        for month in (1, 4, 7)
    ]
    session = Session(cards)
    question = asked(session, "an owl on a lamp post")
    outcome = session.answer("an owl on a lamp post", question, answer)
    assert isinstance(outcome, Selection)
    assert outcome.candidate.card.checkpoint_id == "owl-7"


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("the red one... no wait, the latest one", "the latest one"),
        ("hm, first I thought the oldest one, but no: the latest one", "the latest one"),
    ],
)
def test_what_is_taken_back(session: Session, text: str, last: str) -> None:
    """Only what is said last counts."""
    prompt = "a bear at sea"
    outcome = session.answer(prompt, asked(session, prompt), text)
    assert isinstance(outcome, Selection)
    assert outcome == session.answer(prompt, asked(session, prompt), last)


def test_what_the_one_turns_into_is_no_other_subject() -> None:
    """A noun that is said of "the one" does not replace what is asked for."""
    cards = [
        card("robot-v1", "robot", "anime", "2026-01-01", "A robot that turns into a car."),
        card("robot-v2", "robot", "anime", "2026-02-01", "A robot with a claw."),
        card("car-v1", "car", "anime", "2026-02-01", "A car."),
    ]
    session = Session(cards)
    question = asked(session, "the robot on a hill")
    outcome = session.answer("the robot on a hill", question, "the one that turns into a car")
    assert isinstance(outcome, Selection)
    assert outcome.candidate.card.checkpoint_id == "robot-v1"
