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
from personalq.taq.quantizers import RANGE_CANDIDATES, RANGE_NORM, code_limits
from personalq.taq.rounding import UNetCall
from personalq.taq.simulation.attention import REST, observed_attention
from personalq.taq.simulation.layers import SHORTCUT, Clock, own_channels
from personalq.taq.simulation.rounders import TINY

SAMPLES = 512  # values kept of one tensor, one step and one call
#: end the names of points that are a block's own channels and its skip's, in a shortcut's input
HALVES = (".own", ".skip")
SIDE_CANDIDATES = 16  # of each end of a fitted range
SIDE_RATIO = 0.85  # from one candidate to the next
TAIL = 64  # of the largest, and of the smallest
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
        self._sample(x.flatten())
        for dim in dims:
            rest = [d for d in range(x.ndim) if d != dim % x.ndim]
            now = x.amin(rest).cpu(), x.amax(rest).cpu()
            before = self.by_index.get(dim, now)
            self.by_index[dim] = (now[0].minimum(before[0]), now[1].maximum(before[1]))

    def _sample(self, flat: Tensor) -> None:
        """Keep every so many values, and the tails whole: a sample would miss or overstate them."""
        stride = max(1, flat.numel() // SAMPLES) | 1
        tail = min(TAIL, flat.numel() // 2)
        top, bottom = flat.topk(tail).values, flat.topk(tail, largest=False).values
        sample = flat[::stride]
        if tail:
            sample = sample[(sample <= top[-1]) & (sample >= bottom[-1])]
        sample = sample.cpu()
        self.values.append(torch.cat([sample, top.cpu(), bottom.cpu()]))
        counts = [torch.full_like(sample, stride), torch.ones(2 * tail)]
        self.counts.append(torch.cat(counts))


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
            self._fitted[key] = [fitted(group, bits) for group in groups]
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
            self._searched[point, bits] = searched(self.at(point), bits)
        return self._searched[point, bits]


def searched(steps: Sequence[Observation], bits: int) -> tuple[float, float]:
    """Return the range (low ≤ 0, high ≥ 0) that rounds what was seen to `bits` best.

    Ranges are shrunk from the extremes as in `quantizers.search`; here values have counts.
    """
    seen = _Seen(steps, bits)
    shrunk = [1 - 0.01 * i for i in range(RANGE_CANDIDATES)]
    return seen.best((seen.low * keep, seen.high * keep) for keep in shrunk)


def fitted(steps: Sequence[Observation], bits: int) -> tuple[float, float]:
    """Return the range that rounds what was seen best, low and high searched each for itself.

    What follows a SiLU lies between −0.28 and some large value. A search that shrinks both ends
    alike gives up the negative values long before it reaches the best high.
    """
    seen = _Seen(steps, bits)
    sides = [SIDE_RATIO**i for i in range(SIDE_CANDIDATES)]
    return seen.best((seen.low * a, seen.high * b) for a in sides for b in sides)


class _Seen:
    """Values with counts, and what ranges make of them."""

    def __init__(self, steps: Sequence[Observation], bits: int) -> None:
        self._values = torch.cat([v for step in steps for v in step.values])
        self._counts = torch.cat([c for step in steps for c in step.counts])
        _, self._last = code_limits(bits, symmetric=False)
        self.low = min(self._values.min().item(), 0.0)
        self.high = max(self._values.max().item(), 0.0)

    def best(self, ranges: Iterable[tuple[float, float]]) -> tuple[float, float]:
        """Return the range with the least mean |x − x̂|^2.4, as its grid covers it."""
        grids = {self._grid(low, high) for low, high in ranges}
        scale, zero = min(sorted(grids), key=lambda grid: self._loss(*grid))
        return -zero * scale, (self._last - zero) * scale

    def _grid(self, low: float, high: float) -> tuple[float, int]:
        scale = max((high - low) / self._last, TINY)
        return scale, min(max(round(-low / scale), 0), self._last)

    def _loss(self, scale: float, zero: int) -> float:
        rounded = torch.fake_quantize_per_tensor_affine(self._values, scale, zero, 0, self._last)
        error = rounded.sub_(self._values).abs_().pow_(RANGE_NORM)
        return float(error @ self._counts)


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
