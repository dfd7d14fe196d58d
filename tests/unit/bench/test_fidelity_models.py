"""What is drawn in full precision is what diffusers draws, of each architecture."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers import DDIMScheduler, StableDiffusionPipeline, StableDiffusionXLPipeline
from support.given_model import FULL, LORA, write_pictures
from support.tiny_sd import make_full, make_lora, make_tiny_sd, train_text_encoder
from support.tiny_sdxl import make_tiny_sdxl

from personalq.bench.fidelity.checks import check_checkpoint
from personalq.bench.fidelity.generating import BATCH, Engine, Sampling, batch_size, generate
from personalq.bench.fidelity.models import Model
from personalq.bench.fidelity.prompts import Case
from personalq.bench.fidelity.references import picture_files, read_pictures
from personalq.bench.fidelity.rows import all_rows
from personalq.bench.fidelity.run import described_row
from personalq.chassis.errors import InvalidInput
from personalq.renderer.denoise import initial_noise
from personalq.taq.protection import Protected

CASE = Case(LORA, "a photo of bear", "a photo of bear", "bear", "bear", "", "", 3)
PIPELINES: dict[str, Any] = {
    "sd": StableDiffusionPipeline,
    "sdxl": StableDiffusionXLPipeline,
    "turbo": StableDiffusionXLPipeline,
}


def _base(kind: str, folder: Path) -> Path:
    if kind == "sd":
        return make_tiny_sd(folder / "sd")
    return make_tiny_sdxl(folder / kind, turbo=kind == "turbo")


def _model(base: Path, checkpoints: Path) -> Model:
    """A LoRA that changes nothing, and a fine-tune of UNet and text encoder."""
    make_lora(base, checkpoints / LORA / "pytorch_lora_weights.safetensors", strength=0.0)
    train_text_encoder(base, make_full(base, checkpoints / FULL))
    return Model(base, checkpoints)


def _drawn(model: Model, case: Case, sampling: Sampling) -> np.ndarray[Any, Any]:
    def engine(group: str) -> Engine:
        return Engine(model.unet(group), Protected.parse("none"), simulated=False)

    return generate(model, engine, [case, replace(case, seed=4)], sampling)


@pytest.mark.parametrize(
    ("kind", "guidance"), [("sd", 5.0), ("sdxl", 5.0), ("sdxl", 1.0), ("turbo", 0.0)]
)
@pytest.mark.parametrize("checkpoint_id", [LORA, FULL])
def test_pictures_are_those_of_the_diffusers_pipeline(
    tmp_path: Path, kind: str, guidance: float, checkpoint_id: str
) -> None:
    """Added conditions, no unconditional half below 1, a fine-tune's own text encoder."""
    base = _base(kind, tmp_path)
    model = _model(base, tmp_path / "checkpoints")
    ours = _drawn(model, replace(CASE, checkpoint_id=checkpoint_id), Sampling(3, guidance))
    parts: dict[str, Any] = {}
    if checkpoint_id == FULL:
        own = tmp_path / "checkpoints" / FULL
        parts["unet"] = model.unet(FULL)
        kind_of_text = type(model.base.text.encoders[0].model)
        parts["text_encoder"] = kind_of_text.from_pretrained(own / "text_encoder")
    pipeline: Any = PIPELINES[kind].from_pretrained(base, **parts, safety_checker=None)
    pipeline.set_progress_bar_config(disable=True)
    pipeline.scheduler = DDIMScheduler.from_config(pipeline.scheduler.config)
    theirs = pipeline(
        [CASE.prompt] * 2,
        latents=initial_noise([3, 4], model.latent_shape, torch.device("cpu")),
        num_inference_steps=3,
        guidance_scale=guidance,
        height=model.side,
        width=model.side,
        output_type="np",
    ).images
    assert np.abs(ours - theirs * 255).max() <= 1.01


def test_guidance_of_at_most_one_has_no_effect(tmp_path: Path) -> None:
    """The same pictures at half of the bit operations."""
    model = _model(_base("turbo", tmp_path), tmp_path / "checkpoints")
    none, one = (_drawn(model, CASE, Sampling(2, guidance)) for guidance in (0.0, 1.0))
    np.testing.assert_array_equal(none, one)
    (row,) = [row for row in all_rows() if row.row_id == "methods-taq-w8a8"]
    alone, both = (described_row(row, model, Sampling(2, g), 0.0)["bops"] for g in (1.0, 3.0))
    assert both == 2 * alone > 0


def test_large_pictures_are_drawn_one_by_one(tmp_path: Path) -> None:
    """Simulated attention holds all probabilities of a batch."""
    base = _base("sd", tmp_path)
    assert batch_size(_model(base, tmp_path / "checkpoints"), BATCH) == BATCH
    file = base / "unet" / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"sample_size": 64}))
    assert batch_size(Model(base, tmp_path / "checkpoints"), BATCH) == 1


def test_what_does_not_go_with_the_base_is_refused(tmp_path: Path) -> None:
    """Before anything is drawn: tokens, layers, a damaged file, a UNet of another size."""
    base, checkpoints = _base("sdxl", tmp_path), tmp_path / "checkpoints"
    model = _model(base, checkpoints)
    other = make_tiny_sd(tmp_path / "other", hidden=64)
    file = "pytorch_lora_weights.safetensors"
    make_lora(base, checkpoints / "tokens" / file, trigger_embedding="<x>")
    make_lora(other, checkpoints / "layers" / file)
    make_full(other, checkpoints / "width")
    (checkpoints / "damaged").mkdir()
    (checkpoints / "damaged" / file).write_bytes(b"no")
    (checkpoints / "empty" / "unet").mkdir(parents=True)
    model = Model(base, checkpoints)
    for name in (LORA, FULL):
        check_checkpoint(model, name)
    for name, says in {
        "tokens": "not for all of the model",
        "layers": "layers|layer",
        "width": "added conditions",
        "damaged": "not a safetensors file",
        "empty": "no configuration",
    }.items():
        with pytest.raises(
            InvalidInput, match=rf"{name} does not go with the model sdxl: .*{says}"
        ):
            check_checkpoint(model, name)
    with pytest.raises(InvalidInput, match="no checkpoint none; there are"):
        check_checkpoint(model, "none")


def test_real_pictures_are_middle_squares(tmp_path: Path) -> None:
    """Of whatever size and kind; what is no picture is named."""
    write_pictures(tmp_path / "real", 3)
    write_pictures(tmp_path / "photos", 1, suffix="JPG")
    files = picture_files(tmp_path / "real") + picture_files(tmp_path / "photos")
    assert read_pictures(files, 16).shape == (4, 16, 16, 3)
    (tmp_path / "real" / "x.png").write_bytes(b"no")
    with pytest.raises(InvalidInput, match=r"x\.png is no picture"):
        read_pictures(picture_files(tmp_path / "real"), 16)
