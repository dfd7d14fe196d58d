"""How a tensor is rounded: small callables, fitted once, told the denoising step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from personalq.taq.quantizers import (
    TINY,
    code_limits,
    dequantize_log,
    fit_log,
    quantize_log,
)

NARROW = 1e-8  # the least step of a range that need not reach zero, as in DGQ


class Rounder(Protocol):
    """Rounds a tensor as integers of some bits would hold it."""

    def __call__(self, x: Tensor, step: int) -> Tensor:
        """Return x̂, of the shape and dtype of `x`, at denoising step `step`."""
        ...


class Exactly:
    """Full precision."""

    def __call__(self, x: Tensor, step: int) -> Tensor:
        """Return `x`."""
        return x


class PerTensor:
    """One asymmetric range for the whole tensor; one for all steps or one for each."""

    def __init__(self, ranges: Sequence[tuple[float, float]], bits: int) -> None:
        """Take (low ≤ 0, high ≥ 0) for every step, or a single pair."""
        _, self._last = code_limits(bits, symmetric=False)
        self._grids: list[tuple[float, int]] = []
        for low, high in ranges:
            scale = max((high - low) / self._last, TINY)
            self._grids.append((scale, min(max(round(-low / scale), 0), self._last)))

    def __call__(self, x: Tensor, step: int) -> Tensor:
        """Return x̂ = s (clip(round(x / s) + z) − z)."""
        scale, zero = self._grids[min(step, len(self._grids) - 1)]
        return torch.fake_quantize_per_tensor_affine(x, scale, zero, 0, self._last)


class PerIndex:
    """A range for every index of one dimension (channels or tokens), for each step: DGQ's groups.

    Members of a cluster share their range, so there are few different ones. A range need not
    reach zero, as in the published code.
    """

    def __init__(self, low: Tensor, high: Tensor, bits: int, dim: int) -> None:
        """Take the extremes, both (steps, n) for a dimension of size n."""
        _, self._last = code_limits(bits, symmetric=False)
        self._dim = dim
        self._scale = ((high - low) / self._last).clamp(min=NARROW)
        self._zero = (-low / self._scale).round()

    def __call__(self, x: Tensor, step: int) -> Tensor:
        """Return x̂; every index of the dimension on its own grid."""
        step = min(step, len(self._scale) - 1)
        shape = [1] * x.ndim
        shape[self._dim] = -1
        scale, zero = (t[step].to(x.device).view(shape) for t in (self._scale, self._zero))
        codes = (x / scale).round_().add_(zero).clamp_(0, self._last)
        return codes.sub_(zero).mul_(scale)


class AfterFirst:
    """All tokens but the first, which stays as it is: the start token of MixDQ and DGQ."""

    def __init__(self, rest: Rounder) -> None:
        """Take the rounder of the other tokens."""
        self._rest = rest

    def __call__(self, x: Tensor, step: int) -> Tensor:
        """Return x̂ of `x` (…, tokens, d)."""
        return torch.cat([x[..., :1, :], self._rest(x[..., 1:, :], step)], dim=-2)


class PerRow:
    """One symmetric scale per vector of a dimension, the last by default, found at run time."""

    def __init__(self, bits: int, dim: int = -1) -> None:
        """Take the width of the codes, and which dimension a scale is of."""
        self.bits, self._dim = bits, dim
        _, self._last = code_limits(bits, symmetric=True)

    def __call__(self, x: Tensor, step: int) -> Tensor:
        """Return x̂, one scale per vector of `x` along the dimension."""
        return to_multiples(x, x.abs().amax(self._dim, keepdim=True) / self._last)


class PerGroup:
    """One asymmetric range per vector and group of neighbouring channels, found at run time."""

    def __init__(self, bits: int, group: int, dim: int = -1) -> None:
        """Take the width of the codes, how many channels share a range, and their dimension."""
        _, self._last = code_limits(bits, symmetric=False)
        self._group, self._dim = group, dim

    def __call__(self, x: Tensor, step: int) -> Tensor:
        """Return x̂; what is left over after whole groups has a range of its own."""
        parts = torch.split(x, self._group, dim=self._dim)
        return torch.cat([self._rounded(part) for part in parts], dim=self._dim)

    def _rounded(self, x: Tensor) -> Tensor:
        low = x.amin(self._dim, keepdim=True).clamp(max=0)
        high = x.amax(self._dim, keepdim=True).clamp(min=0)
        scale = ((high - low) / self._last).clamp(min=TINY)
        zero = (-low / scale).round().clamp(0, self._last)
        codes = (x / scale).round_().add_(zero).clamp_(0, self._last)
        return codes.sub_(zero).mul_(scale)


class PerColumn:
    """One symmetric scale per channel of every head, over all its tokens, found at run time."""

    def __init__(self, bits: int) -> None:
        """Take the width of the codes."""
        _, self._last = code_limits(bits, symmetric=True)

    def __call__(self, x: Tensor, step: int) -> Tensor:
        """Return x̂, one scale per column of `x` (…, tokens, d)."""
        return to_multiples(x, x.abs().amax(-2, keepdim=True) / self._last)


class PerSample:
    """One asymmetric range per element of the batch, found at run time."""

    def __init__(self, bits: int) -> None:
        """Take the width of the codes."""
        _, self._last = code_limits(bits, symmetric=False)

    def __call__(self, x: Tensor, step: int) -> Tensor:
        """Return x̂ of `x` (B, …)."""
        shape = [-1] + [1] * (x.ndim - 1)
        flat = x.flatten(1)
        low, high = flat.amin(1).clamp(max=0), flat.amax(1).clamp(min=0)
        scale = ((high - low) / self._last).clamp(min=TINY)
        zero = (-low / scale).round().clamp(0, self._last).view(shape)
        scale = scale.view(shape)
        codes = (x / scale).round_().add_(zero).clamp_(0, self._last)
        return codes.sub_(zero).mul_(scale)


class PerPrompt:
    """One symmetric scale for all rows of a prompt, of all its heads, found at run time."""

    def __init__(self, bits: int) -> None:
        """Take the width of the codes."""
        _, self._last = code_limits(bits, symmetric=True)

    def __call__(self, x: Tensor, step: int, left_out: Tensor | None = None) -> Tensor:
        """Return x̂ of `x` (B, heads, T, d); rows in `left_out`, bool (B, T), may clip."""
        reach = x.abs()
        if left_out is not None:
            reach = reach.masked_fill(left_out[:, None, :, None], 0.0)
        step_size = (reach.amax((1, 2, 3), keepdim=True) / self._last).clamp(min=TINY)
        codes = (x / step_size).round_().clamp_(-self._last, self._last)
        return codes.mul_(step_size)


class Split:
    """Channels before and after a split, each on their own grid (Q-Diffusion's shortcuts)."""

    def __init__(self, halves: Sequence[PerTensor], split: int) -> None:
        """Take a rounder for the first `split` channels and one for the others."""
        self._halves, self._split = halves, split

    def __call__(self, x: Tensor, step: int) -> Tensor:
        """Return x̂ of `x` (B, C, H, W)."""
        parts = x.tensor_split([self._split], dim=1)
        return torch.cat(
            [half(p, step) for half, p in zip(self._halves, parts, strict=True)], dim=1
        )


class Equalized:
    """Channels scaled to the same reach before they share a grid; the weights absorb it."""

    def __init__(self, factors: Tensor, grid: Rounder) -> None:
        """Take the factors, which broadcast against x and the weight, and what rounds x · f."""
        self.factors, self._grid = factors, grid

    def __call__(self, x: Tensor, step: int) -> Tensor:
        """Return x̂ of `x`."""
        return self._grid(x * self.factors, step) / self.factors


class LogPerRow:
    """Uniform in log(|x| + ε) with the sign kept, one grid per row: the older text's equation."""

    def __init__(self, bits: int) -> None:
        """Take the width of the codes; the sign comes on top."""
        self._bits = bits

    def __call__(self, x: Tensor, step: int) -> Tensor:
        """Return x̂ of `x` (…, d)."""
        grid = fit_log(x, self._bits, "row")
        return dequantize_log(*quantize_log(x, grid), grid).to(x.dtype)


class ZeroToMax:
    """Probabilities from zero to a calibrated maximum: z = 0, s = max / (2^b − 1)."""

    def __init__(self, highs: Sequence[float], bits: int) -> None:
        """Take the maximum for every step, or a single one."""
        _, self._last = code_limits(bits, symmetric=False)
        self._scales = [max(high / self._last, TINY) for high in highs]

    def __call__(self, x: Tensor, step: int) -> Tensor:
        """Return Â of `x` ≥ 0."""
        scale = self._scales[min(step, len(self._scales) - 1)]
        return torch.fake_quantize_per_tensor_affine(x, scale, 0, 0, self._last)


class ZeroToRowMax:
    """Probabilities from zero to the maximum of each row, found at run time."""

    def __init__(self, bits: int) -> None:
        """Take the width of the codes."""
        _, self._last = code_limits(bits, symmetric=False)

    def __call__(self, x: Tensor, step: int) -> Tensor:
        """Return Â of `x` (…, keys) ≥ 0."""
        return to_multiples(x, x.amax(-1, keepdim=True) / self._last)


class PowersOfTwo:
    """Probabilities δ 2^(−q), q = clip(round(−log2(A / δ)), 0, 2^b − 1), δ the maximum (DGQ)."""

    def __init__(self, bits: int) -> None:
        """Take the width of the codes."""
        _, self._last = code_limits(bits, symmetric=False)

    def __call__(self, x: Tensor, step: int, left_out: Tensor | None = None) -> Tensor:
        """Return Â of `x` (B, heads, queries, keys); keys in `left_out`, bool (B, keys), may clip.

        δ is taken per prompt, since prompts share a batch here.
        """
        counted = x if left_out is None else x.masked_fill(left_out[:, None, None, :], 0.0)
        delta = counted.amax((1, 2, 3), keepdim=True).clamp(min=TINY)
        codes = (x / delta).clamp_(min=TINY).log2_().neg_().round_().clamp_(0, self._last)
        return codes.neg_().exp2_().mul_(delta)


def to_multiples(x: Tensor, step_size: Tensor) -> Tensor:
    """Return `x` rounded to multiples of `step_size`, which broadcasts against it."""
    step_size = step_size.clamp(min=TINY)
    return (x / step_size).round_().mul_(step_size)
