"""DGQ's groups: shared ranges that cover all that was seen."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from unit.taq.simulations import random

from personalq.taq.simulation.groups import cluster_ranges, grouped
from personalq.taq.simulation.observe import Observation


def _observed(x: Tensor, *dims: int) -> Observation:
    seen = Observation()
    seen.add(x, dims)
    return seen


def test_members_share_a_range_that_covers_each() -> None:
    """As many ranges as groups at most; none is narrower than what any member showed."""
    low, high = -random(40).abs(), random(40, seed=1).abs()
    wide_low, wide_high = cluster_ranges(low, high, 8)
    assert bool((wide_low <= low).all())
    assert bool((wide_high >= high).all())
    ranges = set(zip(wide_low.tolist(), wide_high.tolist(), strict=True))
    assert 4 <= len(ranges) <= 8
    for a, b in ranges:  # no wider than needed either
        members = (wide_low == a) & (wide_high == b)
        assert low[members].min() == a
        assert high[members].max() == b


def test_outliers_get_a_group_of_their_own() -> None:
    """Clusters separate what differs most."""
    low, high = -torch.ones(20), torch.ones(20)
    low[[3, 11]], high[[3, 11]] = -50.0, 60.0
    wide_low, wide_high = cluster_ranges(low, high, 2)
    assert wide_high.tolist() == high.tolist()
    assert wide_low.tolist() == low.tolist()


def test_fewer_indices_than_groups_keep_their_own_ranges() -> None:
    """Nothing to share."""
    low, high = torch.tensor([-1.0, -2.0]), torch.tensor([3.0, 9.0])
    assert [t.tolist() for t in cluster_ranges(low, high, 8)] == [low.tolist(), high.tolist()]


@pytest.mark.parametrize("dim", [-1, -2])
def test_the_dimension_with_the_larger_spread_is_grouped(dim: int) -> None:
    """An outlier channel makes groups of channels, an outlier token groups of tokens."""
    x = random(2, 12, 10)
    x.select(dim, 4).fill_(60)
    others = torch.tensor([i for i in range(x.shape[dim]) if i != 4])
    rest = x.index_select(dim, others)

    def error(*dims: int) -> float:
        rounded = grouped([_observed(x, *dims)], 4)(x, 0)
        return (rounded.index_select(dim, others) - rest).abs().max().item()

    # Half a step of a range without the outlier; with it, all would be zero.
    assert error(-1, -2) <= (rest.max() - rest.min()) / 15 / 2 * 1.01
    assert error(-1 if dim == -2 else -2) > 5 * error(-1, -2)


def test_nothing_that_was_observed_is_clipped() -> None:
    """Every value comes back within half a step of its group's range, at every step."""
    xs = [random(2, 12, 10, seed=s) * (1 + 5 * s) for s in range(3)]
    rounder = grouped([_observed(x, -1, -2) for x in xs], 4)
    for step, x in enumerate(xs):
        spread = (x.max() - x.min()).item()
        assert (rounder(x, step) - x).abs().max() <= spread / 15 / 2 * 1.001
    louder_table = (rounder(xs[2], 0) - xs[2]).abs().max()
    assert louder_table > (rounder(xs[2], 2) - xs[2]).abs().max()  # another step's table clips
