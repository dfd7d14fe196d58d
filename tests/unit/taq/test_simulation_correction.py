"""PTQD's correction of the predicted noise."""

from __future__ import annotations

import pytest
import torch
from unit.taq.models import assert_similar
from unit.taq.simulations import random

from personalq.taq.simulation import fit_correction


def test_a_known_error_is_found_and_taken_out() -> None:
    """Δε = k ε + b, another at every step, is recovered and undone."""
    slopes, biases = (0.03, 0.2), random(2, 4)
    precise = [random(64, 4, 8, 8, seed=s) for s in range(2)]
    precise = [noise - noise.mean((0, 2, 3), keepdim=True) for noise in precise]
    quantized = [
        (1 + k) * noise + bias.view(1, 4, 1, 1)
        for k, noise, bias in zip(slopes, precise, biases, strict=True)
    ]
    correction = fit_correction(precise, quantized)
    assert correction.k == pytest.approx(slopes, abs=1e-4)
    assert_similar(correction.bias, biases, within=1e-4)
    for step in range(2):
        assert_similar(correction(quantized[step], step), precise[step], within=1e-4)


def test_unrelated_noise_shrinks_nothing_much_and_negative_slopes_do_nothing() -> None:
    """K is a regression's slope, never below zero."""
    noise, other = random(64, 4, 8, 8), random(64, 4, 8, 8, seed=5)
    unrelated = fit_correction([noise], [noise + 0.1 * other])
    assert 0 <= unrelated.k[0] < 0.005
    damped = fit_correction([noise], [0.8 * noise])
    assert damped.k == (0.0,)


def test_corrected_noise_is_closer() -> None:
    """With an error that is partly correlated, the rest remains."""
    noise, other = random(64, 4, 8, 8), random(64, 4, 8, 8, seed=5)
    quantized = 1.1 * noise + 0.05 * other + 0.3
    corrected = fit_correction([noise], [quantized])(quantized, 0)
    before, after = ((x - noise).norm() for x in (quantized, corrected))
    assert after < 0.2 * before
    assert torch.isfinite(corrected).all()
