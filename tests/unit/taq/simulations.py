"""A small UNet observed at a few denoising steps, for the tests of simulated quantization."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from unit.taq.models import TOKENS, inputs, predict, tiny_unet

from personalq.taq import TextContext
from personalq.taq.rounding import UNetCall
from personalq.taq.simulation import (
    Method,
    Observations,
    Simulation,
    method,
    observe,
    simulate_,
)
from personalq.taq.simulation.layers import Simulated

TIMESTEPS = (901, 501, 101)
TEXT_WIDTH = 128  # wide enough for text layers to be quantized


def random(*shape: int, seed: int = 0) -> Tensor:
    """Return normal numbers."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def calls(seeds: int = 2) -> Iterator[UNetCall]:
    """Calls of `tiny_unet` at every step; text states with an outlier in the first token."""
    for seed in range(seeds):
        for timestep in TIMESTEPS:
            latents, _, text = picture(seed=seed)
            yield UNetCall(latents, timestep, text)


def picture(*, seed: int = 7, timestep: int = TIMESTEPS[1]) -> tuple[Tensor, ...]:
    """Return (latents, timestep, text states) whose first token is far larger than the others."""
    latents, _, text = inputs(seed=seed, text_width=TEXT_WIDTH)
    text[:, 0] = 8 * random(TEXT_WIDTH, seed=99)
    return latents, torch.tensor(timestep), text


@cache
def precise_unet() -> Any:
    """A small random UNet whose parameters are what float16 holds; make copies of it."""
    return tiny_unet(text_width=TEXT_WIDTH).half().float().requires_grad_(False)


@cache
def observations() -> Observations:
    """What its tensors are."""
    return observe(precise_unet(), calls(), TIMESTEPS)


@cache
def nearest_weights(bits: int) -> dict[str, Tensor]:
    """Ŵ at some bits, rounded to nearest: what a simulation does, once for all tests."""
    unet = simulate_(copy.deepcopy(precise_unet()), method("taq-paper", bits, None), observations())
    modules = unet.unet.named_modules()
    return {name: m.get_parameter("weight") for name, m in modules if isinstance(m, Simulated)}


def simulation(of: Method, weights: Mapping[str, Tensor] | None = None) -> Simulation:
    """Return a copy of `precise_unet` that computes as the method does."""
    if weights is None:
        weights = nearest_weights(of.weight_bits) if of.weight_bits else {}
    return simulate_(copy.deepcopy(precise_unet()), of, observations(), weights)


@cache
def shared(of: Method) -> Any:
    """A UNet that computes as the method does, the same one for all tests; leave it as it is."""
    return simulation(of).unet


def predicted(unet: nn.Module, x: tuple[Tensor, ...], mask: Tensor | None = None) -> Tensor:
    """Return the predicted noise, the text projected once."""
    text = TextContext.project(unet, x[2], mask)
    return predict(unet, x, cross_attention_kwargs={"text": text})


def first_token(batch: int = 2) -> Tensor:
    """Return M that protects the start token."""
    return (torch.arange(TOKENS) == 0).expand(batch, -1)


def psnr(x: Tensor, reference: Tensor) -> float:
    """Return the peak signal-to-noise ratio in decibels."""
    peak = (reference.max() - reference.min()).item()
    error = (x.double() - reference.double()).square().mean().item()
    return math.inf if error == 0 else 10 * math.log10(peak**2 / error)
