"""The world: what there is to see in a picture, and the picture itself."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from personalq.miniature.nouns import NOUNS, sprite
from personalq.miniature.scenes import PLAIN, SCENES, SIZE, backdrop
from personalq.miniature.styles import PHOTO, STYLES, stylise

SUBJECT_SIZES = (38, 46)
"""Longer side of a subject in pixels, smallest and largest."""

_PLAIN_SHARE = 0.18
_PHOTO_SHARE = 0.35


@dataclass(frozen=True)
class Sight:
    """What a picture shows: one subject, in one scene, in one style."""

    noun: str
    scene: str = PLAIN
    style: str = PHOTO


def sample_sight(rng: Random) -> Sight:
    """A random sight; photos and plain backdrops are a little more frequent than the rest."""
    scene = PLAIN if rng.random() < _PLAIN_SHARE else rng.choice(SCENES[1:])
    style = PHOTO if rng.random() < _PHOTO_SHARE else rng.choice(STYLES[1:])
    return Sight(rng.choice(NOUNS), scene, style)


def compose(subject: Image.Image, scene: str, style: str, rng: Random) -> NDArray[np.uint8]:
    """Place an RGBA sprite on a scene, jittered in size, place and flip: (64, 64, 3) uint8."""
    image = backdrop(scene, rng)
    scale = rng.randint(*SUBJECT_SIZES) / max(subject.size)
    width, height = (max(1, round(side * scale)) for side in subject.size)
    small = subject.resize((width, height), Image.Resampling.BOX, reducing_gap=None)
    if rng.random() < 0.5:
        small = small.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    x = (SIZE - width) // 2 + rng.randint(-4, 4)
    y = (SIZE - height) // 2 + 4 + rng.randint(-3, 3)
    image.paste(small, (x, y), small)
    picture = np.asarray(image, np.float32) / 255.0
    return np.asarray(np.round(stylise(style, picture) * 255), np.uint8)


def render(sight: Sight, rng: Random) -> NDArray[np.uint8]:
    """A picture of a sight: (64, 64, 3) uint8, the same for the same state of `rng`."""
    return compose(sprite(sight.noun), sight.scene, sight.style, rng)
