"""The calibration prompts: the paper's template and synonym pools (Appendix D, Table 11)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from personalq.taq.rounding.calibration import ACTIONS, SCENES, STYLES, TIMES

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
