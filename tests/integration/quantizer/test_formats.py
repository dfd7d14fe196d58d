"""One checkpoint of each format, from the event to an artifact that fits its base."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from support.original_layout import write_single_file
from support.tiny_sd import HIDDEN, make_full, make_lora, train_text_encoder

BLOCK = "down_blocks.0.attentions.0.transformer_blocks.0"
ENCODER = "text_model.encoder.layers.0.self_attn.q_proj"


def _kronecker(layer: str, rows: int, columns: int) -> dict[str, torch.Tensor]:
    shapes = {"w1": (4, 4), "w2_a": (rows // 4, 1), "w2_b": (1, columns // 4)}
    return {f"{layer}.lokr_{key}": torch.randn(shape) for key, shape in shapes.items()}


def _files(base: Path, folder: Path) -> dict[str, Path]:
    """A checkpoint of each format, by the id it is registered under."""
    flat, encoder = f"lora_unet_{BLOCK}_".replace(".", "_"), f"lora_te_{ENCODER}".replace(".", "_")
    tensors: dict[str, dict[str, torch.Tensor]] = {
        "lokr": _kronecker(f"{flat}attn2_to_k", 32, HIDDEN) | _kronecker(encoder, HIDDEN, HIDDEN),
        "loha": {
            f"{flat}attn2_to_k.hada_w{i}_{half}": torch.randn(shape)
            for i in (1, 2)
            for half, shape in (("a", (32, 2)), ("b", (2, HIDDEN)))
        },
        "numbered": {
            f"text_encoder:{i}:{half}": torch.randn(shape)
            for i in range(8)
            for half, shape in (("down", (1, HIDDEN)), ("up", (HIDDEN, 1)))
        },
        "embedding": {"emb_params": torch.randn(2, HIDDEN)},
    }
    files = {name: folder / f"{name}.safetensors" for name in tensors}
    for name, file in files.items():
        save_file(tensors[name], file)
    files["pickle"] = folder / "pickle.pt"
    torch.save({"string_to_param": {"*": torch.randn(1, HIDDEN)}, "name": "bear"}, files["pickle"])
    files["single-file"] = write_single_file(
        make_full(base, folder / "dog"),
        folder / "dog.safetensors",
        text_encoder=base / "text_encoder",
    )
    files["dreambooth"] = train_text_encoder(base, make_full(base, folder / "cat"))
    return files


async def test_a_checkpoint_of_each_format_becomes_an_artifact(bench: Any, tmp_path: Path) -> None:
    """All are served; what is for a second text encoder is refused, which this base has not."""
    files = _files(bench.base, tmp_path)
    second = {f"lora_te2_q.lora_{half}.weight": torch.ones(2, 2) for half in ("down", "up")}
    save_file(second, tmp_path / "second.safetensors")
    async with bench.running():
        for name, file in files.items():
            await bench.register(file, checkpoint_id=name, msg_id=name)
        await bench.register(tmp_path / "second.safetensors", checkpoint_id="second", msg_id="2")
        await bench.until(lambda b: len(b.ready) + len(b.failed) == len(files) + 1)
    assert {event.artifact.checkpoint_id for event in bench.ready} == set(files)
    (failed,) = bench.failed
    assert failed.checkpoint_id == "second"
    assert "two text encoders, as SDXL has" in failed.reason


async def test_what_lies_beside_a_file_is_no_part_of_it(bench: Any, tmp_path: Path) -> None:
    """One digest, one artifact: PEFT's configuration counts in a folder that is published whole."""
    named = load_file(make_lora(bench.base, tmp_path / "named.safetensors", rank=2))
    file = tmp_path / "bear" / "adapter_model.safetensors"
    file.parent.mkdir()
    save_file({f"base_model.model.{key}": tensor for key, tensor in named.items()}, file)
    (file.parent / "adapter_config.json").write_text(json.dumps({"r": 2, "lora_alpha": 6}))
    async with bench.running():
        await bench.register(file, checkpoint_id="file", msg_id="file")
        await bench.register(file.parent, checkpoint_id="folder", msg_id="folder")
        await bench.until(lambda b: len(b.ready) + len(b.failed) == 2)
    stored = bench.stored()
    told = {
        event.artifact.checkpoint_id: json.loads(stored[event.artifact.digest])["scales"]
        for event in bench.ready
    }
    assert {name: set(scales.values()) for name, scales in told.items()} == {
        "file": {1.0},
        "folder": {3.0},
    }
