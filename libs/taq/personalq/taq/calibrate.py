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
from personalq.taq.ranges import fitted_range, sample, thinned
from personalq.taq.recipe import equalized

SAMPLES = 1 << 15  # values kept of one layer's input over all forward passes, at most


@dataclass(frozen=True)
class Range:
    """The interval that a layer's input codes cover, in the units of the input."""

    low: float  # ≤ 0
    high: float  # ≥ 0
    #: the extremes of each input channel, for layers whose channels are equalized
    channel_low: tuple[float, ...] = ()
    channel_high: tuple[float, ...] = ()


class _Observed:
    """What is remembered of one layer's input: a sample, and the extremes of its channels."""

    def __init__(self, channel_dim: int | None) -> None:
        self._channel_dim = channel_dim  # None: extremes by channel are not kept
        self.channel_low = self.channel_high = torch.zeros(())
        self.values = self.counts = torch.empty(0)

    def add(self, x: Tensor) -> None:
        """Remember `x`."""
        if self._channel_dim is not None:
            rest = [dim for dim in range(x.ndim) if dim != self._channel_dim % x.ndim]
            self.channel_low = self.channel_low.minimum(x.amin(rest).float().cpu())
            self.channel_high = self.channel_high.maximum(x.amax(rest).float().cpu())
        values, counts = sample(x)
        self.values = torch.cat([self.values, values])
        self.counts = torch.cat([self.counts, counts])
        if len(self.values) > SAMPLES:
            self.values, self.counts = thinned(self.values, self.counts)

    def range(self, bits: int) -> Range:
        """Return the range with the least loss over the sample."""
        low, high = fitted_range(self.values, self.counts, bits)
        if self._channel_dim is None:
            return Range(low, high)
        channels = (tuple(t.tolist()) for t in (self.channel_low, self.channel_high))
        return Range(low, high, *channels)


class Calibration:
    """Record the inputs of every Linear and Conv2d while a UNet runs.

        with Calibration(unet) as calibration:
            for sample, t, text in templated_prompts:
                unet(sample, t, text)
        ranges = calibration.ranges()

    Every layer keeps a sample of its values with their tails, a few hundred kilobytes.
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

    def ranges(self, bits: int = 8) -> dict[str, Range]:
        """Return each layer's range with the least mean |x − x̂|^2.4 at `bits`.

        Each end is searched for itself, inwards from the largest and smallest value of the sample.

        Raises:
            MissingRangeError: nothing was recorded, or numbers that no range covers.
        """
        if not self._seen:
            raise MissingRangeError("Nothing was recorded: run the UNet inside the with block.")
        for name, seen in self._seen.items():  # in the order they ran: the first is to blame
            if not bool(seen.values.isfinite().all()):
                raise MissingRangeError(
                    f"{name} was given numbers that are infinite or no numbers: no range covers "
                    "them."
                )
        return {name: self._seen[name].range(bits) for name in sorted(self._seen)}

    def _observer(self, name: str) -> Callable[[nn.Module, Any], None]:
        def observe(layer: nn.Module, args: tuple[Tensor, ...]) -> None:
            channel_dim = 1 if isinstance(layer, nn.Conv2d) else -1
            kept = channel_dim if equalized(name) else None
            self._seen.setdefault(name, _Observed(kept)).add(args[0].detach())

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
