"""Work folders of the fidelity benchmark, small and without a diffusion model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from personalq.bench.fidelity.metrics import Pictures
from personalq.bench.fidelity.prompts import miniature_cases
from personalq.bench.fidelity.references import world_pictures
from personalq.bench.fidelity.scoring import World, Yard


class ColourScorer:
    """Sees colours only: mean and spread of each channel; counts how often it looked."""

    name = "colour"

    def __init__(self) -> None:
        self.looked = 0

    def features(self, pictures: Pictures) -> NDArray[np.float32]:
        """(N, 6)."""
        self.looked += 1
        values = np.asarray(pictures, np.float32) / 255
        return np.concatenate([values.mean(axis=(1, 2)), values.std(axis=(1, 2))], axis=1)

    def embed(self, pictures: Pictures) -> NDArray[np.float32]:
        """The same as unit vectors."""
        features = self.features(pictures)
        return np.asarray(features / np.linalg.norm(features, axis=1, keepdims=True), np.float32)

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """All words mean grey."""
        return np.full((len(texts), 6), 6**-0.5, np.float32)

    def recognises(self, pictures: Pictures, nouns: Sequence[str]) -> NDArray[np.bool_]:
        """Whatever is not dark."""
        return np.array([bool(picture.mean() > 40) for picture in pictures])


def yard(scorer: ColourScorer, count: int) -> Yard:
    """What rows of `count` miniature cases are measured with."""
    cases = miniature_cases(count)
    world = World(
        "the miniature",
        lambda n: scorer.features(world_pictures(cases[:n])),
        lambda n: world_pictures(cases[:n], 1, draw="real"),
    )
    return Yard(
        scorer,
        cases,
        world,
        lambda name: world_pictures([case for case in cases if case.checkpoint_id == name], 1),
    )


def real_pictures(count: int) -> Pictures:
    """One real picture of each case: what a perfect model would draw."""
    return world_pictures(miniature_cases(count), 1)


def noisy(pictures: Pictures, spread: float) -> Pictures:
    """The same with noise of so many grey levels."""
    noise = np.random.default_rng(0).normal(0, spread, pictures.shape)
    return np.clip(pictures + noise, 0, 255).astype(np.uint8)


def write_row(work: Path, name: str, pictures: Pictures | None, **fields: object) -> Path:
    """A row of the table "methods" unless `fields` say otherwise."""
    folder = work / name
    folder.mkdir(parents=True)
    row = {
        "row_id": name,
        "table": "methods",
        "method": name,
        "w_bits": 8,
        "a_bits": 8,
        "softmax_bits": 8,
        "label": name,
        "setting": {"ranges": "static"},
        "seconds": 1.5,
        "weights": "nearest",
    }
    (folder / "row.json").write_text(json.dumps(row | fields))
    if pictures is not None:
        np.save(folder / "pictures.npy", pictures)
    return folder
