"""Trained tokens, alone or in a LoRA's file, and what scales PEFT's adapters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from personalq.taq import LoraError, UnsupportedFormatError, parse_lora, read_lora
from personalq.taq.formats.files import read_tensors

ROWS = torch.ones(2, 8)


@pytest.mark.parametrize(
    "tensors",
    [
        {"<bear-v4>": ROWS},
        {"bundle_emb.<bear-v4>.string_to_param.*": ROWS},
        {"emb_params": ROWS},
        {"string_to_param.*": ROWS},
        {"<bear-v4>": ROWS[0]},
    ],
)
def test_an_embedding_is_rows_under_its_token(tensors: dict[str, Tensor]) -> None:
    """Every way to write one; where none is named, the caller's name counts."""
    lora = parse_lora(tensors, token="<bear-v4>")
    assert (lora.unet, lora.text_encoder, list(lora.embeddings)) == ({}, {}, ["<bear-v4>"])
    assert lora.embeddings["<bear-v4>"].shape[1] == 8


def test_a_lone_tensor_is_called_by_its_key() -> None:
    """Diffusers saves an embedding under the token's own text, whatever that is."""
    assert list(parse_lora({"sks": ROWS}, token="<other>").embeddings) == ["sks"]
    with pytest.raises(LoraError, match="map to nothing: sks"):
        parse_lora({"sks": torch.ones(78, 8)})
    with pytest.raises(LoraError, match="map to nothing: a, b"):
        parse_lora({"a": ROWS, "b": ROWS})


def test_an_embedding_without_a_name_is_refused(shared_data: Path) -> None:
    """A real file of that kind; with a name it is read."""
    file = shared_data / "lora/invokeai_test_embedding.safetensors"
    with pytest.raises(UnsupportedFormatError, match="does not name its token"):
        read_lora(file)
    assert read_lora(file, token="<ferret>").embeddings["<ferret>"].shape == (5, 768)


def test_tokens_that_differ_in_case_only_are_refused() -> None:
    """CLIP lower-cases: they would be one token with two embeddings."""
    with pytest.raises(LoraError, match="<Licia> and <licia> are one token to CLIP"):
        parse_lora({"<Licia>": ROWS, "<licia>": ROWS})


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ("<x>", "<x>_1", "<x>_1 and <x>_1"),
        ("<X>", "<x>_1", "<X>_1 and <x>_1"),
        ("café", "café", "are one token"),
        ("a b", "a  b", "are one token"),
    ],
)
def test_names_that_are_one_token_are_refused(one: str, other: str, words: str) -> None:
    """Those of further rows too, which no key says; in the form in which CLIP reads them."""
    rows = {f"bundle_emb.{name}.string_to_param.*": ROWS for name in (one, other)}
    with pytest.raises(LoraError, match=words):
        parse_lora(rows)
    apart = {"<x>": ROWS, "<x>_2": ROWS}
    parsed = parse_lora({f"bundle_emb.{name}.clip_l": rows for name, rows in apart.items()})
    assert list(parsed.embeddings) == ["<x>", "<x>_2"]


def test_pefts_configuration_beside_the_file_gives_the_alpha(tmp_path: Path) -> None:
    """`lora_alpha`, its exceptions by layer, and the rank's root; not of files of others."""
    pair = {"lora_A.weight": torch.ones(4, 8), "lora_B.weight": torch.ones(8, 4)}
    layers = ("unet.a.q", "unet.b.q")
    peft = {f"base_model.model.{n}.{k}": t.clone() for n in layers for k, t in pair.items()}
    named = {key.removeprefix("base_model.model."): t for key, t in peft.items()}
    save_file(peft, tmp_path / "adapter_model.safetensors")
    save_file(named, tmp_path / "pytorch_lora_weights.safetensors")
    config = tmp_path / "adapter_config.json"
    config.write_text(json.dumps({"r": 4, "lora_alpha": 16, "alpha_pattern": {"b.q": 2}}))
    scales = {n: f.scale for n, f in read_lora(tmp_path / "adapter_model.safetensors").unet.items()}
    assert scales == {"a.q": 4.0, "b.q": 0.5}
    other = read_lora(tmp_path / "pytorch_lora_weights.safetensors")
    assert {f.scale for f in other.unet.values()} == {1.0}
    config.write_text(json.dumps({"lora_alpha": 16, "use_rslora": True}))
    lora = read_lora(tmp_path / "adapter_model.safetensors")
    assert {f.scale for f in lora.unet.values()} == {8.0}
    for content, words in (
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "no JSON object"),
        (" " * (1 << 20) + "{}", "has 1048578 bytes"),
    ):
        config.write_text(content)
        with pytest.raises(LoraError, match=words):
            read_lora(tmp_path / "adapter_model.safetensors")


