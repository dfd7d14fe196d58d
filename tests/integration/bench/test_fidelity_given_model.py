"""`personalq bench fidelity` on tiny models of other architectures, given by their folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.given_model import FULL, LORA, make_given
from support.tiny_sd import make_tiny_sd
from support.tiny_sdxl import make_tiny_sdxl
from typer.testing import CliRunner, Result

pytest.importorskip("torch")

from personalq.bench.fidelity import run
from personalq.chassis.errors import InvalidInput
from personalq.sdk.cli.bench import app

pytestmark = pytest.mark.timeout(600)

METHODS = {"full", "q-diffusion", "ptqd", "tfmq-dm", "dgq", "mixdq-bos", "taq-paper", "taq"}


def _run(folder: Path, given: dict[str, Path], *more: str) -> Result:
    paths = {**given, "work": folder / "work", "results-dir": folder / "results"}
    arguments = [word for name, path in paths.items() for word in (f"--{name}", str(path))]
    return CliRunner().invoke(
        app,
        ["fidelity", *arguments, "--steps", "2", "--workers", "1", *more],
        catch_exceptions=False,
    )


def _summary(folder: Path) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads((folder / "results" / "summary.json").read_text())
    return summary


@pytest.fixture(scope="module")
def sd(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A tiny Stable Diffusion with two checkpoints."""
    folder = tmp_path_factory.mktemp("sd")
    return make_given(folder, make_tiny_sd(folder / "model"))


@pytest.fixture(scope="module")
def sdxl(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A tiny SDXL-Turbo with one LoRA that is drawn, without Inception and a world."""
    folder = tmp_path_factory.mktemp("sdxl")
    base = make_tiny_sdxl(folder / "model", turbo=True, layers_per_block=1)
    given = make_given(folder, base, [LORA])
    return {name: given[name] for name in ("model", "checkpoints", "prompts", "clip")}


@pytest.fixture(autouse=True)
def _few_captions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calibrate with two: with 64 the search for ranges takes minutes."""
    monkeypatch.setattr(run, "CAPTIONS", 2)


def test_stable_diffusion_is_measured_and_not_drawn_again(
    tmp_path: Path, sd: dict[str, Path]
) -> None:
    """A LoRA and a full fine-tune; a second run draws nothing, one with other judges is refused."""
    rows = ("--table", "own settings", "--width", "W8A8", "--images", "3")
    assert _run(tmp_path, sd, *rows).exit_code == 0
    summary = _summary(tmp_path)
    measured = [*summary["rows"], *summary["tables"]["own settings"]]
    assert [row["method"] for row in measured] == ["full", "mixdq-bos", "q-diffusion"]
    for row in measured:
        assert row["n_images"] == 3
        assert row["fd_world"] > 0
        assert row["bops"] > 0
        assert -1 <= row["clip_i"] <= 1
    assert summary["run"]["scorer"] == "clip+inception"
    assert f"--model {sd['model']}" in summary["run"]["command"]
    assert summary["real_pictures"] is None
    page = (tmp_path / "results" / "fidelity.md").read_text()
    assert "real pictures of the folder world" in page
    full = np.load(next(tmp_path.glob("work/methods-full-*/pictures.npy")))
    assert full.shape == (3, 16, 16, 3)
    assert (full[0] != full[2]).any()

    drawn = {file: file.stat().st_mtime_ns for file in tmp_path.glob("work/*/pictures.npy")}
    assert _run(tmp_path, sd, *rows).exit_code == 0
    assert {file: file.stat().st_mtime_ns for file in drawn} == drawn
    other = {**sd, "inception": None}
    with pytest.raises(InvalidInput, match="choose another --work"):
        _run(tmp_path, {name: path for name, path in other.items() if path}, *rows)


def test_sdxl_turbo_is_measured_without_guidance(tmp_path: Path, sdxl: dict[str, Path]) -> None:
    """Two text encoders and added conditions, in calibration, drawing and PTQD's correction."""
    rows = ("--table", "methods", "--width", "W8A8", "--guidance", "0")
    assert _run(tmp_path, sdxl, *rows).exit_code == 0
    measured = {row["method"]: row for row in _summary(tmp_path)["rows"]}
    assert measured.keys() == METHODS
    assert all(row["fd_world"] is None for row in measured.values())
    assert all(row["psnr"] > 20 for name, row in measured.items() if name != "full")
    assert measured["ptqd"]["setting"]["corrected"] is True


def test_tokens_are_studied_too(tmp_path: Path, sdxl: dict[str, Path]) -> None:
    """Of two tokenizers with the same tokens; the noun stands behind the trigger already."""
    assert _run(tmp_path, sdxl, "--table", "sensitivity").exit_code == 0
    study = json.loads((tmp_path / "results" / "sensitivity.json").read_text())
    assert study["prompts"] == 2
    kinds = {row["kind"] for row in study["kinds"]}
    assert {"trigger", "noun", "bos", "end", "padding"} <= kinds


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"clip": None}, "--world: another model needs --clip too"),
        ({"model": None, "checkpoints": None}, "another model needs --model, --checkpoints too"),
        ({"model": "prompts"}, "--model .*prompts.jsonl is no folder"),
        ({"prompts": "model"}, "--prompts .* is no file"),
        ({"model": "clip"}, "has no unet, vae, text_encoder"),
        ({"checkpoints": "clip"}, "holds no folder with"),
        ({"checkpoints": "others"}, f"no checkpoint {LORA}; there are"),
        ({"checkpoints": "unpictured"}, f"{LORA} has no reference pictures: put"),
        ({"clip": "model"}, "holds no CLIP"),
        ({"inception": "prompts"}, "no TorchScript"),
        ({"world": "clip"}, "fewer than 2 pictures"),
    ],
    ids=[
        "no clip",
        "no model",
        "model a file",
        "prompts a folder",
        "model no base",
        "no checkpoints",
        "other checkpoints",
        "no references",
        "clip a base",
        "inception a text",
        "world empty",
    ],
)
def test_mistakes_are_told_before_anything_is_drawn(
    tmp_path: Path, sd: dict[str, Path], changes: dict[str, str | None], says: str
) -> None:
    """In a sentence that names the option or path."""
    places = {**sd, "others": tmp_path / "others", "unpictured": tmp_path / "unpictured"}
    (places["others"] / FULL / "unet").mkdir(parents=True)
    (places["unpictured"] / FULL / "unet").mkdir(parents=True)
    lora = Path(LORA, "pytorch_lora_weights.safetensors")
    (places["unpictured"] / LORA).mkdir()
    (places["unpictured"] / lora).write_bytes((sd["checkpoints"] / lora).read_bytes())
    given = {
        name: places[changes[name] or ""] if name in changes else path
        for name, path in sd.items()
        if changes.get(name, "") is not None
    }
    with pytest.raises(InvalidInput, match=says):
        _run(tmp_path, given, "--quick")
    assert not list(tmp_path.glob("work/*"))


def test_a_checkpoint_of_another_base_is_refused(
    tmp_path: Path, sd: dict[str, Path], sdxl: dict[str, Path]
) -> None:
    """A LoRA by its layers, a full fine-tune by what its UNet reads."""
    for checkpoints, says in ((sd, "of text states|layer"), (sdxl, "added conditions|layer")):
        other = sdxl if checkpoints is sd else sd
        given = {**other, "checkpoints": checkpoints["checkpoints"]}
        with pytest.raises(InvalidInput, match=f"does not go with the model model: .*({says})"):
            _run(tmp_path, given, "--quick")
