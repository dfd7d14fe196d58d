"""Where the shipped weights are."""

from __future__ import annotations

from pathlib import Path

BASE_MODEL = "personalq/miniature-sd"
"""Name of the base model in checkpoint cards and LoRA metadata."""

RECOMMENDED_STEPS = 25
RECOMMENDED_GUIDANCE = 3.0


def weights_dir() -> Path:
    """Folder with `base`, `clip` and `checkpoints`."""
    return Path(__file__).parent / "weights"


def base_dir() -> Path:
    """The base model, a folder for `StableDiffusionPipeline.from_pretrained`."""
    return weights_dir() / "base"


def clip_dir() -> Path:
    """The CLIP's vision tower, projections and logit scale."""
    return weights_dir() / "clip"


def checkpoints_dir() -> Path:
    """One folder for each personalized checkpoint."""
    return weights_dir() / "checkpoints"
