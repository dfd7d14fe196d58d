"""Text encoders of full fine-tunes: taken where they were trained, and only then."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from support.original_layout import OPEN_CLIP, open_clip_names, write_single_file
from support.safetensors_files import with_header
from support.tiny_sd import BASE_MODEL, TRIGGER, make_full, make_tiny_sd, train_text_encoder

from personalq.chassis.errors import CorruptFile, InvalidInput
from personalq.chassis.inspection import inspect
from personalq.quantizer.bases import BaseModel, BaseModels
from personalq.quantizer.fine_tunes import load_fine_tune
from personalq.quantizer.workshop import Workshop
from personalq.taq import Artifact, read_artifact

WEIGHTS = "text_encoder/model.safetensors"
KEY = "encoder.layers.0.self_attn.k_proj.weight"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> BaseModel:
    """The tiny base model."""
    folder = make_tiny_sd(tmp_path_factory.mktemp("base"))
    return BaseModels({BASE_MODEL: folder}).get(BASE_MODEL)


@pytest.fixture
def fine_tune(base: BaseModel, tmp_path: Path) -> Path:
    """A fine-tune that trained both, as a diffusers folder."""
    return train_text_encoder(base.folder, make_full(base.folder, tmp_path / "dog"))


def _short(file: Path) -> dict[str, torch.Tensor]:
    return {key.removeprefix("text_model."): t for key, t in load_file(file).items()}


def _open_clip(fine_tune: Path, file: Path, **changes: torch.Tensor | None) -> Path:
    """Write a fine-tune as one file of SD 2.x; `changes` are to the text encoder's tensors."""
    write_single_file(fine_tune, file)
    encoder = open_clip_names(load_file(fine_tune / WEIGHTS))
    encoder |= {OPEN_CLIP + key: t for key, t in changes.items() if t is not None}
    left_out = {OPEN_CLIP + key for key, t in changes.items() if t is None}
    save_file(load_file(file) | {k: t for k, t in encoder.items() if k not in left_out}, file)
    return file


@pytest.mark.parametrize("form", ["folder", "shards", "variant", "file", "open-clip", "pickle"])
def test_a_trained_text_encoder_is_taken_from_any_form(
    base: BaseModel, fine_tune: Path, tmp_path: Path, form: str
) -> None:
    """All its weights, in half precision, under the same names; the UNet is what it was."""
    expected = _short(fine_tune / WEIGHTS)
    whole = fine_tune / WEIGHTS
    source = tmp_path / "dog.safetensors"
    if form in ("file", "pickle"):
        write_single_file(fine_tune, source, text_encoder=fine_tune / "text_encoder")
    elif form == "open-clip":
        _open_clip(fine_tune, source)
    else:
        source = fine_tune
    if form == "pickle":
        tensors, source = load_file(source), tmp_path / "dog.ckpt"
        torch.save({"state_dict": tensors}, source)
    elif form == "variant":
        whole.rename(whole.with_name("model.fp16.safetensors"))
    elif form == "shards":
        names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
        tensors = load_file(whole)
        weight_map = {key: names[i % 2] for i, key in enumerate(tensors)}
        for name in names:
            part = {key: t for key, t in tensors.items() if weight_map[key] == name}
            save_file(part, whole.with_name(name))
        index = whole.with_name("model.safetensors.index.json")
        index.write_text(json.dumps({"weight_map": weight_map}))
        whole.unlink()
    assert inspect(source).problems == ()
    tuned = load_fine_tune(source, base)
    trained = tuned.text_encoders["text_encoder"]
    assert trained.keys() == expected.keys()
    assert all(torch.equal(t, expected[key].half()) for key, t in trained.items())
    unet = load_file(fine_tune / "unet/diffusion_pytorch_model.safetensors")
    assert all(torch.equal(t, unet[key]) for key, t in tuned.unet.state_dict().items())


