"""Checkpoints of SDXL: a base of two text encoders, and what is published against it."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from support.original_layout import ENCODERS, SDXL_OPEN_CLIP, write_sdxl_single_file
from support.tiny_sd import (
    BASE_MODEL,
    TRIGGER,
    make_full,
    make_lora,
    make_tiny_sd,
    train_text_encoder,
)
from support.tiny_sdxl import HIDDEN, HIDDEN_2, make_tiny_sdxl

from personalq.chassis.errors import InvalidInput
from personalq.chassis.inspection import check_base, inspect
from personalq.quantizer import calibrate
from personalq.quantizer.bases import BaseModel, BaseModels, locate
from personalq.quantizer.fine_tunes import load_fine_tune
from personalq.quantizer.text_encoders import read_text_encoders
from personalq.quantizer.workshop import Workshop, load_unet
from personalq.taq import Artifact, LoraError, layer_shapes, read_artifact
from personalq.taq.formats.original import original_names

NEVER = threading.Event()
QUERY = "encoder.layers.1.self_attn.q_proj"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> BaseModel:
    """The tiny SDXL."""
    return _read(make_tiny_sdxl(tmp_path_factory.mktemp("base")))


@pytest.fixture(scope="module")
def sd15(tmp_path_factory: pytest.TempPathFactory) -> BaseModel:
    """A base with one text encoder, of the same width as the first of the other."""
    return _read(make_tiny_sd(tmp_path_factory.mktemp("sd15")))


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """A workshop with the shortest of calibrations."""
    return Workshop(tmp_path_factory.mktemp("calibrations"), device="cpu", prompts=1, steps=1)


@pytest.fixture(scope="module")
def artifacts(
    base: BaseModel,
    sd15: BaseModel,
    workshop: Workshop,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Artifact]:
    """Both bases' artifacts for eight bits, by fingerprint."""
    return {
        b.fingerprint: workshop.make_base(b, "w8a8", tmp_path_factory.mktemp("w8a8"), stop=NEVER)
        for b in (base, sd15)
    }


def _read(folder: Path) -> BaseModel:
    return BaseModels({BASE_MODEL: folder}).get(BASE_MODEL)


def _make_lora(
    workshop: Workshop,
    file: Path,
    base: BaseModel,
    artifacts: dict[str, Artifact],
) -> Artifact:
    made = workshop.make_lora(
        file,
        base,
        artifacts[base.fingerprint],
        triggers=[TRIGGER],
        source_sha256="5" * 64,
        directory=file.with_suffix(""),
    )
    return read_artifact(made.directory)


def _factors(prefix: str, rows: int, columns: int, seed: int = 1) -> dict[str, torch.Tensor]:
    g = torch.Generator().manual_seed(seed)
    return {
        f"{prefix}.lora_down.weight": torch.randn(2, columns, generator=g),
        f"{prefix}.lora_up.weight": torch.randn(rows, 2, generator=g),
        f"{prefix}.alpha": torch.tensor(1.0),
    }


def test_a_base_is_what_its_files_are(base: BaseModel, sd15: BaseModel, tmp_path: Path) -> None:
    """Two text encoders by their folders; everything that they tell the UNet names the base."""
    assert base.text_widths == {"text_encoder": HIDDEN, "text_encoder_2": HIDDEN_2}
    assert (base.zero_empty, base.side) == (True, 16)
    assert (sd15.text_parts, sd15.zero_empty) == (("text_encoder",), False)
    other = _read(make_tiny_sdxl(tmp_path / "other", zero_empty=False))
    assert other.fingerprint != base.fingerprint
    assert other.tokenizer_fingerprint == base.tokenizer_fingerprint
    same = make_tiny_sdxl(tmp_path / "same")
    assert _read(same).fingerprint == base.fingerprint
    shutil.rmtree(same / "tokenizer_2")
    shutil.copytree(same / "tokenizer", same / "tokenizer_2")
    assert _read(same).tokenizer_fingerprint != base.tokenizer_fingerprint


async def test_a_base_of_another_kind_is_refused(base: BaseModel, tmp_path: Path) -> None:
    """Half of SDXL, and a UNet that does not take what its text encoders tell."""
    for missing, words in (
        ("tokenizer_2", "has no tokenizer_2"),
        ("vae", "has no vae"),
        ("text_encoder_2", "takes text_time conditions .* has one text encoder"),
    ):
        folder = tmp_path / missing
        shutil.copytree(base.folder, folder)
        shutil.rmtree(folder / missing)
        with pytest.raises(InvalidInput, match=words):
            await locate({"m": str(folder)}, tmp_path, bytes_max=1)
    config = folder / "unet/config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"addition_embed_type": "text"}))
    with pytest.raises(InvalidInput, match="takes text conditions"):
        await locate({"m": str(folder)}, tmp_path, bytes_max=1)
    assert await locate({"m": str(base.folder)}, tmp_path, bytes_max=1)


