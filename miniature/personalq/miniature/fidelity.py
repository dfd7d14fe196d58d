"""Subject fidelity of the personalized checkpoints, next to the base model's."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import numpy as np
from PIL import Image

from personalq.miniature.base import Base
from personalq.miniature.captions import plain_caption
from personalq.miniature.designs import Design
from personalq.miniature.evaluate import contact_sheet
from personalq.miniature.personalize import Personalized
from personalq.miniature.sampler import generate
from personalq.miniature.scorer import ClipScorer

log = logging.getLogger(__name__)

_SEEDS = 2


def measure(
    base: Base,
    design: Design,
    trained: Personalized,
    scorer: ClipScorer,
    folder: Path,
    sheets: Path,
) -> dict[str, float]:
    """CLIP-I to the subject's references, `_SEEDS` pictures in each of its scenes.

    `personalized`: its UNet, the trigger; `base`: the base's UNet, the plain noun;
    `personalized_noun`: its UNet, the plain noun (what prior preservation keeps).
    The pictures are saved in `sheets`, one row for each of the three.
    """
    references = [np.asarray(Image.open(path)) for path in sorted(folder.glob("references/*.png"))]
    scenes = [scene for scene in dict.fromkeys(design.scenes) for _ in range(_SEEDS)]
    seeds = list(range(len(scenes)))
    named = [plain_caption(design.noun, scene, design.style) for scene in scenes]
    triggered = [plain_caption(design.trigger, scene, design.style) for scene in scenes]
    own = Base(trained.tokenizer, trained.text_encoder, base.vae, trained.unet, base.scheduler)
    pictures = {
        "personalized": generate(own, triggered, seeds),
        "base": generate(base, named, seeds),
        "personalized_noun": generate(own, named, seeds),
    }
    sheet = np.concatenate([rows[:12] for rows in pictures.values()])
    contact_sheet(sheet, min(12, len(scenes))).save(sheets / f"{design.checkpoint_id}.png")
    return {
        name: round(float(np.mean(scorer.clip_i(list(rows), references))), 4)
        for name, rows in pictures.items()
    }


def write(table: dict[str, dict[str, float]], file: Path) -> None:
    """Save the table, one row per checkpoint."""
    file.write_text(json.dumps(table, indent=2, sort_keys=True) + "\n")
