"""Drawing with SDXL, compared with diffusers' own pipeline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers import (
    DDIMScheduler,
    EulerDiscreteScheduler,
    StableDiffusionXLPipeline,
    UNet2DConditionModel,
)
from support.tiny_sd import BASE_MODEL, TRIGGER
from support.tiny_sdxl import HIDDEN, HIDDEN_2, make_tiny_sdxl
from unit.renderer.test_draw import TRIGGER_KEPT, make_plan, pixels, protected_positions, run

from personalq.renderer.bases import load_base
from personalq.renderer.denoise import initial_noise
from personalq.renderer.models import Model
from personalq.renderer.prompts import extend
from personalq.renderer.requests import Sampler
from personalq.taq import PROFILES, Factors, Lora, Protected, Protection, quantize_

SCHEDULERS: dict[Sampler, Any] = {
    Sampler.DDIM: DDIMScheduler,
    Sampler.EULER: EulerDiscreteScheduler,
}


def load(folder: Path) -> Model:
    """Return a base in full precision, as an artifact of it would be loaded."""
    base = load_base(BASE_MODEL, folder, device=torch.device("cpu"), dtype=torch.float32)
    unet = UNet2DConditionModel.from_pretrained(folder / "unet").eval()
    quantize_(unet, PROFILES["full"], {})
    return Model(base=base, unet=unet, reader=base.reader, lora=None, protection=TRIGGER_KEPT)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The tiny SDXL's diffusers folder, and one of SDXL-Turbo."""
    return {
        "sdxl": make_tiny_sdxl(tmp_path_factory.mktemp("sdxl")),
        "turbo": make_tiny_sdxl(tmp_path_factory.mktemp("turbo"), turbo=True),
    }


@pytest.fixture(scope="module")
def models(folders: dict[str, Path]) -> dict[str, Model]:
    """Both in full precision."""
    return {name: load(folder) for name, folder in folders.items()}


@pytest.mark.parametrize("sampler", list(Sampler))
@pytest.mark.parametrize(
    ("name", "guidance", "negative", "width", "steps"),
    [
        ("sdxl", 5.0, "", 16, 4),
        ("sdxl", 5.0, "dog", 32, 4),
        ("sdxl", 1.0, "", 16, 4),
        ("turbo", 0.0, "", 16, 1),
        ("turbo", 0.0, "", 16, 3),
    ],
)
def test_full_precision_equals_the_diffusers_pipeline(
    folders: dict[str, Path],
    models: dict[str, Model],
    sampler: Sampler,
    name: str,
    guidance: float,
    negative: str,
    width: int,
    steps: int,
) -> None:
    """Same seeds, same steps: our loop draws what StableDiffusionXLPipeline draws."""
    pipeline: Any = StableDiffusionXLPipeline.from_pretrained(folders[name], add_watermarker=False)
    pipeline.set_progress_bar_config(disable=True)
    pipeline.scheduler = SCHEDULERS[sampler].from_config(pipeline.scheduler.config)
    plan = make_plan(
        sampler=sampler,
        guidance_scale=guidance,
        count=2,
        width=width,
        steps=steps,
        negative_prompt=negative,
    )
    noise = initial_noise(plan.seeds, (4, 8, width // 2), torch.device("cpu"))
    expected = pipeline(
        [plan.prompt] * 2,
        negative_prompt=[negative] * 2 if negative else None,
        latents=noise,
        width=width,
        height=16,
        num_inference_steps=steps,
        guidance_scale=guidance,
        output_type="np",
    ).images
    for ours, theirs in zip(pixels(run(models[name], plan)), expected, strict=True):
        assert np.abs(ours - theirs * 255).max() <= 1.01


def test_latents_are_unscaled_as_the_vae_says(
    folders: dict[str, Path], models: dict[str, Model]
) -> None:
    """Some give mean and deviation of each channel beside the factor, as diffusers takes them."""
    model, plan = models["sdxl"], make_plan(guidance_scale=1.0)
    told = {"latents_mean": [0.1, -0.2, 0.3, 0.0], "latents_std": [1.0, 2.0, 0.5, 1.5]}
    pipeline: Any = StableDiffusionXLPipeline.from_pretrained(folders["sdxl"])
    pipeline.set_progress_bar_config(disable=True)
    pipeline.scheduler = DDIMScheduler.from_config(pipeline.scheduler.config)
    before = dict(model.base.vae.config)
    for vae in (pipeline.vae, model.base.vae):
        vae.register_to_config(**told)
    try:
        ours = pixels(run(model, plan))[0]
    finally:
        model.base.vae.register_to_config(**{key: before[key] for key in told})
    theirs = pipeline(
        plan.prompt,
        latents=initial_noise(plan.seeds, (4, 8, 8), torch.device("cpu")),
        num_inference_steps=plan.steps,
        guidance_scale=1.0,
        output_type="np",
    ).images[0]
    assert np.abs(ours - theirs * 255).max() <= 1.01
    assert np.abs(ours - pixels(run(model, plan))[0]).max() > 5


def test_rows_that_depend_on_the_trigger_are_found(models: dict[str, Model]) -> None:
    """They are scored in one pass of noise, which is told the base's own size."""
    kept = Protection(Protected.parse("conditioned:5"), "bear", None)
    model = replace(models["sdxl"], protection=kept)
    assert len(protected_positions(model, make_plan(), TRIGGER)) == 5
    assert protected_positions(model, make_plan(prompt="a photo of a bear"), TRIGGER) == ()
    assert protected_positions(model, make_plan(prompt=""), TRIGGER) == ()


@pytest.mark.parametrize("part", ["text_encoder", "text_encoder_2"])
def test_a_lora_of_either_text_encoder_leaves_no_trace(models: dict[str, Model], part: str) -> None:
    """The shared encoder reads with the branch while the checkpoint draws, and as before after."""
    model = models["sdxl"]
    encoder = model.base.text.encoders[part == "text_encoder_2"].model
    name = next(n for n, _ in encoder.named_modules() if n.endswith("q_proj"))
    width = encoder.config.hidden_size
    g = torch.Generator().manual_seed(0)
    factors = Factors(
        torch.randn(2, width, generator=g), 3 * torch.randn(width, 2, generator=g), scale=1.0
    )
    changes: dict[str, Any] = {part: {name: factors}}
    with_lora = replace(model, lora=replace(Lora({}), **changes))
    before, during, after = (pixels(run(m, make_plan()))[0] for m in (model, with_lora, model))
    assert np.array_equal(before, after)
    assert not np.array_equal(before, during)


def test_a_trained_token_has_rows_for_both(models: dict[str, Model]) -> None:
    """One token each, whatever it was before; either's rows change the picture."""
    model = models["sdxl"]
    g = torch.Generator().manual_seed(0)
    rows = [{TRIGGER: 3 * torch.randn(2, n, generator=g)} for n in (HIDDEN, HIDDEN_2)]
    other = [{TRIGGER: -of_one[TRIGGER]} for of_one in rows]
    drawn = []
    for tables in (rows, [rows[0], other[1]], [other[0], rows[1]]):
        own = replace(model, reader=extend(model.base.text, *tables))
        assert len(protected_positions(own, make_plan(), TRIGGER)) == 2
        drawn.append(pixels(run(own, make_plan()))[0])
    assert not np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