def test_the_bases_artifact_is_one_that_earlier_readers_know(
    base: BaseModel, artifacts: dict[str, Artifact]
) -> None:
    """Only what is for the second text encoder needs readers that know it."""
    made = artifacts[base.fingerprint]
    assert made.manifest["schema_version"] == 1
    calibrated = made.manifest["calibration"]["ranges"]
    assert "add_embedding.linear_1" in calibrated


@pytest.mark.parametrize(("large", "rows"), [(8, [2, 2]), (9, [4])])
def test_prompts_of_large_latents_are_calibrated_one_by_one(
    base: BaseModel, monkeypatch: pytest.MonkeyPatch, large: int, rows: list[int]
) -> None:
    """With its unconditional half each; what the layers hold of more would fill the memory."""
    monkeypatch.setattr(calibrate, "LARGE_SIDE", large)
    unet, seen = load_unet(base.folder / "unet"), []
    unet.register_forward_pre_hook(lambda _, args: seen.append(len(args[0])))
    with torch.inference_mode():
        told = read_text_encoders(base, {}).read(["", "a bear", "a dog"])
    assert calibrate.observe(unet, told, base.folder, side=base.side, steps=1, bits=8)
    assert seen == rows


def test_what_steers_every_block_keeps_its_precision(
    base: BaseModel, workshop: Workshop, tmp_path: Path
) -> None:
    """The layers that take the pooled state and the picture's size, as those that take the time."""
    made = workshop.make_base(base, "w4a8", tmp_path, stop=NEVER)
    told = {
        layer["name"]: (layer["weight_bits"], layer["activation_bits"], layer["reason"])
        for layer in made.manifest["layers"]
    }
    assert told["time_embedding.linear_1"][:2] == (16, None)
    assert told["add_embedding.linear_1"] == (16, None, "pooled text and picture size enter there")
    assert told["add_embedding.linear_2"] == told["time_embedding.linear_2"]
    assert told["add_embedding.linear_2"][:2] == (8, 8)
    assert "add_embedding" not in str(made.manifest["recipe"])


@pytest.mark.parametrize("style", ["kohya", "peft", "diffusers"])
def test_layers_of_both_text_encoders_are_kept(
    base: BaseModel,
    artifacts: dict[str, Artifact],
    workshop: Workshop,
    tmp_path: Path,
    style: str,
) -> None:
    """With the file's own numbers, each beside its own; the manifest says so to its readers."""
    first, second = (_factors("f", n, n, seed=n) for n in (HIDDEN, HIDDEN_2))
    flat = f"text_model.{QUERY}".replace(".", "_")
    names = {
        "kohya": ("lora_te1_" + flat, "lora_te2_" + flat),
        "peft": (f"text_encoder.text_model.{QUERY}", f"text_encoder_2.text_model.{QUERY}"),
        "diffusers": (f"text_encoder.text_model.{QUERY}", f"text_encoder_2.text_model.{QUERY}"),
    }[style]
    spelling = {
        "peft": (".lora_A.weight", ".lora_B.weight"),
        "diffusers": (".lora_linear_layer.down.weight", ".lora_linear_layer.up.weight"),
    }.get(style, (".lora_down.weight", ".lora_up.weight"))
    tensors = {}
    for name, factors in zip(names, (first, second), strict=True):
        for end, half in zip((*spelling, ".alpha"), factors.values(), strict=True):
            tensors[name + end] = half
    file = tmp_path / "a.safetensors"
    save_file(tensors, file)
    assert inspect(file).problems == ()
    made = _make_lora(workshop, file, base, artifacts)
    assert made.manifest["schema_version"] == 3
    assert made.manifest["text_encoder_2"] == {"layers": 1, "embeddings": 0}
    for part, factors in (("text_encoder", first), ("text_encoder_2", second)):
        ((name, kept),) = made.lora().layers(part).items()  # type: ignore[arg-type]
        assert name.endswith(QUERY)
        assert torch.equal(kept.down, factors["f.lora_down.weight"])
        assert torch.equal(kept.up, factors["f.lora_up.weight"])
        assert kept.scale == 0.5


