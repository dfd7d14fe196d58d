"""Why one was selected, what the others lack, and what failed when nothing fits."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from support.checkin_cards import card, studio
from support.checkin_session import Session, outcome_name

from personalq.checkin.deciding.explain import BLAME
from personalq.checkin.deciding.lacks import distance, missed
from personalq.checkin.intent import Attribute, Constraint, Interval, OrderKey
from personalq.checkin.outcome import Clarification, NoMatch, Selection

ZONE = ZoneInfo("UTC")
TREE = card("tree-v3", "tree", "watercolor", "2026-05-12", "An oak.", version=3, owner="ann")


@pytest.fixture(scope="module")
def session() -> Session:
    """Check-in over the studio's cards."""
    return Session(studio())


def selected(session: Session, prompt: str) -> Selection:
    """The selection of a prompt that selects."""
    outcome = session.ask(prompt)
    assert isinstance(outcome, Selection), outcome
    return outcome


def nothing(session: Session, prompt: str) -> NoMatch:
    """The no match of a prompt that nothing fits."""
    outcome = session.ask(prompt)
    assert isinstance(outcome, NoMatch), outcome
    return outcome


def test_anything_can_be_blamed_and_told() -> None:
    """Every attribute has its place among what can fail, and words for a card that misses it."""
    assert set(BLAME) == set(Attribute)
    assert len(BLAME) == len(Attribute)
    for attribute in Attribute:
        for excluded in (False, True):
            constraint = Constraint(
                attribute=attribute, values=("7",), text="that", excluded=excluded
            )
            assert "“that”" in missed(TREE, constraint, ZONE)
            assert distance(TREE, constraint) >= 0
    for order in OrderKey:
        constraint = Constraint(attribute=Attribute.ORDER, order=order, text="that")
        assert missed(TREE, constraint, ZONE).endswith("not “that”")


def test_the_nearest_is_near_in_versions_and_time() -> None:
    """Distances are versions and seconds to what was asked for."""
    version = Constraint(attribute=Attribute.VERSION, values=("5", "9"))
    assert distance(TREE, version) == 2
    june = Interval(start=datetime(2026, 6, 1, 9, tzinfo=UTC), end=datetime(2026, 7, 1, tzinfo=UTC))
    created = Constraint(attribute=Attribute.CREATED_AT, intervals=(june,))
    assert distance(TREE, created) == 20 * 86400


def test_reasons_say_which_words_became_what(session: Session) -> None:
    """Every constraint of the request is told with its words, and how sure the choice is."""
    reasons = selected(
        session, "a photo of the recently created bear with spectacles, not the cartoon one"
    ).reasons
    assert "“not the cartoon one”: not cartoon" in reasons
    assert "“recently created”: the newest of those that fit" in reasons
    assert "its description fits: spectacles" in reasons
    assert any("sure: the next of 4 that fit has" in reason for reason in reasons)


def test_runners_up_say_what_they_lack(session: Session) -> None:
    """First those that fit with what they lack, then near misses, as unlikely as they are."""
    others = selected(session, "the dog with a red collar trained in summer or later").runners_up
    by_id = {c.card.checkpoint_id: c for c in others}
    assert by_id["dog-v13"].reasons[0] == "no “red collar”"
    assert by_id["dog-v13"].probability > 0
    near = selected(session, "the May dog").runners_up
    assert [c.reasons[0] for c in near[:1]] == ["trained on 20 April 2026, not “May”"]
    assert {c.probability for c in near} == {0.0}
    newest = selected(session, "the newest dog").runners_up
    assert newest[0].reasons[0] == "trained on 3 September 2026, not “newest”"


@pytest.mark.parametrize("prompt", ["the May dog", "newest dog", "the dog with a red collar"])
def test_a_runner_up_is_selected_by_its_id(session: Session, prompt: str) -> None:
    """Its id in the prompt is enough, and gives way to its trigger."""
    for other in selected(session, prompt).runners_up:
        checkpoint_id = other.card.checkpoint_id
        chosen = selected(session, f"{checkpoint_id} on a hill")
        assert outcome_name(chosen) == checkpoint_id
        assert chosen.rewrite.rewritten_prompt == f"{other.card.trigger} on a hill"


