"""Checkpoints of a tiny SDXL, from their files to their pictures."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers import (
    DDIMScheduler,
    StableDiffusionXLPipeline,
    UNet2DConditionModel,
)
from integration.renderer.conftest import TinyWorld
from PIL import Image
from safetensors.torch import load_file, save_file
from support.original_layout import write_sdxl_single_file
from support.tiny_artifacts import ToldOutcomes, make_job, make_tools
from support.tiny_renderer import Rendered
from support.tiny_sd import make_full, make_lora, train_text_encoder
from support.tiny_sdxl import HIDDEN, HIDDEN_2, make_tiny_sdxl
from transformers import CLIPTextModel, CLIPTextModelWithProjection

from personalq.chassis.blobs import open_blob_store
from personalq.quantizer.quantize import quantize_checkpoint
from personalq.quantizer.thread import TorchThread

ENCODERS = {"text_encoder": CLIPTextModel, "text_encoder_2": CLIPTextModelWithProjection}
PROMPT = "a photo of a <bear-v4> in the forest"
PROFILES = ("full", "w8a8")
STEPS = 6
SEED = 7


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base, a LoRA of its UNet and both text encoders, textual inversions, a whole model."""
    folder = tmp_path_factory.mktemp("sdxl")
    base = make_tiny_sdxl(folder / "base")
    lora = load_file(make_lora(base, folder / "lora.safetensors"))
    g = torch.Generator().manual_seed(4)
    for part, width in zip(ENCODERS, (HIDDEN, HIDDEN_2), strict=True):
        layer = f"{part}.text_model.encoder.layers.0.self_attn.v_proj"
        lora[f"{layer}.lora_A.weight"] = torch.randn(2, width, generator=g)
        lora[f"{layer}.lora_B.weight"] = 0.1 * torch.randn(width, 2, generator=g)
    save_file(lora, folder / "lora.safetensors")
    # Rows as long as the tables' own: it takes many to change the tiny model's picture.
    for name, rows, length in (("long", 2, 5.0), ("token", 64, 1.0)):
        tables = {
            key: length * torch.randn(rows, width, generator=g)
            for key, width in (("clip_l", HIDDEN), ("clip_g", HIDDEN_2))
        }
        save_file(tables, folder / f"{name}.safetensors")
    make_full(base, folder / "whole")
    for part in ENCODERS:
        train_text_encoder(base, folder / "whole", part=part)
    write_sdxl_single_file(folder / "whole", folder / "single.safetensors")
    return folder


