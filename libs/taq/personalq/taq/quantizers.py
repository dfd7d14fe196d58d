"""Quantizers as functions of tensors: a grid is fitted to values, then rounds them.

Uniform affine (older text of the paper, Section 3.1; BRECQ and its descendants):

    x_q = clip(round(x / s) + z, low, high)          x̂ = s (x_q − z)

Logarithmic (same section):

    x_q = clip(round(log(|x| + ε) / s) + z, 0, 2^b − 1)      x̂ = sign(x) (e^{s (x_q − z)} − ε)
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from personalq.taq.errors import RecipeError

Granularity = Literal["tensor", "channel", "row", "group"]

LOG_EPSILON = 1e-6
COARSE = 8  # every so many ranges are tried first
RANGE_CANDIDATES = 80  # the range is shrunk by 1 % per candidate: 100 % … 21 %
RANGE_NORM = 2.4  # the exponent p of the range search, from BRECQ
TINY = torch.finfo(torch.float32).tiny * 2**16  # keeps the scale of all-zero values usable


class Grid(NamedTuple):
    """A uniform grid: `scale` and integer `zero_point` broadcast against the values."""

    scale: Tensor  # float, > 0
    zero_point: Tensor  # float holding integers, so that one dtype serves the arithmetic
    low: int  # smallest code
    high: int  # largest code


class LogGrid(NamedTuple):
    """A grid that is uniform in log |x|; the sign is stored beside the code."""

    scale: Tensor
    zero_point: Tensor
    high: int


def code_limits(bits: int, *, symmetric: bool) -> tuple[int, int]:
    """Return the smallest and largest code of a `bits`-wide grid.

    Symmetric grids leave out the most negative code, so that they are symmetric indeed.

    Raises:
        RecipeError: `bits` is not between 2 and 16.
    """
    if not 2 <= bits <= 16:
        raise RecipeError(f"A grid has between 2 and 16 bits, not {bits}.")
    if symmetric:
        return 1 - 2 ** (bits - 1), 2 ** (bits - 1) - 1
    return 0, 2**bits - 1


def split_groups(x: Tensor, group_size: int) -> Tensor:
    """View (…, n) as (…, n / group_size, group_size).

    Raises:
        RecipeError: n is not a multiple of `group_size`.
    """
    if x.shape[-1] % group_size:
        raise RecipeError(f"{x.shape[-1]} values do not divide into groups of {group_size}.")
    return x.reshape(*x.shape[:-1], -1, group_size)


def value_range(x: Tensor, granularity: Granularity) -> tuple[Tensor, Tensor]:
    """Return (lowest, highest) value, broadcastable against `x`; both ranges include zero.

    tensor: one pair for all of x. channel: one per index of dimension 0 (a weight's output
    channel). row, group: one per vector of the last dimension (a token; `split_groups` first
    to make that vector a group).
    """
    if granularity == "tensor":
        dims = tuple(range(x.ndim))
    elif granularity == "channel":
        dims = tuple(range(1, x.ndim))
    else:
        dims = (x.ndim - 1,)
    low, high = x.amin(dims, keepdim=True), x.amax(dims, keepdim=True)
    return low.clamp(max=0), high.clamp(min=0)


def fit(low: Tensor, high: Tensor, bits: int, *, symmetric: bool) -> Grid:
    """Return the grid that covers [low, high], a range that includes zero.

    Zero is exactly a code, so that zero padding and masked values cost nothing.
    """
    first, last = code_limits(bits, symmetric=symmetric)
    low, high = low.float(), high.float()
    if symmetric:
        scale = (torch.maximum(-low, high) / last).clamp(min=TINY)
        return Grid(scale, torch.zeros_like(scale), first, last)
    scale = ((high - low) / last).clamp(min=TINY)
    zero_point = (-low / scale).round().clamp(first, last)
    return Grid(scale, zero_point, first, last)


def quantize(x: Tensor, grid: Grid) -> Tensor:
    """Return the codes of `x` as floats holding integers, half to even, clipped to the grid."""
    return (x.float() / grid.scale).round_().add_(grid.zero_point).clamp_(grid.low, grid.high)


def dequantize(codes: Tensor, grid: Grid) -> Tensor:
    """Return the float32 values that `codes` stand for."""
    return (codes.float() - grid.zero_point) * grid.scale


def search(
    x: Tensor,
    bits: int,
    granularity: Granularity,
    *,
    symmetric: bool,
    candidates: int = RANGE_CANDIDATES,
) -> Grid:
    """Return the grid with the least mean |x − x̂|^2.4 over ranges shrunk in steps of 1 %.

    Each tensor, channel or row takes its own best range (BRECQ's `mse` initialisation): the best
    of every `COARSE`-th, then of those around it. `candidates=1` is plain minimum and maximum.
    """
    low, high = value_range(x, granularity)
    best = fit(low, high, bits, symmetric=symmetric)
    if candidates == 1:
        return best
    dims = [d for d in range(x.ndim) if best.scale.shape[d] == 1]
    least = torch.full_like(best.scale, torch.inf)
    chosen = torch.zeros_like(best.scale)

    def consider(steps: Tensor) -> None:
        """Try to shrink by `steps` percent, of the shape of a scale."""
        nonlocal least, chosen
        grid = fit(low * (1 - 0.01 * steps), high * (1 - 0.01 * steps), bits, symmetric=symmetric)
        error = dequantize(quantize(x, grid), grid).sub_(x).abs_().pow_(RANGE_NORM)
        loss = error.mean(dims, keepdim=True)
        chosen = torch.where(loss < least, steps, chosen)
        least = torch.minimum(loss, least)

    for i in range(0, candidates, COARSE):
        consider(torch.full_like(least, i))
    middle = chosen
    for offset in range(1, COARSE):
        consider((middle - offset).clamp(min=0))
        consider((middle + offset).clamp(max=candidates - 1))
    return fit(low * (1 - 0.01 * chosen), high * (1 - 0.01 * chosen), bits, symmetric=symmetric)


def round_trip(
    x: Tensor,
    bits: int,
    granularity: Granularity = "row",
    *,
    symmetric: bool = True,
    group_size: int | None = None,
) -> Tensor:
    """Return Q_b(x) = x̂ in the dtype of `x`: quantized on its own range and dequantized.

    Args:
        group_size: the length of a group where `granularity` is "group".

    Raises:
        RecipeError: groups without a size, or one that does not divide the last dimension.
    """
    if granularity == "group":
        if group_size is None:
            raise RecipeError("Granularity 'group' needs a group_size.")
        groups = split_groups(x, group_size)
        return round_trip(groups, bits, "row", symmetric=symmetric).flatten(-2)
    grid = fit(*value_range(x, granularity), bits, symmetric=symmetric)
    return dequantize(quantize(x, grid), grid).to(x.dtype)


def fit_log(x: Tensor, bits: int, granularity: Granularity) -> LogGrid:
    """Return the logarithmic grid between the least and the largest log(|x| + ε)."""
    _, last = code_limits(bits, symmetric=False)
    magnitude = (x.float().abs() + LOG_EPSILON).log()
    dims = {"tensor": tuple(range(x.ndim)), "channel": tuple(range(1, x.ndim))}
    over = dims.get(granularity, (x.ndim - 1,))
    low, high = magnitude.amin(over, keepdim=True), magnitude.amax(over, keepdim=True)
    scale = ((high - low) / last).clamp(min=torch.finfo(torch.float32).eps)
    return LogGrid(scale, (-low / scale).round(), last)


def quantize_log(x: Tensor, grid: LogGrid) -> tuple[Tensor, Tensor]:
    """Return (codes, signs) of `x`, both floats holding integers."""
    magnitude = (x.float().abs() + LOG_EPSILON).log()
    codes = ((magnitude / grid.scale).round() + grid.zero_point).clamp(0, grid.high)
    return codes, x.float().sign()


def dequantize_log(codes: Tensor, signs: Tensor, grid: LogGrid) -> Tensor:
    """Return the float32 values that `codes` and `signs` stand for."""
    return signs * ((grid.scale * (codes - grid.zero_point)).exp() - LOG_EPSILON)
