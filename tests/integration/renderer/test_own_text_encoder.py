"""A fine-tune of the miniature that trained its text encoder, from its files to its pictures."""

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
from diffusers import StableDiffusionPipeline, UNet2DConditionModel
from integration.renderer.conftest import TinyWorld
from PIL import Image
from support.tiny_artifacts import ToldOutcomes, make_job, make_tools
from support.tiny_renderer import Rendered
from support.tiny_sd import train_text_encoder
from transformers import CLIPTextModel

from personalq.chassis.blobs import open_blob_store
from personalq.miniature import base_dir, checkpoints
from personalq.quantizer.quantize import quantize_checkpoint
from personalq.quantizer.thread import TorchThread

PROMPT = "a photo of a <dog-v3> in the forest"
STEPS = 6
SEED = 7
#: The fine-tunes: its UNet with a text encoder of its own, and with the base's.
OWN, BASES = "own-text", "bases-text"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both fine-tunes as diffusers folders; the text encoder's every weight is changed strongly."""
    folder = tmp_path_factory.mktemp("fine-tunes")
    tuned = next(c.path for c in checkpoints() if not c.is_lora)
    for name in (OWN, BASES):
        shutil.copytree(tuned / "unet", folder / name / "unet")
    train_text_encoder(base_dir(), folder / OWN, strength=1.0)
    return folder


@pytest.fixture(scope="module")
def tiny_world(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> TinyWorld:
    """The artifacts of both, instead of the tiny model's."""
    work, told = tmp_path_factory.mktemp("world"), ToldOutcomes()
    profiles = {OWN: ("full", "w8a8"), BASES: ("w8a8",)}

    async def make() -> None:
        async with (
            open_blob_store((work / "blobs").as_uri(), None) as blobs,
            TorchThread() as thread,
        ):
            tools = make_tools(base_dir(), work / "work", blobs, told, thread)
            for name in (OWN, BASES):
                job = make_job(
                    folder / name,
                    checkpoint_id=name,
                    triggers=("<dog-v3>",),
                    profiles=profiles[name],
                )
                await quantize_checkpoint(job, tools=tools)

    asyncio.run(make())
    assert not told.failed_events
    return TinyWorld(base=base_dir(), blobs=work / "blobs", events=told.ready_events)


def by_diffusers(folder: Path, text_encoder: Path) -> np.ndarray[Any, Any]:
    """Return the picture of diffusers' own pipeline with a text encoder, as numbers 0 to 255."""
    pipeline: Any = StableDiffusionPipeline.from_pretrained(
        base_dir(),
        unet=UNet2DConditionModel.from_pretrained(folder / OWN / "unet").float(),
        text_encoder=CLIPTextModel.from_pretrained(text_encoder).float(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).to(torch.float32)
    pipeline.set_progress_bar_config(disable=True)
    config = pipeline.unet.config
    noise = torch.randn(
        (1, config.in_channels, config.sample_size, config.sample_size),
        generator=torch.Generator("cpu").manual_seed(SEED),
    )
    picture: np.ndarray[Any, Any] = pipeline(
        PROMPT, latents=noise, num_inference_steps=STEPS, guidance_scale=5.0, output_type="np"
    ).images[0]
    return picture * 255


def pixels(rendered: Rendered) -> np.ndarray[Any, Any]:
    """Return the first picture as numbers 0 to 255."""
    return np.asarray(Image.open(io.BytesIO(rendered.pictures[0]))).astype(float)


def distance(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> float:
    """Return the mean difference of two pictures' numbers."""
    return float(np.abs(one - other).mean())


async def test_its_pictures_are_those_of_its_own_text_encoder(start: Any, folder: Path) -> None:
    """As diffusers draws them with it, and far from those with the base's.

    In full precision within one step of a pixel's number, at eight bits within their noise. A
    checkpoint beside it, before and after, is read by the base's.
    """
    own = by_diffusers(folder, folder / OWN / "text_encoder")
    bases = by_diffusers(folder, base_dir() / "text_encoder")
    renderer = await start()

    async def draw(checkpoint_id: str, profile: str) -> Rendered:
        rendered: Rendered = await renderer.render(
            checkpoint_id=checkpoint_id,
            profile=profile,
            prompt=PROMPT,
            steps=STEPS,
            seed=SEED,
            guidance_scale=5.0,
        )
        return rendered

    before = await draw(BASES, "w8a8")
    exact, eight = pixels(await draw(OWN, "full")), pixels(await draw(OWN, "w8a8"))
    after = await draw(BASES, "w8a8")
    far = distance(own, bases)
    assert far > 10
    assert distance(exact, own) < 1
    assert distance(eight, own) < 0.3 * far
    assert distance(pixels(before), bases) < 0.3 * far
    assert before.pictures == after.pictures


async def test_its_bytes_are_told_and_counted(start: Any, tiny_world: Any) -> None:
    """In the artifact's manifest and size, and in the renderer's memory."""
    refs = {
        e.artifact.checkpoint_id: e.artifact
        for e in tiny_world.events
        if e.artifact.profile == "w8a8"
    }
    blobs = {p.name: p for p in tiny_world.blobs.rglob("*") if p.is_file()}
    told = json.loads(blobs[refs[OWN].digest].read_bytes())["text_encoder"]["bytes"]
    stored = base_dir() / "text_encoder/model.safetensors"  # in half precision, too
    assert told == pytest.approx(stored.stat().st_size, rel=0.01)
    assert refs[OWN].size_bytes - refs[BASES].size_bytes == pytest.approx(told, rel=0.02)

    renderer = await start()
    for name in (OWN, BASES):
        await renderer.render(checkpoint_id=name, prompt=PROMPT, steps=1)
    held = {r.checkpoint_id: r.size_bytes for r in (await renderer.status()).residents}
    assert held[OWN] - held[BASES] == pytest.approx(told, rel=0.01)
