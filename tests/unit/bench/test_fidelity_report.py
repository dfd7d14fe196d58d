"""The report of a small work folder: keys, marks, tables, what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.fidelity import ColourScorer, noisy, real_pictures, write_row, yard
from support.fonts import needs_font

from personalq.bench.fidelity.metrics import Pictures
from personalq.bench.fidelity.report import described_run, report
from personalq.chassis.errors import InvalidInput

pytestmark = needs_font

COUNT = 20
KEYS = {
    "method", "w_bits", "a_bits", "n_images", "fd_world", "fd_full", "clip", "clip_i", "psnr",
    "noun_accuracy", "mse", "intervals", "label", "setting", "bops", "seconds",
}  # fmt: skip


@pytest.fixture(scope="module")
def pictures() -> Pictures:
    """What the full precision draws."""
    return real_pictures(COUNT)


def _work(work: Path, pictures: Pictures) -> Path:
    write_row(work, "full", pictures, w_bits=None, a_bits=None)
    write_row(work, "taq-w8a8", noisy(pictures, 5), method="taq", bops=7.5)
    write_row(work, "ptqd-w8a8", noisy(pictures, 40), method="ptqd")
    write_row(work, "ptqd-again", noisy(pictures, 40), method="ptqd", label="again")
    mixed = {"cross_bits": 4, "self_bits": 8}
    write_row(work, "taq-w4a8", noisy(pictures[:10], 20), method="taq", w_bits=4, setting=mixed)
    kept = mixed | {"protected": "all"}
    write_row(
        work, "t4-log", noisy(pictures, 9), table="table4", method="taq", label="log", setting=kept
    )
    write_row(work, "dgq-w8a8", None, method="dgq")
    return work


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, pictures: Pictures) -> Path:
    """All files of one report."""
    out = tmp_path_factory.mktemp("results") / "fidelity"
    work = _work(tmp_path_factory.mktemp("work"), pictures)
    report(work, yard(ColourScorer(), COUNT), out, described_run("personalq bench", 25, 3.0))
    return out


def _summary(out: Path) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return summary


def test_rows_have_the_promised_keys(written: Path) -> None:
    """Full precision first; it has no PSNR; every figure has an interval around it."""
    rows = _summary(written)["rows"]
    assert [row["row_id"] for row in rows] == [
        "full", "ptqd-again", "ptqd-w8a8", "taq-w8a8", "taq-w4a8",
    ]  # fmt: skip
    assert all(set(row) >= KEYS for row in rows)
    assert (rows[0]["w_bits"], rows[0]["a_bits"], rows[0]["psnr"]) == (32, 32, None)
    taq = rows[3]
    assert (taq["n_images"], taq["bops"], taq["seconds"]) == (20, 7.5, 1.5)
    for key, (low, high) in taq["intervals"].items():
        assert low <= taq[key] <= high


def test_bits_of_probabilities_are_said_of_both_attentions(written: Path) -> None:
    """A method that keeps one of them in more bits does not pass for one of fewer, nor of 32."""
    summary = _summary(written)
    rows = [*summary["rows"], *summary["tables"]["table4"]]
    bits = {row["row_id"]: row["softmax_bits"] for row in rows}
    assert bits["taq-w8a8"] == {"cross": 8, "self": 8}
    assert bits["taq-w4a8"] == {"cross": 4, "self": 8}
    assert bits["t4-log"] == {"cross": 32, "self": 8}, "no text token is rounded"
    assert "| taq-w4a8 | W4A8 | 4/8 | – | 10 |" in (written / "fidelity.md").read_text()


def test_other_tables_stay_apart(written: Path) -> None:
    """Their rows are not among the methods."""
    tables = _summary(written)["tables"]
    assert [row["label"] for row in tables["table4"]] == ["log"]


def test_a_gain_is_marked_only_where_pairs_prove_it(written: Path) -> None:
    """Little noise beats much; a row that is alone in its bit width beats nobody."""
    page = (written / "fidelity.md").read_text()
    eight, four = page.split("## W8A8")[1].split("## W4A8")
    best = next(line for line in eight.splitlines() if line.startswith("| taq-w8a8"))
    assert best.count("**") >= 4
    assert all("**" not in line for line in eight.splitlines() if line.startswith("| ptqd"))
    assert "**" not in four.split("## ")[0]
    gains = _summary(written)["gains"]
    assert {gain["over"] for gain in gains} == {"ptqd-again", "ptqd-w8a8"}
    assert all(gain["psnr"]["interval"][0] > 0 for gain in gains)
    assert all(gain["fd_full"]["interval"][1] < 0 for gain in gains)


def test_equal_rows_are_not_told_apart(tmp_path: Path, pictures: Pictures) -> None:
    """Nothing is bold where the best is as good as the next."""
    write_row(tmp_path, "full", pictures)
    write_row(tmp_path, "taq", noisy(pictures, 9))
    write_row(tmp_path, "dgq", noisy(pictures, 9))
    report(tmp_path, yard(ColourScorer(), COUNT), tmp_path / "out", {})
    assert "**" not in (tmp_path / "out" / "fidelity.md").read_text().split("## W8A8")[1]


def test_what_is_missing_is_said(written: Path) -> None:
    """Rows that have no pictures yet, and methods that were not run at all."""
    missing = _summary(written)["not_reported"]
    assert "dgq-w8a8: no pictures.npy" in missing
    assert "nf4: not run" in missing
    assert not [line for line in missing if line.startswith("taq: not run at W8A8")]
    assert any(line.startswith("taq: not run at") and "W4A4" in line for line in missing)
    assert "- nf4: not run" in (written / "fidelity.md").read_text()


def test_what_was_run_and_what_real_pictures_score_is_said(written: Path) -> None:
    """Counts, sampler, versions; the ceiling of every figure."""
    summary = _summary(written)
    run = summary["run"]
    assert (run["cases"], run["steps"], run["guidance"]) == (20, 25, 3.0)
    assert {"torch", "diffusers", "recipe", "command", "seeds"} <= set(run)
    assert summary["real_pictures"]["fd_world"] >= 0


def test_plots_are_drawn(written: Path) -> None:
    """Bars per figure, example pictures per bit width."""
    plots = {path.name for path in written.glob("*.png")}
    assert plots == {
        "fd_full.png", "fd_world.png", "clip_i.png", "pictures-W8A8.png", "pictures-W4A8.png",
    }  # fmt: skip


def test_without_the_full_precision_nothing_is_reported(tmp_path: Path, pictures: Pictures) -> None:
    """And it is said why."""
    write_row(tmp_path, "taq", pictures)
    with pytest.raises(InvalidInput, match="full"):
        report(tmp_path, yard(ColourScorer(), COUNT), tmp_path / "out", {})
