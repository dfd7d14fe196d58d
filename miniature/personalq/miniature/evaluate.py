"""The quality floor, measured: `python -m personalq.miniature.evaluate`.

Prints a table and, as the last line, the same numbers as JSON.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from personalq.miniature.base import Base, load_base
from personalq.miniature.captions import caption
from personalq.miniature.places import RECOMMENDED_GUIDANCE, RECOMMENDED_STEPS, weights_dir
from personalq.miniature.sampler import generate
from personalq.miniature.scorer import ClipScorer
from personalq.miniature.styles import PHOTO
from personalq.miniature.vae import decode, encode
from personalq.miniature.world import Sight, render, sample_sight

log = logging.getLogger(__name__)

FRESH_SEED = 9_000_000
"""Evaluation draws from seeds that training never sees."""

FLOOR = {
    "clip_noun_accuracy_world": 0.95,
    "noun_accuracy_generated_photo": 0.85,
    "noun_accuracy_generated": 0.70,
    "vae_psnr_db": 24.0,
}


@dataclass(frozen=True)
class Fresh:
    """A sight that training has not seen, a caption of it and a picture of it."""

    sight: Sight
    caption: str
    picture: NDArray[np.uint8]


def fresh(count: int) -> list[Fresh]:
    """`count` fresh sights, the same in every run."""
    items = []
    for seed in range(FRESH_SEED, FRESH_SEED + count):
        rng = Random(seed)
        sight = sample_sight(rng)
        items.append(Fresh(sight, caption(sight, rng), render(sight, rng)))
    return items


def psnr(base: Base, pictures: NDArray[np.uint8]) -> tuple[float, float]:
    """PSNR in dB of encoding and decoding: mean over pictures, and of the pooled error."""
    latents = encode(base.vae, [pictures[i : i + 50] for i in range(0, len(pictures), 50)])
    decoded = decode(base.vae, latents * base.vae.config.scaling_factor)
    errors = np.square(decoded.astype(np.float64) - pictures).mean(axis=(1, 2, 3))
    each = 10 * np.log10(255**2 / errors)
    return float(each.mean()), float(10 * np.log10(255**2 / errors.mean()))


def _share(flags: list[bool]) -> float:
    return float(np.mean(flags)) if flags else float("nan")


def _accuracies(name: str, sights: list[Sight], found: list[Sight]) -> dict[str, float]:
    pairs = list(zip(sights, found, strict=True))
    photos = [(a, b) for a, b in pairs if a.style == PHOTO]
    return {
        f"noun_accuracy_{name}": _share([a.noun == b.noun for a, b in pairs]),
        f"noun_accuracy_{name}_photo": _share([a.noun == b.noun for a, b in photos]),
        f"scene_accuracy_{name}": _share([a.scene == b.scene for a, b in pairs]),
        f"style_accuracy_{name}": _share([a.style == b.style for a, b in pairs]),
    }


def contact_sheet(pictures: NDArray[np.uint8], columns: int) -> Image.Image:
    """Pictures (N, 64, 64, 3) row by row, twice as large."""
    rows = [
        np.concatenate(list(pictures[start : start + columns]), axis=1)
        for start in range(0, len(pictures) - len(pictures) % columns, columns)
    ]
    sheet = Image.fromarray(np.concatenate(rows, axis=0))
    return sheet.resize((sheet.width * 2, sheet.height * 2), Image.Resampling.NEAREST)


def evaluate(
    weights: Path, count: int, steps: int, guidance: float, sheet: Path | None = None
) -> dict[str, float]:
    """All measured numbers; with `sheet` the first generated pictures are saved there."""
    scorer = ClipScorer(weights)
    base = load_base(weights / "base")
    items = fresh(count)
    sights = [item.sight for item in items]
    pictures = np.stack([item.picture for item in items])
    captions = [item.caption for item in items]
    numbers = _accuracies("world", sights, scorer.sights(list(pictures)))
    numbers["clip_noun_accuracy_world"] = numbers.pop("noun_accuracy_world")
    numbers["vae_psnr_db"], numbers["vae_psnr_pooled_db"] = psnr(base, pictures)
    numbers["clip_score_world"] = float(np.mean(scorer.clip_score(list(pictures), captions)))
    started = time.monotonic()
    generated = generate(base, captions, list(range(count)), steps=steps, guidance=guidance)
    numbers["seconds_per_generated_picture"] = (time.monotonic() - started) / count
    numbers |= _accuracies("generated", sights, scorer.sights(list(generated)))
    numbers["clip_score_generated"] = float(np.mean(scorer.clip_score(list(generated), captions)))
    if sheet is not None:
        sheet.parent.mkdir(parents=True, exist_ok=True)
        contact_sheet(generated[:96], 12).save(sheet, optimize=True)
        for item in items[:96]:
            log.info("%s", item.caption)
    return {key: round(value, 4) for key, value in numbers.items()}


@dataclass(frozen=True)
class Report:
    """What the script prints as JSON."""

    count: int
    steps: int
    guidance: float
    numbers: dict[str, float]
    floor_met: bool


def main() -> None:
    """Command line of the quality floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, default=weights_dir())
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--steps", type=int, default=RECOMMENDED_STEPS)
    parser.add_argument("--guidance", type=float, default=RECOMMENDED_GUIDANCE)
    parser.add_argument("--sheet", type=Path, help="save a grid of generated pictures as PNG")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(options.threads)
    numbers = evaluate(
        options.weights, options.count, options.steps, options.guidance, options.sheet
    )
    for key, value in numbers.items():
        floor = FLOOR.get(key)
        verdict = ""
        if floor is not None:
            verdict = f"  floor {floor:g} {'met' if value >= floor else 'MISSED'}"
        print(f"{key:34s} {value:8.3f}{verdict}")
    met = all(numbers[key] >= floor for key, floor in FLOOR.items())
    print(json.dumps(asdict(Report(options.count, options.steps, options.guidance, numbers, met))))


if __name__ == "__main__":
    main()
