"""Methods put into UNets: observed once, weights rounded once, shared by all methods."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from personalq.bench.fidelity.generating import Engine, Sampling, batch_size
from personalq.bench.fidelity.models import Model
from personalq.taq.protection import Protected
from personalq.taq.quantizers import dequantize
from personalq.taq.recipe import PROFILES, Recipe
from personalq.taq.rounding import (
    Settings,
    UNetCall,
    captions,
    load_rounded,
    reconstruct,
    sampler_calls,
    save_rounded,
)
from personalq.taq.simulation import (
    Correction,
    Method,
    Observations,
    Simulation,
    fit_correction,
    observe,
    simulate_,
)

log = logging.getLogger(__name__)

CALIBRATION_BATCH = 8
CORRECTION_CAPTIONS = 32
#: of BRECQ, at 4 bits: what a UNet of a few million weights learns from in minutes on one core
ROUNDING = Settings(iterations=200, batch=8, learning_rate=2e-2, regularization=0.1, samples=128)


class Workshop:
    """Makes engines; keeps in a folder what takes long to make."""

    def __init__(
        self,
        model: Model,
        sampling: Sampling,
        nouns: Sequence[str],
        folder: Path,
        *,
        count: int,
    ) -> None:
        """Take the model, how it samples, and the nouns of `count` calibration captions."""
        self._model, self._sampling, self._folder = model, sampling, folder
        self._captions = captions(nouns, count=count)

    def engine(self, method: Method, group: str) -> Engine:
        """Return the engine of a group of checkpoints."""
        unet = self._model.unet(group)
        protected = Protected.parse(method.protected)
        if method.weight_bits is None:
            return Engine(unet, protected, simulated=False)
        seen = self.observations(group)
        simulation = simulate_(unet, method, seen, self.weights(group, method))
        corrected = self._correction(simulation, group) if method.corrected else None
        return Engine(unet, protected, corrected)

    def observations(self, group: str) -> Observations:
        """What a group's tensors are in full precision."""
        file = self._folder / f"observed-{group or 'base'}.pt"
        if file.exists():
            seen: Observations = torch.load(file, weights_only=False)  # our own file
            return seen
        log.info("observing", extra={"group": group or "base"})
        unet = self._model.unet(group)
        timesteps = self._model.scheduler(self._sampling.steps).timesteps
        seen = observe(unet, self.calls(unet), timesteps)
        _save(seen.search(4, 8), file)
        return seen

    def weights(self, group: str, method: Method) -> dict[str, Tensor]:
        """Ŵ that all methods of some bits share: learned (BRECQ) at 4 bits, nearest at 8."""
        if method.weight_bits != 4 or method.weights != "grid":
            return {}
        file = self._folder / f"rounded-{group or 'base'}-w4.safetensors"
        if not file.exists():
            log.info("rounding weights", extra={"group": group or "base"})
            unet = self._model.unet(group)
            recipe: Recipe = PROFILES["w4a8"]
            save_rounded(reconstruct(unet, self.calls(unet), recipe, ROUNDING), file)
        return {name: dequantize(*rounded) for name, rounded in load_rounded(file).items()}

    def calls(self, unet: nn.Module, count: int | None = None) -> Iterator[UNetCall]:
        """Calls of `unet` while it draws calibration captions."""
        scheduler = self._model.scheduler(self._sampling.steps)
        return sampler_calls(
            copy.deepcopy(unet),
            scheduler,
            self._model.states(self._captions[:count]),
            self._model.states([""]),
            latent_shape=self._model.latent_shape,
            picture=(self._model.side, self._model.side),
            steps=self._sampling.steps,
            guidance=self._sampling.guidance,
            batch=batch_size(self._model, CALIBRATION_BATCH),
        )

    @torch.inference_mode()
    def _correction(self, simulation: Simulation, group: str) -> Correction:
        """Measure PTQD's correction on the noise after guidance, step by step."""
        precise_unet, steps = self._model.unet(group), self._sampling.steps
        precise: list[list[Tensor]] = [[] for _ in range(steps)]
        quantized: list[list[Tensor]] = [[] for _ in range(steps)]
        for index, call in enumerate(self.calls(precise_unet, CORRECTION_CAPTIONS)):
            for unet, noises in ((precise_unet, precise), (simulation.unet, quantized)):
                noises[index % steps].append(self._sampling.combine(call.run(unet)))
        return fit_correction(*([torch.cat(step) for step in of] for of in (precise, quantized)))


def _save(seen: Observations, file: Path) -> None:
    """Write through another name, so that another process never reads half a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".part")
    torch.save(seen, partial)
    partial.replace(file)
