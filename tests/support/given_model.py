"""All that `personalq bench fidelity` takes for another model than the miniature, tiny."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image
from support.tiny_judges import make_tiny_clip, make_tiny_inception
from support.tiny_sd import TRIGGER, make_full, make_lora

LORA, FULL = "bear-v4", "dog-v1"
NOUNS = {LORA: "bear", FULL: "dog"}


def make_given(folder: Path, base: Path, drawn: Sequence[str] = (LORA, FULL)) -> dict[str, Path]:
    """Write a LoRA and a full fine-tune of a base, their cases and judges; by option.

    Args:
        drawn: the checkpoints that there are cases of, two of each.
    """
    checkpoints = folder / "checkpoints"
    make_lora(base, checkpoints / LORA / "pytorch_lora_weights.safetensors")
    make_full(base, checkpoints / FULL)
    write_pictures(checkpoints / LORA / "references", 2)
    write_pictures(checkpoints / FULL / "references", 3, suffix="jpg")
    write_pictures(folder / "world", 5)
    cases = [
        {
            "checkpoint_id": checkpoint_id,
            "prompt": f"a photo of {TRIGGER} {NOUNS[checkpoint_id]} {place}",
            "trigger": TRIGGER,
            "noun": NOUNS[checkpoint_id],
        }
        for place in ("of forest", "of photo")
        for checkpoint_id in drawn
    ]
    prompts = folder / "prompts.jsonl"
    prompts.write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")
    return {
        "model": base,
        "checkpoints": checkpoints,
        "prompts": prompts,
        "clip": make_tiny_clip(folder / "clip"),
        "inception": make_tiny_inception(folder / "inception.pt"),
        "world": folder / "world",
    }


def write_pictures(folder: Path, count: int, suffix: str = "png") -> None:
    """Write random pictures of different sizes."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for index in range(count):
        pixels = rng.integers(0, 255, (20 + index, 30, 3), np.uint8)
        Image.fromarray(pixels).save(folder / f"{index}.{suffix}")
