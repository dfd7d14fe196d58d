"""Models in, artifact folders out."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from support.tiny_sd import BASE_MODEL, TRIGGER, make_full, make_lora, make_tiny_sd
from transformers import CLIPTokenizer

from personalq.chassis.errors import InvalidInput
from personalq.quantizer.bases import PARTS, BaseModel, BaseModels, UnknownBaseModel, locate
from personalq.quantizer.fine_tunes import load_fine_tune
from personalq.quantizer.jobs import key_of
from personalq.quantizer.quantize import adapter_file
from personalq.quantizer.workshop import Stopped, Workshop
from personalq.taq import Artifact, LoraError, WidthMismatchError, read_artifact

NEVER = threading.Event()
DIGEST = "5" * 64


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> BaseModel:
    """The tiny base model."""
    folder = make_tiny_sd(tmp_path_factory.mktemp("base"))
    return BaseModels({BASE_MODEL: folder}).get(BASE_MODEL)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """A workshop with the shortest of calibrations."""
    return Workshop(tmp_path_factory.mktemp("calibrations"), device="cpu", prompts=1, steps=1)


@pytest.fixture(scope="module")
def base_artifact(
    base: BaseModel, workshop: Workshop, tmp_path_factory: pytest.TempPathFactory
) -> Artifact:
    """The base's artifact for eight bits."""
    return workshop.make_base(base, "w8a8", tmp_path_factory.mktemp("w8a8"), stop=NEVER)


def test_a_calibration_is_run_once(
    base: BaseModel, base_artifact: Artifact, workshop: Workshop, tmp_path: Path
) -> None:
    """Another profile with the same activations uses the kept ranges; nothing is run."""
    stopped = threading.Event()
    stopped.set()
    other = workshop.make_base(base, "w4a8", tmp_path, stop=stopped)
    assert other.manifest["calibration"] == base_artifact.manifest["calibration"]
    assert other.size_bytes < base_artifact.size_bytes


def test_a_second_workshop_makes_the_same_artifact(
    base: BaseModel, base_artifact: Artifact, tmp_path: Path
) -> None:
    """Nothing of the machine, the moment or the folder is in an artifact."""
    other = Workshop(tmp_path / "calibrations", device="cpu", prompts=1, steps=1)
    again = other.make_base(base, "w8a8", tmp_path / "out", stop=NEVER)
    assert again.digest == base_artifact.digest
    assert read_artifact(tmp_path / "out").digest == base_artifact.digest


def test_other_calibration_settings_have_another_name(tmp_path: Path) -> None:
    """What depends on the settings must not be found under the same key."""
    names = {
        Workshop(tmp_path, device="cpu", prompts=p, steps=s).calibration
        for p, s in ((1, 1), (1, 2), (2, 1))
    }
    assert len(names) == 3


def test_a_stop_ends_a_calibration(base: BaseModel, tmp_path: Path) -> None:
    """Between two steps the flag is seen; no ranges are kept."""
    stop = threading.Event()
    stop.set()
    workshop = Workshop(tmp_path / "calibrations", device="cpu", prompts=1, steps=1)
    with pytest.raises(Stopped):
        workshop.make_base(base, "w8a8", tmp_path / "out", stop=stop)
    assert not list((tmp_path / "calibrations").iterdir())


def test_a_lora_keeps_its_weights_and_its_trained_token(
    base: BaseModel, base_artifact: Artifact, workshop: Workshop, tmp_path: Path
) -> None:
    """The artifact names its base and holds the file's own numbers."""
    file = make_lora(base.folder, tmp_path / "a.safetensors", trigger_embedding=TRIGGER)
    artifact = workshop.make_lora(
        file,
        base,
        base_artifact,
        triggers=[TRIGGER],
        source_sha256=DIGEST,
        directory=tmp_path / "out",
    )
    assert artifact.base_artifact_digest == base_artifact.digest
    assert artifact.triggers == (TRIGGER,)
    (row,) = (t for key, t in load_file(file).items() if key.startswith("bundle_emb"))
    assert torch.equal(read_artifact(tmp_path / "out").embeddings[TRIGGER], row)


