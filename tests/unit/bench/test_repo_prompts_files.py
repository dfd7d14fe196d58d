"""Repo-Prompts files: what is read, what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.repo_prompts import card, query, write_lines

from personalq.bench.repo_prompts.files import read_cards, read_queries, sample
from personalq.chassis.errors import InvalidInput

_TRUTH = {"checkpoint_id": "bear-v1", "requires_clarification": False, "no_match": False}


def test_what_is_null_or_absent_is_empty_and_what_is_unknown_is_ignored(tmp_path: Path) -> None:
    """A card needs no more than an id."""
    path = write_lines(
        tmp_path / "cards.jsonl",
        [{"checkpoint_id": "bear-v1", "triggers": None, "owner": None, "colour": "tan"}],
    )
    [read] = read_cards(path)
    assert (read.triggers, read.owner, read.trigger, read.version) == ((), "", "", None)


def test_a_time_without_a_zone_is_in_utc(tmp_path: Path) -> None:
    """No machine's own zone gets in."""
    path = write_lines(
        tmp_path / "cards.jsonl", [{"checkpoint_id": "a", "created_at": "2026-04-11T09:00:00"}]
    )
    assert read_cards(path)[0].created_at == datetime(2026, 4, 11, 9, tzinfo=UTC)


def test_a_line_separator_inside_a_string_ends_no_line(tmp_path: Path) -> None:
    """JSON Lines are separated by newlines alone."""
    path = tmp_path / "cards.jsonl"
    path.write_text('{"checkpoint_id": "a", "description": "one\u2028two"}\n\n', encoding="utf-8")
    assert read_cards(path)[0].description == "one\u2028two"


def test_a_file_of_another_system_is_read(tmp_path: Path) -> None:
    """A byte order mark and carriage returns are no part of the lines."""
    path = tmp_path / "cards.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"checkpoint_id": "a"}\r\n{"checkpoint_id": "b"}\r\n\r\n')
    assert [read.checkpoint_id for read in read_cards(path)] == ["a", "b"]


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ("{", "cards.jsonl:2: no JSON object"),
        ("[]", "cards.jsonl:2: the line"),
        ('{"name": "bear"}', "cards.jsonl:2: checkpoint_id"),
        ('{"checkpoint_id": "b", "version": "four"}', "cards.jsonl:2: version"),
        ('{"checkpoint_id": "a"}', "'a' is there twice"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, second: str, says: str) -> None:
    """File, line, field."""
    path = tmp_path / "cards.jsonl"
    path.write_text('{"checkpoint_id": "a"}\n' + second + "\n")
    with pytest.raises(InvalidInput, match=says):
        read_cards(path)


def test_a_file_without_lines_is_refused(tmp_path: Path) -> None:
    """Nothing was measured is not a measurement."""
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(InvalidInput, match="is empty"):
        read_cards(tmp_path / "empty.jsonl")
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_cards(tmp_path / "absent.jsonl")


@pytest.mark.parametrize(
    "changed",
    [
        {"ground_truth": {**_TRUTH, "checkpoint_id": "gone"}},
        {"ground_truth": {**_TRUTH, "acceptable_ids": ["gone"]}},
    ],
)
def test_a_query_about_a_card_that_is_not_there_is_refused(
    tmp_path: Path, changed: dict[str, object]
) -> None:
    """Cards and queries belong together."""
    line = {"instance_id": "rp_1", "query": "a bear", "ground_truth": _TRUTH, **changed}
    path = write_lines(tmp_path / "queries.jsonl", [line])
    with pytest.raises(InvalidInput, match="rp_1 names 'gone'"):
        read_queries(path, [card("bear-v1")])


def test_a_pool_may_name_cards_that_are_not_there(tmp_path: Path) -> None:
    """It says what may be chosen, not what there is."""
    line = {
        "instance_id": "rp_1",
        "query": "a bear",
        "candidate_pool": ["gone", "bear-v1"],
        "ground_truth": _TRUTH,
    }
    path = write_lines(tmp_path / "queries.jsonl", [line])
    [read] = read_queries(path, [card("bear-v1")])
    assert read.candidate_pool == ("gone", "bear-v1")


def test_a_sample_has_every_kind_in_its_share() -> None:
    """However the kinds are arranged in the file."""
    kinds = [query("a", str(n)) for n in range(70)]
    kinds += [query("a", str(n), ambiguous=True) for n in range(70, 90)]
    kinds += [query(None, str(n)) for n in range(90, 100)]
    kept = [each.kind for each in sample(kinds, 10)]
    assert {kind: kept.count(kind) for kind in set(kept)} == {
        "single": 7,
        "ambiguous": 2,
        "no_match": 1,
    }
