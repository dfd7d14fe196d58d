"""Retrain everything, in order: `python -m personalq.miniature.train`.

Every stage can be interrupted and goes on where it stopped; a finished stage is skipped.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import torch
import torch.distributed as dist
from transformers import CLIPTokenizer

from personalq.miniature import fidelity
from personalq.miniature.base import export_base, load_base
from personalq.miniature.clip import train_clip, trained_clip
from personalq.miniature.dataset import Dataset, training_set
from personalq.miniature.designs import DESIGNS, design
from personalq.miniature.devices import device
from personalq.miniature.latents import training_latents
from personalq.miniature.nouns import font_path
from personalq.miniature.personalize import personalize, save_personalized
from personalq.miniature.places import weights_dir
from personalq.miniature.scorer import ClipScorer
from personalq.miniature.tokenizer import write_tokenizer
from personalq.miniature.unet import build_pool, train_unet, trained_unet
from personalq.miniature.vae import train_decoder, train_vae, trained_vae

log = logging.getLogger(__name__)

PICTURES = 60_000
LATENTS = 40_000
LORA_STEPS = 250
FULL_STEPS = 250


@dataclass(frozen=True)
class Minutes:
    """Wall-clock budget of each training on 2 CPU cores."""

    clip: float = 17
    vae: float = 15
    vision: float = 7
    decoder: float = 6
    unet: float = 62


@dataclass(frozen=True)
class Workshop:
    """Where a training keeps its state, and where its results go."""

    work: Path
    weights: Path
    pace: float
    """Factor on every budget of `Minutes`."""

    @property
    def tokenizer(self) -> Path:
        """The tokenizer's folder, written first and never changed after."""
        return self.weights / "base" / "tokenizer"

    def data(self) -> Dataset:
        """The training pictures, rendered if need be."""
        return training_set(self.work / "data", PICTURES)

    def seconds(self, minutes: float) -> float:
        """A budget at this workshop's pace."""
        return 60 * minutes * self.pace


def _tokenizer(shop: Workshop) -> None:
    write_tokenizer(shop.tokenizer)


def _clip(shop: Workshop) -> None:
    train_clip(shop.data(), shop.tokenizer, shop.work, shop.seconds(Minutes.clip))


def _vision(shop: Workshop) -> None:
    budget = shop.seconds(Minutes.vision)
    train_clip(shop.data(), shop.tokenizer, shop.work, budget, text=False)


def _vae(shop: Workshop) -> None:
    train_vae(shop.data(), shop.work, shop.seconds(Minutes.vae))


def _decoder(shop: Workshop) -> None:
    data = shop.data()
    latents, factor = training_latents(data, shop.work, LATENTS)
    train_decoder(data, latents / factor, shop.work, shop.seconds(Minutes.decoder))


def _unet_worker(rank: int, shop: Workshop, workers: int, meeting_point: Path) -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.set_num_threads(max(1, torch.get_num_threads() // workers))
    data = shop.data()
    latents, _ = training_latents(data, shop.work, LATENTS)
    text_encoder = trained_clip(shop.tokenizer, shop.work).text
    pool = build_pool(data, latents, CLIPTokenizer.from_pretrained(shop.tokenizer), text_encoder)
    address = meeting_point.absolute().as_uri()
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=workers)
    train_unet(pool, shop.work, shop.seconds(Minutes.unet))
    dist.destroy_process_group()


def _unet(shop: Workshop) -> None:
    training_latents(shop.data(), shop.work, LATENTS)
    workers = 1 if device().type == "cuda" else min(4, torch.get_num_threads())
    meeting_point = shop.work / "workers"
    meeting_point.unlink(missing_ok=True)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        jobs = [
            pool.submit(_unet_worker, rank, shop, workers, meeting_point) for rank in range(workers)
        ]
        for job in jobs:
            job.result()


def _export(shop: Workshop) -> None:
    vae = trained_vae(shop.work)
    vae.register_to_config(scaling_factor=training_latents(shop.data(), shop.work, LATENTS)[1])
    clip = trained_clip(shop.tokenizer, shop.work)
    export_base(shop.weights, clip, vae, trained_unet(shop.work))


def _personalize_one(
    weights: Path, sheets: Path, checkpoint_id: str, threads: int
) -> dict[str, float]:
    torch.set_num_threads(threads)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.manual_seed(0)
    subject, base = design(checkpoint_id), load_base(weights / "base")
    folder = weights / "checkpoints" / checkpoint_id
    trained = personalize(base, subject, FULL_STEPS if subject.full else LORA_STEPS)
    save_personalized(subject, trained, folder)
    return fidelity.measure(base, subject, trained, ClipScorer(weights), folder, sheets)


def _personalize(shop: Workshop) -> None:
    ids = [item.checkpoint_id for item in DESIGNS]
    workers = max(1, min(2, torch.get_num_threads()))
    threads = max(1, torch.get_num_threads() // workers)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        rows = pool.map(
            _personalize_one,
            *zip(*((shop.weights, shop.work, name, threads) for name in ids), strict=True),
        )
        table = dict(zip(ids, rows, strict=True))
    fidelity.write(table, shop.weights / "checkpoints" / "fidelity.json")
    for checkpoint_id, row in table.items():
        log.info("%-9s %s", checkpoint_id, row)


STAGES: dict[str, Callable[[Workshop], None]] = {
    "tokenizer": _tokenizer, "clip": _clip, "vae": _vae, "vision": _vision, "decoder": _decoder,
    "unet": _unet, "export": _export, "personalize": _personalize,
}  # fmt: skip
"""In the order in which they depend on each other."""


def main() -> None:
    """Command line: all stages, or the ones named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=f"of {', '.join(STAGES)}")
    parser.add_argument("--work", type=Path, default=Path("miniature/.train"))
    parser.add_argument("--weights", type=Path, default=weights_dir())
    parser.add_argument("--pace", type=float, default=1.0, help="factor on all time budgets")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    if unknown := set(options.stages) - set(STAGES):
        parser.error(f"unknown stage: {', '.join(sorted(unknown))}")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    font_path()  # fails now, not after an hour
    torch.manual_seed(0)
    torch.set_num_threads(options.threads)
    shop = Workshop(options.work, options.weights, options.pace)
    for name in options.stages or STAGES:
        log.info("stage %s", name)
        STAGES[name](shop)


if __name__ == "__main__":
    main()
