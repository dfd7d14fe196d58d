"""Packed linear layers compute what the layers they replace compute."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from personalq.catalog.packed_linear import PackedLinear, pack_linears

pytestmark = pytest.mark.skipif(
    not torch.backends.mkldnn.is_available(),  # type: ignore[no-untyped-call]
    reason="oneDNN is not part of this torch",
)


class Block(nn.Module):
    """Linear layers, nested and of two types."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(24, 48), nn.Linear(48, 24, bias=False)])
        self.narrow = nn.Linear(24, 24).bfloat16()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The float32 layers, one after the other."""
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x


@pytest.mark.parametrize("shape", [(1, 1, 24), (1, 11, 24), (32, 60, 24), (7, 24)])
def test_the_same_numbers_for_any_number_of_rows(shape: tuple[int, ...]) -> None:
    """A prompt, a batch of cards, an unusual shape."""
    torch.manual_seed(0)
    block = Block().eval()
    x = torch.randn(shape)
    with torch.inference_mode():
        expected = block(x)
        pack_linears(block)
        torch.testing.assert_close(block(x), expected, rtol=1e-5, atol=1e-6)


def test_only_float32_layers_on_the_cpu_are_packed() -> None:
    """Others stay what they were."""
    block = Block()
    pack_linears(block)
    assert all(isinstance(layer, PackedLinear) for layer in block.layers)
    assert type(block.narrow) is nn.Linear
