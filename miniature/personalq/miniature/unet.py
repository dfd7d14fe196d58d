"""The denoiser: a small UNet with cross-attention on SD's noise schedule."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import torch
from diffusers import DDIMScheduler, UNet2DConditionModel
from diffusers.models.attention_processor import AttnProcessor
from torch import Tensor, nn
from transformers import CLIPTextModel, CLIPTokenizer

from personalq.miniature.captions import caption, invented_trigger, plain_caption
from personalq.miniature.clip import WIDTH
from personalq.miniature.dataset import Dataset
from personalq.miniature.runs import Run
from personalq.miniature.world import Sight

log = logging.getLogger(__name__)

_BATCH = 24
_RATE = 1e-3
_SNR_GAMMA = 5.0
_EMPTY_SHARE = 0.1
_TRIGGER_SHARE = 0.06
_EMA_DECAY = 0.999
_CAPTIONS = 4
_LOG_EVERY = 50
_SAVE_EVERY = 250


def build_unet() -> UNet2DConditionModel:
    """The untrained UNet in fp32: 16 x 16 and 8 x 8 resolutions, attention in both."""
    return UNet2DConditionModel(
        sample_size=16,
        in_channels=4,
        out_channels=4,
        layers_per_block=1,
        block_out_channels=(64, 128),
        down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
        cross_attention_dim=WIDTH,
        attention_head_dim=(2, 4),
        norm_num_groups=16,
    )


def build_scheduler() -> DDIMScheduler:
    """SD1.5's schedule and DDIM settings."""
    return DDIMScheduler(
        num_train_timesteps=1000,
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule="scaled_linear",
        clip_sample=False,
        set_alpha_to_one=False,
        steps_offset=1,
        prediction_type="epsilon",
    )


def snr_weights(scheduler: DDIMScheduler) -> Tensor:
    """Min-SNR-gamma weight of the epsilon loss at each of the 1000 timesteps."""
    alphas = scheduler.alphas_cumprod
    snr = alphas / (1 - alphas)
    return snr.clamp(max=_SNR_GAMMA) / snr


@torch.inference_mode()
def encode_texts(
    texts: list[str], tokenizer: CLIPTokenizer, text_encoder: CLIPTextModel, batch: int = 64
) -> Tensor:
    """Hidden states (N, 77, WIDTH) of captions, in the text encoder's precision."""
    states = []
    for start in range(0, len(texts), batch):
        ids = tokenizer(
            texts[start : start + batch],
            padding="max_length",
            truncation=True,
            return_tensors="pt",
        ).input_ids
        states.append(text_encoder(ids).last_hidden_state)
    return torch.cat(states)


@dataclass(frozen=True)
class Pool:
    """What the UNet learns from, all in memory."""

    latents: Tensor
    """(N, 4, 16, 16) scaled, bf16."""
    states: Tensor
    """(M, 77, WIDTH) bf16 text states; row 0 is the empty caption."""
    captions_of: Tensor
    """(N, _CAPTIONS) rows of `states` that describe picture i."""


def training_caption(sight: Sight, rng: Random) -> str:
    """A caption as the UNet sees it in training; a few have a trigger for the noun."""
    if rng.random() < _TRIGGER_SHARE:
        noun = sight.noun if rng.random() < 0.5 else None
        return caption(sight, rng, invented_trigger(noun, rng))
    return caption(sight, rng)


def build_pool(
    data: Dataset, latents: Tensor, tokenizer: CLIPTokenizer, text_encoder: CLIPTextModel
) -> Pool:
    """The plain caption and some random ones for every sight, encoded once."""
    rng = Random(1)
    rows: dict[str, int] = {"": 0}
    captions: dict[Sight, list[int]] = {}
    for index in range(len(latents)):
        sight = data.sight(index)
        if sight not in captions:
            texts = [plain_caption(sight.noun, sight.scene, sight.style)]
            texts += [training_caption(sight, rng) for _ in range(_CAPTIONS - 1)]
            captions[sight] = [rows.setdefault(text, len(rows)) for text in texts]
    with torch.autocast("cpu", torch.bfloat16):
        states = encode_texts(list(rows), tokenizer, text_encoder).bfloat16()
    log.info("%d distinct captions for %d sights", len(rows), len(captions))
    captions_of = torch.tensor([captions[data.sight(index)] for index in range(len(latents))])
    return Pool(latents.bfloat16(), states, captions_of)


class Ema:
    """Moving average of a module's parameters, with a ramp at the start."""

    def __init__(self, module: nn.Module) -> None:
        self.shadow = {key: value.detach().clone() for key, value in module.state_dict().items()}

    @torch.no_grad()
    def update(self, module: nn.Module, step: int) -> None:
        """Move towards the module's parameters after training step `step`."""
        decay = min(_EMA_DECAY, (1 + step) / (10 + step))
        parameters = [value.detach() for value in module.state_dict().values()]
        torch._foreach_lerp_(list(self.shadow.values()), parameters, 1 - decay)


def train_unet(pool: Pool, folder: Path, budget: float) -> None:
    """Train within `budget` seconds; the state is kept in `folder`/unet.pt."""
    run = Run(folder, "unet", budget)
    unet = build_unet()
    unet.set_attn_processor(AttnProcessor())  # on a CPU faster to train than the fused kernel
    ema = Ema(unet)
    parameters = list(unet.parameters())
    optimizer = torch.optim.AdamW(
        parameters, lr=_RATE, betas=(0.9, 0.99), weight_decay=0.01, fused=True
    )
    if (state := run.resume()) is not None:
        unet.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        ema.shadow = state["ema"]
    scheduler = build_scheduler()
    weights = snr_weights(scheduler)
    generator = torch.Generator().manual_seed(run.step)
    losses: list[float] = []
    while run.progress < 1:
        for group in optimizer.param_groups:
            group["lr"] = run.rate(_RATE, warm_up=300)
        rows = torch.randint(len(pool.latents), (_BATCH,), generator=generator)
        choice = torch.randint(_CAPTIONS, (_BATCH,), generator=generator)
        captions = pool.captions_of[rows, choice]
        captions[torch.rand(_BATCH, generator=generator) < _EMPTY_SHARE] = 0
        latents = pool.latents[rows].float()
        noise = torch.randn(latents.shape, generator=generator)
        # one timestep in each of _BATCH equal slices: less noise in the gradient
        offsets = (torch.arange(_BATCH) + torch.rand(_BATCH, generator=generator)) / _BATCH
        timesteps = (offsets * 1000).long().clamp(max=999)
        noisy = scheduler.add_noise(latents, noise, timesteps)
        with torch.autocast("cpu", torch.bfloat16):
            output = unet(noisy, timesteps, pool.states[captions], return_dict=False)[0]
        squared = (output.float() - noise).square().mean((1, 2, 3))
        loss = (squared * weights[timesteps]).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        ema.update(unet, run.step)
        run.step += 1
        losses.append(squared.mean().item())
        if run.step % _LOG_EVERY == 0:
            run.record(loss=float(np.mean(losses)))
            losses.clear()
        if run.step % _SAVE_EVERY == 0:
            run.save(model=unet.state_dict(), ema=ema.shadow, optimizer=optimizer.state_dict())
    run.save(model=unet.state_dict(), ema=ema.shadow, optimizer=optimizer.state_dict())


def trained_unet(folder: Path) -> UNet2DConditionModel:
    """The moving average as `train_unet` left it (or has it so far), in fp32."""
    unet = build_unet()
    unet.load_state_dict(torch.load(folder / "unet.pt", weights_only=True)["ema"])
    return unet.eval()
