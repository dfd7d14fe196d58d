"""What fits all-MiniLM-L6-v2 to descriptions: low-rank updates (LoRA), merged when it is loaded.

The model tells a teapot from a kettle, not "the one with the damaged spout" from other teapots. The
updates were learned from what people say of look-alikes (docs/decisions/014-adapted-embeddings.md);
`python -m personalq.bench.paraphrases` learns them again.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load

from personalq.chassis.errors import PersonalQError

FILE = Path(__file__).with_name("minilm-adapter.safetensors")
DOWN, UP = ".lora_A.weight", ".lora_B.weight"


@cache
def digest() -> str:
    """What names the updates: other updates make other vectors."""
    return hashlib.sha256(FILE.read_bytes()).hexdigest()


@torch.no_grad()
def adapt_(bert: Any, file: Path = FILE) -> None:
    """Add the updates to a BertModel in place: W + B A of each layer that has one.

    A is (rank, inputs) and B (outputs, rank), under the layer's name and PEFT's suffixes.

    Raises:
        PersonalQError: the file is missing, damaged, or of another model.
    """
    try:
        updates = load(file.read_bytes())
        for name in updates:
            if name.endswith(DOWN):
                layer = name.removesuffix(DOWN)
                down, up = updates[name].float(), updates[layer + UP].float()
                weight = bert.get_submodule(layer).weight
                weight += (up @ down).to(weight)
    except (OSError, SafetensorError, KeyError, AttributeError, RuntimeError) as error:
        raise PersonalQError(f"{file.name} is damaged; reinstall personalq-catalog") from error
