"""Linear and Conv2d with rounded inputs, and the clock that tells them the denoising step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.hooks import RemovableHandle

from personalq.taq.simulation.rounders import Exactly, Rounder


class Clock:
    """Knows at which denoising step a UNet runs: the index of the nearest of its timesteps."""

    def __init__(self, timesteps: Sequence[float]) -> None:
        """Take the sampler's timesteps, in the order in which they come."""
        self.timesteps = torch.tensor([float(t) for t in timesteps])
        self.step = 0

    def attach(self, unet: nn.Module) -> RemovableHandle:
        """Follow `unet` from now on; remove the returned handle to stop."""
        return unet.register_forward_pre_hook(self._read, with_kwargs=True)

    def _read(self, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        timestep = kwargs["timestep"] if "timestep" in kwargs else args[1]
        first = torch.as_tensor(timestep).flatten()[0].float().cpu()
        self.step = int((self.timesteps - first).abs().argmin())


class Simulated(nn.Module):
    """What both layers share: a rounder for the input."""

    rounder: Rounder
    clock: Clock

    def rounded(self, x: Tensor) -> Tensor:
        """Return x̂."""
        return self.rounder(x, self.clock.step)

    @contextmanager
    def unrounded(self) -> Iterator[None]:
        """Take inputs as they are, within the block."""
        rounder, self.rounder = self.rounder, Exactly()
        try:
            yield
        finally:
            self.rounder = rounder


class SimulatedLinear(Simulated, nn.Linear):
    """y = x̂ Ŵᵀ + b with x (…, in)."""

    def forward(self, x: Tensor) -> Tensor:
        """Return (…, out)."""
        return F.linear(self.rounded(x), self.weight, self.bias)


class SimulatedConv2d(Simulated, nn.Conv2d):
    """y = x̂ ∗ Ŵ + b with x (B, in, H, W)."""

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, out, H', W')."""
        y: Tensor = self._conv_forward(self.rounded(x), self.weight, self.bias)
        return y


def simulated(layer: nn.Linear | nn.Conv2d, rounder: Rounder, clock: Clock) -> Simulated:
    """Turn `layer` into one that rounds its input, in place: its weights stay its own."""
    kind = SimulatedLinear if isinstance(layer, nn.Linear) else SimulatedConv2d
    layer.__class__ = kind
    changed = cast(Simulated, layer)
    changed.rounder, changed.clock = rounder, clock
    return changed


def own_channels(shortcut: str, unet: nn.Module) -> int:
    """Return how many channels of a shortcut's input are the block's own, before the skip's."""
    block, _, rest = shortcut.partition(".resnets.")
    index = int(rest.split(".")[0])
    if not block.startswith("up_blocks."):
        whole: Any = unet.get_submodule(shortcut)
        return int(whole.in_channels)
    before, position = block, index - 1
    if not index:
        number = int(block.removeprefix("up_blocks."))
        before, position = f"up_blocks.{number - 1}" if number else "mid_block", -1
    blocks: Any = unet.get_submodule(f"{before}.resnets")
    return int(blocks[position].conv2.out_channels)
