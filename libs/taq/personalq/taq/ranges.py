"""The range that a tensor's codes cover, searched over a sample of what was seen of it.

Both searches take the least Σ n |x − x̂|^2.4 (BRECQ's norm), where a value x stands for n of them.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from personalq.taq.quantizers import RANGE_CANDIDATES, RANGE_NORM, TINY, code_limits

SAMPLES = 512  # values kept of one tensor and one call, besides its tails
TAIL = 64  # of the largest, and of the smallest
TAIL_OF_ALL = 1024  # the same of all calls together
SIDE_CANDIDATES = 16  # of each end of a fitted range
SIDE_RATIO = 0.85  # from one candidate to the next


def sample(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return some values of `x`, and how many of its values each stands for, on the CPU.

    Every so many values, and the tails whole: a regular sample alone would miss or overstate them.
    """
    flat = x.flatten().float()
    stride = max(1, flat.numel() // SAMPLES) | 1  # odd: an even one would meet the same channels
    tail = min(TAIL, flat.numel() // 2)
    top, bottom = flat.topk(tail).values, flat.topk(tail, largest=False).values
    regular = flat[::stride]
    if tail:
        regular = regular[(regular <= top[-1]) & (regular >= bottom[-1])]
    values = torch.cat([regular, top, bottom]).cpu()
    counts = torch.ones(len(values))
    counts[: len(regular)] = stride
    return values, counts


def thinned(values: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """Return a sample with half of what lies between its tails; one value stands for two.

    The tails stay whole: no extreme is lost, and none counts for more than it is.
    """
    values, order = values.sort()
    counts = counts[order]
    between = slice(TAIL_OF_ALL, len(values) - TAIL_OF_ALL - len(values) % 2)
    pairs = counts[between].view(-1, 2)
    rest = slice(between.stop, None)
    return (
        torch.cat([values[:TAIL_OF_ALL], values[between][::2], values[rest]]),
        torch.cat([counts[:TAIL_OF_ALL], pairs.sum(1), counts[rest]]),
    )


def shrunk_range(values: Tensor, counts: Tensor, bits: int) -> tuple[float, float]:
    """Return the range (low ≤ 0, high ≥ 0) that rounds best, both ends shrunk alike.

    The extremes are shrunk by 1 % per candidate as in `quantizers.search`; here values have counts.
    """
    shares = (1 - 0.01 * i for i in range(RANGE_CANDIDATES))
    return _best(values, counts, bits, ((share, share) for share in shares))


def fitted_range(values: Tensor, counts: Tensor, bits: int) -> tuple[float, float]:
    """Return the range (low ≤ 0, high ≥ 0) that rounds best, low and high searched each for itself.

    What follows a SiLU lies between −0.28 and some large value. A search that shrinks both ends
    alike gives up the negative values long before it reaches the best high.
    """
    shares = [SIDE_RATIO**i for i in range(SIDE_CANDIDATES)]
    return _best(values, counts, bits, ((a, b) for a in shares for b in shares))


def _best(
    values: Tensor, counts: Tensor, bits: int, shares: Iterable[tuple[float, float]]
) -> tuple[float, float]:
    """Return the best range as its grid covers it; `shares` are of the least and largest value."""
    _, last = code_limits(bits, symmetric=False)
    low, high = min(values.min().item(), 0.0), max(values.max().item(), 0.0)

    def grid(of_low: float, of_high: float) -> tuple[float, int]:
        scale = max((high * of_high - low * of_low) / last, TINY)
        return scale, min(max(round(-low * of_low / scale), 0), last)

    def loss(scale_and_zero: tuple[float, int]) -> float:
        rounded = torch.fake_quantize_per_tensor_affine(values, *scale_and_zero, 0, last)
        return float(rounded.sub_(values).abs_().pow_(RANGE_NORM) @ counts)

    scale, zero = min(sorted({grid(*pair) for pair in shares}), key=loss)
    return -zero * scale, (last - zero) * scale
