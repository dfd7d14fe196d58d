"""What every rounded tensor looks like in full precision: extremes and samples, by step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from personalq.taq.attention import is_attention
from personalq.taq.errors import MissingRangeError
from personalq.taq.quantize import text_projections
from personalq.taq.ranges import fitted_range, sample, shrunk_range
from personalq.taq.recipe import SHORTCUT
from personalq.taq.rounding import UNetCall
from personalq.taq.simulation.attention import REST, observed_attention
from personalq.taq.simulation.layers import Clock, own_channels

#: end the names of points that are a block's own channels and its skip's, in a shortcut's input
HALVES = (".own", ".skip")
MOMENTUM = 0.95  # of the running extremes, as in Q-Diffusion and TFMQ-DM


@dataclass
class Observation:
    """One tensor at one step; what is kept of it lies on the CPU."""

    #: running extremes over calls
    low: float = 0.0
    high: float = 0.0
    #: extremes over all calls of each index of a dimension: −1 (channels of a Linear's input), −2
    #: (tokens) or 1 (channels of a picture)
    by_index: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)
    #: a regular sample and the tails, and how many values each of them stands for
    values: list[Tensor] = field(default_factory=list)
    counts: list[Tensor] = field(default_factory=list)

    def add(self, x: Tensor, dims: tuple[int, ...]) -> None:
        """Remember `x`, and the extremes of each index of its dimensions `dims`."""
        low, high = (t.item() for t in x.aminmax())
        keep = MOMENTUM if self.values else 0.0
        self.low = keep * self.low + (1 - keep) * min(low, 0.0)
        self.high = keep * self.high + (1 - keep) * max(high, 0.0)
        values, counts = sample(x)
        self.values.append(values)
        self.counts.append(counts)
        for dim in dims:
            rest = [d for d in range(x.ndim) if d != dim % x.ndim]
            now = x.amin(rest).cpu(), x.amax(rest).cpu()
            before = self.by_index.get(dim, now)
            self.by_index[dim] = (now[0].minimum(before[0]), now[1].maximum(before[1]))


class Observations:
    """All tensors of a UNet at all steps. A point is a layer's name, or `<attention>.q|k|v|a`.

    What has the text's tokens is seen a second time without the first, at `<point>.rest`, and the
    input of a shortcut by its halves, at `<layer>.own` and `<layer>.skip`.
    """

    def __init__(self, timesteps: Sequence[float]) -> None:
        """Take the sampler's timesteps."""
        self.timesteps = tuple(float(t) for t in timesteps)
        self._points: dict[str, list[Observation]] = {}
        self._searched: dict[tuple[str, int], tuple[float, float]] = {}
        self._fitted: dict[tuple[str, int, bool], list[tuple[float, float]]] = {}

    def add(self, point: str, step: int, x: Tensor, dims: tuple[int, ...]) -> None:
        """Remember `x`, seen at `point`, with the extremes by index of its dimensions `dims`."""
        by_step = self._points.setdefault(point, [Observation() for _ in self.timesteps])
        by_step[step].add(x.detach().float(), dims)

    def at(self, point: str) -> list[Observation]:
        """Return what was seen at each step.

        Raises:
            MissingRangeError: nothing was seen there at some step.
        """
        seen = self._points.get(point, [])
        if not seen or not all(step.values for step in seen):
            raise MissingRangeError(f"{point} was not observed at every step; calibrate all steps.")
        return seen

    def ranges(self, point: str) -> list[tuple[float, float]]:
        """Return the running extremes at each step."""
        return [(step.low, step.high) for step in self.at(point)]

    def fitted(self, point: str, bits: int, *, by_step: bool) -> list[tuple[float, float]]:
        """Return the range with the least mean |x − x̂|^2.4, both ends searched, or one a step."""
        key = (point, bits, by_step)
        if key not in self._fitted:
            seen = self.at(point)
            groups = [[step] for step in seen] if by_step else [seen]
            self._fitted[key] = [fitted_range(*_values(group), bits) for group in groups]
        return self._fitted[key]

    def search(self, *widths: int) -> Observations:
        """Find the ranges of every point at some bits now, rather than when they are asked for."""
        for point in self._points:
            for bits in widths:
                self.searched(point, bits)
                self.fitted(point, bits, by_step=False)
        return self

    def searched(self, point: str, bits: int) -> tuple[float, float]:
        """Return the one range with the least mean |x − x̂|^2.4 over all steps (BRECQ)."""
        if (point, bits) not in self._searched:
            self._searched[point, bits] = shrunk_range(*_values(self.at(point)), bits)
        return self._searched[point, bits]


def _values(steps: Sequence[Observation]) -> tuple[Tensor, Tensor]:
    """Return what was seen at all of `steps`, and how many values each stands for."""
    return (
        torch.cat([values for step in steps for values in step.values]),
        torch.cat([counts for step in steps for counts in step.counts]),
    )


@torch.no_grad()
def observe(unet: nn.Module, calls: Iterable[UNetCall], timesteps: Sequence[float]) -> Observations:
    """Run `unet`, which is left as it was, and return what its tensors were.

    Args:
        calls: inputs from full-precision trajectories, all of `timesteps` among them.
    """
    model: Any = unet
    seen, clock = Observations(timesteps), Clock(timesteps)
    before, text_layers = model.attn_processors, text_projections(unet)

    def tap(point: str, x: Tensor, dims: tuple[int, ...]) -> None:
        seen.add(point, clock.step, x, dims)

    with ExitStack() as stack:
        stack.callback(lambda: model.set_attn_processor(before))
        stack.callback(clock.attach(unet).remove)
        for name, module in unet.named_modules():
            if is_attention(module):
                processor: Any = observed_attention(name, module, clock, tap)
                module.set_processor(processor)
            if isinstance(module, nn.Linear | nn.Conv2d):

                def watch(layer: nn.Module, args: tuple[Tensor, ...], name: str = name) -> None:
                    x = args[0]
                    is_conv = isinstance(layer, nn.Conv2d)
                    tap(name, x, (1,) if is_conv else (-1, -2)[: x.ndim - 1])
                    if name in text_layers:
                        tap(name + REST, x[:, 1:], (-1, -2))
                    if name.endswith(SHORTCUT):
                        parts = x.tensor_split([own_channels(name, unet)], dim=1)
                        for half, part in zip(HALVES, parts, strict=True):
                            if part.shape[1]:
                                tap(name + half, part, ())

                stack.callback(module.register_forward_pre_hook(watch).remove)
        for call in calls:
            call.run(unet)
    return seen
