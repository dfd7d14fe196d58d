"""`personalq bench fidelity` on the miniature: a few pictures, really quantized and measured."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.fonts import needs_font

pytest.importorskip("torch")

from personalq.bench.fidelity.inputs import MiniatureInputs
from personalq.bench.fidelity.run import QUICK_METHODS, Options, run
from personalq.chassis.errors import InvalidInput
from personalq.sdk.cli.failing import Exit


def _options(folder: Path, **changes: object) -> Options:
    values: dict[str, object] = {
        "inputs": MiniatureInputs(),
        "device": "cpu",
        "images": 500,
        "steps": 2,
        "guidance": 3.0,
        "work": folder / "work",
        "results_dir": folder / "results",
        "tables": (),
        "widths": (),
        "workers": 1,
        "quick": True,
        "as_json": False,
    }
    return Options(**(values | changes))  # type: ignore[arg-type]


@needs_font
@pytest.mark.timeout(600)
def test_rows_are_drawn_measured_and_not_drawn_again(tmp_path: Path) -> None:
    """Full precision scores best; a second run takes the pictures that are there."""
    assert run(_options(tmp_path)) is Exit.OK
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    rows = {(row["method"], row["a_bits"]): row for row in summary["rows"]}
    assert {method for method, _ in rows} == set(QUICK_METHODS)
    assert {row["n_images"] for row in rows.values()} == {20}
    assert rows["full", 32]["fd_full"] == pytest.approx(0, abs=1e-6)
    # Eight bits change a picture little, four a lot.
    for name in ("q-diffusion", "taq-paper", "taq"):
        assert rows[name, 8]["psnr"] > rows[name, 4]["psnr"] + 5 > 15
    assert (tmp_path / "results" / "fidelity.md").read_text().startswith("#")

    drawn = {file: file.stat().st_mtime_ns for file in tmp_path.glob("work/*/pictures.npy")}
    assert len(drawn) == len(rows)
    lost = next(iter(sorted(drawn)))
    before = np.load(lost)
    lost.unlink()
    assert run(_options(tmp_path)) is Exit.OK
    np.testing.assert_array_equal(np.load(lost), before)
    assert all(
        file.stat().st_mtime_ns == changed for file, changed in drawn.items() if file != lost
    )
    with pytest.raises(InvalidInput, match="choose another --work"):
        run(_options(tmp_path, steps=3))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tables": ("tabel 4",), "quick": False}, "there are"),
        ({"images": 1}, "at least 2"),
        ({"device": "cuda:99"}, "--device cuda:99 is not there"),
    ],
)
def test_mistakes_are_refused_before_anything_is_drawn(
    tmp_path: Path, changes: dict[str, object], says: str
) -> None:
    """With what would be right."""
    with pytest.raises(InvalidInput, match=says):
        run(_options(tmp_path, **changes))
    assert not (tmp_path / "work").exists()