def test_a_trained_token_of_another_width_is_refused(
    base: BaseModel, base_artifact: Artifact, workshop: Workshop, tmp_path: Path
) -> None:
    """The message names both widths."""
    file = make_lora(base.folder, tmp_path / "a.safetensors", trigger_embedding=TRIGGER)
    tensors = load_file(file)
    key = next(key for key in tensors if key.startswith("bundle_emb"))
    save_file(tensors | {key: torch.zeros(1, 768)}, file)
    with pytest.raises(WidthMismatchError, match=r"768 wide.* 32"):
        workshop.make_lora(
            file,
            base,
            base_artifact,
            triggers=[TRIGGER],
            source_sha256=DIGEST,
            directory=tmp_path / "out",
        )


def test_an_embedding_alone_is_served_under_the_checkpoints_trigger(
    base: BaseModel, base_artifact: Artifact, workshop: Workshop, tmp_path: Path
) -> None:
    """One that names no token takes the first trigger; without a trigger it is refused."""
    file = tmp_path / "bear.safetensors"
    save_file({"emb_params": torch.ones(2, 32)}, file)

    def make(triggers: list[str]) -> Artifact:
        return workshop.make_lora(
            file,
            base,
            base_artifact,
            triggers=triggers,
            source_sha256=DIGEST,
            directory=tmp_path / "out",
        )

    made = make([TRIGGER, "<other>"])
    assert list(made.embeddings) == [TRIGGER]
    assert (made.lora().unet, made.lora().text_encoder) == ({}, {})
    with pytest.raises(LoraError, match="does not name its token"):
        make([])


def test_a_lokr_keeps_its_size_and_its_numbers(
    base: BaseModel, base_artifact: Artifact, workshop: Workshop, tmp_path: Path
) -> None:
    """The artifact holds the two small matrices, in both models, and gives them back."""
    encoder = "lora_te_text_model_encoder_layers_0_self_attn_q_proj"
    block = "lora_unet_down_blocks_0_attentions_0_transformer_blocks_0_attn1_to_q"
    tensors: dict[str, torch.Tensor] = {}
    for layer in (encoder, block):
        tensors |= {f"{layer}.lokr_w1": torch.randn(4, 4), f"{layer}.alpha": torch.tensor(1.0)}
        tensors |= {f"{layer}.lokr_w2_a": torch.randn(8, 2)}
        tensors |= {f"{layer}.lokr_w2_b": torch.randn(2, 8)}
    save_file(tensors, tmp_path / "bear.safetensors")
    made = workshop.make_lora(
        tmp_path / "bear.safetensors",
        base,
        base_artifact,
        triggers=[TRIGGER],
        source_sha256=DIGEST,
        directory=tmp_path / "out",
    )
    lora = read_artifact(made.directory).lora()
    assert sum(f.down.numel() + f.up.numel() for f in lora.unet.values()) == 2 * 16 + 2 * 16
    for part, layer in ((lora.unet, block), (lora.text_encoder, encoder)):
        left, right = (f for _, f in sorted(part.items()))
        assert torch.equal(left.up @ left.down, tensors[f"{layer}.lokr_w1"])
        assert torch.equal(right.up, tensors[f"{layer}.lokr_w2_a"])
        assert (left.scale, right.scale) == (1.0, 0.5)


def test_numbered_layers_get_their_names(
    base: BaseModel, base_artifact: Artifact, workshop: Workshop, tmp_path: Path
) -> None:
    """The artifact names every layer, also of the text encoder, whose numbers are the same."""
    named = load_file(make_lora(base.folder, tmp_path / "a.safetensors"))
    blocks = ("down_blocks.0", "up_blocks.1", "mid_block")
    layers = sorted({key.rsplit(".", 2)[0] for key in named}, key=lambda name: (
        [name.startswith(f"unet.{block}") for block in blocks].index(True),
        name.split(".")[:-2] if name.endswith("to_out.0") else name.split(".")[:-1],
        [name.endswith(p) for p in ("to_q", "to_k", "to_v", "to_out.0")].index(True),
    ))  # fmt: skip
    tensors: dict[str, torch.Tensor] = {}
    for i, layer in enumerate(layers):
        tensors |= {f"unet:{i}:down": named[f"{layer}.lora_A.weight"]}
        tensors |= {f"unet:{i}:up": named[f"{layer}.lora_B.weight"]}
    for i in range(8):
        tensors |= {f"text_encoder:{i}:down": torch.randn(1, 32)}
        tensors |= {f"text_encoder:{i}:up": torch.randn(32, 1)}
    save_file(tensors, tmp_path / "b.safetensors")
    made = workshop.make_lora(
        tmp_path / "b.safetensors",
        base,
        base_artifact,
        triggers=[],
        source_sha256=DIGEST,
        directory=tmp_path / "out",
    )
    lora = made.lora()
    for layer in layers:
        factors = lora.unet[layer.removeprefix("unet.")]
        assert torch.equal(factors.up, named[f"{layer}.lora_B.weight"])
    fifth = next(f for name, f in lora.text_encoder.items() if name.endswith("1.self_attn.v_proj"))
    assert torch.equal(fifth.up, tensors["text_encoder:5:up"])