def test_a_candidate_in_question_is_selected_by_its_id(session: Session) -> None:
    """Instead of an option, an id answers; a pool of one id needs no question."""
    asked = session.ask("a bear")
    assert isinstance(asked, Clarification)
    for other in asked.candidates:
        checkpoint_id = other.card.checkpoint_id
        assert outcome_name(session.answer("a bear", asked, checkpoint_id)) == checkpoint_id
        assert outcome_name(session.ask("a bear", candidate_ids=(checkpoint_id,))) == checkpoint_id


@pytest.mark.parametrize(
    ("prompt", "failed", "nearest"),
    [
        ("the bear from August", "from August", "bear-v6"),
        ("bear v9", "v9", "bear-v6"),
        ("bear v9 in watercolor from August", "v9", "bear-v5"),
        ("dog trained in the desert by nobody in 2019, version 77", "version 77", "dog-v13"),
        ("v99", "v99", "dog-v13"),
        ("a watercolor zebra", "zebra", "tree-v1"),
        ("the fifth newest dog", "fifth newest", "dog-v13"),
    ],
)
def test_what_failed_is_named_with_the_nearest(
    session: Session, prompt: str, failed: str, nearest: str
) -> None:
    """The words that nothing fits, and the closest checkpoints with what they lack."""
    outcome = nothing(session, prompt)
    assert f"“{failed}”" in outcome.explanation
    assert outcome.alternatives[0].card.checkpoint_id == nearest
    assert f"“{failed}”" in outcome.alternatives[0].reasons[0]
    assert all(c.probability == 0 for c in outcome.alternatives)


FAILING = (
    "watercolor",
    "trained at the beach",
    "from August",
    "version 77",
    "that nobody has ever used",
    "used 99 times",
    "made by bob",
)


@pytest.mark.parametrize("pair", list(combinations(FAILING, 2)), ids=" + ".join)
def test_several_failing_constraints_never_fail_to_be_explained(
    session: Session, pair: tuple[str, str]
) -> None:
    """Two things that no tree is, in any order: an answer either way."""
    for said in (pair, pair[::-1]):
        outcome = session.ask(f"the tree {said[0]}, {said[1]}, on a hill")
        if isinstance(outcome, NoMatch):
            assert "“" in outcome.explanation


def test_the_same_request_has_the_same_words() -> None:
    """Reasons, runners-up and their order are the same for the same repository."""
    for prompt in ("the May dog", "a bear", "the bear from August", "newest dog"):
        assert Session(studio()).answered(prompt) == Session(studio()[::-1]).answered(prompt)


def test_the_example_of_the_readme_is_real(session: Session) -> None:
    """Every reason and every runner-up that the README shows is what comes out."""
    readme = Path(__file__).parents[3] / "services" / "checkin" / "README.md"
    text = readme.read_text("utf-8").partition("## Explanations")[2].partition("\n## ")[0]
    chosen = selected(
        session, "the recently created bear with spectacles, not the cartoon one, at a desk"
    )
    assert tuple(re.findall(r"^ +because +(.*)$", text, re.MULTILINE)) == chosen.reasons
    assert re.findall(r"^ +(?:to render|prompt) +(.*)$", text, re.MULTILINE) == [
        chosen.rewrite.rewritten_prompt,
        chosen.rewrite.render_prompt,
    ]
    nearest = nothing(session, "the bear from August").alternatives[0]
    shown = re.findall(r"^ +(?:\d\.\d%|–)  (\S+) +(.*)$", text, re.MULTILINE)
    expected = [*chosen.runners_up, nearest]
    assert shown == [(c.card.checkpoint_id, "; ".join(c.reasons)) for c in expected]


@pytest.mark.parametrize(
    "prompt",
    ["the bear that I have never used", "a bear used more than 100 times", "a cat used 3 times"],
)
def test_what_no_card_of_a_subject_has(session: Session, prompt: str) -> None:
    """The answer names the subject, and offers cards of it."""
    outcome = session.ask(prompt)
    assert isinstance(outcome, NoMatch)
    subject = "bear" if "bear" in prompt else "cat"
    assert f"among those that are {subject}" in outcome.explanation
    assert outcome.alternatives
    assert all(subject in " ".join(c.card.subjects) for c in outcome.alternatives)
