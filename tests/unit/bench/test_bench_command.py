"""`personalq bench` before anything is measured."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.repo_prompts import write_lines

from personalq.bench.repo_prompts.run import Options, run
from personalq.chassis.errors import InvalidInput, PersonalQError
from personalq.sdk.cli import bench


def test_without_the_package_the_command_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The client installs without the benchmarks."""
    bench.check_installed()
    monkeypatch.setattr(bench, "find_spec", lambda _: None)
    with pytest.raises(PersonalQError, match="pip install personalq-bench"):
        bench.check_installed()


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"judge_url": "http://127.0.0.1:1/v1"}, "--results-dir"),
        ({"reranker": "some-model"}, "--results-dir"),
        ({"out": Path("/proc/results.jsonl")}, "cannot be written"),
        ({"queries": Path("absent.jsonl")}, "cannot be read"),
    ],
)
def test_a_mistake_is_told_before_anything_starts(
    tmp_path: Path, changed: dict[str, object], says: str
) -> None:
    """Not after minutes of measuring."""
    truth = {"checkpoint_id": "a"}
    query = {"instance_id": "1", "query": "a bear", "ground_truth": truth}
    options: dict[str, object] = {
        "cards": write_lines(tmp_path / "cards.jsonl", [{"checkpoint_id": "a"}]),
        "queries": write_lines(tmp_path / "queries.jsonl", [query]),
        "out": None,
        "as_json": False,
        "target": "",
        "base_model": "",
        "quick": False,
        "results_dir": None,
        "reranker": "",
        "judge_url": "",
        "judge_model": "",
        "judge_key": "",
    }
    with pytest.raises(InvalidInput, match=says):
        run(Options(**{**options, **changed}))  # type: ignore[arg-type]
