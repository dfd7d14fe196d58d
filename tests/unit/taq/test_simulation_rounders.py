"""Every rounder against a formula written another way."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from unit.taq.models import assert_similar
from unit.taq.simulations import random

from personalq.taq.simulation.rounders import (
    AfterFirst,
    Equalized,
    Exactly,
    LogPerRow,
    PerColumn,
    PerGroup,
    PerIndex,
    PerPrompt,
    PerRow,
    PerSample,
    PerTensor,
    PowersOfTwo,
    Rounder,
    Split,
    ZeroToMax,
    ZeroToRowMax,
)

BITS = [2, 4, 8]
LOW, HIGH = -1.3, 2.9


def _affine(x: Tensor, low: float, high: float, bits: int) -> Tensor:
    """x̂ between low and high, in float64."""
    step = (high - low) / (2**bits - 1)
    zero = np.rint(-low / step)
    codes = np.clip(np.rint(x.double().numpy() / step) + zero, 0, 2**bits - 1)
    return torch.from_numpy((codes - zero) * step).float()


def _inside() -> Tensor:
    return LOW + (HIGH - LOW) * torch.linspace(0, 1, 2005).view(5, 401)


@pytest.mark.parametrize("bits", BITS)
def test_a_range_has_its_codes_and_loses_half_a_step(bits: int) -> None:
    """2^b values, zero among them, no error above half a step inside, clipped outside."""
    rounder, x = PerTensor([(LOW, HIGH)], bits), _inside()
    rounded = rounder(x, 0)
    assert_similar(rounded, _affine(x, LOW, HIGH, bits))
    assert len(set(rounded.flatten().tolist())) == 2**bits
    step = (HIGH - LOW) / (2**bits - 1)
    assert (rounded - x).abs().max() <= step / 2 * (1 + 1e-4)
    assert rounder(torch.zeros(3), 0).tolist() == [0.0] * 3
    far = rounder(torch.tensor([-100.0, 100.0]), 0)
    assert (far - torch.tensor([LOW, HIGH])).abs().max() <= step / 2 * (1 + 1e-4)


def test_a_table_is_read_at_its_step() -> None:
    """Each step has its range; a single range serves all steps."""
    x = _inside()
    by_step = PerTensor([(-1.0, 1.0), (-4.0, 4.0)], 4)
    for step, high in enumerate((1.0, 4.0)):
        assert_similar(by_step(x, step), _affine(x, -high, high, 4))
    always = PerTensor([(-1.0, 1.0)], 4)
    assert torch.equal(always(x, 7), always(x, 0))
    probabilities = ZeroToMax([0.25, 1.0], 4)
    assert probabilities(torch.tensor([0.92]), 0).item() == pytest.approx(0.25)
    assert probabilities(torch.tensor([0.92]), 1).item() == pytest.approx(14 / 15)


@pytest.mark.parametrize("dim", [-1, -2, 1])
def test_every_index_has_its_own_range(dim: int) -> None:
    """Each slice along the dimension is rounded as if it were alone, at each step."""
    x = random(2, 5, 6, 7)
    n = x.shape[dim]
    low = -torch.rand(2, n, generator=torch.Generator().manual_seed(3)) - 0.1
    high = torch.rand(2, n, generator=torch.Generator().manual_seed(4)) + 0.1
    rounder = PerIndex(low, high, 4, dim)
    for step in range(2):
        rounded = rounder(x, step)
        for index in range(n):
            alone = _affine(
                x.select(dim, index), low[step, index].item(), high[step, index].item(), 4
            )
            assert_similar(rounded.select(dim, index), alone)


@pytest.mark.parametrize("bits", BITS)
def test_a_row_is_rounded_by_its_own_largest_value(bits: int) -> None:
    """Symmetric codes per row; another row's values do not matter."""
    x, last = random(2, 3, 5, 16), 2 ** (bits - 1) - 1
    rounded = PerRow(bits)(x, 0)
    steps = x.abs().amax(-1, keepdim=True) / last
    codes = rounded / steps
    assert_similar(codes, codes.round(), within=1e-6)
    assert codes.abs().max() == pytest.approx(last)
    assert bool(((rounded - x).abs() <= steps / 2 * (1 + 1e-4)).all())
    louder = x.clone()
    louder[0, 0, 2] *= 100
    changed = PerRow(bits)(louder, 0) != rounded
    changed[0, 0, 2] = False
    assert not changed.any()
    assert PerRow(bits)(torch.zeros(2, 4), 0).abs().max() == 0


