"""What ships: layout, size, and checkpoints that are what their cards say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from diffusers import StableDiffusionPipeline, UNet2DConditionModel
from PIL import Image
from safetensors import safe_open

from personalq.miniature import (
    BASE_MODEL,
    MiniatureCheckpoint,
    base_dir,
    checkpoints,
    clip_dir,
    weights_dir,
)
from personalq.miniature.designs import DESIGNS
from personalq.miniature.scorer import ClipScorer

CHECKPOINTS = checkpoints()
LORAS = [item for item in CHECKPOINTS if item.is_lora]

each_checkpoint = pytest.mark.parametrize("item", CHECKPOINTS, ids=lambda i: i.checkpoint_id)
each_lora = pytest.mark.parametrize("item", LORAS, ids=lambda i: i.checkpoint_id)


@pytest.fixture(scope="module")
def pipeline() -> StableDiffusionPipeline:
    """The base model, loaded as any diffusers model is."""
    return StableDiffusionPipeline.from_pretrained(base_dir(), safety_checker=None)


def _header(path: Path) -> tuple[dict[str, str], dict[str, tuple[str, list[int]]]]:
    with safe_open(path, "pt") as file:
        slices = {key: file.get_slice(key) for key in file.keys()}  # noqa: SIM118
        shapes = {key: (part.get_dtype(), part.get_shape()) for key, part in slices.items()}
        return file.metadata() or {}, shapes


def _picture(path: Path) -> Image.Image:
    with Image.open(path) as image:
        return image.convert("RGB")


def test_all_weights_together_are_at_most_40_megabytes() -> None:
    """Everything that ships fits in 40 MB."""
    total = sum(path.stat().st_size for path in weights_dir().rglob("*") if path.is_file())
    assert total <= 40_000_000


def test_only_safetensors_in_half_precision() -> None:
    """There is no pickle, and no floating-point tensor wider than fp16."""
    names = {path.suffix for path in weights_dir().rglob("*") if path.is_file()}
    assert names <= {".safetensors", ".json", ".txt", ".png"}
    for path in weights_dir().rglob("*.safetensors"):
        _, shapes = _header(path)
        assert {dtype for dtype, _ in shapes.values()} <= {"F16", "I64"}, path


def test_the_base_has_the_standard_layout() -> None:
    """The folders of a Stable Diffusion 1.5 model, and a CLIP beside it."""
    parts = {path.name for path in base_dir().iterdir() if path.is_dir()}
    assert parts == {"unet", "vae", "text_encoder", "tokenizer", "scheduler"}
    assert (base_dir() / "model_index.json").is_file()
    assert (clip_dir() / "model.safetensors").is_file()


def test_no_path_of_the_training_machine_ships() -> None:
    """The configurations do not remember where they were saved."""
    for path in weights_dir().rglob("*.json"):
        assert "_name_or_path" not in path.read_text()


def test_the_base_draws_a_picture(pipeline: StableDiffusionPipeline) -> None:
    """Diffusers loads the base and gives a 64 x 64 picture, the same for the same seed."""
    pipeline.set_progress_bar_config(disable=True)
    first, again = (
        pipeline(
            "a photo of a bear on the beach",
            num_inference_steps=2,
            height=64,
            width=64,
            generator=torch.Generator().manual_seed(7),
        ).images[0]
        for _ in range(2)
    )
    assert first.size == (64, 64)
    assert first.tobytes() == again.tobytes()


def test_every_design_ships_as_a_checkpoint() -> None:
    """The shipped checkpoints are the designs: at least 8 LoRAs and 2 full fine-tunes."""
    assert {item.checkpoint_id for item in CHECKPOINTS} == {d.checkpoint_id for d in DESIGNS}
    assert len(LORAS) >= 8
    assert len(CHECKPOINTS) - len(LORAS) >= 2
    assert len({item.subjects for item in CHECKPOINTS}) >= 4


@each_checkpoint
def test_a_card_is_complete(item: MiniatureCheckpoint) -> None:
    """A card has a trigger, a subject, a style, a dated version and 3 to 5 references."""
    assert item.triggers == (f"<{item.checkpoint_id}>",)
    assert item.subjects
    assert item.styles
    assert item.checkpoint_id.endswith(item.version)
    assert item.description.endswith(".")
    assert item.created_at.tzinfo is not None
    assert item.last_used_at is None or item.last_used_at > item.created_at
    assert item.base_model == BASE_MODEL
    assert 3 <= len(item.references) <= 5
    for reference in item.references:
        with Image.open(reference) as picture:
            assert picture.size == (64, 64)


@each_lora
def test_a_lora_says_what_it_is(item: MiniatureCheckpoint) -> None:
    """The metadata of a LoRA agrees with its card."""
    metadata, _ = _header(item.path)
    assert metadata["base_model"] == item.base_model
    assert metadata["trigger"] == item.triggers[0]
    assert metadata["subject"] == item.subjects[0]
    assert metadata["created_at"] == item.created_at.isoformat()
    assert int(metadata["rank"]) == int(metadata["alpha"]) > 0


@each_lora
def test_a_lora_loads_in_diffusers(
    item: MiniatureCheckpoint, pipeline: StableDiffusionPipeline
) -> None:
    """Diffusers loads the UNet's part of the file, and the adapter changes the output."""
    with safe_open(item.path, "pt") as file:
        tensors = {
            key: file.get_tensor(key).float()
            for key in file.keys()  # noqa: SIM118
            if not key.startswith("bundle_emb.")
        }
    assert all(key.startswith("unet.") and ".lora_" in key for key in tensors)
    noise, states = torch.ones(1, 4, 16, 16), torch.ones(1, 77, 192)
    with torch.inference_mode():
        before = pipeline.unet(noise, 500, states).sample
        pipeline.load_lora_weights(tensors, adapter_name=item.version)
        after = pipeline.unet(noise, 500, states).sample
        pipeline.unload_lora_weights()
        restored = pipeline.unet(noise, 500, states).sample
    assert (after - before).abs().max() > 1e-3
    assert torch.allclose(before, restored, atol=1e-5)


