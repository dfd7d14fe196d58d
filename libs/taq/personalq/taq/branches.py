"""Branches beside a layer: what a LoRA adds to its output, computed in float, merged nowhere."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.hooks import RemovableHandle


class LowRankBranch(nn.Module):
    """s · B (A x) beside a Linear or Conv2d, quantized or not.

    Linear: down A (r, in), up B (out, r). Conv2d: down (r, in, kh, kw), up (out, r, 1, 1).
    """

    down: Tensor
    up: Tensor
    _layer: Any

    def __init__(self, layer: nn.Module, down: Tensor, up: Tensor, scale: float) -> None:
        """Take the factors over; those of a convolution act in the layer's geometry."""
        super().__init__()
        self.register_buffer("down", down, persistent=False)
        self.register_buffer("up", up, persistent=False)
        self.scale = scale
        self._layer = layer

    def __setattr__(self, name: str, value: Any) -> None:
        """Keep the carrying layer out of the module tree: it is the parent, not a part."""
        if name == "_layer":
            object.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)

    def forward(self, x: Tensor) -> Tensor:
        """Return what the branch adds to the layer's output for its input `x`."""
        down, up, layer = self.down.to(x.dtype), self.up.to(x.dtype), self._layer
        if down.ndim == 2:
            return F.linear(F.linear(x, down), up) * self.scale
        low = F.conv2d(x, down, None, layer.stride, layer.padding, layer.dilation)
        return F.conv2d(low, up) * self.scale


class KroneckerBranch(LowRankBranch):
    """s · (W₁ ⊗ W₂) x, W₁ (a, b) and W₂ (c, d, …) low-rank, beside a layer (a·c, b·d, …).

    The input is b groups of d channels: W₂ acts within each group, W₁, whose factors are `down`
    and `up`, mixes the groups. The product, and a low-rank form of it, would be some hundred
    times as large.
    """

    def __init__(
        self,
        layer: nn.Module,
        left: tuple[Tensor, Tensor],
        right: LowRankBranch,
        kernel: tuple[int, ...],
    ) -> None:
        """Take over W₁ as (down, up), and s · W₂ as the branch that it would be alone.

        Args:
            right: beside a convolution either a convolution itself, or flat where a group does
                not end with a channel: then of the rows (in · kh · kw) that the kernel sees.
            kernel: (kh, kw) of a convolution, () of a Linear.
        """
        super().__init__(layer, *left, 1.0)
        self.right = right
        self._kernel = kernel

    def forward(self, x: Tensor) -> Tensor:
        """Return what the branch adds to the layer's output for its input `x`."""
        layer, kernel, groups = self._layer, self._kernel, self.down.shape[1]
        if not kernel:
            within = self.right(x.reshape(*x.shape[:-1], groups, -1))  # (..., b, c)
            return self._mixed(within.mT).mT.flatten(-2)
        if self.right.down.ndim == 4:
            low = self.right(x.reshape(x.shape[0] * groups, -1, *x.shape[2:]))  # (B·b, c, H, W)
            within = low.reshape(x.shape[0], groups, *low.shape[1:]).movedim(1, -1)
            return self._mixed(within).movedim(-1, 1).flatten(1, 2)  # (B, a·c, H, W)
        seen = F.unfold(x, kernel, layer.dilation, layer.padding, layer.stride).mT  # (B, H·W, in·k)
        within = self.right(seen.reshape(*seen.shape[:-1], groups, -1))  # (B, H·W, b, c)
        flat = self._mixed(within.mT).mT.flatten(-2).mT  # (B, a·c, H·W)
        reach = layer.dilation[0] * (kernel[0] - 1) + 1
        height = (x.shape[2] + 2 * int(layer.padding[0]) - reach) // int(layer.stride[0]) + 1
        return flat.reshape(*flat.shape[:2], height, -1)

    def _mixed(self, x: Tensor) -> Tensor:
        """Return W₁ x for x (..., b)."""
        return F.linear(F.linear(x, self.down.to(x.dtype)), self.up.to(x.dtype))


class Branches(nn.ModuleList):
    """The branches of one layer, and the hook that adds them to its output."""

    hook: RemovableHandle
