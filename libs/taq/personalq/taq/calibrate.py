"""Activation ranges of a full-precision UNet, observed while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from personalq.taq.errors import MissingRangeError
from personalq.taq.quantizers import RANGE_CANDIDATES, search
from personalq.taq.recipe import EQUALIZED_LAYERS

SAMPLES = 1 << 15  # values kept of one layer's input over all forward passes, at most
SAMPLES_PER_CALL = 1 << 11


@dataclass(frozen=True)
class Range:
    """The interval that a layer's input codes cover, in the units of the input."""

    low: float  # ≤ 0
    high: float  # ≥ 0
    #: the extremes of each input channel, for layers whose channels are equalized
    channel_low: tuple[float, ...] = ()
    channel_high: tuple[float, ...] = ()


class _Observed:
    """What is remembered of one layer's input: its extremes and a regular sample."""

    def __init__(self, *, by_channel: bool) -> None:
        self.low = self.high = 0.0
        self._by_channel = by_channel
        self.channel_low = self.channel_high = torch.zeros(())
        self.values = torch.empty(0)
        self._thinned = 1  # every so many of the sampled values are kept

    def add(self, x: Tensor) -> None:
        """Remember `x`; old and new values stay equally likely in the sample."""
        low, high = x.aminmax()
        self.low, self.high = min(self.low, low.item()), max(self.high, high.item())
        if self._by_channel:  # (B, C, H, W)
            self.channel_low = self.channel_low.minimum(x.amin((0, 2, 3)).float().cpu())
            self.channel_high = self.channel_high.maximum(x.amax((0, 2, 3)).float().cpu())
        # An odd stride: an even one would meet the same channels again and again.
        stride = (max(1, x.numel() // SAMPLES_PER_CALL) * self._thinned) | 1
        self.values = torch.cat([self.values, x.flatten()[::stride].float().cpu()])
        while len(self.values) > SAMPLES:
            self.values = self.values[::2].clone()
            self._thinned *= 2

    def range(self, bits: int, candidates: int) -> Range:
        """Return the range with the least loss over the sample and the extremes."""
        sample = torch.cat([self.values, torch.tensor([self.low, self.high])])
        grid = search(sample, bits, "tensor", symmetric=False, candidates=candidates)
        scale, zero_point = grid.scale.item(), grid.zero_point.item()
        low, high = (grid.low - zero_point) * scale, (grid.high - zero_point) * scale
        if not self._by_channel:
            return Range(low, high)
        channels = (tuple(t.tolist()) for t in (self.channel_low, self.channel_high))
        return Range(low, high, *channels)


class Calibration:
    """Record the inputs of every Linear and Conv2d while a UNet runs.

        with Calibration(unet) as calibration:
            for sample, t, text in templated_prompts:
                unet(sample, t, text)
        ranges = calibration.ranges()

    Every layer keeps its extremes and a regular sample of its values, a few hundred kilobytes.
    """

    def __init__(self, unet: nn.Module) -> None:
        """Prepare to observe `unet`, which is not changed."""
        self._unet = unet
        self._seen: dict[str, _Observed] = {}
        self._handles: list[RemovableHandle] = []

    def __enter__(self) -> Self:
        """Start observing."""
        for name, module in self._unet.named_modules():
            if isinstance(module, nn.Linear | nn.Conv2d):
                self._handles.append(module.register_forward_pre_hook(self._observer(name)))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop observing; what was recorded stays."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def ranges(self, bits: int = 8, *, candidates: int = RANGE_CANDIDATES) -> dict[str, Range]:
        """Return each layer's range with the least mean |x − x̂|^2.4 at `bits`.

        The search shrinks the extremes over all passes; the loss is taken over the sample.
        `candidates=1` returns the extremes.

        Raises:
            MissingRangeError: nothing was recorded.
        """
        if not self._seen:
            raise MissingRangeError("Nothing was recorded: run the UNet inside the with block.")
        return {name: self._seen[name].range(bits, candidates) for name in sorted(self._seen)}

    def _observer(self, name: str) -> Callable[[nn.Module, Any], None]:
        def observe(_: nn.Module, args: tuple[Tensor, ...]) -> None:
            by_channel = name.endswith(EQUALIZED_LAYERS)
            self._seen.setdefault(name, _Observed(by_channel=by_channel)).add(args[0].detach())

        return observe


def ranges_to_json(ranges: Mapping[str, Range]) -> dict[str, dict[str, Any]]:
    """Return the ranges as plain JSON values, by layer."""
    return {
        name: {key: value for key, value in asdict(ranges[name]).items() if value != ()}
        for name in sorted(ranges)
    }


def ranges_from_json(values: Mapping[str, Mapping[str, Any]]) -> dict[str, Range]:
    """Read what `ranges_to_json` wrote.

    Raises:
        TypeError: the values are of another form.
    """
    ranges = {}
    for name, entry in values.items():
        fields: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()
        }
        ranges[name] = Range(**fields)
    return ranges