@pytest.mark.parametrize("dim", [-1, 1])
def test_a_group_of_channels_has_a_range_for_every_token(dim: int) -> None:
    """Asymmetric, of 16 channels of one token, and of the 8 that are left over."""
    x = random(2, 40, 3, 40) + 0.7
    rows, rounded = x.movedim(dim, -1), PerGroup(4, 16, dim)(x, 0).movedim(dim, -1)
    for start, end in ((0, 16), (16, 32), (32, 40)):
        of, one = (t[..., start:end].flatten(0, -2) for t in (rows, rounded))
        for values, codes in zip(of, one, strict=True):
            low, high = min(values.min().item(), 0.0), max(values.max().item(), 0.0)
            assert_similar(codes, _affine(values, low, high, 4))


def test_a_picture_has_the_range_of_its_own_values() -> None:
    """One asymmetric range per element of the batch."""
    x = random(3, 4, 5, 5) + torch.tensor([0.0, 2.0, -40.0]).view(3, 1, 1, 1)
    rounded = PerSample(4)(x, 0)
    for one, of in zip(rounded, x, strict=True):
        low, high = min(of.min().item(), 0.0), max(of.max().item(), 0.0)
        assert_similar(one, _affine(of, low, high, 4))


@pytest.mark.parametrize("bits", BITS)
def test_a_prompt_shares_one_scale_among_heads_and_tokens(bits: int) -> None:
    """The largest value of the prompt, or of the rows not left out, sets the step."""
    x, last = random(2, 3, 5, 8), 2 ** (bits - 1) - 1
    x[0, 1, 2] *= 50
    rounded = PerPrompt(bits)(x, 0)
    for prompt in range(2):
        step = x[prompt].abs().max() / last
        assert_similar(rounded[prompt], (x[prompt] / step).round() * step)
    left_out = torch.zeros(2, 5, dtype=torch.bool)
    left_out[0, 2] = True
    without = PerPrompt(bits)(x, 0, left_out)
    rest = [0, 1, 3, 4]
    step = x[0][:, rest].abs().max() / last
    assert_similar(without[0][:, rest], (x[0][:, rest] / step).round() * step)
    assert without[0].abs().max() <= x[0][:, rest].abs().max() * (1 + 1e-6)  # the outlier clips
    assert torch.equal(without[1], rounded[1])


def test_halves_of_a_split_are_rounded_by_themselves() -> None:
    """Channels before the split on one grid, those after on another."""
    x = random(2, 6, 3, 3)
    x[:, 4:] *= 30
    narrow, wide = PerTensor([(-4.0, 4.0)], 4), PerTensor([(-120.0, 120.0)], 4)
    rounded = Split([narrow, wide], 4)(x, 0)
    assert torch.equal(rounded[:, :4], narrow(x[:, :4], 0))
    assert torch.equal(rounded[:, 4:], wide(x[:, 4:], 0))


def test_equalized_channels_are_rounded_by_their_own_reach() -> None:
    """A channel a hundred times smaller loses a hundred times less."""
    x = random(2, 2, 8, 8)
    x[:, 1] /= 100
    factors = torch.tensor([0.25, 25.0])
    rounded = Equalized(factors.view(-1, 1, 1), PerTensor([(-1.0, 1.0)], 8))(x, 0)
    for channel, factor in enumerate(factors):
        bound = 2 / 255 / factor
        assert (rounded[:, channel] - x[:, channel]).abs().max() <= bound / 2 * (1 + 1e-4)


@pytest.mark.parametrize("bits", BITS)
def test_logarithmic_rows_keep_signs_and_ratios(bits: int) -> None:
    """Every row has at most 2^b magnitudes, each within half a step of the logarithm."""
    x = random(4, 64) * torch.tensor([1.0, 10.0, 0.1, 1e-3]).view(4, 1)
    rounded = LogPerRow(bits)(x, 0)
    assert torch.equal(rounded.sign(), x.sign())
    for row, of in zip(rounded, x, strict=True):
        assert len(row.abs().unique()) <= 2**bits
        logs = (of.abs() + 1e-6).log()
        step = (logs.max() - logs.min()).item() / (2**bits - 1)
        # Its zero point is rounded too, which moves the ends by up to half a step.
        assert ((row.abs() + 1e-6).log() - logs).abs().max() <= step * 1.01


@pytest.mark.parametrize("bits", BITS)
def test_probabilities_start_at_zero_and_reach_the_maximum(bits: int) -> None:
    """Per calibrated maximum or per row: multiples of max / (2^b − 1)."""
    a, last = (3 * random(2, 3, 4, 11)).softmax(-1), 2**bits - 1
    rounded = ZeroToRowMax(bits)(a, 0)
    step = a.amax(-1, keepdim=True) / last
    assert_similar(rounded, (a / step).round() * step)
    assert_similar(rounded.amax(-1), a.amax(-1))
    static = ZeroToMax([0.5], bits)(a, 0)
    assert_similar(static, (a / (0.5 / last)).round().clamp(0, last) * (0.5 / last))


