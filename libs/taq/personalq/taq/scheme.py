"""How one layer is quantized: its bits, the grids of its input, and the grid of its weight."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from personalq.taq.calibrate import Range
from personalq.taq.errors import MissingRangeError
from personalq.taq.quantizers import Grid, search


@dataclass(frozen=True)
class Scheme:
    """How one layer is quantized."""

    weight_bits: int  # 8: symmetric; 4: with a zero point
    activation_bits: int | None  # None: the input stays as it is (weight-only)
    _: KW_ONLY
    equalized: bool = False  # each input channel is divided by its reach, which the weight absorbs
    #: one symmetric scale per token or pixel of the input, found at run time, and no static range
    row_scaled: bool = False

    @property
    def needs_range(self) -> bool:
        """Whether a layer has to be calibrated for it."""
        return self.activation_bits is not None and (self.equalized or not self.row_scaled)


class InputGrid(NamedTuple):
    """The static grid of a layer's input: codes 0 … 2^bits − 1."""

    scale: float
    zero_point: int
    bits: int
    factors: Tensor | None  # multiply the input first; broadcast against it


class RowGrids(NamedTuple):
    """Grids of a layer's input, one per token or pixel: codes 1 … 2^bits − 1 around a middle."""

    zero_point: int
    bits: int
    factors: Tensor | None  # float32 (in): multiply the input (…, in) first

    @property
    def unit(self) -> InputGrid:
        """The grid of a row whose scale is 1: what is computed with it is multiplied afterwards."""
        return InputGrid(1.0, *self)


class RoundedWeight(NamedTuple):
    """A weight whose rounding was decided elsewhere: integer codes on a grid by output channel."""

    codes: Tensor  # int8, of the weight's shape
    grid: Grid  # scale and zero point (out, 1, …)


def equalize(channels: Range, width: int) -> tuple[Tensor, Range]:
    """Return the factors f (in), which bring every channel to the same reach, and x · f's range.

    The weight absorbs 1 / f exactly; what it loses to its own rounding is less than what the
    input gains, since its scales are by output channel.

    Args:
        channels: a range with the extremes of each of `width` input channels.

    Raises:
        MissingRangeError: the range has no extremes by channel.
    """
    low, high = torch.tensor(channels.channel_low), torch.tensor(channels.channel_high)
    if len(low) != width:
        raise MissingRangeError("An equalized layer needs the extremes of each input channel.")
    reach = torch.maximum(-low, high)
    reach = reach.clamp(min=(1e-3 * reach.max().item()) or 1.0)  # silent channels stay silent
    factors = 1 / reach
    return factors, Range((low * factors).min().item(), (high * factors).max().item())


def is_pointwise(layer: nn.Module) -> bool:
    """Tell whether every output of a layer is made of one token or pixel of its input."""
    if not isinstance(layer, nn.Conv2d):
        return isinstance(layer, nn.Linear)
    plain = {*layer.kernel_size, *layer.stride, layer.groups} == {1}
    return plain and layer.padding in ((0, 0), 0)


def weight_grid(weight: Tensor, bits: int, candidates: int) -> Grid:
    """Return the grid of each output channel of a float32 weight (out, …).

    8 bits are symmetric between the extremes; fewer have a zero point and a searched range.
    """
    symmetric = bits == 8
    tried = 1 if symmetric else candidates
    return search(weight, bits, "channel", symmetric=symmetric, candidates=tried)