def test_a_lora_in_stabilitys_names(
    base: BaseModel, artifacts: dict[str, Artifact], workshop: Workshop, tmp_path: Path
) -> None:
    """As sd-scripts writes SDXL's: the very artifact of the same LoRA in diffusers' names."""
    plain = make_lora(base.folder, tmp_path / "plain.safetensors")
    unet = load_fine_tune(base.folder, base).unet
    flat = {name: key.replace(".", "_") for key, name in original_names(layer_shapes(unet)).items()}
    halves = {"lora_A": "lora_down", "lora_B": "lora_up"}
    renamed = {}
    for key, tensor in load_file(plain).items():
        layer, half, _ = key.removeprefix("unet.").rsplit(".", 2)
        renamed[f"lora_unet_{flat[layer]}.{halves[half]}.weight"] = tensor
    assert any(key.startswith("lora_unet_output_blocks_1_1_transf") for key in renamed)
    file = tmp_path / "b.safetensors"
    save_file(renamed, file)
    assert inspect(file).problems == ()
    made = [_make_lora(workshop, f, base, artifacts) for f in (plain, file)]
    assert made[0].digest == made[1].digest
    assert made[0].manifest["schema_version"] == 1
    save_file({k.replace("blocks_1_1_", "blocks_9_1_"): t for k, t in renamed.items()}, file)
    with pytest.raises(LoraError, match=r"not in the model: output_blocks_9_1_"):
        _make_lora(workshop, file, base, artifacts)


@pytest.mark.parametrize("bundled", [False, True])
def test_an_embedding_has_rows_for_each_text_encoder(
    base: BaseModel,
    artifacts: dict[str, Artifact],
    workshop: Workshop,
    tmp_path: Path,
    bundled: bool,
) -> None:
    """`clip_l` and `clip_g`, alone or in a LoRA's file, go to their own."""
    rows = {"clip_l": torch.randn(2, HIDDEN), "clip_g": torch.randn(2, HIDDEN_2)}
    beginning = f"bundle_emb.{TRIGGER}." if bundled else ""
    file = tmp_path / "a.safetensors"
    save_file({beginning + key: tensor for key, tensor in rows.items()}, file)
    assert inspect(file).problems == ()
    made = _make_lora(workshop, file, base, artifacts)
    assert made.manifest["schema_version"] == 3
    assert made.manifest["text_encoder_2"] == {"layers": 0, "embeddings": 1}
    assert torch.equal(made.embeddings[TRIGGER], rows["clip_l"])
    assert torch.equal(made.lora().embeddings_2[TRIGGER], rows["clip_g"])


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ({"clip_l": (1, HIDDEN)}, f"{TRIGGER} is for one text encoder"),
        ({"clip_g": (1, HIDDEN_2)}, "1 embeddings for SDXL's second text encoder and 0"),
        ({"clip_l": (2, HIDDEN), "clip_g": (1, HIDDEN_2)}, "1 embeddings .* and 2"),
        ({"clip_l": (1, HIDDEN), "clip_g": (1, 1280)}, f"1280 wide, .* {HIDDEN_2}"),
        ({"clip_l": (1, 768), "clip_g": (1, HIDDEN_2)}, f"768 wide, .* {HIDDEN}"),
    ],
)
def test_half_an_embedding_is_refused(
    base: BaseModel,
    artifacts: dict[str, Artifact],
    workshop: Workshop,
    tmp_path: Path,
    shapes: dict[str, tuple[int, int]],
    words: str,
) -> None:
    """Rows for one text encoder alone, in other numbers, or of another width."""
    file = tmp_path / "a.safetensors"
    save_file({key: torch.ones(shape) for key, shape in shapes.items()}, file)
    with pytest.raises(LoraError, match=words):
        _make_lora(workshop, file, base, artifacts)


def test_the_other_family_is_refused(
    base: BaseModel,
    sd15: BaseModel,
    artifacts: dict[str, Artifact],
    workshop: Workshop,
    tmp_path: Path,
) -> None:
    """By the width that the UNet reads; by the second text encoder where the file has only it."""
    for made_for, published_with in ((base, sd15), (sd15, base)):
        file = make_lora(made_for.folder, tmp_path / "a.safetensors")
        with pytest.raises(InvalidInput, match="cannot ride on"):
            check_base(inspect(file), published_with.cross_attention_width)
        with pytest.raises(LoraError, match=r"another base model|are not in the model"):
            _make_lora(workshop, file, published_with, artifacts)
        with pytest.raises(InvalidInput, match="made from"):
            load_fine_tune(make_full(made_for.folder, tmp_path / made_for.fingerprint),
                           published_with)  # fmt: skip
    flat = f"lora_te2_text_model_{QUERY}".replace(".", "_")
    rows = {"clip_l": torch.ones(1, HIDDEN), "clip_g": torch.ones(1, HIDDEN_2)}
    for tensors in (_factors(flat, HIDDEN_2, HIDDEN_2), rows):
        save_file(tensors, file)
        with pytest.raises(LoraError, match=r"two text encoders, as SDXL has; .* has one"):
            _make_lora(workshop, file, sd15, artifacts)


def _tuned(base: BaseModel, folder: Path, trained: tuple[str, ...]) -> Path:
    """Write a fine-tune; the text encoders that it did not train are the base's."""
    make_full(base.folder, folder)
    for part in ENCODERS:
        if part in trained:
            train_text_encoder(base.folder, folder, part=part)
        else:
            shutil.copytree(base.folder / part, folder / part)
    return folder


