"""Artifacts: the same on every run, verified on every read, loaded without float weights."""

from __future__ import annotations

import gc
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from unit.taq.models import assert_similar, inputs, predict, ranges_of, tiny_unet

from personalq.taq import (
    PROFILES,
    TEXT_PARTS,
    Artifact,
    ArtifactMismatchError,
    IntegrityError,
    ManifestError,
    RecipeError,
    TextContext,
    UnknownKeysError,
    WidthMismatchError,
    attach_lora_,
    load_unet_,
    parse_lora,
    prepare_,
    quantize_,
    read_artifact,
    verified,
    write_base_artifact,
    write_full_artifact,
    write_lora_artifact,
)
from personalq.taq.artifact_manifest import canonical_json

MAPS = Path("/proc/self/maps")
NAME = "down_blocks.0.attentions.0.transformer_blocks.0.attn1.to_q"


def _quantized(profile: str = "w8a8", **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """Return a quantized UNet and its ranges."""
    unet = tiny_unet(**kwargs)
    ranges = ranges_of(unet, batches=1) if profile != "full" else {}
    quantize_(unet, PROFILES[profile], ranges)
    return unet, ranges


def _write_base(directory: Path, profile: str = "w8a8") -> tuple[Artifact, Any]:
    unet, ranges = _quantized(profile)
    artifact = write_base_artifact(
        directory,
        unet,
        PROFILES[profile],
        base_digest="sha256-of-the-base",
        ranges=ranges,
        tokenizer_fingerprint="sha256-of-the-tokenizer",
    )
    return artifact, unet


def _lora(width: int = 32, name: str = NAME) -> Any:
    g = torch.Generator().manual_seed(0)
    return parse_lora(
        {
            f"unet.{name}.lora_A.weight": torch.randn(2, width, generator=g),
            f"unet.{name}.lora_B.weight": torch.randn(32, 2, generator=g),
            "bundle_emb.<bear-v4>.string_to_param.*": torch.randn(3, 48, generator=g),
        }
    )


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> tuple[Artifact, Any]:
    """A written W8A8 base artifact and the UNet in it."""
    return _write_base(tmp_path_factory.mktemp("base"))


@pytest.mark.parametrize("profile", ["full", "w8a8", "w4a8"])
def test_a_loaded_unet_is_the_written_one(profile: str, tmp_path: Path) -> None:
    """A UNet built on the meta device and loaded predicts bit for bit what was measured."""
    _, unet = _write_base(tmp_path, profile)
    artifact = read_artifact(tmp_path)
    with torch.device("meta"):
        empty = tiny_unet(seed=5)
    loaded = load_unet_(empty, artifact)
    x = inputs()
    mask = torch.zeros(2, x[2].shape[1], dtype=torch.bool)
    mask[0, 3] = True
    outputs = [
        predict(model, x, cross_attention_kwargs={"text": TextContext.project(model, x[2], mask)})
        for model in (unet, loaded)
    ]
    assert torch.equal(*outputs)
    assert artifact.recipe == PROFILES[profile]
    assert not any(p.requires_grad for p in loaded.parameters())


def test_a_loaded_unet_computes_in_the_wished_dtype(base: tuple[Artifact, Any]) -> None:
    """With dtype=bfloat16 what is not quantized is bfloat16, and the output is close."""
    artifact, unet = base
    loaded = load_unet_(tiny_unet(seed=5), artifact, dtype=torch.bfloat16)
    assert {p.dtype for p in loaded.parameters()} == {torch.bfloat16}
    x = inputs()
    output = predict(loaded, (x[0].bfloat16(), x[1], x[2].bfloat16()))
    assert_similar(output.float(), predict(unet, x), within=0.1)


def test_the_same_input_has_the_same_digest(base: tuple[Artifact, Any], tmp_path: Path) -> None:
    """Two runs write the same bytes; another profile writes others."""
    again, _ = _write_base(tmp_path / "again")
    other, _ = _write_base(tmp_path / "other", "w4a8")
    assert again.digest == base[0].digest != other.digest
    assert again.files == base[0].files
    loras = [
        write_lora_artifact(
            tmp_path / name,
            _lora(),
            base_artifact=base[0],
            triggers=["<bear-v4>"],
            source_digest="s",
        )
        for name in ("one", "two")
    ]
    assert loras[0].digest == loras[1].digest


def test_a_read_artifact_is_the_written_one(base: tuple[Artifact, Any]) -> None:
    """Writing returns what reading finds."""
    written = base[0]
    read = read_artifact(written.directory)
    assert (read.digest, read.files, read.size_bytes) == (
        written.digest,
        written.files,
        written.size_bytes,
    )
    assert read.kind == "base"
    assert read.base_artifact_digest is None
    assert read.size_bytes == sum(path.stat().st_size for path in read.paths)
    assert sorted(p.name for p in written.directory.iterdir()) == [
        "manifest.json",
        "unet.safetensors",
    ]


@pytest.mark.parametrize(("profile", "bits"), [("full", 16), ("w8a8", 8), ("w4a8", 4)])
def test_weights_on_disk_have_the_bits_they_claim(profile: str, bits: int, tmp_path: Path) -> None:
    """The file is within 3 % of bits × weights, scales and what is kept in float16."""
    artifact, unet = _write_base(tmp_path, profile)
    expected = 0.0
    for layer in artifact.manifest["layers"]:
        count = torch.Size(layer["shape"]).numel()
        expected += count * layer["weight_bits"] / 8
        expected += 4 * layer["shape"][0] * (layer["weight_bits"] < 16)
    expected += sum(
        2 * t.numel() for k, t in unet.state_dict().items() if "norm" in k or "bias" in k
    )
    header = 200 * len(unet.state_dict())
    assert artifact.files[0].size == pytest.approx(expected + header, rel=0.03, abs=header)
    assert sum(layer["weight_bits"] == bits for layer in artifact.manifest["layers"]) > 20
    with safe_open(tmp_path / "unet.safetensors", framework="pt") as file:
        dtypes = {file.get_tensor(key).dtype for key in file.keys() if key.endswith(".weight")}  # noqa: SIM118
    assert torch.float32 not in dtypes


def test_a_lora_artifact_is_small_and_names_its_base(
    base: tuple[Artifact, Any], tmp_path: Path
) -> None:
    """It holds factors, scales and embeddings, and attaches to the loaded base."""
    artifact = write_lora_artifact(
        tmp_path, _lora(), base_artifact=base[0], triggers=["<bear-v4>"], source_digest="source"
    )
    read = read_artifact(tmp_path)
    assert (read.kind, read.base_artifact_digest) == ("lora", base[0].digest)
    assert read.triggers == ("<bear-v4>",)
    assert read.recipe == base[0].recipe
    assert torch.equal(read.embeddings["<bear-v4>"], _lora().embeddings["<bear-v4>"])
    assert artifact.size_bytes < base[0].size_bytes / 20
    first, second = (load_unet_(tiny_unet(), base[0]) for _ in range(2))
    attach_lora_(first, read.lora())
    attach_lora_(second, _lora())
    assert torch.equal(predict(first, inputs()), predict(second, inputs()))


def test_a_full_artifact_stands_alone(tmp_path: Path) -> None:
    """A full fine-tune has its own UNet and its triggers."""
    unet, ranges = _quantized(seed=7)
    write_full_artifact(
        tmp_path,
        unet,
        PROFILES["w8a8"],
        base_digest="base",
        ranges=ranges,
        tokenizer_fingerprint="tokenizer",
        triggers=["sks"],
        source_digest="source",
    )
    read = read_artifact(tmp_path)
    assert (read.kind, read.triggers, read.manifest["source_digest"]) == (
        "full",
        ("sks",),
        "source",
    )
    assert torch.equal(predict(load_unet_(tiny_unet(), read), inputs()), predict(unet, inputs()))


def test_a_full_artifact_may_have_its_own_text_encoder(tmp_path: Path) -> None:
    """Told with its bytes, in a schema version that earlier readers refuse; verified too."""
    unet, ranges = _quantized("full")
    encoder = {"embeddings.token_embedding.weight": torch.randn(8, 4).half()}

    def write(name: str, text_encoder: dict[str, torch.Tensor] | None) -> Artifact:
        return write_full_artifact(
            tmp_path / name,
            unet,
            PROFILES["full"],
            base_digest="base",
            ranges=ranges,
            tokenizer_fingerprint="tokenizer",
            triggers=["sks"],
            source_digest="source",
            text_encoder=text_encoder,
        )

    own, again, without = write("own", encoder), write("again", encoder), write("without", None)
    assert own.digest == again.digest != without.digest
    assert own.manifest["text_encoder"] == {"weights": 32, "bytes": 64}
    assert [a.manifest["schema_version"] for a in (own, without)] == [2, 1]
    assert without.manifest.keys() == own.manifest.keys() - {"text_encoder"}
    read = read_artifact(tmp_path / "own")
    kept = read.text_encoder()
    assert kept is not None
    assert torch.equal(kept["embeddings.token_embedding.weight"], next(iter(encoder.values())))
    assert (read.embeddings, read_artifact(tmp_path / "without").text_encoder()) == ({}, None)
    assert torch.equal(predict(load_unet_(tiny_unet(), read), inputs()), predict(unet, inputs()))
    (tmp_path / "own/text_encoder.safetensors").unlink()
    with pytest.raises(IntegrityError, match=r"text_encoder\.safetensors is missing"):
        read_artifact(tmp_path / "own")


def _second_encoders_lora() -> Any:
    g = torch.Generator().manual_seed(0)
    layer = "text_model.encoder.layers.0.self_attn.q_proj"
    return parse_lora(
        {
            f"text_encoder_2.{layer}.lora_A.weight": torch.randn(2, 48, generator=g),
            f"text_encoder_2.{layer}.lora_B.weight": torch.randn(48, 2, generator=g),
            "bundle_emb.<bear-v4>.clip_l": torch.randn(3, 32, generator=g),
            "bundle_emb.<bear-v4>.clip_g": torch.randn(3, 48, generator=g),
        }
    )


def test_what_is_for_a_second_text_encoder_is_in_a_version_of_its_own(
    base: tuple[Artifact, Any], tmp_path: Path
) -> None:
    """Earlier readers, which would pass it over, refuse it; of the rest nothing changes."""
    lora = _second_encoders_lora()

    def write(name: str, lora: Any) -> Artifact:
        return write_lora_artifact(
            tmp_path / name, lora, base_artifact=base[0], triggers=["<bear-v4>"], source_digest="s"
        )

    made, plain = write("both", lora), write("plain", _lora())
    assert [a.manifest["schema_version"] for a in (made, plain)] == [3, 1]
    assert made.manifest["text_encoder_2"] == {"layers": 1, "embeddings": 1}
    assert "text_encoder_2" not in plain.manifest
    read = read_artifact(tmp_path / "both").lora()
    assert read.layers("unet") == read.layers("text_encoder") == {}
    ((name, factors),) = read.layers("text_encoder_2").items()
    assert torch.equal(factors.down, lora.text_encoder_2[name].down)
    for part in TEXT_PARTS:
        assert torch.equal(read.rows(part)["<bear-v4>"], lora.rows(part)["<bear-v4>"])
    untold = json.loads((tmp_path / "both/manifest.json").read_bytes())
    del untold["text_encoder_2"]
    for version in (1, 2, 3):
        changed = canonical_json(untold | {"schema_version": version})
        (tmp_path / "both/manifest.json").write_bytes(changed)
        with pytest.raises(ManifestError, match="or nowhere"):
            read_artifact(tmp_path / "both")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"scales": [1, 2]}, "a number for each layer"),
        ({"scales": None}, "a number for each layer"),
        ({"scales": {"unet.a": "1"}}, "a number for each layer"),
        ({"scales": {"unet.a": True}}, "a number for each layer"),
        ({"scales": {"vae.a": 1.0}}, "a number for each layer"),
        ({"scales": {}}, "tells of 1 layers .* has scales for 0"),
        ({"text_encoder_2": {"layers": 2, "embeddings": 1}}, "tells of 2 layers .* scales for 1"),
        ({"text_encoder_2": 1}, "tells of None layers"),
        ({"text_encoder_2": {"layers": 1}}, "tells of 0 embeddings .* have 1"),
        ({"text_encoder_2": {"layers": 1, "embeddings": 2}}, "tells of 2 embeddings .* have 1"),
    ],
    ids=str,
)
def test_what_is_told_of_a_lora_is_what_its_file_holds(
    base: tuple[Artifact, Any], tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    """Numbers for its layers, as many layers and embeddings as there are."""
    made = write_lora_artifact(
        tmp_path,
        _second_encoders_lora(),
        base_artifact=base[0],
        triggers=["<bear-v4>"],
        source_digest="s",
    )
    _edited(made.directory, **changes)
    with pytest.raises(ManifestError, match=words):
        read_artifact(made.directory)


def test_rows_for_a_second_text_encoder_need_the_version_that_tells_of_them(
    base: tuple[Artifact, Any], tmp_path: Path
) -> None:
    """They lie among others, where earlier readers would pass them over."""
    lora = replace(_second_encoders_lora(), text_encoder_2={})
    write_lora_artifact(
        tmp_path, lora, base_artifact=base[0], triggers=["<bear-v4>"], source_digest="s"
    )
    path = tmp_path / "manifest.json"
    manifest = json.loads(path.read_bytes())
    del manifest["text_encoder_2"]
    path.write_bytes(canonical_json(manifest | {"schema_version": 1}))
    with pytest.raises(ManifestError, match=r"tells of 0 embeddings .* have 1"):
        read_artifact(tmp_path)


def test_a_full_artifact_may_have_two_text_encoders(tmp_path: Path) -> None:
    """Each under its own name, in the files and in the manifest, or neither."""
    unet, ranges = _quantized("full")
    states: dict[str, Any] = {part: {"weight": torch.randn(8, 4).half()} for part in TEXT_PARTS}
    second = {"text_encoder_2": states["text_encoder_2"]}
    for number, given in enumerate((states, second)):
        folder = tmp_path / str(number)
        made = write_full_artifact(
            folder,
            unet,
            PROFILES["full"],
            base_digest="base",
            ranges=ranges,
            tokenizer_fingerprint="tokenizer",
            triggers=["sks"],
            source_digest="source",
            **given,
        )
        assert made.manifest["schema_version"] == 3
        for part in TEXT_PARTS:
            kept = read_artifact(folder).text_encoder(part)
            assert (kept is not None) is (part in given)
            assert kept is None or torch.equal(kept["weight"], given[part]["weight"])
    _edited(tmp_path / "1", schema_version=2)
    with pytest.raises(ManifestError, match="or nowhere"):
        read_artifact(tmp_path / "1")


def test_the_manifest_tells_what_was_done(base: tuple[Artifact, Any]) -> None:
    """Recipe, base, tokenizer, every layer's scheme, ranges, errors, files."""
    manifest = base[0].manifest
    assert manifest["schema_version"] == 1
    assert manifest["tokenizer_fingerprint"] == "sha256-of-the-tokenizer"
    layer = next(entry for entry in manifest["layers"] if entry["name"] == NAME)
    assert layer["kind"] == "linear"
    assert (layer["weight_bits"], layer["activation_bits"]) == (16, None)
    assert layer["reason"] == "fewer than 4096 weights"
    ranges = manifest["calibration"]["ranges"]
    assert NAME in ranges
    assert any(layer["equalized"] for layer in manifest["layers"])
    assert all(set(each) == {"low", "high"} for each in ranges.values())
    text = (base[0].directory / "manifest.json").read_bytes()
    assert canonical_json(json.loads(text)) == text


def _copied(artifact: Artifact, directory: Path) -> Path:
    for path in artifact.paths:
        (directory / path.name).write_bytes(path.read_bytes())
    return directory


def _edited(directory: Path, **changes: Any) -> Path:
    path = directory / "manifest.json"
    path.write_bytes(canonical_json(json.loads(path.read_bytes()) | changes))
    return directory


def test_a_changed_file_is_refused(base: tuple[Artifact, Any], tmp_path: Path) -> None:
    """One flipped bit, a missing byte, a missing file."""
    directory = _copied(base[0], tmp_path)
    file = directory / "unet.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(IntegrityError, match="was changed"):
        read_artifact(directory)
    file.write_bytes(content[:-1])
    with pytest.raises(IntegrityError, match="bytes, not"):
        read_artifact(directory)
    file.unlink()
    with pytest.raises(IntegrityError, match="missing"):
        read_artifact(directory)


def test_a_changed_file_is_told_once_it_was_used(
    base: tuple[Artifact, Any], tmp_path: Path
) -> None:
    """While files are verified they are read; damage is the error, whatever it led to."""
    directory = _copied(base[0], tmp_path)
    file = directory / "unet.safetensors"
    whole = file.read_bytes()
    with verified(directory) as artifact:
        load_unet_(tiny_unet(), artifact)
    for damaged in (whole[:-1] + bytes([whole[-1] ^ 1]), whole[: len(whole) // 2], b"{}"):
        file.write_bytes(damaged)
        with (
            pytest.raises(IntegrityError, match=r"changed|bytes, not"),
            verified(directory) as artifact,
        ):
            load_unet_(tiny_unet(), artifact)
    file.write_bytes(whole)
    with pytest.raises(ValueError, match="of the block"), verified(directory):
        raise ValueError("of the block")


@pytest.mark.skipif(not MAPS.exists(), reason="this system does not tell what is mapped")
@pytest.mark.parametrize("profile", ["full", "w8a8", "w4a8"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_prepared_unet_lets_the_file_go(profile: str, dtype: torch.dtype, tmp_path: Path) -> None:
    """Nothing of it is mapped any more: scales, weight-only and unquantized layers included."""
    _write_base(tmp_path, profile)
    unet = load_unet_(tiny_unet(), read_artifact(tmp_path), dtype=dtype)
    assert (str(tmp_path) in MAPS.read_text()) is (profile != "full")
    prepare_(unet, torch.empty(0, dtype=dtype))
    gc.collect()
    assert str(tmp_path) not in MAPS.read_text()
    latents, t, text = inputs()
    predict(unet, (latents.to(dtype), t, text.to(dtype)))


@pytest.mark.skipif(not MAPS.exists(), reason="this system does not tell what is mapped")
def test_loras_and_text_encoders_let_the_file_go(tmp_path: Path) -> None:
    """Factors, embeddings and a text encoder of its own are copies, in the file's dtype too."""
    base, unet = _write_base(tmp_path / "base", "full")
    write_lora_artifact(
        tmp_path / "lora", _lora(), base_artifact=base, triggers=["<bear-v4>"], source_digest="s"
    )
    write_full_artifact(
        tmp_path / "full",
        unet,
        PROFILES["full"],
        base_digest="base",
        ranges={},
        tokenizer_fingerprint="tokenizer",
        triggers=["sks"],
        source_digest="source",
        text_encoder={"weight": torch.ones(8, 4).half()},
    )
    lora, full = (read_artifact(tmp_path / name) for name in ("lora", "full"))
    kept = lora.embeddings, lora.lora(), full.text_encoder()
    gc.collect()
    assert str(tmp_path) not in MAPS.read_text()
    assert all(kept)


@pytest.mark.parametrize("name", ["unet.bin", "../unet.safetensors", "/etc/x.safetensors"])
def test_only_safetensors_of_the_directory_are_read(
    base: tuple[Artifact, Any], tmp_path: Path, name: str
) -> None:
    """A manifest cannot lead to another kind of file or out of its directory."""
    directory = _copied(base[0], tmp_path)
    _edited(directory, files=[{"name": name, "size": 1, "sha256": "0"}])
    with pytest.raises(IntegrityError, match="not the name of a safetensors file"):
        read_artifact(directory)


def test_a_pickle_named_safetensors_is_refused(tmp_path: Path, base: tuple[Artifact, Any]) -> None:
    """Even one whose sha256 the manifest states."""
    import hashlib

    directory = _copied(base[0], tmp_path)
    content = b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x07pickled\x94."
    (directory / "unet.safetensors").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    _edited(directory, files=[{"name": "unet.safetensors", "size": len(content), "sha256": digest}])
    with pytest.raises(IntegrityError, match="not a safetensors file"):
        read_artifact(directory)


def test_malformed_manifests_are_refused(base: tuple[Artifact, Any], tmp_path: Path) -> None:
    """None, no JSON, another schema, another spelling, missing fields, an unknown kind."""
    with pytest.raises(ManifestError, match="no readable"):
        read_artifact(tmp_path)
    directory = _copied(base[0], tmp_path)
    manifest = directory / "manifest.json"
    good = manifest.read_bytes()
    for content, words in (
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "schema version 1"),
        (canonical_json(json.loads(good) | {"schema_version": 99}), "schema version 1"),
        (json.dumps(json.loads(good), indent=1).encode(), "canonical"),
        (canonical_json({"schema_version": 1, "kind": "base"}), "lacks base_digest, files"),
        (canonical_json(json.loads(good) | {"kind": "patch"}), "unknown kind 'patch'"),
        (good.replace(b'"kind":"base"', b'"kind":1e999'), "canonical"),
        (canonical_json(json.loads(good) | {"schema_version": 2}), "or nowhere"),
        (canonical_json(json.loads(good) | {"text_encoder": {}}), "or nowhere"),
        (canonical_json(json.loads(good) | {"files": {}}), "of each file"),
        (canonical_json(json.loads(good) | {"files": [{"name": "a", "size": 1}]}), "of each file"),
    ):
        manifest.write_bytes(content)
        with pytest.raises(ManifestError, match=words):
            read_artifact(directory)


def test_what_does_not_belong_together_is_refused(
    base: tuple[Artifact, Any], tmp_path: Path
) -> None:
    """Another UNet, a LoRA where a UNet is needed, a UNet with a LoRA on it, another recipe."""
    artifact, unet = base
    with pytest.raises(
        ArtifactMismatchError, match=r"\(32, 64\) weights, in the artifact \(32, 48\)"
    ):
        load_unet_(tiny_unet(text_width=64), artifact)
    with pytest.raises(ArtifactMismatchError, match="fresh UNet"):
        load_unet_(load_unet_(tiny_unet(), artifact), artifact)
    with pytest.raises(ArtifactMismatchError, match="no layer"):
        load_unet_(torch.nn.Linear(1, 1), artifact)
    lora = write_lora_artifact(
        tmp_path / "lora", _lora(), base_artifact=artifact, triggers=[], source_digest="s"
    )
    with pytest.raises(ArtifactMismatchError, match="has no UNet"):
        load_unet_(tiny_unet(), lora)
    with pytest.raises(ArtifactMismatchError, match="holds no LoRA"):
        artifact.lora()
    with pytest.raises(ArtifactMismatchError, match="belongs to a base"):
        write_lora_artifact(
            tmp_path / "x", _lora(), base_artifact=lora, triggers=[], source_digest="s"
        )
    with pytest.raises(WidthMismatchError):
        write_lora_artifact(
            tmp_path / "x", _lora(width=64), base_artifact=artifact, triggers=[], source_digest="s"
        )
    with pytest.raises(UnknownKeysError):
        write_lora_artifact(
            tmp_path / "x",
            _lora(name="nowhere"),
            base_artifact=artifact,
            triggers=[],
            source_digest="s",
        )
    facts = {"base_digest": "b", "ranges": {}, "tokenizer_fingerprint": "t"}
    with pytest.raises(ArtifactMismatchError, match="not quantized by the recipe full"):
        write_base_artifact(tmp_path / "x", unet, PROFILES["full"], **facts)  # type: ignore[arg-type]
    carrying = load_unet_(tiny_unet(), artifact)
    attach_lora_(carrying, _lora())
    with pytest.raises(ArtifactMismatchError, match="detach_lora_"):
        write_base_artifact(tmp_path / "x", carrying, PROFILES["w8a8"], **facts)  # type: ignore[arg-type]
    assert not (tmp_path / "x").exists()


def test_a_file_that_lacks_tensors_is_refused(base: tuple[Artifact, Any], tmp_path: Path) -> None:
    """A UNet is never left half-filled."""
    import dataclasses

    save_file({"conv_in.weight": torch.ones(1)}, tmp_path / "unet.safetensors")
    broken = dataclasses.replace(base[0], directory=tmp_path)
    with pytest.raises(ArtifactMismatchError, match="configuration"):
        load_unet_(tiny_unet(), broken)


@pytest.mark.parametrize(
    ("triggers", "noun", "expected"),
    [
        (["<bear-v4>"], "", {"protected": "trigger", "noun": "", "reason": None}),
        (["<bear-v4>"], "bear", {"protected": "trigger", "noun": "", "reason": None}),
        (
            [],
            "bear",
            {"protected": "bos", "noun": "", "reason": "the checkpoint has no trigger"},
        ),
    ],
)
def test_the_manifest_tells_what_is_protected(
    base: tuple[Artifact, Any],
    tmp_path: Path,
    triggers: list[str],
    noun: str,
    expected: dict[str, Any],
) -> None:
    """A checkpoint without trigger keeps the start token, and its manifest says why."""
    write_lora_artifact(
        tmp_path,
        _lora(),
        base_artifact=base[0],
        triggers=triggers,
        source_digest="source",
        noun=noun,
    )
    read = read_artifact(tmp_path)
    assert read.manifest["recipe"]["protected"] == "trigger"
    assert read.manifest["protection"] == expected
    assert str(read.protection.protected) == expected["protected"]
    assert (read.protection.noun, read.protection.reason) == ("", expected["reason"])


def test_a_full_artifact_tells_what_is_protected(tmp_path: Path) -> None:
    """The recipe's set, where the checkpoint has the words for it."""
    recipe = replace(PROFILES["full"], protected="conditioned:4+bos")
    unet = tiny_unet()
    quantize_(unet, recipe, {})
    for noun, protected in (("bear", "bos+conditioned:4"), ("", "bos+trigger")):
        write_full_artifact(
            tmp_path,
            unet,
            recipe,
            base_digest="base",
            ranges={},
            tokenizer_fingerprint="tokenizer",
            triggers=["sks"],
            source_digest="source",
            noun=noun,
        )
        read = read_artifact(tmp_path)
        assert read.recipe.protected == "bos+conditioned:4"
        assert str(read.protection.protected) == protected
        assert (read.protection.reason is None) == bool(noun)
        assert read.protection.noun == noun


def test_artifacts_of_earlier_versions_protect_the_trigger(
    base: tuple[Artifact, Any], tmp_path: Path
) -> None:
    """Their recipes and manifests name no set."""
    write_lora_artifact(
        tmp_path, _lora(), base_artifact=base[0], triggers=["sks"], source_digest="source"
    )
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    del manifest["protection"], manifest["recipe"]["protected"]
    for triggers, protected in ((["sks"], "trigger"), ([], "bos")):
        text = canonical_json(manifest | {"triggers": triggers})
        (tmp_path / "manifest.json").write_bytes(text)
        assert str(read_artifact(tmp_path).protection.protected) == protected


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({"protected": "trigger"}, ManifestError),
        ({"protected": None, "noun": "", "reason": None}, ManifestError),
        ("trigger", ManifestError),
        ({"protected": "of-tomorrow", "noun": "", "reason": None}, RecipeError),
    ],
)
def test_a_protection_that_cannot_be_read_is_refused(
    base: tuple[Artifact, Any], tmp_path: Path, told: Any, error: type[Exception]
) -> None:
    """As everything in a manifest is, not as a mistake of the reader."""
    write_lora_artifact(
        tmp_path, _lora(), base_artifact=base[0], triggers=["sks"], source_digest="source"
    )
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_bytes(canonical_json(manifest | {"protection": told}))
    with pytest.raises(error):
        _ = read_artifact(tmp_path).protection


def test_a_recipe_names_a_set_that_exists() -> None:
    """In one form, so that equal recipes have equal digests."""
    assert {recipe.protected for recipe in PROFILES.values()} == {"trigger"}
    assert replace(PROFILES["w8a8"], protected="trigger+bos").protected == "bos+trigger"
    with pytest.raises(RecipeError, match="no protected set 'eos'"):
        replace(PROFILES["w8a8"], protected="eos")
