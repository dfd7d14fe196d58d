"""The calibration prompts: the paper's template and synonym pools (Appendix D, Table 11)."""

from __future__ import annotations

import random
from collections.abc import Sequence

SCENES = (
    "on a sunny beach",
    "in a lush green park",
    "inside a cosy living-room",
    "on a snowy mountain at sunset",
    "running across a golden wheat field",
    "under cherry-blossom trees",
    "posing in front of the Eiffel Tower",
    "sitting on a skateboard at a skatepark",
    "playing fetch by a forest lake",
    "splashing in a backyard pool",
    "walking through bustling city streets",
    "lying on a vintage Persian rug",
    "climbing a rocky cliff by the sea",
    "resting beside a campfire",
    "sitting in a canoe on calm water",
    "wrapped in a warm blanket during a snowfall",
)
TIMES = (
    "at dawn",
    "at golden hour",
    "at blue hour",
    "on an overcast day",
    "under neon lights at night",
    "at high noon",
    "during a thunderstorm",
    "at twilight",
)
STYLES = (
    "high-resolution photograph",
    "analog film style",
    "soft focus portrait",
    "35 mm film",
    "ultra-wide angle shot",
    "macro shot",
    "HDR",
    "vintage Polaroid",
    "cinematic still",
    "professional studio lighting",
    "low-key lighting",
    "minimalist composition",
    "aerial drone view",
)
ACTIONS = (
    "wearing sunglasses",
    "jumping over an obstacle",
    "catching a frisbee",
    "tilting its head",
    "sleeping peacefully",
    "wagging its tail",
    "smiling at the camera",
    "with its tongue out",
    "howling playfully",
    "sniffing a flower",
    "splashing water",
    "wrapped in a scarf",
)
#: The paper's 20 categories: what a base is calibrated with, which no trigger belongs to.
CLASSES = (
    "dog", "cat", "person", "bear", "horse", "car", "toy", "watch", "bag", "chair",
    "house", "building", "bridge", "flower", "tree", "mountain", "painting", "drawing",
    "logo", "shoe",
)  # fmt: skip


def calibration_prompts(count: int, *, names: Sequence[str] = CLASSES, seed: int = 0) -> list[str]:
    """Return `count` prompts, always the same ones for the same arguments.

    Args:
        names: what is pictured, in turn: classes for a base; for a fine-tune its triggers, which
            stand in the place of the noun as Check-in puts them.
    """
    order = random.Random(seed)  # noqa: S311 - reproducible, not secret
    offset = order.randrange(len(names))
    return [
        f"a photo of a {names[(offset + i) % len(names)]}, {order.choice(SCENES)}, "
        f"{order.choice(TIMES)}, {order.choice(STYLES)}, {order.choice(ACTIONS)}"
        for i in range(count)
    ]
