"""PersonalQ's miniature: a small, real Stable Diffusion with personalized checkpoints.

Importing this module loads no torch; it only says where the weights are and what they hold.
"""

from __future__ import annotations

from personalq.miniature.cards import MiniatureCheckpoint, checkpoints
from personalq.miniature.places import BASE_MODEL, base_dir, clip_dir, weights_dir

__all__ = [
    "BASE_MODEL",
    "MiniatureCheckpoint",
    "base_dir",
    "checkpoints",
    "clip_dir",
    "weights_dir",
]
