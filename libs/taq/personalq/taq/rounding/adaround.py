"""AdaRound: learn whether each weight is rounded down or up.

"Up or Down? Adaptive Rounding for Post-Training Quantization" (Nagel et al., 2020), Section 3.3:

    Ŵ = s · (clip(⌊W / s⌋ + h(α) + z, low, high) − z)
    h(α) = clip(sigmoid(α) (ζ − γ) + γ, 0, 1)                      ζ = 1.1, γ = −0.1
    least over α:  reconstruction loss + λ Σ (1 − |2 h(α) − 1|^β)

The last term is not used while warming up. After that β falls, and drives every h to 0 or 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from personalq.taq.errors import RecipeError
from personalq.taq.quantizers import Grid
from personalq.taq.scheme import RoundedWeight

ZETA, GAMMA = 1.1, -0.1  # how far the sigmoid is stretched beyond 0 … 1


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How rounding is learned. The defaults are the published ones of BRECQ.

    They are made for a GPU. On one core, a UNet of a few million weights takes minutes with
    200 iterations of 8 samples, of 128 in all; α then needs a rate of 2e-2 and λ = 0.1 to decide.
    """

    #: gradient steps per unit
    iterations: int = 20_000
    #: samples per gradient step: rows of the UNet's batch, not calls
    batch: int = 32
    #: Adam's
    learning_rate: float = 1e-3
    #: λ, on the sum over all weights of a unit
    regularization: float = 0.01
    #: share of the iterations without regularization
    warm_up: float = 0.2
    #: β after the warm-up and at the end
    beta: tuple[float, float] = (20.0, 2.0)
    #: what is reconstructed at once: a block (BRECQ) or each layer by itself (AdaRound)
    unit: Literal["block", "layer"] = "block"
    #: samples kept per unit, at most; drawn anew for each unit
    samples: int = 1024
    #: bytes of one unit's inputs and targets on the CPU, counted as float32: a large unit keeps
    #: fewer samples
    cache_bytes: int = 2 << 30
    #: of the choice of samples
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse settings that learn nothing."""
        if min(self.iterations, self.batch, self.samples, self.cache_bytes) < 1:
            raise RecipeError("Rounding needs at least one iteration, sample and byte.")
        if not 0 <= self.warm_up <= 1 or self.learning_rate <= 0 or self.regularization < 0:
            raise RecipeError("Rounding needs a rate > 0, λ ≥ 0 and a warm-up between 0 and 1.")
        if self.unit not in ("block", "layer"):
            raise RecipeError(f"Rounding is learned by block or by layer, not by {self.unit}.")


class Soft(NamedTuple):
    """A weight between its two neighbours on the grid."""

    floor: Tensor  # ⌊W / s⌋, float32 holding integers, of the weight's shape
    alpha: Tensor  # float32, of the weight's shape; h(alpha) is the share of the upper neighbour
    grid: Grid


def rectified_sigmoid(alpha: Tensor) -> Tensor:
    """Return h(α), 0 … 1, in the shape of `alpha`."""
    return (torch.sigmoid(alpha) * (ZETA - GAMMA) + GAMMA).clamp(0, 1)


def soften(weight: Tensor, grid: Grid) -> Soft:
    """Return `weight` (out, …) with h(α) = W / s − ⌊W / s⌋, so that it starts where it is."""
    scaled = weight.detach().float() / grid.scale
    floor = scaled.floor()
    residue = scaled - floor
    alpha = -torch.log((ZETA - GAMMA) / (residue - GAMMA) - 1)
    return Soft(floor, alpha, grid)


def soft_weight(soft: Soft, h: Tensor) -> Tensor:
    """Return Ŵ, float32, for h(α) = `h`; its gradient reaches `h`."""
    grid = soft.grid
    codes = (soft.floor + h + grid.zero_point).clamp(grid.low, grid.high)
    return (codes - grid.zero_point) * grid.scale


def harden(soft: Soft) -> RoundedWeight:
    """Return the codes: up where α ≥ 0. From the initial α this is rounding to the nearest."""
    grid = soft.grid
    codes = soft.floor + (soft.alpha.detach() >= 0) + grid.zero_point
    return RoundedWeight(codes.clamp(grid.low, grid.high).to(torch.int8), grid)


def penalty(h: Tensor, beta: float) -> Tensor:
    """Return Σ (1 − |2 h − 1|^β): zero where every h is 0 or 1."""
    return (1 - (2 * h - 1).abs().pow(beta)).sum()


def beta_at(step: int, settings: Settings) -> float | None:
    """Return β at a step, falling linearly; None during the warm-up."""
    start = math.ceil(settings.warm_up * settings.iterations)
    if step < start:
        return None
    first, last = settings.beta
    return first + (last - first) * (step - start) / max(1, settings.iterations - 1 - start)


def learn(
    weights: Mapping[str, tuple[Tensor, Grid]],
    loss: Callable[[dict[str, Tensor]], Tensor],
    settings: Settings,
) -> dict[str, RoundedWeight]:
    """Learn the rounding of several weights jointly.

    Args:
        weights: float weight (out, …) and its grid, by name.
        loss: returns the reconstruction loss () of soft weights, by the same names; called once
            per iteration, so it may draw another batch each time.
    """
    softs = {name: soften(weight, grid) for name, (weight, grid) in weights.items()}
    alphas = [soft.alpha.requires_grad_() for soft in softs.values()]
    optimizer = torch.optim.Adam(alphas, lr=settings.learning_rate, fused=True)
    for step in range(settings.iterations):
        hs = {name: rectified_sigmoid(soft.alpha) for name, soft in softs.items()}
        total = loss({name: soft_weight(softs[name], h) for name, h in hs.items()})
        beta = beta_at(step, settings)
        if beta is not None:
            for h in hs.values():
                total = total + settings.regularization * penalty(h, beta)
        optimizer.zero_grad(set_to_none=True)
        total.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return {name: harden(soft) for name, soft in softs.items()}
