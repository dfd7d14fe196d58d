"""PTQD: what quantization adds to the predicted noise is measured and taken out again.

He et al., PTQD (2023), Sections 4.1–4.2: Δε = k ε + b + residual at every step; sampling uses
(ε_q − b) / (1 + k). The calibrated variance schedule only acts where the sampler adds noise of
its own; with deterministic DDIM (η = 0) it is zero, so it is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Correction:
    """By step: the correlated part k, and the bias b of each channel."""

    k: tuple[float, ...]
    bias: Tensor  # (steps, C)

    def __call__(self, noise: Tensor, step: int) -> Tensor:
        """Return the corrected noise of the predicted one (B, C, H, W), guidance included."""
        return (noise - self.bias[step].view(1, -1, 1, 1)) / (1 + self.k[step])


def fit_correction(precise: Sequence[Tensor], quantized: Sequence[Tensor]) -> Correction:
    """Return the correction from noise predicted on the same latents, (N, C, H, W) for each step.

    k is the slope of a linear regression of Δε on ε, at least 0, and b the mean of Δε itself: both
    as in the published code, though the mean of the residual would correct a little less.
    """
    slopes, biases = [], []
    for noise, noise_q in zip(precise, quantized, strict=True):
        error = noise_q - noise
        centred = noise - noise.mean()
        slope = (centred * (error - error.mean())).sum() / centred.square().sum()
        slopes.append(max(slope.item(), 0.0))
        biases.append(error.mean((0, 2, 3)))
    return Correction(tuple(slopes), torch.stack(biases))
