"""Linear layers whose weights lie in oneDNN's own layout.

A short text is a dozen rows: `torch.nn.Linear` then spends most of its time on a matrix kernel
made for large ones. With weights reordered once, the same float32 product takes about half the
time, and an embedding of one prompt with it (docs/scale.md).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

# torch.compile calls these operators as well, but offers no name for them.
# ruff: noqa: SLF001

#: Rows the layout is chosen for: the tokens of a usual prompt. Any number may come.
_ROWS = 16


class PackedLinear(nn.Module):
    """What a float32 `nn.Linear` on the CPU computes, for inference."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), _ROWS)
        self.bias = None if linear.bias is None else linear.bias.detach()

    def forward(self, x: Tensor) -> Tensor:
        """(…, in) to (…, out)."""
        product: Tensor = torch.ops.mkldnn._linear_pointwise(
            x, self.weight, self.bias, "none", [], ""
        )
        return product


def packed(linear: nn.Linear) -> nn.Module:
    """The layer packed; itself where it is not float32 on the CPU, or oneDNN is missing."""
    packable = linear.weight.device.type == "cpu" and linear.weight.dtype == torch.float32
    if packable and torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return PackedLinear(linear)
    return linear


def pack_linears(module: nn.Module) -> None:
    """Replaces every `nn.Linear` below `module` that can be packed."""
    for name, child in list(module.named_children()):
        if type(child) is nn.Linear:
            setattr(module, name, packed(child))
        else:
            pack_linears(child)