@pytest.fixture(scope="module")
def tiny_world(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> TinyWorld:
    """Their artifacts, instead of the tiny SD's."""
    work, told = tmp_path_factory.mktemp("world"), ToldOutcomes()

    async def make() -> None:
        async with (
            open_blob_store((work / "blobs").as_uri(), None) as blobs,
            TorchThread() as thread,
        ):
            tools = make_tools(folder / "base", work / "work", blobs, told, thread)
            for name in ("lora", "token", "long", "single"):
                source = folder / f"{name}.safetensors"
                job = make_job(source, checkpoint_id=name, profiles=PROFILES)
                await quantize_checkpoint(job, tools=tools)

    asyncio.run(make())
    assert not told.failed_events
    return TinyWorld(base=folder / "base", blobs=work / "blobs", events=told.ready_events)


def by_diffusers(folder: Path, checkpoint_id: str) -> np.ndarray[Any, Any]:
    """Return the picture of diffusers' own pipeline, as numbers 0 to 255; of the base for ""."""
    pipeline: Any = StableDiffusionXLPipeline.from_pretrained(folder / "base")
    pipeline.scheduler = DDIMScheduler.from_config(pipeline.scheduler.config)
    pipeline.set_progress_bar_config(disable=True)
    if checkpoint_id == "single":
        pipeline.unet = UNet2DConditionModel.from_pretrained(folder / "whole/unet")
        pipeline.text_encoder, pipeline.text_encoder_2 = (
            kind.from_pretrained(folder / "whole" / part) for part, kind in ENCODERS.items()
        )
    elif checkpoint_id == "lora":
        pipeline.load_lora_weights(folder, weight_name="lora.safetensors")
    elif checkpoint_id in ("token", "long"):
        rows = load_file(folder / f"{checkpoint_id}.safetensors")
        for key, end in (("clip_l", ""), ("clip_g", "_2")):
            encoder = getattr(pipeline, f"text_encoder{end}")
            tokenizer = getattr(pipeline, f"tokenizer{end}")
            pipeline.load_textual_inversion(
                rows[key], token="<bear-v4>", text_encoder=encoder, tokenizer=tokenizer
            )
        # transformers would take a trained token, whose id is the highest, for the end.
        text_model = pipeline.text_encoder_2.text_model
        text_model.eos_token_id = pipeline.tokenizer_2.eos_token_id
    picture: np.ndarray[Any, Any] = pipeline(
        PROMPT,
        latents=torch.randn((1, 4, 8, 8), generator=torch.Generator("cpu").manual_seed(SEED)),
        num_inference_steps=STEPS,
        guidance_scale=5.0,
        output_type="np",
    ).images[0]
    return picture * 255


def distance(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> float:
    """Return the mean difference of two pictures' numbers."""
    return float(np.abs(one - other).mean())


async def test_pictures_are_those_of_the_diffusers_pipeline(start: Any, folder: Path) -> None:
    """Of a LoRA, textual inversions and a whole model, each with both text encoders.

    In full precision within one step of a pixel's number, at eight bits within their noise; far
    from the base's picture.
    """
    renderer = await start()

    async def draw(checkpoint_id: str, profile: str) -> np.ndarray[Any, Any]:
        rendered: Rendered = await renderer.render(
            checkpoint_id=checkpoint_id,
            profile=profile,
            prompt=PROMPT,
            steps=STEPS,
            seed=SEED,
            guidance_scale=5.0,
        )
        return np.asarray(Image.open(io.BytesIO(rendered.pictures[0]))).astype(float)

    of_base = by_diffusers(folder, "")
    for name in ("lora", "token", "long", "single", "lora"):
        expected = by_diffusers(folder, name)
        far = distance(expected, of_base)
        assert far > 5, name
        assert distance(await draw(name, "full"), expected) < 1, name
        eight = distance(await draw(name, "w8a8"), expected)
        # Trained rows as long as these lie far outside the ranges that the base was calibrated in.
        assert name == "long" or eight < 0.75 * far, name


async def test_bytes_of_both_text_encoders_are_told_and_counted(
    start: Any, tiny_world: Any, folder: Path
) -> None:
    """In the manifest and in the renderer's memory."""
    (ref,) = (
        event.artifact
        for event in tiny_world.events
        if (event.artifact.checkpoint_id, event.artifact.profile) == ("single", "w8a8")
    )
    blobs = {p.name: p for p in tiny_world.blobs.rglob("*") if p.is_file()}
    manifest = json.loads(blobs[ref.digest].read_bytes())
    told = sum(manifest[part]["bytes"] for part in ENCODERS)
    stored = sum((folder / "whole" / p / "model.safetensors").stat().st_size for p in ENCODERS)
    assert told == pytest.approx(stored / 2, rel=0.05)
    renderer = await start()
    await renderer.render(checkpoint_id="single", prompt=PROMPT, steps=1, guidance_scale=0.0)
    (held,) = (await renderer.status()).residents
    assert held.size_bytes > told + manifest["sizes"]["packed_bytes"]


async def test_a_renderer_of_another_base_says_so(start: Any, folder: Path, tmp_path: Path) -> None:
    """A folder that is half of SDXL stops it at the start."""
    half = tmp_path / "half"
    shutil.copytree(folder / "base", half)
    shutil.rmtree(half / "tokenizer_2")
    with pytest.raises(Exception, match="has no tokenizer_2"):
        await start(base_models={"tests/tiny-sd": str(half)})
