"""Real pictures: what the subjects look like, and what each case should look like."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image

from personalq.bench.fidelity.metrics import Pictures
from personalq.bench.fidelity.prompts import Case
from personalq.chassis.errors import InvalidInput
from personalq.miniature.designs import design
from personalq.miniature.places import checkpoints_dir
from personalq.miniature.world import compose

PER_CASE = 4
"""Real pictures of each case's sight."""


def world_pictures(
    cases: Sequence[Case], per_case: int = PER_CASE, draw: str = "world"
) -> Pictures:
    """Real pictures (N * per_case, 64, 64, 3) of the miniature's cases, in their order.

    The subject's own sprite in the case's scene and style, placed anew each time; none of them is
    a training picture, and none is in two draws of different names.

    Raises:
        KeyError: a case is of no checkpoint of the miniature.
        FileNotFoundError: the emoji font is missing.
    """
    sprites = {name: design(name).draw() for name in {case.checkpoint_id for case in cases}}
    return np.stack(
        [
            compose(
                sprites[case.checkpoint_id],
                case.scene,
                case.style,
                Random(f"{draw} of {case.checkpoint_id}, {case.seed}, {index}"),
            )
            for case in cases
            for index in range(per_case)
        ]
    )


def subject_references(checkpoint_id: str, folder: Path | None = None) -> Pictures:
    """The pictures (R, height, width, 3) that a subject was learnt from.

    Args:
        checkpoint_id: whose.
        folder: of the checkpoints, each with `references/*.png`; the miniature's by default.

    Raises:
        InvalidInput: there are none.
    """
    own = (folder or checkpoints_dir()) / checkpoint_id / "references"
    files = sorted(own.glob("*.png"))
    if not files:
        raise InvalidInput(f"{checkpoint_id} has no reference pictures: {own}/*.png is empty")
    return np.stack([np.asarray(Image.open(file).convert("RGB")) for file in files])