def test_some_loras_bring_a_trained_embedding() -> None:
    """At least 3 LoRAs bundle one row for their trigger, as wide as the text encoder."""
    bundled = 0
    for item in LORAS:
        _, shapes = _header(item.path)
        if shape := shapes.get(f"bundle_emb.{item.triggers[0]}.string_to_param.*"):
            assert shape[1] == [1, 192]
            bundled += 1
    assert bundled >= 3


@pytest.mark.parametrize(
    "item", [i for i in CHECKPOINTS if not i.is_lora], ids=lambda i: i.checkpoint_id
)
def test_a_full_fine_tune_is_a_unet_of_the_bases_shape(
    item: MiniatureCheckpoint, pipeline: StableDiffusionPipeline
) -> None:
    """A full fine-tune has the base's tensors by name and shape."""
    unet = UNet2DConditionModel.from_pretrained(item.path / "unet")
    own = {key: value.shape for key, value in unet.state_dict().items()}
    assert own == {key: value.shape for key, value in pipeline.unet.state_dict().items()}


def test_fidelity_is_above_the_bases() -> None:
    """The recorded CLIP-I of every checkpoint's trigger is above the base's plain noun."""
    table = json.loads((weights_dir() / "checkpoints" / "fidelity.json").read_text())
    assert set(table) == {item.checkpoint_id for item in CHECKPOINTS}
    for checkpoint_id, row in table.items():
        assert row["personalized"] > row["base"], checkpoint_id


def test_the_scorer_reads_reference_pictures() -> None:
    """References of a subject are closer to each other than to another subject's."""
    scorer = ClipScorer()
    bear, car = (
        [_picture(path) for path in item.references]
        for item in CHECKPOINTS
        if item.checkpoint_id in ("bear-v4", "car-v1")
    )
    own = sum(scorer.clip_i(bear, bear)) / len(bear)
    other = sum(scorer.clip_i(bear, car)) / len(bear)
    assert own > other
    assert scorer.features(bear).shape == (len(bear), 128)
    assert 0 <= scorer.noun_accuracy(bear, ["bear"] * len(bear)) <= 1