@pytest.mark.parametrize(
    ("layer", "width", "words"),
    [
        ("text_model.encoder.layers.0.self_attn.q_proj", 32, None),
        ("text_model.encoder.layers.0.self_attn.q_proj", 768, "768"),
        ("text_model.encoder.layers.9.self_attn.q_proj", 32, "not in the model"),
    ],
)
def test_a_lora_of_the_text_encoder_must_fit_it(
    base: BaseModel,
    base_artifact: Artifact,
    workshop: Workshop,
    tmp_path: Path,
    layer: str,
    width: int,
    words: str | None,
) -> None:
    """Another width, or a layer the encoder lacks, is refused here and not at every render."""
    tensors = load_file(make_lora(base.folder, tmp_path / "a.safetensors"))
    tensors[f"text_encoder.{layer}.lora_A.weight"] = torch.ones(2, width)
    tensors[f"text_encoder.{layer}.lora_B.weight"] = torch.ones(width, 2)
    save_file(tensors, tmp_path / "b.safetensors")

    def make() -> Artifact:
        return workshop.make_lora(
            tmp_path / "b.safetensors",
            base,
            base_artifact,
            triggers=[],
            source_sha256=DIGEST,
            directory=tmp_path / "out",
        )

    if words is None:
        assert make().lora().text_encoder
        return
    with pytest.raises(LoraError, match=words):
        make()
    assert not (tmp_path / "out").exists()


def test_diverged_weights_are_refused(
    base: BaseModel, base_artifact: Artifact, workshop: Workshop, tmp_path: Path
) -> None:
    """A single NaN, in a LoRA or in a fine-tune, is named with its layer."""
    lora = make_lora(base.folder, tmp_path / "a.safetensors")
    weights = make_full(base.folder, tmp_path / "dog") / "unet/diffusion_pytorch_model.safetensors"
    for file in (lora, weights):
        tensors = load_file(file)
        next(iter(tensors.values())).view(-1)[0] = torch.nan
        save_file(tensors, file)
    with pytest.raises(InvalidInput, match="diverged"):
        workshop.make_lora(
            lora, base, base_artifact, triggers=[], source_sha256=DIGEST, directory=tmp_path / "out"
        )
    with pytest.raises(InvalidInput, match="diverged"):
        load_fine_tune(tmp_path / "dog", base)


@pytest.mark.parametrize("number", [1e5, -1e38])
def test_numbers_beyond_what_is_stored_are_refused(
    base: BaseModel, tmp_path: Path, number: float
) -> None:
    """In float16 they would be infinite, and every picture black."""
    file = make_full(base.folder, tmp_path / "dog") / "unet/diffusion_pytorch_model.safetensors"
    tensors = load_file(file)
    tensors["conv_norm_out.weight"][0] = number
    save_file(tensors, file)
    with pytest.raises(InvalidInput, match=r"conv_norm_out\.weight, in float16 .* diverged"):
        load_fine_tune(tmp_path / "dog", base)


def test_a_fine_tune_that_computes_no_numbers_is_refused(
    base: BaseModel, workshop: Workshop, tmp_path: Path
) -> None:
    """Each weight is finite, what they make of each other is not: no other attempt would help."""
    file = make_full(base.folder, tmp_path / "dog") / "unet/diffusion_pytorch_model.safetensors"
    save_file(
        {key: tensor * 6e4 / tensor.abs().max() for key, tensor in load_file(file).items()}, file
    )
    with pytest.raises(InvalidInput, match="computes numbers that are infinite"):
        workshop.make_full(
            tmp_path / "dog",
            base,
            "w8a8",
            triggers=[],
            source_sha256=DIGEST,
            directory=tmp_path / "out",
            stop=NEVER,
        )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", ["folder", "unet", "file"])
