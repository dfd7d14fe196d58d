"""Grids, their rounding and their error bounds."""

from __future__ import annotations

import math

import pytest
import torch

from personalq.taq import RecipeError
from personalq.taq.quantizers import (
    LOG_EPSILON,
    Granularity,
    Grid,
    code_limits,
    dequantize,
    dequantize_log,
    fit,
    fit_log,
    quantize,
    quantize_log,
    round_trip,
    search,
    value_range,
)

SHAPES: dict[Granularity, tuple[int, ...]] = {
    "tensor": (1, 1, 1),
    "channel": (6, 1, 1),
    "row": (6, 5, 1),
}


def _values(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0)) * 3 + 0.5


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("granularity", ["tensor", "channel", "row"])
def test_rounding_moves_no_value_further_than_half_a_step(
    bits: int, symmetric: bool, granularity: Granularity
) -> None:
    """Within its range a uniform grid is off by at most half a step, or one where z rounds."""
    x = _values(6, 5, 16)
    grid = fit(*value_range(x, granularity), bits, symmetric=symmetric)
    assert grid.scale.shape == SHAPES[granularity]
    codes = quantize(x, grid)
    assert codes.min() >= grid.low and codes.max() <= grid.high
    assert torch.equal(codes, codes.round())
    bound = grid.scale * (0.5 if symmetric else 1.0) * (1 + 1e-5)
    assert ((dequantize(codes, grid) - x).abs() <= bound).all()


def test_the_formula_of_the_paper_number_by_number() -> None:
    """x_q = clip(round(x/s) + z) and x̂ = s(x_q − z), written out."""
    x = torch.tensor([-1.0, -0.26, 0.0, 0.65, 2.0])
    grid = fit(*value_range(x, "tensor"), 4, symmetric=False)
    s, z = 3.0 / 15, 5
    assert grid.scale.item() == pytest.approx(s)
    assert grid.zero_point.item() == z
    codes = [min(15, max(0, round(v / s) + z)) for v in x.tolist()]
    assert quantize(x, grid).tolist() == codes
    assert dequantize(quantize(x, grid), grid).tolist() == pytest.approx(
        [s * (c - z) for c in codes]
    )


@pytest.mark.parametrize("symmetric", [True, False])
def test_zero_is_exact(symmetric: bool) -> None:
    """Zero survives on every grid, so that padding and masked values cost nothing."""
    for x in (_values(4, 8), _values(4, 8).abs() + 1, -_values(4, 8).abs() - 1, torch.zeros(4, 8)):
        x[:, 3] = 0
        assert (round_trip(x, 4, "row", symmetric=symmetric)[:, 3] == 0).all()


def test_a_constant_zero_row_is_not_a_division_by_zero() -> None:
    """All-zero rows come back as zeros."""
    assert torch.equal(round_trip(torch.zeros(3, 8), 8), torch.zeros(3, 8))


def test_groups_have_their_own_scales() -> None:
    """With groups an outlier harms its group only."""
    x = _values(2, 32)
    x[0, 0] = 1000.0
    by_group = (round_trip(x, 8, "group", group_size=8) - x).abs()
    by_row = (round_trip(x, 8, "row") - x).abs()
    assert by_group[0, 8:].max() < 0.1 < by_row[0, 8:].max()


@pytest.mark.parametrize("group_size", [None, 5])
def test_groups_must_divide_the_row(group_size: int | None) -> None:
    """A missing or unfitting group size is refused."""
    with pytest.raises(RecipeError):
        round_trip(_values(2, 32), 8, "group", group_size=group_size)


@pytest.mark.parametrize("bits", [1, 17])
def test_impossible_widths_are_refused(bits: int) -> None:
    """There is no one-bit grid and none wider than 16 bits."""
    with pytest.raises(RecipeError):
        code_limits(bits, symmetric=False)


def test_the_range_search_never_loses_to_minimum_and_maximum() -> None:
    """Per channel, the searched range has at most the loss of the full one."""
    x = _values(6, 256)
    x[2, 0] = 60.0
    losses = [
        (dequantize(quantize(x, grid), grid) - x).abs().pow(2.4).mean(1)
        for grid in (
            search(x, 4, "channel", symmetric=False, candidates=1),
            search(x, 4, "channel", symmetric=False),
        )
    ]
    assert (losses[1] <= losses[0] * (1 + 1e-6)).all()
    assert losses[1][2] < losses[0][2]


def test_the_dtype_of_the_values_is_kept() -> None:
    """A round trip returns bfloat16 for bfloat16."""
    assert round_trip(_values(2, 8).bfloat16(), 8).dtype == torch.bfloat16


def test_the_logarithmic_formula_number_by_number() -> None:
    """x_q = clip(round(log(|x|+ε)/s) + z) and x̂ = sign(x)(e^{s(x_q−z)} − ε), written out."""
    x = torch.tensor([-2.0, -0.01, 0.3, 5.0])
    grid = fit_log(x, 4, "tensor")
    s, z = grid.scale.item(), grid.zero_point.item()
    codes, signs = quantize_log(x, grid)
    for value, code, sign, back in zip(
        x.tolist(),
        codes.tolist(),
        signs.tolist(),
        dequantize_log(codes, signs, grid).tolist(),
        strict=True,
    ):
        assert code == min(15, max(0, round(math.log(abs(value) + LOG_EPSILON) / s) + z))
        assert sign == math.copysign(1, value)
        assert back == pytest.approx(sign * (math.exp(s * (code - z)) - LOG_EPSILON), rel=1e-4)


@pytest.mark.parametrize("granularity", ["tensor", "channel", "row"])
def test_the_logarithmic_error_is_relative(granularity: Granularity) -> None:
    """A value is off by at most a step of its own magnitude, however small it is."""
    x = torch.tensor([[1e-4, -1e-2, 0.1, 1.0], [1e-3, 2e-3, -4e-3, 8e-3]])
    grid = fit_log(x, 8, granularity)
    back = dequantize_log(*quantize_log(x, grid), grid)
    assert ((back - x).abs() <= x.abs() * (grid.scale.exp() - 1) * 1.05 + LOG_EPSILON).all()


def test_the_range_search_finds_what_trying_every_range_finds() -> None:
    """Coarse steps first and finer ones around the best lose nothing that matters."""
    x = torch.randn(64, 300, generator=torch.Generator().manual_seed(3))
    x[:, 0] *= torch.linspace(1, 12, 64)  # outliers of all sizes
    low, high = value_range(x, "channel")

    def loss(grid: Grid) -> torch.Tensor:
        return (dequantize(quantize(x, grid), grid) - x).abs().pow(2.4).mean(1)

    every = [fit(low * s, high * s, 4, symmetric=False) for s in (1 - 0.01 * i for i in range(80))]
    best = torch.stack([loss(grid) for grid in every]).amin(0)
    found = loss(search(x, 4, "channel", symmetric=False))
    assert (found / best - 1).mean() < 0.002
    assert (found <= loss(every[0])).all()
