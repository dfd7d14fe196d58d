"""`personalq bench speed`: real processes, a narrow UNet."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SECONDS = 300


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = "from personalq.sdk.cli import main; main()"
    command = [sys.executable, "-c", program, "bench", "speed", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


pytestmark = pytest.mark.timeout(SECONDS + 30)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The summary of a quick run, and where its page is."""
    results = tmp_path_factory.mktemp("results")
    finished = _run("--quick", "--threads", "1", "--json", "--results-dir", str(results))
    assert finished.returncode == 0, finished.stderr
    summary: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return summary, results


def test_every_contender_has_time_memory_and_kinds(measured: tuple[dict[str, Any], Path]) -> None:
    """Whoever is installed is in the table, whoever is not is named."""
    summary, results = measured
    rows = {row["name"]: row for row in summary["contenders"]}
    assert {"diffusers fp32", "diffusers bf16", "taq w8a8", "taq w4a8"} <= rows.keys()
    for name in ("torchao int8 dynamic, eager", "quanto int8"):
        assert (name in rows) != (name in summary["left_out"])
    for row in rows.values():
        assert 0 < row["seconds"] <= row["median_seconds"]
        assert row["peak_bytes"] > row["weight_bytes"] > 0
        assert all(row["by_kind"][kind] > 0 for kind in ("conv", "linear", "attention", "rest"))
    assert json.loads((results / "speed-cpu.json").read_text()) == summary
    page = (results / "speed-cpu.md").read_text()
    assert all(f"| {name} |" in page for name in rows)


def test_weights_take_what_their_bits_say(measured: tuple[dict[str, Any], Path]) -> None:
    """In memory one packed copy, on disk no more; and what is computed is the same picture."""
    rows = {row["name"]: row for row in measured[0]["contenders"]}
    half = rows["diffusers bf16"]["weight_bytes"]
    assert rows["diffusers fp32"]["weight_bytes"] == 2 * half
    assert rows["diffusers fp32"]["difference"] == 0
    # Narrow layers pay more for their scales than those of SD1.5 do.
    for name, share, difference in (("taq w8a8", 0.6, 0.1), ("taq w4a8", 0.45, 0.4)):
        row = rows[name]
        assert row["weight_bytes"] < share * half
        assert 0 < row["difference"] < difference
        assert row["least_bytes"] < row["artifact_bytes"] < 1.25 * row["least_bytes"]


def test_a_device_that_is_not_there_is_refused() -> None:
    """Before anything is built."""
    finished = _run("--device", "cuda", "--quick")
    if finished.returncode == 0:
        pytest.skip("there is a GPU here")
    assert "torch sees no GPU" in finished.stderr