@pytest.mark.parametrize(
    ("form", "dtype"),
    [
        ("folder", torch.float32),
        ("folder", torch.float16),
        ("folder", torch.bfloat16),
        ("folder", torch.float8_e4m3fn),
        ("file", torch.float32),
        ("file", torch.float16),
        ("open-clip", torch.float32),
        ("open-clip", torch.float16),
    ],
)
def test_the_bases_own_text_encoder_costs_nothing(
    base: BaseModel, tmp_path: Path, form: str, dtype: torch.dtype
) -> None:
    """Also in fewer bits, or widened from them, with a buffer that a conversion took for a weight.

    The single files here have float32 throughout.
    """
    fine_tune = make_full(base.folder, tmp_path / "dog")
    tensors = load_file(base.folder / WEIGHTS) | {
        "text_model.embeddings.position_ids": torch.zeros(1, 77)
    }
    (fine_tune / "text_encoder").mkdir()
    save_file({key: t.to(dtype) for key, t in tensors.items()}, fine_tune / WEIGHTS)
    source = fine_tune
    if form == "file":
        source = write_single_file(
            fine_tune, tmp_path / "a.safetensors", text_encoder=fine_tune / "text_encoder"
        )
    elif form == "open-clip":
        source = _open_clip(fine_tune, tmp_path / "a.safetensors")
    assert load_fine_tune(source, base).text_encoders == {}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (torch.float16, torch.bfloat16),
        (torch.bfloat16, torch.float16),
        (torch.float16, torch.float32),
        (torch.float16, torch.float8_e4m3fn),
        (torch.bfloat16, torch.float8_e4m3fn),
    ],
)
def test_the_base_in_another_precision_is_the_base(
    tmp_path: Path, ours: torch.dtype, theirs: torch.dtype
) -> None:
    """Both were rounded from float32: the finer one, rounded again, is not always the other.

    A number that is not what they could have been was trained.
    """
    folder = make_tiny_sd(tmp_path / "base")
    exact = load_file(folder / WEIGHTS)
    save_file({k: t.to(ours) for k, t in exact.items()}, folder / WEIGHTS)
    base = BaseModels({BASE_MODEL: folder}).get(BASE_MODEL)
    fine_tune = make_full(folder, tmp_path / "dog")
    (fine_tune / "text_encoder").mkdir()
    copy = {k: t.to(theirs) for k, t in exact.items()}
    save_file(copy, fine_tune / WEIGHTS)
    assert load_fine_tune(fine_tune, base).text_encoders == {}
    key = next(key for key in copy if key.endswith(KEY))
    step = 2 * max(torch.finfo(dtype).eps for dtype in (ours, theirs))
    for factor in (1 + step, 1 - step):
        changed = exact[key].clone()
        changed[0, 0] *= factor
        save_file(copy | {key: changed.to(theirs)}, fine_tune / WEIGHTS)
        assert load_fine_tune(fine_tune, base).text_encoders


def test_two_types_of_eight_bits_are_compared_as_numbers(tmp_path: Path) -> None:
    """These are in both types exactly; twice as large they are others."""
    folder = make_tiny_sd(tmp_path / "base")
    ours = {
        key: tensor.to(torch.float8_e5m2).float().to(torch.float8_e4m3fn)
        for key, tensor in load_file(folder / WEIGHTS).items()
    }
    save_file(ours, folder / WEIGHTS)
    base = BaseModels({BASE_MODEL: folder}).get(BASE_MODEL)
    fine_tune = make_full(folder, tmp_path / "dog")
    (fine_tune / "text_encoder").mkdir()
    theirs = {key: tensor.float().to(torch.float8_e5m2) for key, tensor in ours.items()}
    save_file(theirs, fine_tune / WEIGHTS)
    assert load_fine_tune(fine_tune, base).text_encoders == {}
    key = next(key for key in theirs if key.endswith(KEY))
    theirs[key] = (2 * theirs[key].float()).to(torch.float8_e5m2)
    save_file(theirs, fine_tune / WEIGHTS)
    assert load_fine_tune(fine_tune, base).text_encoders


def test_one_changed_number_is_a_trained_text_encoder(base: BaseModel, tmp_path: Path) -> None:
    """However little was trained."""
    fine_tune = make_full(base.folder, tmp_path / "dog")
    weights = load_file(base.folder / WEIGHTS)
    key = next(key for key in weights if key.endswith(KEY))
    weights[key][0, 0] += 1e-3
    (fine_tune / "text_encoder").mkdir()
    save_file(weights, fine_tune / WEIGHTS)
    assert load_fine_tune(fine_tune, base).text_encoders


