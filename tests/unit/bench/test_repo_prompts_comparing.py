"""Baselines, the computed intent score, the report."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.repo_prompts import ASKED, REFUSED, asked, card, query, selected

from personalq.bench.repo_prompts.baselines import choose_most_similar, choose_randomly
from personalq.bench.repo_prompts.comparing import row
from personalq.bench.repo_prompts.intent_score import LOWEST, IntentScore, compare, summarize
from personalq.bench.repo_prompts.judge import Comparison
from personalq.bench.repo_prompts.measuring import Compared
from personalq.bench.repo_prompts.report import Report, write
from personalq.bench.repo_prompts.scoring import Percentiles, summary

BEARS = [card(f"bear-v{n}") for n in range(1, 6)]
DOG = card("dog-v1", subjects=["dog"])
CARDS = [*BEARS, DOG]
BY_ID = {each.checkpoint_id: each for each in CARDS}


def test_random_stays_in_the_category_and_is_the_same_every_time() -> None:
    """A draw depends on its query alone."""
    queries = [query("bear-v1", f"bear {n}") for n in range(40)]
    chosen = [each.final.checkpoint_id for each in choose_randomly(queries, CARDS)]
    assert set(chosen) == {each.checkpoint_id for each in BEARS}
    again = choose_randomly(queries[20:], CARDS)
    assert [each.final.checkpoint_id for each in again] == chosen[20:]


def test_random_stays_in_the_pool() -> None:
    """Also where nothing is meant and there is no category."""
    queries = [query(None, f"{n}", candidate_pool=["dog-v1"]) for n in range(5)]
    assert {each.final.checkpoint_id for each in choose_randomly(queries, CARDS)} == {"dog-v1"}


def test_nothing_is_chosen_from_a_pool_of_cards_that_are_not_there() -> None:
    """The only case in which a baseline refuses."""
    queries = [query(None, candidate_pool=["gone"])]
    for [result] in (
        choose_randomly(queries, CARDS),
        choose_most_similar(queries, CARDS, np.zeros((1, len(CARDS)))),
    ):
        assert result.final == REFUSED


def test_similarity_decides_within_the_pool() -> None:
    """The best of those that may be chosen; ties go to the first card."""
    similarities = np.array([[0.1, 0.9, 0.3, 0.3, 0.2, 0.0]] * 2)
    queries = [query("bear-v1"), query("bear-v1", candidate_pool=["bear-v4", "bear-v3"])]
    chosen = choose_most_similar(queries, CARDS, similarities)
    assert [each.final.checkpoint_id for each in chosen] == ["bear-v2", "bear-v3"]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, IntentScore(subject=5, style=5, temporal=5, context=5)),
        ({"subjects": ["polar bear"]}, IntentScore(subject=3, style=5, temporal=5, context=5)),
        ({"subjects": ["dog"]}, IntentScore(subject=1, style=5, temporal=5, context=5)),
        ({"styles": ["sketch"]}, IntentScore(subject=5, style=1, temporal=5, context=5)),
        ({"created_at": "2026-04-20"}, IntentScore(subject=5, style=5, temporal=4, context=5)),
        ({"created_at": "2025-04-11"}, IntentScore(subject=5, style=5, temporal=1, context=5)),
        ({"created_at": None}, IntentScore(subject=5, style=5, temporal=1, context=5)),
        ({"environments": ["beach"]}, IntentScore(subject=5, style=5, temporal=5, context=3)),
        ({"description": "a blue hat"}, IntentScore(subject=5, style=5, temporal=5, context=3)),
    ],
)
def test_the_intent_score_measures_what_differs(
    chosen: dict[str, object], expected: IntentScore
) -> None:
    """Each attribute moves its own mark and no other."""
    meant: dict[str, object] = {
        "subjects": ["bear"],
        "styles": ["photo"],
        "created_at": "2026-04-11",
        "environments": ["forest"],
        "description": "a tan bear",
    }
    assert compare(card("x", **{**meant, **chosen}), card("y", **meant)) == expected


def test_an_open_question_scores_lowest_and_no_match_is_left_out() -> None:
    """Nothing was chosen; nothing was meant."""
    open_question = summarize([asked(query("bear-v1", ambiguous=True), ASKED)], BY_ID)
    assert open_question is not None
    assert open_question.score == LOWEST.mean
    assert summarize([asked(query(None), REFUSED)], BY_ID) is None


def test_what_was_chosen_in_the_end_counts() -> None:
    """A question is no handicap beside baselines that cannot ask."""
    about = query("bear-v1", ambiguous=True, acceptable=("bear-v1", "bear-v2"))
    results = [
        asked(about, ASKED, selected("bear-v1")),
        asked(about, selected("bear-v2")),
        asked(about, selected("bear-v3")),
        asked(query(None), REFUSED),
    ]
    figures = row("ours", results, BY_ID)
    assert figures.intended == pytest.approx(1 / 3)
    assert figures.acceptable == pytest.approx(2 / 3)
    assert figures.no_match == 1.0
    assert figures.single is None


def test_the_report_names_the_command_and_every_method(tmp_path: Path) -> None:
    """Three files that stand for themselves."""
    results = [asked(query("bear-v1"), selected("bear-v1", "a <bear-v1>"))]
    ours = row("Check-in", results, BY_ID)
    compared = Compared(
        baselines=[row("Random (within the category)", results, BY_ID), ours],
        ablations=[row("dense, no reasoning", results, BY_ID), ours],
        judged={
            "Random": Comparison(
                pairs=2, consistent=1, win_rate=1.0, intent_score=4.5, baseline_score=2.0
            )
        },
    )
    report = Report(
        arguments=["bench", "repo-prompts", "--results-dir", "bench/results"],
        n_cards=len(CARDS),
        summary=summary(results, BY_ID, embedding=Percentiles(p50=1, p95=1, p99=1)),
        compared=compared,
    )
    document, page, plot = write(report, tmp_path / "results")
    assert json.loads(document.read_text())["summary"]["accuracy"] == 1.0
    for wanted in (report.command, "Random (within", "dense, no reasoning", "| 4.500 |"):
        assert wanted in page.read_text()
    assert plot.read_bytes().startswith(b"\x89PNG")
