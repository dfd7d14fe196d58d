"""What looks at the pictures: the miniature's CLIP, any other CLIP, Inception for the FD."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from personalq.bench.fidelity.metrics import Pictures
from personalq.chassis.errors import InvalidInput
from personalq.miniature.places import weights_dir
from personalq.miniature.scorer import ClipScorer

_BATCH = 32
_CALLED = "is not called as module(uint8 NCHW, return_features=True) -> (N, D)"


class Features(Protocol):
    """Reads what a Fréchet distance is taken over."""

    #: Which features they are; part of the name of cached files.
    name: str

    def features(self, pictures: Pictures) -> NDArray[np.float32]:
        """Features (N, D) of pictures (N, height, width, 3)."""
        ...


class Scorer(Features, Protocol):
    """Judges pictures against words and against other pictures: both become unit vectors.

    The cosine of a picture and its caption is its CLIP score, that with a reference picture its
    CLIP-I.
    """

    def embed(self, pictures: Pictures) -> NDArray[np.float32]:
        """Unit embeddings (N, D) of pictures."""
        ...

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit embeddings (N, D) of captions."""
        ...

    def recognises(self, pictures: Pictures, nouns: Sequence[str]) -> NDArray[np.bool_]:
        """Whether each picture's noun is the one that fits it best, zero-shot."""
        ...


class MiniatureScorer:
    """The miniature's own CLIP, trained on its world; features of 128 dimensions."""

    name = "miniature-clip"

    def __init__(self, weights: Path | None = None) -> None:
        """Load the shipped weights, or those of another weights folder."""
        self._scorer = ClipScorer(weights or weights_dir())

    def features(self, pictures: Pictures) -> NDArray[np.float32]:
        """The embeddings."""
        return self.embed(pictures)

    def embed(self, pictures: Pictures) -> NDArray[np.float32]:
        """See `Scorer`."""
        return self._scorer.features(list(pictures)).numpy()

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Scorer`."""
        return self._scorer.text_features(texts).numpy()

    def recognises(self, pictures: Pictures, nouns: Sequence[str]) -> NDArray[np.bool_]:
        """Among all nouns of the world."""
        found = self._scorer.sights(list(pictures))
        return np.array([sight.noun == noun for sight, noun in zip(found, nouns, strict=True)])


class HuggingFaceScorer:
    """A CLIP saved by transformers, with its tokenizer and image processor beside it.

    The paper's CLIP score is openai/clip-vit-base-patch32's or -large-patch14's cosine.
    """

    def __init__(self, folder: Path, device: str = "cpu") -> None:
        """Load from a folder; nothing is downloaded.

        Raises:
            InvalidInput: the folder does not hold all three, or not all weights of a CLIP.
        """
        from transformers import AutoTokenizer, CLIPImageProcessor, CLIPModel

        self.name = folder.name
        self._device = device
        try:
            # what a folder of another model lacks would be random
            self._model, told = CLIPModel.from_pretrained(
                folder, local_files_only=True, output_loading_info=True
            )
            self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self._processor = CLIPImageProcessor.from_pretrained(folder, local_files_only=True)
        except (OSError, ValueError) as error:
            raise InvalidInput(f"{folder} holds no CLIP of transformers: {error}") from error
        if missing := sorted(told["missing_keys"]):
            raise InvalidInput(
                f"{folder} holds no CLIP of transformers: {missing[0]} and {len(missing) - 1} "
                "other weights are missing"
            )
        self._model.to(device).eval()

    def features(self, pictures: Pictures) -> NDArray[np.float32]:
        """The embeddings."""
        return self.embed(pictures)

    def recognises(self, pictures: Pictures, nouns: Sequence[str]) -> NDArray[np.bool_]:
        """Among the nouns that occur in `nouns`."""
        names = sorted(set(nouns))
        texts = self.embed_texts([f"a photo of a {name}" for name in names])
        best = (self.embed(pictures) @ texts.T).argmax(axis=1).tolist()
        return np.array([names[i] == noun for i, noun in zip(best, nouns, strict=True)])

    @torch.inference_mode()
    def embed(self, pictures: Pictures) -> NDArray[np.float32]:
        """See `Scorer`."""
        parts = []
        for start in range(0, len(pictures), _BATCH):
            batch = list(pictures[start : start + _BATCH])
            pixels = self._processor(images=batch, return_tensors="pt").pixel_values
            hidden = self._model.vision_model(pixel_values=pixels.to(self._device))
            parts.append(self._model.visual_projection(hidden.pooler_output))
        return _unit(parts)

    @torch.inference_mode()
    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Scorer`."""
        parts = []
        for start in range(0, len(texts), _BATCH):
            tokens = self._tokenizer(
                list(texts[start : start + _BATCH]),
                padding=True,
                truncation=True,
                max_length=self._model.config.text_config.max_position_embeddings,
                return_tensors="pt",
            ).to(self._device)
            hidden = self._model.text_model(
                input_ids=tokens.input_ids, attention_mask=tokens.attention_mask
            )
            parts.append(self._model.text_projection(hidden.pooler_output))
        return _unit(parts)


class InceptionFeatures:
    """A TorchScript file called as `module(uint8 NCHW, return_features=True)` -> (N, D).

    The convention of the published inception-2015-12-05.pt (Karras et al. 2020), which resizes by
    itself and gives the 2048 features that FID is defined over.
    """

    def __init__(self, file: Path, device: str = "cpu") -> None:
        """Load the file.

        Raises:
            InvalidInput: it is no TorchScript file, or one that is called otherwise.
        """
        self.name = file.stem
        self._device = device
        try:
            module = torch.jit.load(file, map_location=device)  # type: ignore[no-untyped-call]
        except (OSError, RuntimeError, ValueError) as error:
            raise InvalidInput(f"{file} is no TorchScript file: {error}") from error
        self._module: Any = module.eval()
        try:
            shape = self.features(np.zeros((2, 64, 64, 3), np.uint8)).shape
        except RuntimeError as error:
            raise InvalidInput(f"{file} {_CALLED}: {error}") from error
        if shape[:1] != (2,) or len(shape) != 2:
            raise InvalidInput(f"{file} {_CALLED}: it gave {shape} for 2 pictures")

    @torch.inference_mode()
    def features(self, pictures: Pictures) -> NDArray[np.float32]:
        """See `Features`."""
        parts = []
        for start in range(0, len(pictures), _BATCH):
            batch = np.ascontiguousarray(pictures[start : start + _BATCH].transpose(0, 3, 1, 2))
            given = self._module(torch.from_numpy(batch).to(self._device), return_features=True)
            parts.append(given.float().cpu())
        return torch.cat(parts).numpy()


class WithFeatures:
    """A scorer whose FD is taken over other features than its own."""

    def __init__(self, scorer: Scorer, features: Features) -> None:
        """Put the two together."""
        self.name = f"{scorer.name}+{features.name}"
        self.features = features.features
        self.embed = scorer.embed
        self.embed_texts = scorer.embed_texts
        self.recognises = scorer.recognises


def _unit(parts: Sequence[Tensor]) -> NDArray[np.float32]:
    return F.normalize(torch.cat(list(parts)).float(), dim=-1).cpu().numpy()
