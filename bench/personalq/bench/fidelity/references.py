"""Real pictures: what the subjects look like, and what each case should look like."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from personalq.bench.fidelity.metrics import Pictures
from personalq.bench.fidelity.prompts import Case
from personalq.chassis.errors import InvalidInput
from personalq.miniature.designs import design
from personalq.miniature.places import checkpoints_dir
from personalq.miniature.world import compose

PER_CASE = 4
"""Real pictures of each case's sight."""
SIDE = 64
"""Of the miniature's pictures, in pixels."""
SUFFIXES = (".png", ".jpg", ".jpeg")


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


def subject_references(
    checkpoint_id: str, folder: Path | None = None, side: int = SIDE
) -> Pictures:
    """The pictures (R, side, side, 3) that a subject was learnt from.

    Args:
        checkpoint_id: whose.
        folder: of the checkpoints, each with `references/`; the miniature's by default.
        side: see `read_pictures`.

    Raises:
        InvalidInput: there are none, or one cannot be read.
    """
    own = (folder or checkpoints_dir()) / checkpoint_id / "references"
    files = picture_files(own)
    if not files:
        raise InvalidInput(
            f"{checkpoint_id} has no reference pictures: put those it was learnt from, as "
            f"{', '.join(SUFFIXES)}, into {own}"
        )
    return read_pictures(files, side)


def picture_files(folder: Path) -> list[Path]:
    """The pictures of a folder by name; none where there is no such folder."""
    return sorted(file for file in folder.glob("*") if file.suffix.lower() in SUFFIXES)


def read_pictures(files: Sequence[Path], side: int) -> Pictures:
    """The middle squares of pictures, scaled to (N, side, side, 3): what a model is trained on.

    Raises:
        InvalidInput: a file is no picture.
    """
    return np.stack([_square(file, side) for file in files])


def _square(file: Path, side: int) -> NDArray[np.uint8]:
    try:
        picture = ImageOps.exif_transpose(Image.open(file)).convert("RGB")
    except OSError as error:
        raise InvalidInput(f"{file} is no picture that can be read: {error}") from error
    return np.asarray(ImageOps.fit(picture, (side, side)))
