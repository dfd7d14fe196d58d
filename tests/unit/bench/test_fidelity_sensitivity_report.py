"""The sensitivity of tokens: averaged by kind, paired with the trigger, drawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from personalq.bench.fidelity.sensitivity_report import read_measured, write_sensitivity
from personalq.chassis.errors import InvalidInput


def _group(kind: str, position: int, mse: float, bits: int = 4) -> dict[str, Any]:
    return {
        "label": f"{kind}-{position}",
        "kind": kind,
        "positions": [position],
        "bits": bits,
        "mse": mse,
        "latent_mse": mse / 1000,
        "clip_drop": mse / 100,
        "clip_i_drop": mse / 50,
    }


def _prompts(count: int) -> list[dict[str, Any]]:
    """Prompts that differ widely; in each the trigger hurts by 1 more than a word."""
    levels = np.random.default_rng(0).uniform(0, 50, count)
    return [
        {
            "prompt": "a photo of a <sks>",
            "tokens": ["a", "photo", "<sks>"],
            "groups": [
                _group("word", 1, level - 2),
                _group("word", 2, level + 2),
                _group("trigger", 3, level + 1),
                _group("trigger", 3, 0.5, bits=8),
            ],
        }
        for level in levels
    ]


def _write(file: Path, prompts: list[dict[str, Any]]) -> Path:
    file.write_text(json.dumps({"prompts": prompts}))
    return file


def test_kinds_are_averaged_per_prompt_and_paired(tmp_path: Path) -> None:
    """The trigger's excess is certain though both intervals overlap; bits stay apart."""
    file = _write(tmp_path / "measured.json", _prompts(30))
    summary = write_sensitivity(read_measured(file), tmp_path / "out")
    kinds = {(row["kind"], row["bits"]): row for row in summary["kinds"]}
    assert set(kinds) == {("trigger", 4), ("word", 4), ("trigger", 8)}
    trigger, word = kinds["trigger", 4]["mse"], kinds["word", 4]["mse"]
    assert trigger["mean"] - word["mean"] == pytest.approx(1)
    assert trigger["interval"][0] < word["interval"][1]
    assert word["trigger_less_this"]["interval"] == pytest.approx([1, 1])
    assert kinds["word", 4]["prompts"] == 30
    assert kinds["trigger", 8]["mse"]["mean"] == 0.5
    assert json.loads((tmp_path / "out" / "sensitivity.json").read_text()) == summary
    assert (tmp_path / "out" / "sensitivity.png").stat().st_size > 1000


def test_prompts_with_more_words_weigh_no_more(tmp_path: Path) -> None:
    """The mean is over prompts."""
    prompts = _prompts(2)
    prompts[0]["groups"] = [_group("word", i, 4.0) for i in range(9)]
    prompts[1]["groups"] = [_group("word", 1, 0.0)]
    summary = write_sensitivity(read_measured(_write(tmp_path / "m.json", prompts)), tmp_path)
    assert summary["kinds"][0]["mse"]["mean"] == 2
    assert summary["kinds"][0]["mse"]["trigger_less_this"] is None


def test_triggers_of_one_token_are_told_apart(tmp_path: Path) -> None:
    """What is true of long triggers need not be of a trained token."""
    prompts = _prompts(3)
    for group in prompts[0]["groups"]:
        if group["kind"] == "trigger":
            group |= {"positions": [3, 4, 5], "mse": 99.0}
    summary = write_sensitivity(read_measured(_write(tmp_path / "m.json", prompts)), tmp_path)
    found = {
        name: next(row for row in rows if (row["kind"], row["bits"]) == ("trigger", 4))
        for name, rows in summary["by_trigger"].items()
    }
    assert found["several tokens"]["mse"]["mean"] == 99
    assert found["several tokens"]["tokens"] == 3
    assert found["one token"]["prompts"] == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [({"kind": "verb"}, r"groups\.0\.kind"), ({"mse": float("nan")}, r"groups\.0\.mse")],
    ids=["kind", "nan"],
)
def test_wrong_files_are_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    """The field is named."""
    prompts = _prompts(1)
    prompts[0]["groups"][0] |= change
    with pytest.raises(InvalidInput, match=said):
        read_measured(_write(tmp_path / "m.json", prompts))
    with pytest.raises(InvalidInput, match="prompts"):
        read_measured(_write(tmp_path / "none.json", []))
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_measured(tmp_path / "missing.json")
