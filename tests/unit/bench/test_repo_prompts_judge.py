"""The LLM judge, against a local server that speaks the protocol."""

from __future__ import annotations

import json

import pytest
from support.llm_server import Asked as Request
from support.llm_server import Reply, completion, run_model_server
from support.repo_prompts import ASKED, asked, card, query, selected

from personalq.bench.repo_prompts import judge as judging
from personalq.bench.repo_prompts.judge import compare_pairs, open_judge
from personalq.chassis.errors import InvalidInput, Unavailable

GOOD, BAD = card("good", name="good"), card("bad", name="bad")
CARDS = {"good": GOOD, "bad": BAD}
OURS = [asked(query("good"), selected("good"))]
THEIRS = [asked(query("good"), selected("bad"))]


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "_PAUSE_S", 0.0)


def _verdict(mark: float, best: str) -> Reply:
    marks = dict.fromkeys(("subject", "style", "temporal", "context"), mark)
    return completion({**marks, "best_choice": best, "reasoning": "…"})


def _honest(request: Request) -> Reply:
    """Prefers the good card wherever it stands."""
    case = json.loads(request.body["messages"][1]["content"])
    good = case["selected_checkpoint"]["name"] == "good"
    return _verdict(5 if good else 2, "selected" if good else "alternative")


async def test_each_card_is_judged_once_in_each_place() -> None:
    """The winner is the card, not the place."""
    with run_model_server() as server:
        server.behave = _honest
        async with open_judge(f"{server.url}/v1", "stand-in", "secret") as judge:
            assert judge is not None
            found = await compare_pairs(OURS, THEIRS, CARDS, judge, done=lambda: None)
    assert (found.pairs, found.consistent, found.win_rate) == (1, 1, 1.0)
    assert (found.intent_score, found.baseline_score) == (5.0, 2.0)
    assert [request.path for request in server.asked] == ["/v1/chat/completions"] * 2
    assert server.asked[0].headers["authorization"] == "Bearer secret"


async def test_a_judge_that_prefers_a_place_counts_for_nothing() -> None:
    """Two verdicts for "selected" contradict each other."""
    with run_model_server() as server:
        server.reply_with(_verdict(4, "selected"))
        async with open_judge(f"{server.url}/v1", "stand-in", "") as judge:
            assert judge is not None
            found = await compare_pairs(OURS, THEIRS, CARDS, judge, done=lambda: None)
    assert (found.pairs, found.consistent, found.win_rate) == (1, 0, None)


async def test_without_two_different_cards_nobody_is_asked() -> None:
    """The same card twice, or an open question."""
    unsettled = [asked(query("good", ambiguous=True), ASKED)]
    with run_model_server() as server:
        async with open_judge(f"{server.url}/v1", "stand-in", "") as judge:
            assert judge is not None
            for ours in (OURS, unsettled):
                found = await compare_pairs(ours, OURS, CARDS, judge, done=lambda: None)
                assert found.pairs == 0
    assert server.asked == []


async def test_a_busy_or_confused_judge_is_asked_again() -> None:
    """Words around the object do no harm; a mark out of range does."""
    clear = json.dumps(
        {"subject": 5, "style": 4, "temporal": 3, "context": 4, "best_choice": "selected"}
    )
    with run_model_server() as server:
        server.reply_with(
            Reply(status=429), _verdict(9, "selected"), completion(f"Sure: {clear} Bye.")
        )
        async with open_judge(f"{server.url}/v1", "stand-in", "") as judge:
            assert judge is not None
            verdict = await judge.verdict(query("good"), GOOD, BAD)
    assert verdict.intent_score == 4.0


@pytest.mark.parametrize(
    ("reply", "says", "times"),
    [
        (Reply(status=401), "HTTP 401", 1),
        (Reply(status=503), "HTTP 503", 3),
        (completion("no idea"), "no verdict", 3),
    ],
)
async def test_a_judge_that_gives_no_verdict_is_named(reply: Reply, says: str, times: int) -> None:
    """What no repetition can cure is not repeated."""
    with run_model_server() as server:
        server.reply_with(reply)
        async with open_judge(f"{server.url}/v1", "stand-in", "") as judge:
            assert judge is not None
            with pytest.raises(Unavailable, match=says):
                await judge.verdict(query("good"), GOOD, BAD)
    assert len(server.asked) == times


async def test_a_judge_needs_a_model() -> None:
    """And no endpoint means no judge."""
    with pytest.raises(InvalidInput, match="--judge-model"):
        async with open_judge("http://127.0.0.1:1/v1", "", ""):
            pass
    async with open_judge("", "", "") as judge:
        assert judge is None
