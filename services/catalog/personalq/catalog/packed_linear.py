"""Linear layers whose weights lie in oneDNN's own layout.

A short text is a dozen rows: `torch.nn.Linear` then spends most of its time on a matrix kernel
made for large ones. With weights reordered once, the same product takes about half the time, and an
embedding of one prompt with it (docs/scale.md). Where the processor multiplies bfloat16 itself,
weights and inputs are rounded to it and half as much is read again; sums stay float32.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

# torch.compile calls these operators as well, but offers no name for them.
# ruff: noqa: SLF001

#: Rows the layout is chosen for: the tokens of a usual prompt. Any number may come.
_ROWS = 16


def number_format() -> torch.dtype:
    """What products are computed in: bfloat16 where it is the processor's own, else float32."""
    own = torch.cpu.get_capabilities()
    return torch.bfloat16 if own.get("avx512_bf16") or own.get("amx_bf16") else torch.float32


class PackedLinear(nn.Module):
    """What a float32 `nn.Linear` on the CPU computes, for inference; to 3 digits in bfloat16."""

    def __init__(self, linear: nn.Linear, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        weight = linear.weight.detach().to(dtype)
        self.weight = torch.ops.mkldnn._reorder_linear_weight(weight, _ROWS)
        self.bias = None if linear.bias is None else linear.bias.detach().to(dtype)
        self._dtype = dtype

    def forward(self, x: Tensor) -> Tensor:
        """(…, in) to (…, out), float32 both."""
        product: Tensor = torch.ops.mkldnn._linear_pointwise(
            x.to(self._dtype), self.weight, self.bias, "none", [], ""
        )
        return product.float()


def packed(linear: nn.Linear, dtype: torch.dtype = torch.float32) -> nn.Module:
    """The layer packed; itself where it is not float32 on the CPU, or oneDNN is missing."""
    packable = linear.weight.device.type == "cpu" and linear.weight.dtype == torch.float32
    if packable and torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return PackedLinear(linear, dtype)
    return linear


def pack_linears(module: nn.Module, dtype: torch.dtype = torch.float32) -> None:
    """Replaces every `nn.Linear` below `module` that can be packed."""
    for name, child in list(module.named_children()):
        if type(child) is nn.Linear:
            setattr(module, name, packed(child, dtype))
        else:
            pack_linears(child, dtype)
