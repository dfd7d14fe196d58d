"""Branches beside a layer: what a LoRA adds to its output, computed in float, merged nowhere."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.hooks import RemovableHandle

from personalq.taq.modules import QuantConv2d


class LowRankBranch(nn.Module):
    """s · B (A x) beside a Linear or Conv2d, quantized or not.

    Linear: down A (r, in), up B (out, r). Conv2d: down (r, in, kh, kw), up (out, r, 1, 1).
    """

    down: Tensor
    up: Tensor

    def __init__(self, layer: nn.Module, down: Tensor, up: Tensor, scale: float) -> None:
        """Take the factors over in the layer's geometry."""
        super().__init__()
        self.register_buffer("down", down, persistent=False)
        self.register_buffer("up", up, persistent=False)
        self.scale = scale
        self._conv = layer if isinstance(layer, nn.Conv2d | QuantConv2d) else None

    def __setattr__(self, name: str, value: Any) -> None:
        """Keep the carrying layer out of the module tree: it is the parent, not a part."""
        if name == "_conv":
            object.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)

    def forward(self, x: Tensor) -> Tensor:
        """Return what the branch adds to the layer's output for its input `x`."""
        down, up = self.down.to(x.dtype), self.up.to(x.dtype)
        conv = self._conv
        if conv is None:
            return F.linear(F.linear(x, down), up) * self.scale
        low = F.conv2d(x, down, None, conv.stride, conv.padding, conv.dilation)
        return F.conv2d(low, up) * self.scale


class KroneckerBranch(nn.Module):
    """s · (W₁ ⊗ W₂) x, W₁ (a, b) and W₂ (c, d, …) low-rank, beside a layer (a·c, b·d, …).

    The input is b groups of d channels: W₂ acts within each group, W₁ mixes the groups. The
    product itself, and a low-rank form of it, would be some hundred times as large.
    """

    down: Tensor
    up: Tensor

    def __init__(
        self, layer: nn.Module, left: tuple[Tensor, Tensor], right: LowRankBranch, scale: float
    ) -> None:
        """Take over W₁ as (down, up), and W₂ as the branch that it would be alone."""
        super().__init__()
        self.register_buffer("down", left[0], persistent=False)
        self.register_buffer("up", left[1], persistent=False)
        self.right = right
        self.scale = scale
        self._is_conv = isinstance(layer, nn.Conv2d | QuantConv2d)

    def forward(self, x: Tensor) -> Tensor:
        """Return what the branch adds to the layer's output for its input `x`."""
        down, up = self.down.to(x.dtype), self.up.to(x.dtype)
        groups = down.shape[1]
        if not self._is_conv:
            apart = x.reshape(*x.shape[:-1], groups, -1)  # (..., b, d)
            within = self.right(apart).transpose(-1, -2)  # (..., c, b)
            mixed = F.linear(F.linear(within, down), up).transpose(-1, -2)  # (..., a, c)
            return mixed.flatten(-2) * self.scale
        apart = x.reshape(x.shape[0] * groups, -1, *x.shape[2:])  # (B·b, d, H, W)
        low = self.right(apart)
        within = low.reshape(x.shape[0], groups, *low.shape[1:]).movedim(1, -1)  # (B, c, H, W, b)
        mixed = F.linear(F.linear(within, down), up).movedim(-1, 1)  # (B, a, c, H, W)
        return mixed.flatten(1, 2) * self.scale


class Branches(nn.ModuleList):
    """The branches of one layer, and the hook that adds them to its output."""

    hook: RemovableHandle
