"""Scores of pictures by the miniature's own CLIP."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor
from transformers import CLIPTokenizer

from personalq.miniature.captions import plain_caption
from personalq.miniature.clip import load_clip
from personalq.miniature.nouns import NOUNS
from personalq.miniature.places import weights_dir
from personalq.miniature.scenes import SCENES
from personalq.miniature.styles import STYLES
from personalq.miniature.vae import to_tensor
from personalq.miniature.world import Sight

Picture = Image.Image | NDArray[np.uint8]
"""An RGB picture of any size, or an array (64, 64, 3) uint8."""

_BATCH = 64


def _array(picture: Picture) -> NDArray[np.uint8]:
    image = picture if isinstance(picture, Image.Image) else Image.fromarray(picture)
    return np.asarray(image.convert("RGB").resize((64, 64), Image.Resampling.BICUBIC))


class ClipScorer:
    """CLIP score, CLIP-I, features and zero-shot nouns; every score is one number a picture."""

    def __init__(self, weights: Path | None = None) -> None:
        """Load the CLIP of the shipped weights, or of another weights folder."""
        root = weights or weights_dir()
        base = root / "base"
        self._clip = load_clip(root / "clip", base / "text_encoder")
        self._tokenizer = CLIPTokenizer.from_pretrained(base / "tokenizer")

    @torch.inference_mode()
    def text_features(self, captions: Sequence[str]) -> Tensor:
        """Unit embeddings (N, 128) of captions."""
        ids = self._tokenizer(
            list(captions), padding=True, truncation=True, return_tensors="pt"
        ).input_ids
        return torch.cat([self._clip.embed_text(part) for part in ids.split(_BATCH * 4)])

    @torch.inference_mode()
    def features(self, images: Sequence[Picture]) -> Tensor:
        """Unit embeddings (N, 128) of pictures; also what a Fréchet distance is taken over."""
        pictures = to_tensor(np.stack([_array(image) for image in images]))
        return torch.cat(
            [self._clip.embed_pictures(part) for part in torch.split(pictures, _BATCH)]
        )

    def clip_score(self, images: Sequence[Picture], captions: Sequence[str]) -> list[float]:
        """Cosine (-1..1) of each picture with its caption."""
        if len(images) != len(captions):
            raise ValueError(f"{len(images)} images but {len(captions)} captions")
        return (self.features(images) * self.text_features(captions)).sum(dim=1).tolist()

    def clip_i(self, images: Sequence[Picture], references: Sequence[Picture]) -> list[float]:
        """Mean cosine (-1..1) of each picture with all the reference pictures."""
        return (self.features(images) @ self.features(references).T).mean(dim=1).tolist()

    @cached_property
    def _prototypes(self) -> tuple[Tensor, Tensor, Tensor]:
        """Features (names, 128) of every noun, scene and style, averaged over all the others."""
        captions = [
            plain_caption(noun, scene, style)
            for noun in NOUNS for scene in SCENES for style in STYLES
        ]  # fmt: skip
        shape = (len(NOUNS), len(SCENES), len(STYLES), -1)
        table = self.text_features(captions).view(shape)
        nouns, scenes, styles = table.mean((1, 2)), table.mean((0, 2)), table.mean((0, 1))
        # what all share says nothing; without it the others' cosines spread
        return tuple(F.normalize(t - t.mean(0), dim=-1) for t in (nouns, scenes, styles))  # type: ignore[return-value]

    def sights(self, images: Sequence[Picture]) -> list[Sight]:
        """What each picture shows, zero-shot among the world's nouns, scenes and styles."""
        features = self.features(images)
        nouns, scenes, styles = ((features @ t.T).argmax(1).tolist() for t in self._prototypes)
        return [
            Sight(NOUNS[noun], SCENES[scene], STYLES[style])
            for noun, scene, style in zip(nouns, scenes, styles, strict=True)
        ]

    def noun_accuracy(self, images: Sequence[Picture], nouns: Sequence[str]) -> float:
        """Share (0..1) of the pictures whose noun is recognised."""
        if len(images) != len(nouns):
            raise ValueError(f"{len(images)} images but {len(nouns)} nouns")
        found = [sight.noun for sight in self.sights(images)]
        return float(np.mean([a == b for a, b in zip(found, nouns, strict=True)]))
