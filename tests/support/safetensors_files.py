"""Safetensors files with chosen keys and shapes, written without torch."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Shapes = Mapping[str, Sequence[int]]


def safetensors_bytes(shapes: Shapes, metadata: Mapping[str, str] | None = None) -> bytes:
    """A valid file of float32 zeros."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    position = 0
    for key, shape in shapes.items():
        size = 4
        for n in shape:
            size *= n
        offsets = [position, position + size]
        header[key] = {"dtype": "F32", "shape": list(shape), "data_offsets": offsets}
        position += size
    return with_header(header, bytes(position))


def with_header(header: object, data: bytes = b"") -> bytes:
    """A file with any JSON as its header."""
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def write_safetensors(
    path: Path, shapes: Shapes, metadata: Mapping[str, str] | None = None
) -> Path:
    """`safetensors_bytes` in a file; its folder is created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(safetensors_bytes(shapes, metadata))
    return path


def unet_lora(
    down: str = "unet.{layer}.lora.down.weight",
    up: str = "unet.{layer}.lora.up.weight",
    *,
    width: int = 768,
    rank: int = 4,
    separator: str = ".",
) -> dict[str, tuple[int, ...]]:
    """Keys and shapes of a LoRA on one transformer block, in the given spelling."""
    block = "down_blocks.0.attentions.0.transformer_blocks.0"
    shapes: dict[str, tuple[int, ...]] = {}
    for name, wide in (("attn1.to_q", 320), ("attn2.to_k", width), ("attn2.to_v", width)):
        layer = f"{block}.{name}".replace(".", separator)
        shapes[down.format(layer=layer)] = (rank, wide)
        shapes[up.format(layer=layer)] = (320, rank)
    return shapes


def unet_model(width: int = 768, prefix: str = "") -> dict[str, tuple[int, ...]]:
    """A few keys of a whole UNet in diffusers names, first and last layer included."""
    attention = f"{prefix}down_blocks.0.attentions.0.transformer_blocks.0.attn2"
    return {
        f"{prefix}conv_in.weight": (32, 4, 3, 3),
        f"{prefix}conv_out.weight": (4, 32, 3, 3),
        f"{attention}.to_k.weight": (32, width),
        f"{attention}.to_v.weight": (32, width),
        f"{attention}.to_q.weight": (32, 32),
    }
