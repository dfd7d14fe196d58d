"""Scorers: every kind gives what the protocol promises."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from support.fonts import needs_font
from support.tiny_judges import make_tiny_clip, make_tiny_inception
from torch import Tensor, nn
from transformers import CLIPImageProcessor, CLIPModel

from personalq.bench.fidelity.metrics import Pictures
from personalq.bench.fidelity.scorers import (
    HuggingFaceScorer,
    InceptionFeatures,
    MiniatureScorer,
    Scorer,
    WithFeatures,
)
from personalq.chassis.errors import InvalidInput
from personalq.miniature.world import Sight, render

NOUNS = ["bear", "car", "house", "dog"]


@pytest.fixture(scope="module")
def pictures() -> Pictures:
    """One real picture of each noun."""
    return np.stack([render(Sight(noun, "beach"), Random(noun)) for noun in NOUNS])  # noqa: S311


@pytest.fixture(scope="module")
def clip_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CLIP of random weights."""
    return make_tiny_clip(tmp_path_factory.mktemp("tiny-clip"))


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A TorchScript file with the call of inception-2015-12-05.pt."""
    return make_tiny_inception(tmp_path_factory.mktemp("script") / "mean.pt")


@needs_font
def test_the_miniature_tells_its_world_apart(pictures: Pictures) -> None:
    """The right captions, pictures and nouns score higher than permuted ones."""
    scorer: Scorer = MiniatureScorer()
    captions = [f"a photo of a {noun} on the beach" for noun in NOUNS]
    cosines = scorer.embed(pictures) @ scorer.embed_texts(captions).T
    assert (cosines.argmax(axis=1) == np.arange(4)).all()
    assert scorer.recognises(pictures, NOUNS).all()
    assert not scorer.recognises(pictures[::-1], NOUNS).any()
    assert scorer.features(pictures).shape == (4, 128)


@needs_font
def test_any_clip_of_a_folder_is_a_scorer(clip_folder: Path, pictures: Pictures) -> None:
    """Cosines are those of CLIPModel's own embeddings."""
    from transformers import AutoTokenizer

    scorer: Scorer = HuggingFaceScorer(clip_folder)
    captions = ["a bear", "a longer caption of a red car", "a house", "a dog"]
    features = scorer.features(pictures)
    assert features.shape == (4, 8)
    assert np.linalg.norm(features, axis=1) == pytest.approx(1, abs=1e-5)
    model = CLIPModel.from_pretrained(clip_folder).eval()
    pixels = CLIPImageProcessor.from_pretrained(clip_folder)(list(pictures), return_tensors="pt")
    tokens = AutoTokenizer.from_pretrained(clip_folder)(captions, padding=True, return_tensors="pt")
    with torch.inference_mode():
        output = model(
            input_ids=tokens.input_ids,
            attention_mask=tokens.attention_mask,
            pixel_values=pixels.pixel_values,
        )
    assert features == pytest.approx(output.image_embeds.numpy(), abs=1e-5)
    assert scorer.embed_texts(captions) == pytest.approx(output.text_embeds.numpy(), abs=1e-5)
    assert scorer.recognises(pictures, NOUNS).shape == (4,)


@needs_font
def test_features_may_come_from_elsewhere(script: Path, pictures: Pictures) -> None:
    """FD over Inception's features, the rest by CLIP."""
    inception = InceptionFeatures(script)
    features = inception.features(pictures)
    assert features == pytest.approx(pictures.astype(np.float64).mean(axis=(1, 2)), abs=1e-3)
    both: Scorer = WithFeatures(MiniatureScorer(), inception)
    assert both.features(pictures).shape == (4, 3)
    assert both.name == "miniature-clip+mean"
    assert both.recognises(pictures, NOUNS).all()


class _Other(nn.Module):
    """Takes pictures, and no wish for features."""

    def forward(self, pictures: Tensor) -> Tensor:
        """Return what it is given."""
        return pictures


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    """The message names the folder or file."""
    (tmp_path / "x.pt").write_bytes(b"no")
    with pytest.raises(InvalidInput, match="no CLIP"):
        HuggingFaceScorer(tmp_path)
    with pytest.raises(InvalidInput, match="no TorchScript"):
        InceptionFeatures(tmp_path / "x.pt")
    torch.jit.script(_Other()).save(str(tmp_path / "other.pt"))  # type: ignore[no-untyped-call]
    with pytest.raises(InvalidInput, match=r"other\.pt is not called as"):
        InceptionFeatures(tmp_path / "other.pt")


def test_half_a_clip_is_refused(tmp_path: Path, clip_folder: Path) -> None:
    """Weights that are missing would be random ones."""
    folder = tmp_path / "half"
    shutil.copytree(clip_folder, folder)
    weights = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if "vision" not in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InvalidInput, match="half holds no CLIP of transformers: vision_model"):
        HuggingFaceScorer(folder)