def test_the_artifact_carries_it_and_says_so(
    base: BaseModel, fine_tune: Path, tmp_path: Path
) -> None:
    """Its bytes are in the manifest and in the size; the same input has the same digest.

    Without it the manifest is of the version that earlier readers know.
    """

    def make(name: str, source: Path) -> Artifact:
        workshop = Workshop(tmp_path / name / "kept", device="cpu", prompts=1, steps=1)
        return workshop.make_full(
            source,
            base,
            "w8a8",
            triggers=[TRIGGER],
            source_sha256="5" * 64,
            directory=tmp_path / name / "out",
            stop=threading.Event(),
        )

    made, again = make("one", fine_tune), make("two", fine_tune)
    plain = make("plain", make_full(base.folder, tmp_path / "cat"))
    assert made.digest == again.digest != plain.digest
    weights = sum(t.numel() for t in _short(fine_tune / WEIGHTS).values())
    assert made.manifest["text_encoder"] == {"weights": weights, "bytes": 2 * weights}
    assert made.size_bytes - plain.size_bytes > 2 * weights
    assert (made.manifest["schema_version"], plain.manifest["schema_version"]) == (2, 1)
    assert "text_encoder" not in plain.manifest
    assert plain.text_encoder() is None
    kept = read_artifact(made.directory).text_encoder()
    assert kept is not None
    assert {t.dtype for t in kept.values()} == {torch.float16}


def test_the_unet_is_calibrated_with_its_own_text_encoder(
    base: BaseModel, fine_tune: Path, tmp_path: Path
) -> None:
    """The ranges of what reads the text follow it."""
    found = []
    for name in ("own", "base"):
        workshop = Workshop(tmp_path / name, device="cpu", prompts=1, steps=1)
        artifact = workshop.make_full(
            fine_tune,
            base,
            "w8a8",
            triggers=[TRIGGER],
            source_sha256="5" * 64,
            directory=tmp_path / name / "out",
            stop=threading.Event(),
        )
        found.append(artifact.manifest["calibration"]["ranges"])
        (fine_tune / WEIGHTS).write_bytes((base.folder / WEIGHTS).read_bytes())
    assert found[0].keys() == found[1].keys()
    assert found[0] != found[1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({KEY: None}, r"1 tensors are missing or unknown.*k_proj\.weight; publish"),
        ({KEY: torch.zeros(8, 8)}, r"k_proj\.weight is \(8, 8\), the base's is \(32, 32\)"),
        ({"encoder.layers.9.a": torch.zeros(1)}, r"unknown, among them encoder\.layers\.9\.a"),
        ({KEY: torch.full((32, 32), torch.inf)}, "diverged"),
        ({KEY: torch.zeros(32, 32, dtype=torch.int8)}, "missing or unknown"),
    ],
)
def test_a_text_encoder_that_does_not_fit_is_refused(
    base: BaseModel, fine_tune: Path, change: dict[str, torch.Tensor | None], words: str
) -> None:
    """Missing, unknown, of another shape, without numbers, in codes: with the tensor's name."""
    tensors = {k: t for k, t in (_short(fine_tune / WEIGHTS) | change).items() if t is not None}
    save_file(tensors, fine_tune / WEIGHTS)
    with pytest.raises(InvalidInput, match=words):
        load_fine_tune(fine_tune, base)


@pytest.mark.parametrize(
    ("option", "value"), [("hidden_act", "gelu"), ("num_hidden_layers", 1), ("hidden_act", None)]
)
def test_a_text_encoder_that_computes_otherwise_is_refused(
    base: BaseModel, fine_tune: Path, option: str, value: object
) -> None:
    """What its configuration says and the shapes do not; what it does not say is as usual."""
    file = fine_tune / "text_encoder/config.json"
    config = json.loads(file.read_text())
    assert load_fine_tune(fine_tune, base).text_encoders
    if value is None:
        del config[option]
        file.write_text(json.dumps(config))
        assert load_fine_tune(fine_tune, base).text_encoders
        file.write_text("[]")
        assert load_fine_tune(fine_tune, base).text_encoders
        return
    file.write_text(" " * (1 << 20) + json.dumps(config))
    with pytest.raises(CorruptFile, match=r"config\.json has \d{7} bytes"):
        load_fine_tune(fine_tune, base)
    file.write_text(json.dumps(config | {option: value}))
    with pytest.raises(InvalidInput, match=f"{option} is {value}, the base's .*; publish"):
        load_fine_tune(fine_tune, base)


