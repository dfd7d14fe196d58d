"""Every labelled request, asked of Check-in with the catalog in memory."""

from __future__ import annotations

from collections import Counter

import pytest
from support.checkin_cards import paper, studio
from support.checkin_requests import ASK, NONE, PAPER, STUDIO, Case, Rule, expected_ids
from support.checkin_session import Session

from personalq.checkin.outcome import Clarification, NoMatch, Selection


@pytest.fixture(scope="module")
def studio_session() -> Session:
    """Check-in over the studio's cards."""
    return Session(studio())


@pytest.fixture(scope="module")
def paper_session() -> Session:
    """Check-in over the paper's 1,000 cards."""
    return Session(paper())


@pytest.mark.parametrize("case", STUDIO, ids=lambda c: f"{c.kind}: {c.prompt} {c.answer}".strip())
def test_studio_request(studio_session: Session, case: Case) -> None:
    """A request on the studio's cards has the outcome a person would expect."""
    outcome = studio_session.ask(case.prompt, candidate_ids=case.pool)
    if case.expected == NONE:
        assert isinstance(outcome, NoMatch), outcome
        return
    if case.expected == ASK:
        assert isinstance(outcome, Clarification), outcome
        assert 2 <= len(outcome.options) - 1 <= 4
        final = studio_session.answer(case.prompt, outcome, case.answer, candidate_ids=case.pool)
        assert isinstance(final, Selection), final
        assert final.candidate.card.checkpoint_id == case.final
        return
    assert isinstance(outcome, Selection), outcome
    assert outcome.candidate.card.checkpoint_id == case.expected
    if case.rewritten:
        assert outcome.rewrite.rewritten_prompt == case.rewritten


@pytest.mark.parametrize("rule", PAPER, ids=lambda r: f"{r.kind}: {r.prompt}")
def test_paper_request(paper_session: Session, rule: Rule) -> None:
    """A request on the paper's cards selects, asks or refuses as its meaning says."""
    meant = expected_ids(rule, paper_session.cards)
    outcome = paper_session.ask(rule.prompt)
    if not meant:
        assert isinstance(outcome, NoMatch), outcome
    elif len(meant) == 1:
        assert isinstance(outcome, Selection), outcome
        assert outcome.candidate.card.checkpoint_id == meant[0]
    else:
        assert isinstance(outcome, Clarification), outcome
        assert {c.card.checkpoint_id for c in outcome.candidates} <= set(meant)


def test_table_covers_every_kind() -> None:
    """The tables hold at least 120 requests and every kind of the benchmark's schema."""
    kinds = Counter([case.kind for case in STUDIO] + [rule.kind for rule in PAPER])
    assert sum(kinds.values()) >= 120
    assert set(kinds) >= {
        "temporal", "version", "order", "style", "environment", "usage", "description",
        "combination", "ambiguous", "no match", "scene", "identity",
    }  # fmt: skip
