"""Searched ranges, against the loss that they minimize."""

from __future__ import annotations

import torch
from torch import Tensor
from unit.taq.simulations import random

from personalq.taq.ranges import TAIL_OF_ALL, fitted_range, shrunk_range, thinned


def _loss(values: Tensor, low: float, high: float) -> float:
    """The mean |x − x̂|^2.4 of 4 bits over a range."""
    step = (high - low) / 15
    zero = round(-low / step)
    rounded = ((values / step).round() + zero).clamp(0, 15).sub(zero) * step
    return (rounded - values).abs().pow(2.4).mean().item()


def test_a_searched_range_rounds_better_than_the_extremes() -> None:
    """Heavy tails are clipped where that costs less, by the loss |x − x̂|^2.4."""
    values = random(5000) ** 3
    low, high = shrunk_range(values, torch.ones(5000), 4)
    assert values.min() < low <= 0 <= high < values.max()
    assert _loss(values, low, high) < _loss(values, values.min().item(), values.max().item())
    best = min(_loss(values, low * f, high * f) for f in (0.7, 0.85, 1.2, 1.5))
    assert _loss(values, low, high) <= best * 1.001


def test_both_ends_searched_keep_what_lies_below_zero() -> None:
    """Shrinking both ends alike loses values near below zero; a fitted range keeps them."""
    values = random(20_000).abs() ** 2  # a tail above ...
    values[::2] = -0.4  # ... and something below that is worth a code
    ones = torch.ones(20_000)
    low, high = fitted_range(values, ones, 4)
    assert low < -0.3
    assert _loss(values, low, high) < 0.9 * _loss(values, *shrunk_range(values, ones, 4))


def test_values_count_as_often_as_they_stand_for() -> None:
    """A value with a count of n is n of its like."""
    values = torch.cat([random(500), torch.tensor([40.0])])
    counts = torch.ones(501)
    counts[:-1] = 200
    low, high = fitted_range(values, counts, 4)
    assert high < 10
    repeated = torch.cat([values[:-1].repeat(200), values[-1:]])
    assert fitted_range(repeated, torch.ones(len(repeated)), 4) == (low, high)


def test_zeros_have_a_range() -> None:
    """Nothing is divided by zero."""
    low, high = fitted_range(torch.zeros(9), torch.ones(9), 8)
    assert low <= 0 <= high < 1e-20


def test_a_thinned_sample_keeps_its_tails_whole() -> None:
    """However often: no extreme is lost, none counts for more, and all together stand for all."""
    values = torch.cat([torch.tensor([70.0]), random(40_001), torch.tensor([-55.0])])
    counts = torch.ones(len(values))
    for _ in range(4):
        values, counts = thinned(values, counts)
    assert len(values) < 6000
    assert counts.sum() == 40_003
    assert values[[0, -1]].tolist() == [-55.0, 70.0]
    assert counts[:TAIL_OF_ALL].max() == counts[-TAIL_OF_ALL:].max() == 1