@pytest.mark.parametrize("trained", [(), ENCODERS[:1], ENCODERS[1:], ENCODERS], ids=str)
@pytest.mark.parametrize("form", ["folder", "file"])
def test_a_fine_tune_brings_the_text_encoders_it_trained(
    base: BaseModel, tmp_path: Path, form: str, trained: tuple[str, ...]
) -> None:
    """In half precision, under the same names, from a folder or from one file; no other."""
    folder = _tuned(base, tmp_path / "dog", trained)
    source = folder
    if form == "file":
        source = write_sdxl_single_file(folder, tmp_path / "dog.safetensors")
    found = inspect(source)
    assert (found.format, found.problems) == ("full", ())
    assert found.cross_attention_width == base.cross_attention_width
    tuned = load_fine_tune(source, base)
    assert tuple(tuned.text_encoders) == trained
    for part, state in tuned.text_encoders.items():
        expected = {
            key.removeprefix("text_model."): tensor.half()
            for key, tensor in load_file(folder / part / "model.safetensors").items()
        }
        assert state.keys() == expected.keys()
        assert all(torch.equal(tensor, expected[key]) for key, tensor in state.items())
        assert ("text_projection.weight" in state) is (part == "text_encoder_2")
    unet = load_file(folder / "unet/diffusion_pytorch_model.safetensors")
    assert all(torch.equal(t, unet[key]) for key, t in tuned.unet.state_dict().items())


def test_a_trained_projection_is_a_trained_text_encoder(base: BaseModel, tmp_path: Path) -> None:
    """The pooled state is made with it, though no state of a token is."""
    folder = _tuned(base, tmp_path / "dog", ())
    file = folder / "text_encoder_2/model.safetensors"
    weights = load_file(file)
    weights["text_projection.weight"][0, 0] += 1.0
    save_file(weights, file)
    assert tuple(load_fine_tune(folder, base).text_encoders) == ("text_encoder_2",)


def test_the_artifact_carries_them_and_says_so(
    base: BaseModel, workshop: Workshop, tmp_path: Path
) -> None:
    """A schema version that earlier readers refuse, each text encoder's bytes, its own ranges."""

    def make(*trained: str) -> Artifact:
        folder = _tuned(base, tmp_path / f"dog{len(trained)}", trained)
        made = workshop.make_full(
            folder,
            base,
            "w8a8",
            triggers=[TRIGGER],
            source_sha256=str(len(trained)) * 64,
            directory=folder / "out",
            stop=NEVER,
        )
        return read_artifact(made.directory)

    plain, second, both = make(), make("text_encoder_2"), make(*ENCODERS)
    assert [a.manifest["schema_version"] for a in (plain, second, both)] == [1, 3, 3]
    told = [[part for part in ENCODERS if part in a.manifest] for a in (plain, second, both)]
    assert told == [[], ["text_encoder_2"], list(ENCODERS)]
    for part in ENCODERS:
        kept = both.text_encoder(part)  # type: ignore[arg-type]
        assert kept is not None
        assert both.manifest[part]["bytes"] == sum(t.nbytes for t in kept.values())
    assert second.text_encoder() is None
    ranges = [a.manifest["calibration"]["ranges"] for a in (plain, second)]
    assert ranges[0]["add_embedding.linear_1"] != ranges[1]["add_embedding.linear_1"]


@pytest.mark.parametrize(
    ("key", "tensor", "words"),
    [
        ("ln_final.bias", None, "a text_encoder_2 of .*final_layer_norm.bias"),
        ("text_projection", torch.zeros(HIDDEN_2, 8), r"text_projection\.weight is \(8, 48\)"),
        ("wrapped", torch.zeros(1), None),
    ],
)
def test_a_damaged_second_text_encoder_is_refused(
    base: BaseModel, tmp_path: Path, key: str, tensor: Any, words: str | None
) -> None:
    """What is missing, of another shape, or in a layout that is not read, by its name."""
    file = write_sdxl_single_file(
        _tuned(base, tmp_path / "a", ENCODERS), tmp_path / "a.safetensors"
    )
    tensors = load_file(file)
    if words is None:
        words = r"layout that is not read \(conditioner\.embedders\.1\.other\."
        tensors = {
            k.replace(SDXL_OPEN_CLIP, "conditioner.embedders.1.other."): t
            for k, t in tensors.items()
        }
    elif tensor is None:
        del tensors[SDXL_OPEN_CLIP + key]
    else:
        tensors[SDXL_OPEN_CLIP + key] = tensor
    save_file(tensors, file)
    with pytest.raises(InvalidInput, match=words):
        load_fine_tune(file, base)
