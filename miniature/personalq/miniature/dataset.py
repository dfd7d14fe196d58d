"""The training pictures, rendered once in parallel and kept as memory-mapped arrays."""

from __future__ import annotations

import logging
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from personalq.miniature.nouns import NOUNS
from personalq.miniature.scenes import SCENES
from personalq.miniature.styles import STYLES
from personalq.miniature.world import Sight, render, sample_sight

log = logging.getLogger(__name__)

TRAINING_SEED = 1_000_000
"""Picture i of the training set is drawn from seed `TRAINING_SEED + i`; tests use others."""

_CHUNK = 2_000


@dataclass(frozen=True)
class Dataset:
    """N pictures and what they show."""

    pictures: NDArray[np.uint8]
    """(N, 64, 64, 3)."""
    labels: NDArray[np.int64]
    """(N, 3): index of noun, scene and style in NOUNS, SCENES and STYLES."""

    def sight(self, index: int) -> Sight:
        """What picture `index` shows."""
        noun, scene, style = self.labels[index]
        return Sight(NOUNS[noun], SCENES[scene], STYLES[style])


def draw(seeds: range) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Pictures (N, 64, 64, 3) and labels (N, 3), one of each per seed."""
    pictures = np.empty((len(seeds), 64, 64, 3), np.uint8)
    labels = np.empty((len(seeds), 3), np.int64)
    for row, seed in enumerate(seeds):
        rng = Random(seed)
        sight = sample_sight(rng)
        pictures[row] = render(sight, rng)
        labels[row] = (
            NOUNS.index(sight.noun), SCENES.index(sight.scene), STYLES.index(sight.style)
        )  # fmt: skip
    return pictures, labels


def training_set(folder: Path, size: int, workers: int = 2) -> Dataset:
    """The first `size` training pictures, rendered into `folder` unless they are there."""
    picture_file, label_file = folder / f"pictures-{size}.npy", folder / f"labels-{size}.npy"
    if not label_file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        shape = (size, 64, 64, 3)
        pictures = np.lib.format.open_memmap(picture_file, "w+", dtype=np.uint8, shape=shape)
        labels = np.empty((size, 3), np.int64)
        starts = range(0, size, _CHUNK)
        chunks = [range(TRAINING_SEED + s, TRAINING_SEED + min(s + _CHUNK, size)) for s in starts]
        with ProcessPoolExecutor(workers) as pool:
            for start, (part, part_labels) in zip(starts, pool.map(draw, chunks), strict=True):
                pictures[start : start + len(part)] = part
                labels[start : start + len(part)] = part_labels
                log.info("rendered %d of %d pictures", start + len(part), size)
        pictures.flush()
        np.save(label_file, labels)
    return Dataset(np.load(picture_file, mmap_mode="r"), np.load(label_file))
