"""NF4 against the values that QLoRA publishes."""

from __future__ import annotations

import pytest
import torch
from unit.taq.simulations import random

from personalq.taq.simulation.nf4 import BLOCK, levels, nf4

#: QLoRA, Appendix E
PUBLISHED = (
    -1.0,
    -0.6961928009986877,
    -0.5250730514526367,
    -0.39491748809814453,
    -0.28444138169288635,
    -0.18477343022823334,
    -0.09105003625154495,
    0.0,
    0.07958029955625534,
    0.16093020141124725,
    0.24611230194568634,
    0.33791524171829224,
    0.44070982933044434,
    0.5626170039176941,
    0.7229568362236023,
    1.0,
)


def test_the_levels_are_the_published_ones() -> None:
    """Sixteen, ascending, zero exactly."""
    assert levels().tolist() == pytest.approx(PUBLISHED, abs=1e-6)
    assert levels()[7] == 0
    assert bool((levels().diff() > 0).all())


@pytest.mark.parametrize("shape", [(8, 64), (5, 7, 3, 3), (3,)])
def test_weights_take_the_nearest_level_of_their_block(shape: tuple[int, ...]) -> None:
    """Each block of 64 in memory order has its own largest value; the last may be shorter."""
    weight = random(*shape)
    rounded = nf4(weight)
    assert rounded.shape == weight.shape
    pairs = zip(*(torch.split(w.flatten(), BLOCK) for w in (rounded, weight)), strict=True)
    for block, of in pairs:
        scale = of.abs().max()
        grid = torch.tensor(PUBLISHED) * scale
        nearest = grid[(of[:, None] - grid).abs().argmin(-1)]
        assert torch.allclose(block, nearest, atol=1e-5)


def test_a_block_of_zeros_stays_zero() -> None:
    """Zero is a level."""
    assert nf4(torch.zeros(70)).abs().max() == 0
