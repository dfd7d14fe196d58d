"""`personalq bench repo-prompts` as somebody runs it: real services, real PostgreSQL, real gRPC."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from support.repo_prompts import write_lines

from personalq.bench.repo_prompts.services import SERVICES, Quiet
from personalq.sdk.embedded.temporary import temporary_stack

_COLOURS = {1: "red", 2: "blue", 3: "green"}
_MONTHS = {1: "2026-04-11", 2: "2026-05-02", 3: "2099-01-05"}


def _cards() -> list[dict[str, object]]:
    """Four things in three versions; what a card may lack, some lack."""
    cards: list[dict[str, object]] = [
        {
            "checkpoint_id": f"{subject}-v{version}",
            "triggers": [f"<{subject}-v{version}>"],
            "subjects": [subject],
            "styles": ["sketch" if version == 2 else "photorealistic"],
            "description": f"A {_COLOURS[version]} {subject}.",
            "base_model": "stable-diffusion-v1-5",
            "version": version,
            "created_at": f"{_MONTHS[version]}T09:00:00+00:00",
            "last_used_at": None,
            "unheard_of": True,
        }
        for subject in ("bear", "dog", "teapot", "clock")
        for version in (1, 2, 3)
    ]
    cards[-1] = {**cards[-1], "triggers": None, "styles": None, "description": None}
    return cards


def _query(
    prompt: str, meant: str | None, *, ambiguous: bool = False, **fields: object
) -> dict[str, object]:
    truth = {
        "checkpoint_id": meant,
        "requires_clarification": ambiguous,
        "no_match": meant is None,
    }
    return {
        "instance_id": prompt,
        "query": prompt,
        "now": "2099-01-20T12:00:00+00:00",
        "candidate_pool": None,
        "ground_truth": truth,
        "answer": None,
        **fields,
    }


_QUERIES = [
    _query("bear v2 on a wooden table", "bear-v2", group="version"),
    _query("version 1 of my dog on grass", "dog-v1", group="version"),
    _query("the teapot sketch at night", "teapot-v2"),
    _query("the April 2026 bear in a forest", "bear-v1"),
    _query("this month's dog on grass", "dog-v3"),
    _query("clock v3 on a wall", "clock-v3"),
    _query("a bear on a bench", "bear-v2", candidate_pool=["bear-v2"]),
    _query("a bear in the snow", "bear-v3", ambiguous=True, answer="version 3"),
    _query("the photorealistic dog", "dog-v1", ambiguous=True, answer="the red one"),
    _query("bear v9 on a wooden table", None),
    _query("a submarine in a harbor", None),
    _query("a bear", None, time_zone="Nowhere/Land"),
]


@pytest.mark.timeout(600)
def test_cards_are_loaded_queries_asked_and_results_written(tmp_path: Path) -> None:
    """One line per query, a summary on the last line, and nothing left running."""
    cards = write_lines(tmp_path / "cards.jsonl", _cards())
    queries = write_lines(tmp_path / "queries.jsonl", _QUERIES)
    results = tmp_path / "out" / "results.jsonl"
    before = _services()  # another test's stack may be running
    done = _run("--cards", cards, "--queries", queries, "--out", results, "--json")
    assert done.returncode == 0, done.stderr

    summary = json.loads(done.stdout.splitlines()[-1])
    assert summary["n"] == len(_QUERIES)
    assert summary["rewrite_valid_rate"] == 1.0
    assert summary["errors"] == 1  # a time zone that there is not
    assert summary["accuracy"] == pytest.approx(11 / 12)
    assert summary["resolution_rate"] == 1.0
    for times in (summary["latency_ms"], summary["embedding_ms"]):
        assert 0 < times["p50"] <= times["p95"] <= times["p99"]
    assert summary["by_group"]["version"]["n"] == 2

    written = [json.loads(line) for line in results.read_text().splitlines()]
    lines = {line["instance_id"]: line for line in written}
    assert list(lines) == [query["instance_id"] for query in _QUERIES]
    chosen = lines["bear v2 on a wooden table"]
    assert chosen["outcome"] == chosen["final"]["outcome"] == "selection"
    assert chosen["rewritten_prompt"] == "<bear-v2> v2 on a wooden table"
    question = lines["a bear in the snow"]
    assert (question["outcome"], question["checkpoint_id"]) == ("clarification", None)
    assert question["final"]["checkpoint_id"] == "bear-v3"
    assert question["question"]
    assert len(question["options"]) >= 2
    assert question["answer_latency_ms"] > 0
    assert lines["a bear"]["outcome"] == "error"
    assert "Nowhere/Land" in lines["a bear"]["explanation"]
    assert _services() <= before


@pytest.mark.timeout(600)
async def test_a_running_stack_gets_a_tenant_whose_cards_are_withdrawn_in_the_end(
    tmp_path: Path,
) -> None:
    """Nothing of the stack's own is chosen from or touched; nobody is left to quantize."""
    cards = write_lines(tmp_path / "cards.jsonl", _cards())
    queries = write_lines(tmp_path / "queries.jsonl", _QUERIES[:3])
    async with temporary_stack(SERVICES, report=Quiet()) as stack:
        where = stack.endpoints
        target = f"{where.catalog},{where.checkin}"
        options = ("--cards", cards, "--queries", queries, "--target", target, "--json")
        done = await stack.during(asyncio.to_thread(_run, *options))
        log = (stack.data / "logs" / "catalog.log").read_text()
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["accuracy"] == 1.0
    calls = [json.loads(line) for line in log.splitlines() if "ArchiveCheckpoint" in line]
    assert [call["code"] for call in calls] == ["OK"] * len(_cards())
    [tenant] = {call["tenant"] for call in calls}
    assert tenant.startswith("bench-")


def test_a_mistake_in_a_file_is_told_before_anything_starts(tmp_path: Path) -> None:
    """File and line, exit code 2."""
    cards = write_lines(tmp_path / "cards.jsonl", _cards())
    (tmp_path / "queries.jsonl").write_text("{}\n")
    done = _run("--cards", cards, "--queries", tmp_path / "queries.jsonl")
    assert done.returncode == 2
    [complaint] = done.stderr.splitlines()
    assert "queries.jsonl:1: instance_id" in complaint


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    personalq = Path(sys.executable).with_name("personalq")
    return subprocess.run(
        [personalq, "bench", "repo-prompts", *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=500,
        check=False,
    )


def _services() -> set[int]:
    """Ids of the services among the programs this process has started."""
    children = psutil.Process().children(recursive=True)
    return {each.pid for each in children if any("personalq.c" in word for word in each.cmdline())}