@pytest.mark.parametrize("bits", BITS)
def test_probabilities_as_powers_of_two(bits: int) -> None:
    """Â = δ 2^(−q) with δ the prompt's maximum and q the nearest of 2^b exponents."""
    a = (3 * random(2, 3, 4, 11)).softmax(-1)
    a[0, 0, 0, 0] = 0.0
    rounded = PowersOfTwo(bits)(a, 0)
    for prompt in range(2):
        delta = a[prompt].max().item()
        for value, of in zip(
            rounded[prompt].flatten().tolist(), a[prompt].flatten().tolist(), strict=True
        ):
            q = min(round(-math.log2(of / delta)), 2**bits - 1) if of else 2**bits - 1
            assert value == pytest.approx(delta * 2.0**-q, rel=1e-5, abs=1e-30)


def test_powers_of_two_take_their_maximum_from_the_keys_that_count() -> None:
    """What is left out, here the start token's column, does not set δ."""
    a = (3 * random(2, 3, 4, 11)).softmax(-1)
    left_out = torch.zeros(2, 11, dtype=torch.bool)
    left_out[0, a[0].amax((0, 1)).argmax()] = True
    rounded = PowersOfTwo(4)(a, 0, left_out)
    assert torch.equal(rounded[1], PowersOfTwo(4)(a, 0)[1])
    rest = a[0][..., ~left_out[0]]
    assert torch.equal(rounded[0][..., ~left_out[0]], PowersOfTwo(4)(rest[None], 0)[0])
    assert not torch.equal(rounded[0], PowersOfTwo(4)(a, 0)[0])


def test_a_range_by_index_need_not_reach_zero() -> None:
    """A channel far from zero has all its codes where its values are."""
    x = 7 + random(50, 3) / 10
    rounded = PerIndex(x.amin(0)[None], x.amax(0)[None], 4, -1)(x, 0)
    assert (rounded - x).abs().max() <= (x.amax(0) - x.amin(0)).max() / 15 / 2 * 1.001
    still = torch.full((2, 3), 5.0)
    kept = PerIndex(still[:1], still[:1], 4, -1)(still, 0)
    assert_similar(kept, still, within=1e-6)


def test_the_first_token_stays_as_it_is() -> None:
    """The others are rounded as if it were not there."""
    x = random(2, 3, 5, 8)
    rounded = AfterFirst(PerPrompt(4))(x, 0)
    assert torch.equal(rounded[..., :1, :], x[..., :1, :])
    assert torch.equal(rounded[..., 1:, :], PerPrompt(4)(x[..., 1:, :], 0))


def test_full_precision_is_the_tensor_itself() -> None:
    """Nothing is copied, nothing changed."""
    x = random(3)
    assert Exactly()(x, 0) is x


@pytest.mark.parametrize(
    "rounder",
    [
        PerTensor([(LOW, HIGH)], 4),
        PerIndex(torch.full((1, 6), LOW), torch.full((1, 6), HIGH), 4, -1),
        PerRow(4),
        PerSample(4),
        PerPrompt(4),
        Split([PerTensor([(LOW, HIGH)], 4), PerTensor([(LOW, HIGH)], 4)], 3),
        Equalized(torch.full((6,), 2.0), PerTensor([(LOW, HIGH)], 4)),
        LogPerRow(4),
    ],
    ids=lambda rounder: type(rounder).__name__,
)
def test_a_rounder_leaves_its_input_alone(rounder: Rounder) -> None:
    """The result is a new tensor of the same shape, and zero stays zero."""
    x = random(2, 6, 6, 6)
    x[0, 0, 0, 0] = 0.0
    before = x.clone()
    rounded = rounder(x, 0)
    assert torch.equal(x, before)
    assert rounded.shape == x.shape
    assert rounded.dtype == x.dtype
    assert rounded[0, 0, 0, 0] == 0
    assert not torch.equal(rounded, x)


def test_columns_have_a_scale_each() -> None:
    """A wide channel does not coarsen a narrow one."""
    x = torch.tensor([[0.1, 100.0], [0.7, -300.0]])
    rounded = PerColumn(4)(x, 0)
    assert torch.allclose(rounded[:, 0], x[:, 0])  # multiples of 0.7 / 7
    assert torch.allclose(rounded[:, 1], torch.tensor([2.0, -7.0]) * 300 / 7)
