"""The cards of the personalized checkpoints, as a training pipeline would announce them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from personalq.miniature.places import checkpoints_dir

LORA_FILE = "pytorch_lora_weights.safetensors"
UNET_FOLDER = "unet"


@dataclass(frozen=True)
class MiniatureCheckpoint:
    """One personalized checkpoint and what its owner says about it."""

    checkpoint_id: str
    path: Path
    """What to publish: the LoRA file, or the folder of a full fine-tune."""
    triggers: tuple[str, ...]
    subjects: tuple[str, ...]
    styles: tuple[str, ...]
    description: str
    version: str
    created_at: datetime
    last_used_at: datetime | None
    environments: tuple[str, ...]
    owner: str
    base_model: str
    references: list[Path]
    """The pictures of the subject that it was trained on."""
    guidance_scale: float
    num_inference_steps: int

    @property
    def is_lora(self) -> bool:
        """Whether the checkpoint is a LoRA; otherwise it is a whole UNet."""
        return self.path.is_file()


def read_card(folder: Path) -> MiniatureCheckpoint:
    """The checkpoint in `folder`, from its card.json and the files beside it."""
    card: dict[str, Any] = json.loads((folder / "card.json").read_text())
    lora = folder / LORA_FILE
    last_used = card["last_used_at"]
    return MiniatureCheckpoint(
        checkpoint_id=card["checkpoint_id"],
        path=lora if lora.exists() else folder,
        triggers=tuple(card["triggers"]),
        subjects=tuple(card["subjects"]),
        styles=tuple(card["styles"]),
        description=card["description"],
        version=card["version"],
        created_at=datetime.fromisoformat(card["created_at"]),
        last_used_at=datetime.fromisoformat(last_used) if last_used else None,
        environments=tuple(card["environments"]),
        owner=card["owner"],
        base_model=card["base_model"],
        references=sorted((folder / "references").glob("*.png")),
        guidance_scale=card["guidance_scale"],
        num_inference_steps=card["num_inference_steps"],
    )


def checkpoints() -> list[MiniatureCheckpoint]:
    """All shipped personalized checkpoints, by id."""
    return [read_card(card.parent) for card in sorted(checkpoints_dir().glob("*/card.json"))]
