"""A small CLIP: the text tower that conditions the UNet, the vision tower that judges pictures."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import (
    CLIPTextConfig,
    CLIPTextModel,
    CLIPTokenizer,
    CLIPVisionConfig,
    CLIPVisionModelWithProjection,
)

from personalq.miniature.captions import caption, invented_trigger
from personalq.miniature.dataset import Dataset
from personalq.miniature.devices import autocast, device
from personalq.miniature.nouns import NOUNS
from personalq.miniature.runs import Run, load_state
from personalq.miniature.scenes import SCENES
from personalq.miniature.styles import STYLES
from personalq.miniature.tokenizer import MAX_LENGTH
from personalq.miniature.vae import to_tensor

log = logging.getLogger(__name__)

WIDTH = 192
"""Hidden width of both towers: the UNet's cross-attention width."""
PROJECTION = 128
_BATCH = 64
_RATE = 1e-3
_UNKNOWN_SHARE = 0.08
_TRIGGER_SHARE = 0.08
_READING_WEIGHT = 0.3
_SKETCH_SHARE = 0.4
_LOG_EVERY = 50
_SAVE_EVERY = 200
_MAX_LOGIT_SCALE = 4.6


def text_config(tokenizer: CLIPTokenizer) -> CLIPTextConfig:
    """Three causal layers, 192 wide, over all 77 positions."""
    return CLIPTextConfig(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        intermediate_size=4 * WIDTH,
        num_hidden_layers=3,
        num_attention_heads=6,
        max_position_embeddings=MAX_LENGTH,
        projection_dim=PROJECTION,
        hidden_act="quick_gelu",
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )


def vision_config() -> CLIPVisionConfig:
    """Four layers, 192 wide, over 8 x 8 patches of 8 pixels."""
    return CLIPVisionConfig(
        hidden_size=WIDTH,
        intermediate_size=3 * WIDTH,
        num_hidden_layers=4,
        num_attention_heads=6,
        image_size=64,
        patch_size=8,
        projection_dim=PROJECTION,
        hidden_act="quick_gelu",
    )


class Clip(nn.Module):
    """Both towers, their projections and the logit scale.

    Pictures are normalised to -1..1; embeddings have length 1 and `PROJECTION` numbers.
    """

    def __init__(self, text: CLIPTextModel, vision: CLIPVisionModelWithProjection) -> None:
        super().__init__()
        self.text = text
        self.vision = vision
        self.text_projection = nn.Linear(WIDTH, PROJECTION, bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(np.log(1 / 0.07), dtype=torch.float32))

    def embed_text(self, ids: Tensor) -> Tensor:
        """Unit embeddings (N, PROJECTION) of token ids (N, length)."""
        return F.normalize(self.text_projection(self.text(ids).pooler_output).float(), dim=-1)

    def embed_pictures(self, pictures: Tensor) -> Tensor:
        """Unit embeddings (N, PROJECTION) of pictures (N, 3, 64, 64) in -1..1."""
        return F.normalize(self.vision(pictures).image_embeds.float(), dim=-1)


def build_clip(tokenizer: CLIPTokenizer) -> Clip:
    """The untrained CLIP in fp32."""
    text, vision = text_config(tokenizer), vision_config()
    # twice as fast to train on a CPU as the fused kernel
    for config in (text, vision):
        config._attn_implementation = "eager"  # noqa: SLF001 - there is no public name for it
    return Clip(CLIPTextModel(text), CLIPVisionModelWithProjection(vision))


@dataclass(frozen=True)
class _Batch:
    ids: Tensor
    pictures: Tensor
    labels: Tensor
    said: Tensor
    """(N, 3): what the captions say; noun -1 where an invented trigger hides it."""


def _sample(
    data: Dataset, tokenizer: CLIPTokenizer, rng: Random, hard: NDArray[np.int64], hard_share: float
) -> _Batch:
    """A batch, `hard_share` of it from the rows `hard`."""
    picks = (
        int(rng.choice(hard)) if rng.random() < hard_share else rng.randrange(len(data.pictures))
        for _ in range(_BATCH)
    )
    rows = sorted(picks)
    labels = torch.from_numpy(data.labels[rows])
    said = labels.clone()
    texts = []
    for position, row in enumerate(rows):
        sight, word = data.sight(row), None
        draw = rng.random()
        if draw < _UNKNOWN_SHARE:
            word = invented_trigger(None, rng)
            said[position, 0] = -1
        elif draw < _UNKNOWN_SHARE + _TRIGGER_SHARE:
            word = invented_trigger(sight.noun, rng)
        texts.append(caption(sight, rng, word))
    # a causal tower reads the same whatever padding follows, so the longest caption is enough
    ids = tokenizer(texts, padding=True, truncation=True, return_tensors="pt").input_ids
    tensors = (ids, to_tensor(data.pictures[rows]), labels, said)
    return _Batch(*(tensor.to(device()) for tensor in tensors))


def contrastive_loss(logits: Tensor, said: Tensor, labels: Tensor) -> Tensor:
    """Symmetric cross-entropy of logits (text, picture), blind to pairs that fit by chance.

    Caption i is not a negative of picture j when all it says is true of picture j.
    """
    fits = ((said[:, None] == labels[None]) | (said[:, None] < 0)).all(dim=2)
    fits.fill_diagonal_(False)
    logits = logits.masked_fill(fits, -1e4)
    targets = torch.arange(len(logits), device=logits.device)
    return (F.cross_entropy(logits, targets) + F.cross_entropy(logits.T, targets)) / 2