def test_parts_have_alphas_of_their_own() -> None:
    """Diffusers' metadata states the UNet's and the text encoder's apart."""
    tensors = {
        "unet.a.lora_A.weight": torch.ones(2, 8),
        "unet.a.lora_B.weight": torch.ones(8, 2),
        "text_encoder.text_model.encoder.layers.0.q.lora_A.weight": torch.ones(2, 8),
        "text_encoder.text_model.encoder.layers.0.q.lora_B.weight": torch.ones(8, 2),
    }
    stated = {"unet.lora_alpha": 4, "text_encoder.lora_alpha": 8}
    lora = parse_lora(tensors, {"lora_adapter_metadata": json.dumps(stated)})
    assert [f.scale for f in (*lora.unet.values(), *lora.text_encoder.values())] == [2.0, 4.0]
    plain = parse_lora({key.replace("text_encoder.text_model", "base_model.model"): t
                        for key, t in tensors.items()})  # fmt: skip
    assert list(plain.text_encoder) == ["encoder.layers.0.q"]


def _scale_with(pattern: str, layer: str) -> float:
    tensors = {
        f"unet.{layer}.lora_A.weight": torch.ones(2, 8),
        f"unet.{layer}.lora_B.weight": torch.ones(8, 2),
    }
    stated = {"unet.lora_alpha": 2, "unet.alpha_pattern": {pattern: 16}}
    (factors,) = parse_lora(tensors, {"lora_adapter_metadata": json.dumps(stated)}).unet.values()
    return factors.scale


@pytest.mark.parametrize(
    ("pattern", "scale"),
    [
        (r".*attn2\.to_k", 8.0),
        ("attn2.to_k", 8.0),
        ("down_blocks.*to_k", 8.0),
        (r"^down_blocks.*(to_k|to_q)", 8.0),
        ("^to_k", 1.0),
        ("o_k", 1.0),
        ("attn2", 1.0),
    ],
)
def test_pefts_exceptions_are_expressions(pattern: str, scale: float) -> None:
    """They fit the layer's name or its end, as PEFT matches them."""
    layer = "down_blocks.0.attentions.0.transformer_blocks.0.attn2.to_k"
    assert _scale_with(pattern, layer) == scale


@pytest.mark.parametrize("pattern", ["(", "a" * 201, "(a+)+b", ".*" * 40, "a{2}{3}"])
def test_exceptions_that_fit_nothing_in_time_are_refused(pattern: str) -> None:
    """What is no expression, or takes longer than anybody waits."""
    with pytest.raises(LoraError, match="alpha_pattern"):
        _scale_with(pattern, "mid_block." + "a" * 100)


def test_every_layer_may_be_an_exception() -> None:
    """As a file has it whose layers are of many ranks; each expression is matched with each."""
    layers = [f"down_blocks.{i}.attentions.{j}.attn2.to_k" for i in range(20) for j in range(20)]
    pair = {"lora_A.weight": torch.ones(2, 8), "lora_B.weight": torch.ones(8, 2)}
    tensors = {f"unet.{layer}.{key}": t for layer in layers for key, t in pair.items()}
    stated = {"unet.alpha_pattern": {layer: 2 * (n + 1) for n, layer in enumerate(layers)}}
    found = parse_lora(tensors, {"lora_adapter_metadata": json.dumps(stated)}).unet
    assert [found[layer].scale for layer in layers] == [n + 1.0 for n in range(len(layers))]


def test_involved_exceptions_of_many_layers_are_refused() -> None:
    """What one layer takes a moment for would take hours for all that a file can name."""
    pair = {"lora_A.weight": torch.ones(2, 8), "lora_B.weight": torch.ones(8, 2)}
    tensors = {
        f"unet.mid_block.{n:02}{'a' * 170}.{key}": t for n in range(50) for key, t in pair.items()
    }
    stated = {"unet.lora_alpha": 2, "unet.alpha_pattern": {"mid.*b.*c.*d.*e": 16}}
    with pytest.raises(LoraError, match="too involved for so many layers"):
        parse_lora(tensors, {"lora_adapter_metadata": json.dumps(stated)})
    few = dict(list(tensors.items())[:2])
    assert parse_lora(few, {"lora_adapter_metadata": json.dumps(stated)}).unet


def test_numbers_that_many_tensors_share_are_refused(tmp_path: Path) -> None:
    """A small file would grow without bound once something is made of each."""
    numbers = torch.ones(4096, dtype=torch.float16)
    path = tmp_path / "lora.pt"
    torch.save({f"layer_{n}.weight": numbers.view(64, 64) for n in range(64)}, path)
    with pytest.raises(UnsupportedFormatError, match="many times over"):
        read_tensors(path)
    torch.save({"a": numbers, "b": numbers.view(64, 64)}, path)  # tied weights
    assert len(read_tensors(path)[0]) == 2
