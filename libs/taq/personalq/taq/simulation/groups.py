"""DGQ's distribution-aware groups: indices with similar extremes share a range.

Of channels and tokens, the dimension along which extremes differ more is grouped; K-means on the
pairs (minimum, maximum) makes the groups (DGQ, Section 4.1). The method is restated from its paper.
"""

from __future__ import annotations

import torch
from torch import Tensor

from personalq.taq.simulation.observe import Observation
from personalq.taq.simulation.rounders import PerIndex

GROUPS = 8  # the published setting; 16 is its other one
ROUNDS = 20  # of K-means


def grouped(by_step: list[Observation], bits: int, *, groups: int = GROUPS) -> PerIndex:
    """Return the rounder of one tensor: a dimension for all steps, groups for each."""
    dims = list(by_step[0].by_index)
    dim = max(dims, key=lambda d: sum(_spread(*step.by_index[d]) for step in by_step))
    pairs = [cluster_ranges(*step.by_index[dim], groups) for step in by_step]
    low, high = (torch.stack(side) for side in zip(*pairs, strict=True))
    return PerIndex(low, high, bits, dim)


def cluster_ranges(low: Tensor, high: Tensor, groups: int) -> tuple[Tensor, Tensor]:
    """Return (low, high), each (n), widened to the extremes of their cluster."""
    points = torch.stack([low, high], -1)  # (n, 2)
    order = (high - low).argsort()
    spread = torch.linspace(0, len(points) - 1, min(groups, len(points))).round().long()
    centres = points[order[spread]]
    owner = torch.full((len(points),), -1)
    for _ in range(ROUNDS):
        nearest = torch.cdist(points, centres).argmin(-1)
        if torch.equal(nearest, owner):
            break
        owner = nearest
        members = owner.bincount(minlength=len(centres)).unsqueeze(-1)
        sums = torch.zeros_like(centres).index_add_(0, owner, points)
        centres = torch.where(members > 0, sums / members.clamp(min=1), centres)
    ends = torch.full((len(centres),), torch.inf)
    wide_low = ends.scatter_reduce(0, owner, low, "amin")
    wide_high = (-ends).scatter_reduce(0, owner, high, "amax")
    return wide_low[owner], wide_high[owner]


def _spread(low: Tensor, high: Tensor) -> float:
    """Return how much extremes differ along a dimension (DGQ)."""
    return float((high.max() - high.min()) + (low.max() - low.min()))
