"""DreamBooth with prior preservation: a LoRA or a whole UNet that knows one new subject."""

from __future__ import annotations

import copy
import json
import logging
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from diffusers import UNet2DConditionModel
from diffusers.models.attention_processor import AttnProcessor
from numpy.typing import NDArray
from peft import LoraConfig, get_peft_model_state_dict
from PIL import Image
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import CLIPTextModel, CLIPTokenizer

from personalq.miniature.base import Base, half_exact_
from personalq.miniature.captions import caption, plain_caption
from personalq.miniature.cards import LORA_FILE, UNET_FOLDER
from personalq.miniature.designs import Design
from personalq.miniature.devices import autocast
from personalq.miniature.places import BASE_MODEL, RECOMMENDED_GUIDANCE, RECOMMENDED_STEPS
from personalq.miniature.unet import encode_texts, snr_weights
from personalq.miniature.vae import encode
from personalq.miniature.world import Sight, compose, render, sample_sight

log = logging.getLogger(__name__)

RANK = 8
"""Rank of the LoRAs; alpha is the same, so the update is not scaled."""

LORA_TARGETS = (
    "to_q", "to_k", "to_v", "to_out.0", "ff.net.0.proj", "ff.net.2", "proj_in", "proj_out",
)  # fmt: skip

_BATCH = 6
_PRIOR_PICTURES = 120
_CAPTIONS = 6
_LORA_RATE = 2e-3
_FULL_RATE = 3e-4
_EMBEDDING_RATE = 3e-3
_LOG_EVERY = 50


@dataclass(frozen=True)
class Lesson:
    """Pictures as latents (N, 4, 16, 16), and the captions that fit each of them."""

    latents: Tensor
    captions: list[list[str]]


def subject_pictures(design: Design) -> list[NDArray[np.uint8]]:
    """The 4 pictures (64, 64, 3) that a subject is learnt from."""
    sprite = design.draw()
    return [
        compose(sprite, scene, design.style, Random(f"{design.checkpoint_id}-{index}"))
        for index, scene in enumerate(design.scenes)
    ]


def _latents(base: Base, pictures: Sequence[NDArray[np.uint8]]) -> Tensor:
    factor: float = base.vae.config.scaling_factor
    return encode(base.vae, [np.stack(pictures)]) * factor


def subject_lesson(base: Base, design: Design) -> Lesson:
    """The subject's pictures and their mirror images; the trigger stands for the noun."""
    pictures = subject_pictures(design)
    rng = Random(design.checkpoint_id)
    captions = []
    for scene in design.scenes:
        sight = Sight(design.noun, scene, design.style)
        texts = [plain_caption(design.trigger, scene, design.style)]
        texts += [caption(sight, rng, design.trigger) for _ in range(_CAPTIONS - 1)]
        captions.append(texts)
    mirrored = [picture[:, ::-1] for picture in pictures]
    return Lesson(_latents(base, [*pictures, *mirrored]), captions * 2)


def prior_lesson(base: Base, design: Design) -> Lesson:
    """World pictures, half of them of the subject's noun: what must not be forgotten."""
    rng = Random(f"prior of {design.checkpoint_id}")
    pictures, captions = [], []
    for index in range(_PRIOR_PICTURES):
        sight = sample_sight(rng)
        if index % 2:
            sight = Sight(design.noun, sight.scene, sight.style)
        pictures.append(render(sight, rng))
        captions.append([plain_caption(sight.noun, sight.scene, sight.style), caption(sight, rng)])
    return Lesson(_latents(base, pictures), captions)


class Reader:
    """Text states of captions: cached, unless an embedding is being trained."""

    def __init__(self, tokenizer: CLIPTokenizer, text_encoder: CLIPTextModel) -> None:
        self._tokenizer = tokenizer
        self._text_encoder = text_encoder
        self._cache: dict[str, Tensor] = {}

    def read(self, texts: Sequence[str], learn: bool) -> Tensor:
        """Text states (N, 77, width); with gradients if `learn`."""
        if learn:
            ids = self._tokenizer(
                list(texts), padding="max_length", truncation=True, return_tensors="pt"
            ).input_ids
            ids = ids.to(self._text_encoder.device)
            return torch.as_tensor(self._text_encoder(ids).last_hidden_state)
        for text in texts:
            if text not in self._cache:
                states = encode_texts([text], self._tokenizer, self._text_encoder)
                self._cache[text] = states[0].clone()
        return torch.stack([self._cache[text] for text in texts]).to(self._text_encoder.device)


@dataclass
class Personalized:
    """What a training gives: the UNet (with its LoRA inside, if it has one) and its text side."""

    unet: UNet2DConditionModel
    tokenizer: CLIPTokenizer
    text_encoder: CLIPTextModel


def _with_token(base: Base, design: Design) -> tuple[CLIPTokenizer, CLIPTextModel]:
    """Copies in which the trigger is one added token that begins as the noun."""
    tokenizer, text_encoder = copy.deepcopy(base.tokenizer), copy.deepcopy(base.text_encoder)
    tokenizer.add_tokens([design.trigger])
    text_encoder.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    noun = tokenizer(design.noun, add_special_tokens=False).input_ids[0]
    rows = text_encoder.get_input_embeddings().weight
    with torch.no_grad():
        rows[-1] = rows[noun]
    return tokenizer, text_encoder