class _Heads(nn.Module):
    """Linear readers of noun, scene and style; they teach the towers and are thrown away."""

    def __init__(self) -> None:
        super().__init__()
        self.readers = nn.ModuleList(
            nn.Linear(WIDTH, len(names)) for names in (NOUNS, SCENES, STYLES)
        )

    def forward(self, pooled: Tensor, labels: Tensor) -> Tensor:
        losses = [
            F.cross_entropy(reader(pooled).float(), labels[:, column], ignore_index=-1)
            for column, reader in enumerate(self.readers)
        ]
        return torch.stack(losses).sum()


class _Lesson(nn.Module):
    """What is trained: the CLIP and the readers beside it."""

    def __init__(self, clip: Clip) -> None:
        super().__init__()
        self.clip = clip
        self.text_heads = _Heads()
        self.vision_heads = _Heads()

    def forward(self, batch: _Batch) -> tuple[Tensor, Tensor]:
        """Loss, and the share of pictures whose noun is read correctly."""
        clip = self.clip
        text = clip.text(batch.ids).pooler_output
        vision = clip.vision.vision_model(batch.pictures).pooler_output
        text_embeds = F.normalize(clip.text_projection(text).float(), dim=-1)
        embeds = F.normalize(clip.vision.visual_projection(vision).float(), dim=-1)
        logits = text_embeds @ embeds.T * clip.logit_scale.clamp(max=_MAX_LOGIT_SCALE).exp()
        contrast = contrastive_loss(logits, batch.said, batch.labels)
        reading = self.vision_heads(vision, batch.labels) + self.text_heads(text, batch.said)
        right = self.vision_heads.readers[0](vision).argmax(1) == batch.labels[:, 0]
        return contrast + _READING_WEIGHT * reading, right.float().mean()


def train_clip(
    data: Dataset, tokenizer_dir: Path, folder: Path, budget: float, text: bool = True
) -> None:
    """Train within `budget` seconds; the state is kept in `folder`/clip.pt.

    Without `text` it goes on from there with the text tower frozen, on pictures of which many
    are sketches, the style that is hardest to read; the state is kept in `folder`/vision.pt.
    """
    run = Run(folder, "clip" if text else "vision", budget)
    tokenizer = CLIPTokenizer.from_pretrained(tokenizer_dir)
    lesson = _Lesson(build_clip(tokenizer))
    if not text:
        lesson.load_state_dict(load_state(folder / "clip.pt")["lesson"])
        for frozen in (lesson.clip.text, lesson.clip.text_projection, lesson.text_heads):
            frozen.requires_grad_(False)
    lesson.to(device())
    peak = _RATE if text else _RATE / 2
    parameters = [value for value in lesson.parameters() if value.requires_grad]
    optimizer = torch.optim.AdamW(
        parameters, lr=peak, betas=(0.9, 0.98), weight_decay=0.02, fused=True
    )
    if (state := run.resume()) is not None:
        lesson.load_state_dict(state["lesson"])
        optimizer.load_state_dict(state["optimizer"])
    hard = np.flatnonzero(data.labels[:, 2] == STYLES.index("sketch"))
    rng = Random(run.step + (0 if text else 1_000_000))
    while run.progress < 1:
        for group in optimizer.param_groups:
            group["lr"] = run.rate(peak)
        batch = _sample(data, tokenizer, rng, hard, 0.0 if text else _SKETCH_SHARE)
        with autocast():
            loss, accuracy = lesson(batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        run.step += 1
        if run.step % _LOG_EVERY == 0:
            run.record(loss=loss.item(), noun_accuracy=accuracy.item())
        if run.step % _SAVE_EVERY == 0:
            run.save(lesson=lesson.state_dict(), optimizer=optimizer.state_dict())
    run.save(lesson=lesson.state_dict(), optimizer=optimizer.state_dict())


def trained_clip(tokenizer_dir: Path, folder: Path) -> Clip:
    """The CLIP as the trainings left it (or have it so far), in fp32."""
    lesson = _Lesson(build_clip(CLIPTokenizer.from_pretrained(tokenizer_dir)))
    file = folder / "vision.pt"
    file = file if file.exists() else folder / "clip.pt"
    lesson.load_state_dict(load_state(file)["lesson"])
    return lesson.clip.eval()


def save_clip(clip: Clip, folder: Path) -> None:
    """Write all but the text tower, which is the base's text encoder."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"vision.{key}": value for key, value in clip.vision.state_dict().items()}
    tensors["text_projection.weight"] = clip.text_projection.weight
    tensors["logit_scale"] = clip.logit_scale
    halves = {
        key: value.detach().half().contiguous() if value.is_floating_point() else value
        for key, value in tensors.items()
    }
    save_file(halves, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(vision_config().to_diff_dict(), indent=2))


def load_clip(folder: Path, text_encoder: Path) -> Clip:
    """The CLIP in fp32 from what `save_clip` wrote and the base's text encoder."""
    vision = CLIPVisionModelWithProjection(CLIPVisionConfig.from_json_file(folder / "config.json"))
    clip = Clip(CLIPTextModel.from_pretrained(text_encoder), vision)
    tensors = load_file(folder / "model.safetensors")
    missing, unexpected = clip.load_state_dict(tensors, strict=False)
    if unexpected or any(not key.startswith("text.") for key in missing):
        raise ValueError(f"{folder}: unexpected {unexpected}, missing {missing}")
    return clip.eval()
