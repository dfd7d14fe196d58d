"""Reports of several runs as one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.fidelity import ColourScorer, noisy, real_pictures, write_row, yard
from support.fonts import needs_font

from personalq.bench.fidelity.page import write
from personalq.bench.fidelity.report import report
from personalq.bench.fidelity.together import together
from personalq.chassis.errors import InvalidInput

pytestmark = needs_font

COUNT = 20


def _summary(work: Path, command: str, rows: dict[str, float], **fields: object) -> dict[str, Any]:
    """What a run says whose rows have so much noise."""
    full = real_pictures(COUNT)
    write_row(work, "full", full, w_bits=None, a_bits=None)
    for name, spread in rows.items():
        method, _, width = name.partition("-")
        bits = {"w8a8": (8, 8), "w4a8": (4, 8)}[width]
        write_row(
            work, name, noisy(full, spread), method=method, w_bits=bits[0], a_bits=bits[1], **fields
        )
    return report(work, yard(ColourScorer(), COUNT), work / "out", {"command": command})


@pytest.fixture(scope="module")
def summaries(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """A new run of some rows, and the run before it of all."""
    new = _summary(tmp_path_factory.mktemp("new"), "new", {"taq-w8a8": 2.0})
    before = {"taq-w8a8": 5.0, "ptqd-w8a8": 40.0, "taq-w4a8": 5.0, "dgq-w4a8": 40.0}
    return [new, _summary(tmp_path_factory.mktemp("old"), "old", before)]


def test_the_newest_figure_of_every_row_is_kept(summaries: list[dict[str, Any]]) -> None:
    """Rows of the run before say so, those of the newest nothing."""
    merged = together(summaries)
    rows = {row["row_id"]: row for row in merged["rows"]}
    assert list(rows) == ["full", "ptqd-w8a8", "taq-w8a8", "dgq-w4a8", "taq-w4a8"]
    newest = {name for name, row in rows.items() if "run" not in row}
    assert newest == {"full", "taq-w8a8"}
    assert rows["dgq-w4a8"]["run"] == summaries[1]["run"]
    assert rows["taq-w8a8"]["psnr"] == summaries[0]["rows"][1]["psnr"]
    assert merged["run"]["command"] == "new"


def test_pairs_are_of_one_run(summaries: list[dict[str, Any]]) -> None:
    """What taq of the new run gains on a row of the old one nobody knows."""
    merged = together(summaries)
    assert [gain["over"] for gain in merged["gains"]] == ["dgq-w4a8"]
    assert merged["best"] == {"W4A8": summaries[1]["best"]["W4A8"]}
    assert merged["best"]["W4A8"]["psnr"] == "taq-w4a8"


def test_rows_keep_their_run_when_reports_are_joined_again(
    summaries: list[dict[str, Any]], tmp_path: Path
) -> None:
    """A joined report is a summary like any other."""
    twice = together([summaries[0], together(summaries)])
    assert twice["rows"] == together(summaries)["rows"]
    write(twice, tmp_path)
    assert json.loads((tmp_path / "summary.json").read_text())["rows"] == twice["rows"]
    page = (tmp_path / "fidelity.md").read_text()
    assert "- run 2: command old" in page
    assert "| ptqd-w8a8 | W8A8 | 8/8 | – | 20 | 2 |" in page
    assert "| taq-w8a8 | W8A8 | 8/8 | – | 20 | 1 |" in page


def test_other_tables_are_joined_too(tmp_path: Path, summaries: list[dict[str, Any]]) -> None:
    """By their rows' ids."""
    helps = _summary(tmp_path, "helps", {"taq-w8a8": 3.0}, table="what helps")
    merged = together([summaries[0], helps])
    assert [row["row_id"] for row in merged["tables"]["what helps"]] == ["taq-w8a8"]
    assert merged["tables"]["what helps"][0]["run"]["command"] == "helps"


def test_runs_of_other_pictures_are_refused(summaries: list[dict[str, Any]]) -> None:
    """Where full precision scores otherwise, nothing can be compared."""
    full, *rows = summaries[1]["rows"]
    other = {**summaries[1], "rows": [{**full, "clip_i": full["clip_i"] * 1.01}, *rows]}
    with pytest.raises(InvalidInput, match="clip_i of full precision"):
        together([summaries[0], other])