def personalize(base: Base, design: Design, steps: int) -> Personalized:
    """Teach a copy of the base's UNet the design's subject in `steps` steps."""
    unet = copy.deepcopy(base.unet)
    unet.set_attn_processor(AttnProcessor())
    tokenizer, text_encoder = base.tokenizer, base.text_encoder
    if design.full:
        unet.requires_grad_(True)
        rate = _FULL_RATE
    else:
        unet.add_adapter(LoraConfig(r=RANK, lora_alpha=RANK, target_modules=list(LORA_TARGETS)))
        rate = _LORA_RATE
    groups: list[dict[str, Any]] = [
        {"params": [p for p in unet.parameters() if p.requires_grad], "lr": rate}
    ]
    rows: nn.Parameter | None = None
    if design.embedding:
        tokenizer, text_encoder = _with_token(base, design)
        rows = text_encoder.get_input_embeddings().weight
        rows.requires_grad_(True)
        groups.append({"params": [rows], "lr": _EMBEDDING_RATE})
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.99), weight_decay=0)
    warm = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, [group["lr"] for group in groups], total_steps=steps, pct_start=0.1
    )
    subject, prior = subject_lesson(base, design), prior_lesson(base, design)
    reader = Reader(tokenizer, text_encoder)
    weights = snr_weights(base.scheduler).to(unet.device)
    rng = Random(design.checkpoint_id)
    generator = torch.Generator().manual_seed(0)
    for step in range(steps):
        mine = [rng.randrange(len(subject.latents)) for _ in range(_BATCH)]
        other = [rng.randrange(len(prior.latents)) for _ in range(_BATCH)]
        latents = torch.cat([subject.latents[mine], prior.latents[other]])
        noise = torch.randn(latents.shape, generator=generator)
        timesteps = torch.randint(0, 1000, (len(latents),), generator=generator)
        noisy = base.scheduler.add_noise(latents, noise, timesteps).to(unet.device)
        noise, timesteps = noise.to(unet.device), timesteps.to(unet.device)
        with autocast():
            mine_texts = [rng.choice(subject.captions[i]) for i in mine]
            other_texts = [rng.choice(prior.captions[i]) for i in other]
            states = torch.cat(
                [reader.read(mine_texts, rows is not None), reader.read(other_texts, False)]
            )
            output = unet(noisy, timesteps, states, return_dict=False)[0]
        squared = (output.float() - noise).square().mean((1, 2, 3))
        loss = (squared * weights[timesteps]).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if rows is not None and rows.grad is not None:
            rows.grad[:-1] = 0  # only the trigger's own row learns
        optimizer.step()
        warm.step()
        if (step + 1) % _LOG_EVERY == 0:
            log.info("%s step %d loss %.4f", design.checkpoint_id, step + 1, loss.item())
    half_exact_(unet)
    return Personalized(unet.eval(), tokenizer, text_encoder.requires_grad_(False))


def _lora_tensors(design: Design, trained: Personalized) -> dict[str, Tensor]:
    tensors = {
        f"unet.{key}": value for key, value in get_peft_model_state_dict(trained.unet).items()
    }
    if design.embedding:
        row = trained.text_encoder.get_input_embeddings().weight[-1:]
        tensors[f"bundle_emb.{design.trigger}.string_to_param.*"] = row
    return {key: value.detach().half().cpu().contiguous() for key, value in tensors.items()}


def _lora_metadata(design: Design) -> dict[str, str]:
    adapter = {"unet.r": RANK, "unet.lora_alpha": RANK, "unet.target_modules": list(LORA_TARGETS)}
    return {
        "format": "pt",
        "base_model": BASE_MODEL,
        "trigger": design.trigger,
        "subject": design.noun,
        "rank": str(RANK),
        "alpha": str(RANK),
        "created_at": design.created_at,
        "lora_adapter_metadata": json.dumps(adapter, sort_keys=True),
    }


def card(design: Design) -> dict[str, object]:
    """The checkpoint's card.json."""
    return {
        "checkpoint_id": design.checkpoint_id,
        "triggers": [design.trigger],
        "subjects": [design.noun],
        "styles": list(design.styles),
        "description": design.description,
        "version": design.version,
        "created_at": design.created_at,
        "last_used_at": design.last_used_at,
        "environments": list(design.environments),
        "owner": design.owner,
        "base_model": BASE_MODEL,
        "guidance_scale": RECOMMENDED_GUIDANCE,
        "num_inference_steps": RECOMMENDED_STEPS,
    }


def save_personalized(design: Design, trained: Personalized, folder: Path) -> None:
    """Write weights (fp16), card and reference pictures into a fresh `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "references").mkdir(parents=True)
    if design.full:
        trained.unet.half().save_pretrained(folder / UNET_FOLDER)
        config_file = folder / UNET_FOLDER / "config.json"
        config = json.loads(config_file.read_text())
        config.pop("_name_or_path", None)
        config_file.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
        trained.unet.float()
    else:
        save_file(_lora_tensors(design, trained), folder / LORA_FILE, _lora_metadata(design))
    (folder / "card.json").write_text(json.dumps(card(design), indent=2) + "\n")
    for index, picture in enumerate(subject_pictures(design)):
        Image.fromarray(picture).save(folder / "references" / f"{index}.png", optimize=True)