@pytest.mark.parametrize(
    ("key", "tensor", "words"),
    [
        ("text_projection", torch.tensor(0.0), "not laid out as OpenCLIP's.*diffusers folder"),
        (
            "transformer.resblocks.0.attn.in_proj_weight",
            torch.zeros(96),
            "not laid out as OpenCLIP's.*diffusers folder",
        ),
        (
            "transformer.resblocks.0.attn.in_proj_weight",
            torch.zeros(80, 32),
            r"v_proj\.weight is \(16, 32\)",
        ),
        ("transformer.resblocks.1.attn.in_proj_bias", None, r"layers\.1\.self_attn\.k_proj\.bias"),
        ("transformer.resblocks.2.ln_1.weight", torch.zeros(32), r"layers\.2\.layer_norm1\.weight"),
        ("token_embedding.weight", None, r"token_embedding\.weight"),
    ],
)
def test_a_damaged_open_clip_is_refused(
    base: BaseModel, fine_tune: Path, tmp_path: Path, key: str, tensor: torch.Tensor, words: str
) -> None:
    """What diffusers' converter stumbles over is said as a reason, not as a crash."""
    file = _open_clip(fine_tune, tmp_path / "a.safetensors", **{key: tensor})
    with pytest.raises(InvalidInput, match=words):
        load_fine_tune(file, base)


def test_a_second_text_encoder_is_refused(base: BaseModel, fine_tune: Path, tmp_path: Path) -> None:
    """SDXL's, in a folder and in a file."""
    file = write_single_file(fine_tune, tmp_path / "a.safetensors")
    second = {"conditioner.embedders.1.model.ln_final.weight": torch.ones(1)}
    save_file(load_file(file) | second, file)
    (fine_tune / "text_encoder_2").mkdir()
    for source in (file, fine_tune):
        with pytest.raises(InvalidInput, match="two text encoders"):
            load_fine_tune(source, base)


def test_a_text_encoder_without_safetensors_is_refused(base: BaseModel, fine_tune: Path) -> None:
    """Pickles in a folder are not read, and a folder without weights is not whole."""
    (fine_tune / WEIGHTS).rename(fine_tune / "text_encoder/pytorch_model.bin")
    with pytest.raises(InvalidInput, match="safe_serialization"):
        load_fine_tune(fine_tune, base)
    (fine_tune / "text_encoder/pytorch_model.bin").unlink()
    with pytest.raises(InvalidInput, match="no weights in text_encoder/"):
        load_fine_tune(fine_tune, base)


@pytest.mark.parametrize("prefix", ["cond_stage_model.wrapped.", "conditioner.embedders.0.model."])
def test_a_layout_that_is_not_read_is_refused(
    base: BaseModel, fine_tune: Path, tmp_path: Path, prefix: str
) -> None:
    """It would be served with the base's text encoder instead."""
    file = tmp_path / "bear.safetensors"
    write_single_file(fine_tune, file, text_encoder=fine_tune / "text_encoder")
    state = load_file(file)
    moved = {
        key.replace("cond_stage_model.transformer.", prefix): tensor
        for key, tensor in state.items()
    }
    save_file(moved, file)
    with pytest.raises(InvalidInput, match="layout that is not read"):
        load_fine_tune(file, base)


def test_types_that_torch_does_not_know_are_refused(base: BaseModel, fine_tune: Path) -> None:
    """The format has them, and a header that names one is whole."""
    six_bits = {"x": {"dtype": "F6_E2M3", "shape": [4], "data_offsets": [0, 3]}}
    (fine_tune / WEIGHTS).write_bytes(with_header(six_bits, bytes(3)))
    assert inspect(fine_tune).problems == ()
    with pytest.raises(CorruptFile, match=r"model\.safetensors is no safetensors file .* F6_E2M3"):
        load_fine_tune(fine_tune, base)


def test_an_index_lists_safetensors_only(base: BaseModel, fine_tune: Path) -> None:
    """Anything else would be read unchecked."""
    folder = fine_tune / "text_encoder"
    (folder / "w.bin").write_bytes(b"anything")
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "w.bin"}}')
    with pytest.raises(CorruptFile, match="no safetensors file"):
        load_fine_tune(fine_tune, base)
