"""The scores, figure by figure."""

from __future__ import annotations

import pytest
from support.repo_prompts import ASKED, REFUSED, asked, card, query, selected

from personalq.bench.repo_prompts.asking import Reply
from personalq.bench.repo_prompts.scoring import Percentiles, line, percentiles, score, summary

CARDS = {name: card(name) for name in ("a", "b")}
MEANT = query("a")
OPEN = query("a", ambiguous=True)
NOTHING = query(None)
RIGHT = selected("a", "a <a>")
WRONG = selected("b", "a <b>")


def test_a_single_query_is_right_with_its_card_only() -> None:
    """Not with another one, a question, or a refusal."""
    results = [asked(MEANT, reply) for reply in (RIGHT, WRONG, ASKED, REFUSED)]
    scores = score(results, CARDS)
    assert scores.n == 4
    assert scores.accuracy == scores.single_accuracy == 0.25
    assert scores.over_ask_rate == 0.25
    assert scores.false_no_match_rate == 0.25


def test_an_ambiguous_query_is_right_with_a_question_and_resolved_with_the_card() -> None:
    """Two figures: asking, and what came of the answer."""
    results = [
        asked(OPEN, ASKED, RIGHT),
        asked(OPEN, ASKED, WRONG),
        asked(OPEN, ASKED),
        asked(OPEN, RIGHT),
    ]
    scores = score(results, CARDS)
    assert scores.accuracy == scores.ambiguous_asked_rate == 0.75
    assert scores.resolution_rate == 0.5
    assert scores.over_ask_rate is None


def test_a_query_that_nothing_fits_is_right_with_a_refusal() -> None:
    """Over these alone; a refusal elsewhere is counted elsewhere."""
    results = [asked(NOTHING, REFUSED), asked(NOTHING, WRONG), asked(OPEN, REFUSED)]
    scores = score(results, CARDS)
    assert scores.no_match_accuracy == 0.5
    assert scores.false_no_match_rate == 1.0
    assert scores.accuracy == pytest.approx(1 / 3)


def test_a_refused_request_is_wrong_everywhere() -> None:
    """An error is no outcome."""
    error = Reply(outcome="error", explanation="unknown time zone")
    scores = score([asked(each, error) for each in (MEANT, OPEN, NOTHING)], CARDS)
    assert scores.accuracy == 0
    assert scores.false_no_match_rate == 0


def test_rewrites_are_judged_with_the_card_that_was_chosen() -> None:
    """Also where it is not the one that was meant."""
    results = [
        asked(MEANT, RIGHT),
        asked(MEANT, WRONG),
        asked(MEANT, selected("a", "a <b>")),
        asked(OPEN, ASKED, selected("a", "a bear")),
        asked(MEANT, REFUSED),
    ]
    assert score(results, CARDS).rewrite_valid_rate == 0.5


def test_the_summary_has_the_promised_names() -> None:
    """Others may be added; none of these may be missing."""
    results = [asked(query("a", group="temporal"), RIGHT, latency_ms=8.0)]
    whole = summary(results, CARDS, embedding=Percentiles(p50=4, p95=5, p99=6))
    assert {
        *("n", "accuracy", "single_accuracy", "over_ask_rate", "ambiguous_asked_rate"),
        *("resolution_rate", "no_match_accuracy", "false_no_match_rate", "rewrite_valid_rate"),
        *("latency_ms", "by_group"),
    } <= set(whole)
    assert whole["latency_ms"] == {"p50": 8.0, "p95": 8.0, "p99": 8.0}
    assert whole["select_vs_embedding"] == 2.0
    groups = whole["by_group"]
    assert isinstance(groups, dict)
    assert groups["temporal"]["accuracy"] == 1.0


def test_there_are_no_groups_where_no_query_has_one() -> None:
    """As the format says."""
    assert "by_group" not in summary([asked(MEANT, RIGHT)], CARDS, embedding=None)


def test_percentiles_interpolate() -> None:
    """The usual definition."""
    assert percentiles([float(n) for n in range(101)]) == Percentiles(p50=50, p95=95, p99=99)


def test_a_line_repeats_the_outcome_when_nothing_was_asked() -> None:
    """`final` is always there."""
    written = line(asked(MEANT, RIGHT), CARDS)
    assert written["final"] == {
        "outcome": "selection",
        "checkpoint_id": "a",
        "rewritten_prompt": "a <a>",
    }
    assert written["answer_latency_ms"] is None
    assert written["right"] is True
