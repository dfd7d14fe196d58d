"""The training pictures as latents, encoded once when the encoder no longer changes."""

from __future__ import annotations

import json
import logging
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import torch
from torch import Tensor

from personalq.miniature.dataset import Dataset, training_set
from personalq.miniature.devices import autocast, device
from personalq.miniature.runs import load_state
from personalq.miniature.vae import build_vae, encode

log = logging.getLogger(__name__)

_BATCH = 50
_CHUNK = 1_000


def _encode_chunk(folder: Path, size: int, start: int) -> Tensor:
    torch.set_num_threads(1)
    data = training_set(folder / "data", size)
    vae = build_vae()
    vae.load_state_dict(load_state(folder / "vae.pt")["model"])
    starts = range(start, min(start + _CHUNK, size), _BATCH)
    with autocast():
        return encode(vae.to(device()).eval(), (data.pictures[s : s + _BATCH] for s in starts))


def training_latents(data: Dataset, folder: Path, count: int) -> tuple[Tensor, float]:
    """Scaled latents (`count`, 4, 16, 16) bf16 and the factor that gives them unit variance.

    Encoded with the encoder in `folder`/vae.pt; kept in `folder`/latents.pt.
    """
    latent_file, factor_file = folder / "latents.pt", folder / "latents.json"
    if not factor_file.exists():
        starts = range(0, count, _CHUNK)
        size = len(data.pictures)
        parts = []
        with ProcessPoolExecutor(2, get_context("spawn")) as pool:
            jobs = [pool.submit(_encode_chunk, folder, size, start) for start in starts]
            for job in jobs:
                parts.append(job.result().clone())
                log.info("encoded %d of %d pictures", len(parts) * _CHUNK, count)
        latents = torch.cat(parts)
        factor = round(1 / latents.std().item(), 5)
        torch.save((latents * factor).bfloat16(), latent_file)
        factor_file.write_text(json.dumps({"scaling_factor": factor}))
    factor = json.loads(factor_file.read_text())["scaling_factor"]
    return torch.load(latent_file, weights_only=True), factor