def test_a_fine_tune_is_read_in_any_of_its_forms(
    base: BaseModel, tmp_path: Path, form: str
) -> None:
    """A diffusers folder, its unet folder, or the weights alone."""
    folder = make_full(base.folder, tmp_path / "dog")
    weights = folder / "unet" / "diffusion_pytorch_model.safetensors"
    source = {"folder": folder, "unet": folder / "unet", "file": weights}[form]
    expected = load_file(weights)
    state = load_fine_tune(source, base).unet.state_dict()
    assert all(torch.equal(state[key], expected[key]) for key in expected)


def test_a_fine_tune_of_another_shape_is_refused(base: BaseModel, tmp_path: Path) -> None:
    """Missing tensors and other widths are named."""
    folder = make_full(base.folder, tmp_path / "dog")
    weights = folder / "unet" / "diffusion_pytorch_model.safetensors"
    tensors = load_file(weights)
    save_file({k: v for k, v in tensors.items() if k != "conv_in.bias"}, weights)
    with pytest.raises(InvalidInput, match=r"conv_in\.bias"):
        load_fine_tune(folder, base)
    save_file(tensors | {"conv_in.bias": torch.zeros(7)}, weights)
    with pytest.raises(InvalidInput, match=r"conv_in\.bias is \(7,\)"):
        load_fine_tune(folder, base)
    shutil.rmtree(folder / "unet")
    with pytest.raises(InvalidInput, match="diffusers folder"):
        load_fine_tune(folder, base)


def test_a_base_is_identified_by_its_files(tmp_path: Path) -> None:
    """The same files elsewhere are the same base; another scheduler is another one."""
    one, two = (make_tiny_sd(tmp_path / name) for name in ("one", "two"))
    same = [BaseModels({"m": folder}).get("m").fingerprint for folder in (one, two)]
    assert same[0] == same[1]
    config = two / "scheduler" / "scheduler_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"beta_end": 0.02}))
    assert BaseModels({"m": two}).get("m").fingerprint != same[0]
    with pytest.raises(UnknownBaseModel, match="known are m"):
        BaseModels({"m": two}).get("n")


def test_a_tokenizer_is_what_it_makes_of_prompts(tmp_path: Path) -> None:
    """Saved again in transformers' newer files it is the same; with one other rule it is not."""
    base = make_tiny_sd(tmp_path / "base")
    own = BaseModels({"m": base}).get("m")

    def saved(name: str, **rules: object) -> BaseModel:
        folder = tmp_path / name
        shutil.copytree(base, folder)
        shutil.rmtree(folder / "tokenizer")
        tokenizer = CLIPTokenizer.from_pretrained(base / "tokenizer", **rules)
        tokenizer.save_pretrained(folder / "tokenizer")
        return BaseModels({"m": folder}).get("m")

    again = saved("again")
    assert again.fingerprint != own.fingerprint  # other files
    assert again.tokenizer_fingerprint == own.tokenizer_fingerprint
    assert saved("padded", pad_token="!").tokenizer_fingerprint != own.tokenizer_fingerprint
    assert saved("short", model_max_length=20).tokenizer_fingerprint != own.tokenizer_fingerprint
    file = base / "tokenizer" / "vocab.json"
    ids = json.loads(file.read_text())
    file.write_text(json.dumps(ids | {"bear</w>": ids["dog</w>"], "dog</w>": ids["bear</w>"]}))
    other = BaseModels({"m": base}).get("m")
    assert other.tokenizer_fingerprint != own.tokenizer_fingerprint


async def test_a_base_whose_fetch_was_killed_is_not_taken_for_whole(tmp_path: Path) -> None:
    """Of what is kept on disk, hidden leftovers do not count."""
    place = "hf://somebody/model"
    kept = tmp_path / key_of(place=place)
    for name in (".model.partial", "model"):
        for part in PARTS:
            (kept / name / part).mkdir(parents=True)
        config = {"sample_size": 8, "cross_attention_dim": 32}
        (kept / name / "unet/config.json").write_text(json.dumps(config))
    assert await locate({"m": place}, tmp_path, bytes_max=1) == {"m": kept / "model"}


def test_the_lora_in_a_folder_is_found(tmp_path: Path) -> None:
    """By its usual name, or as the only one; several without that name are ambiguous."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.safetensors").touch()
    with pytest.raises(InvalidInput, match="2 checkpoints"):
        adapter_file(tmp_path)
    named = tmp_path / "pytorch_lora_weights.safetensors"
    named.touch()
    assert adapter_file(tmp_path) == named
    assert adapter_file(tmp_path / "a.safetensors") == tmp_path / "a.safetensors"
