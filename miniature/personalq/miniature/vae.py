"""The autoencoder: 64 x 64 pictures to 16 x 16 latents of 4 channels and back."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import torch
from diffusers import AutoencoderKL
from numpy.typing import NDArray
from torch import Tensor, nn

from personalq.miniature.dataset import Dataset
from personalq.miniature.devices import autocast, device
from personalq.miniature.runs import Run, load_state

log = logging.getLogger(__name__)

_BATCH = 8
_RATE = 1.5e-3
_KL_WEIGHT = 1e-7
_GRADIENT_WEIGHT = 1.0
_LOG_EVERY = 100
_SAVE_EVERY = 400


Sampler = Callable[[], tuple[Tensor, Tensor, Tensor]]


def build_vae() -> AutoencoderKL:
    """The untrained autoencoder in fp32."""
    vae = AutoencoderKL(
        block_out_channels=(32, 32, 64),
        down_block_types=("DownEncoderBlock2D",) * 3,
        up_block_types=("UpDecoderBlock2D",) * 3,
        layers_per_block=1,
        latent_channels=4,
        norm_num_groups=8,
        sample_size=64,
        mid_block_add_attention=False,
    )
    with torch.no_grad():  # start with little noise, or the latents drown in it for long
        vae.quant_conv.bias[4:] = -6.0
    return vae


def to_tensor(pictures: NDArray[np.uint8]) -> Tensor:
    """(N, 64, 64, 3) uint8 to (N, 3, 64, 64) float in -1..1."""
    tensor = torch.from_numpy(np.ascontiguousarray(pictures)).permute(0, 3, 1, 2)
    return tensor.float().div_(127.5).sub_(1).contiguous()


def to_pictures(tensor: Tensor) -> NDArray[np.uint8]:
    """(N, 3, 64, 64) float in -1..1 to (N, 64, 64, 3) uint8."""
    scaled = tensor.float().clamp(-1, 1).add(1).mul(127.5).round().to(torch.uint8)
    return np.ascontiguousarray(scaled.permute(0, 2, 3, 1).cpu().numpy())


def reconstruction_loss(output: Tensor, target: Tensor) -> Tensor:
    """L1 of the pictures plus L1 of their horizontal and vertical differences."""
    error = output - target
    dx = (error[..., :, 1:] - error[..., :, :-1]).abs().mean()
    dy = (error[..., 1:, :] - error[..., :-1, :]).abs().mean()
    return error.abs().mean() + _GRADIENT_WEIGHT * (dx + dy)


def _batch(count: int, generator: np.random.Generator) -> NDArray[np.int64]:
    return np.sort(generator.integers(0, count, _BATCH))


def _fit(run: Run, vae: AutoencoderKL, trained: list[nn.Parameter], sample: Sampler) -> None:
    """Train some parameters of the autoencoder until the run's budget is spent.

    `sample()` gives a batch of pictures, their reconstruction, and a further loss.
    """
    optimizer = torch.optim.AdamW(trained, lr=_RATE, betas=(0.9, 0.99), weight_decay=0, fused=True)
    if (state := run.resume()) is not None:
        vae.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    errors: list[float] = []
    while run.progress < 1:
        for group in optimizer.param_groups:
            group["lr"] = run.rate(_RATE)
        with autocast():
            pictures, output, extra = sample()
        loss = reconstruction_loss(output, pictures) + extra
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        run.step += 1
        errors.append((output.detach() - pictures).square().mean().item())
        if run.step % _LOG_EVERY == 0:
            run.record(loss=loss.item(), psnr=float(10 * np.log10(4 / np.mean(errors))))
            errors.clear()
        if run.step % _SAVE_EVERY == 0:
            run.save(model=vae.state_dict(), optimizer=optimizer.state_dict())
    run.save(model=vae.state_dict(), optimizer=optimizer.state_dict())


def train_vae(data: Dataset, folder: Path, budget: float) -> None:
    """Train encoder and decoder within `budget` seconds; the state is kept in `folder`/vae.pt."""
    run = Run(folder, "vae", budget)
    vae = build_vae().to(device())
    generator = np.random.default_rng(run.step)

    def sample() -> tuple[Tensor, Tensor, Tensor]:
        pictures = to_tensor(data.pictures[_batch(len(data.pictures), generator)]).to(device())
        moments = vae.quant_conv(vae.encoder(pictures)).float()
        mean, log_variance = moments.chunk(2, dim=1)
        log_variance = log_variance.clamp(-20, 10)
        latents = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        output = vae.decoder(vae.post_quant_conv(latents)).float()
        kl = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum((1, 2, 3)).mean()
        return pictures, output, _KL_WEIGHT * kl

    _fit(run, vae, list(vae.parameters()), sample)


def train_decoder(data: Dataset, latents: Tensor, folder: Path, budget: float) -> None:
    """Train the decoder alone, from latents (N, 4, 16, 16) that no longer change.

    Begins with `folder`/vae.pt; the state is kept in `folder`/decoder.pt.
    """
    run = Run(folder, "decoder", budget)
    vae = build_vae()
    vae.load_state_dict(load_state(folder / "vae.pt")["model"])
    vae.to(device())
    generator = np.random.default_rng(run.step + 1)

    def sample() -> tuple[Tensor, Tensor, Tensor]:
        rows = _batch(len(latents), generator)
        output = vae.decoder(vae.post_quant_conv(latents[rows].float().to(device()))).float()
        return to_tensor(data.pictures[rows]).to(device()), output, output.new_zeros(())

    _fit(run, vae, [*vae.decoder.parameters(), *vae.post_quant_conv.parameters()], sample)


def trained_vae(folder: Path) -> AutoencoderKL:
    """The autoencoder as the trainings left it (or have it so far), in fp32."""
    vae = build_vae()
    file = folder / "decoder.pt"
    file = file if file.exists() else folder / "vae.pt"
    vae.load_state_dict(load_state(file)["model"])
    return vae.eval()


@torch.inference_mode()
def encode(vae: AutoencoderKL, batches: Iterable[NDArray[np.uint8]]) -> Tensor:
    """Unscaled mean latents (N, 4, 16, 16) fp32 of batches of pictures."""
    latents = []
    for pictures in batches:
        moments = vae.quant_conv(vae.encoder(to_tensor(pictures).to(vae.device)))
        latents.append(moments.float().chunk(2, dim=1)[0].cpu().contiguous())
    return torch.cat(latents)


@torch.inference_mode()
def decode(vae: AutoencoderKL, latents: Tensor, batch: int = 32) -> NDArray[np.uint8]:
    """Pictures (N, 64, 64, 3) of scaled latents (N, 4, 16, 16)."""
    unscaled = latents.to(vae.device, torch.float32) / vae.config.scaling_factor
    return np.concatenate([to_pictures(vae.decode(part).sample) for part in unscaled.split(batch)])
