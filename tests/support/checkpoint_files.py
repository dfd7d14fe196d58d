"""Checkpoint files made of bytes alone: real layouts, no torch."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from pathlib import Path

#: Cross-attention width of the base model that `lora_file` fits by default.
WIDTH = 32


def safetensors_file(
    path: Path, tensors: Mapping[str, tuple[int, ...]], metadata: Mapping[str, str] | None = None
) -> Path:
    """Write a safetensors file with float16 tensors of these shapes, filled from their names."""
    header: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
    body = bytearray()
    for name, shape in tensors.items():
        size = 2
        for length in shape:
            size *= length
        begin = len(body)
        seed = hashlib.sha256(f"{path.name} {name}".encode()).digest()
        body += (seed * (size // len(seed) + 1))[:size]
        header[name] = {"dtype": "F16", "shape": list(shape), "data_offsets": [begin, len(body)]}
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + body)
    return path


def lora_file(
    path: Path, *, width: int = WIDTH, rank: int = 4, metadata: Mapping[str, str] | None = None
) -> Path:
    """Write a small PEFT LoRA for a UNet that reads texts of this width."""
    block = "unet.down_blocks.0.attentions.0.transformer_blocks.0.attn2"
    tensors: dict[str, tuple[int, ...]] = {}
    for layer, columns in (("to_q", 64), ("to_k", width), ("to_v", width)):
        tensors[f"{block}.{layer}.lora_A.weight"] = (rank, columns)
        tensors[f"{block}.{layer}.lora_B.weight"] = (64, rank)
    return safetensors_file(path, tensors, metadata)


def diffusers_folder(folder: Path, *, width: int = WIDTH) -> Path:
    """Write a full fine-tune: `unet/` with its configuration and a few layers."""
    block = "down_blocks.0.attentions.0.transformer_blocks.0.attn2"
    safetensors_file(
        folder / "unet" / "diffusion_pytorch_model.safetensors",
        {
            "conv_in.weight": (8, 4, 3, 3),
            f"{block}.to_k.weight": (8, width),
            f"{block}.to_v.weight": (8, width),
            "conv_out.weight": (4, 8, 3, 3),
        },
    )
    config = {"_class_name": "UNet2DConditionModel", "cross_attention_dim": width}
    (folder / "unet" / "config.json").write_text(json.dumps(config))
    return folder


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in lower-case hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
