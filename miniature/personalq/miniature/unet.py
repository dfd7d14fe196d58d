"""The denoiser: a small UNet with cross-attention on SD's noise schedule."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import torch
import torch.distributed as dist
from diffusers import DDIMScheduler, UNet2DConditionModel
from diffusers.models.attention_processor import AttnProcessor
from torch import Tensor, nn
from transformers import CLIPTextModel, CLIPTokenizer

from personalq.miniature.captions import caption, invented_trigger, plain_caption
from personalq.miniature.clip import WIDTH
from personalq.miniature.dataset import Dataset
from personalq.miniature.devices import autocast, device
from personalq.miniature.runs import Run, load_state
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
    weights: Tensor = snr.clamp(max=_SNR_GAMMA) / snr
    return weights


@torch.inference_mode()
def encode_texts(
    texts: list[str], tokenizer: CLIPTokenizer, text_encoder: CLIPTextModel, batch: int = 64
) -> Tensor:
    """Hidden states (N, 77, WIDTH) of captions, on the CPU."""
    states = []
    for start in range(0, len(texts), batch):
        ids = tokenizer(
            texts[start : start + batch],
            padding="max_length",
            truncation=True,
            return_tensors="pt",
        ).input_ids
        states.append(text_encoder(ids.to(text_encoder.device)).last_hidden_state)
    return torch.cat(states).cpu()


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
    with autocast():
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


def average_gradients(parameters: list[nn.Parameter], progress: float) -> float:
    """Average the gradients over all workers in place; returns the first worker's progress."""
    workers = dist.get_world_size()
    gradients = [p.grad if p.grad is not None else torch.zeros_like(p) for p in parameters]
    lead = gradients[0].new_tensor([progress * workers if dist.get_rank() == 0 else 0.0])
    flat = torch.cat([*(gradient.flatten() for gradient in gradients), lead])
    dist.all_reduce(flat)
    flat /= workers
    position = 0
    for parameter in parameters:
        size = parameter.numel()
        parameter.grad = flat[position : position + size].view_as(parameter)
        position += size
    return float(flat[-1])


def train_unet(pool: Pool, folder: Path, budget: float) -> None:
    """Train within `budget` seconds; the state is kept in `folder`/unet.pt.

    Runs in every worker of the current process group: each takes its share of the batch, and
    the gradients are averaged. One worker a core is faster on a CPU than one with two threads.
    """
    rank, batch = dist.get_rank(), _BATCH // dist.get_world_size()
    run = Run(folder, "unet", budget)
    torch.manual_seed(0)
    unet = build_unet().to(device())
    unet.set_attn_processor(AttnProcessor())  # on a CPU faster to train than the fused kernel
    ema = Ema(unet)
    parameters = list(unet.parameters())
    optimizer = torch.optim.AdamW(
        parameters, lr=_RATE, betas=(0.9, 0.99), weight_decay=0.01, fused=True
    )
    if (state := run.resume()) is not None:
        unet.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        ema.shadow = {key: value.to(device()) for key, value in state["ema"].items()}
    scheduler = build_scheduler()
    weights = snr_weights(scheduler).to(device())
    generator = torch.Generator().manual_seed(2 * run.step + rank)
    losses: list[float] = []
    progress = run.progress
    while progress < 1:
        rows = torch.randint(len(pool.latents), (batch,), generator=generator)
        choice = torch.randint(_CAPTIONS, (batch,), generator=generator)
        captions = pool.captions_of[rows, choice]
        captions[torch.rand(batch, generator=generator) < _EMPTY_SHARE] = 0
        latents = pool.latents[rows].float()
        noise = torch.randn(latents.shape, generator=generator)
        # one timestep in each of `batch` equal slices: less noise in the gradient
        offsets = (torch.arange(batch) + torch.rand(batch, generator=generator)) / batch
        timesteps = (offsets * 1000).long().clamp(max=999)
        noisy = scheduler.add_noise(latents, noise, timesteps).to(device())
        noise, timesteps = noise.to(device()), timesteps.to(device())
        with autocast():
            states = pool.states[captions].to(device())
            output = unet(noisy, timesteps, states, return_dict=False)[0]
        squared = (output.float() - noise).square().mean((1, 2, 3))
        loss = (squared * weights[timesteps]).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        progress = average_gradients(parameters, run.progress)
        nn.utils.clip_grad_norm_(parameters, 1.0)
        for group in optimizer.param_groups:
            group["lr"] = run.rate(_RATE, warm_up=300, progress=progress)
        optimizer.step()
        ema.update(unet, run.step)
        run.step += 1
        losses.append(squared.mean().item())
        if rank == 0 and run.step % _LOG_EVERY == 0:
            run.record(loss=float(np.mean(losses)))
            losses.clear()
        if rank == 0 and run.step % _SAVE_EVERY == 0:
            run.save(model=unet.state_dict(), ema=ema.shadow, optimizer=optimizer.state_dict())
    if rank == 0:
        run.save(model=unet.state_dict(), ema=ema.shadow, optimizer=optimizer.state_dict())


def trained_unet(folder: Path) -> UNet2DConditionModel:
    """The moving average as `train_unet` left it (or has it so far), in fp32."""
    unet = build_unet()
    unet.load_state_dict(load_state(folder / "unet.pt")["ema"])
    return unet.eval()
