"""Codes in bytes and back."""

from __future__ import annotations

import pytest
import torch

from personalq.taq import RecipeError
from personalq.taq.packing import pack, packed_dtype, packed_shape, unpack


@pytest.mark.parametrize("shape", [(3, 8), (3, 7), (2, 3, 3, 3), (1, 1)], ids=str)
@pytest.mark.parametrize("bits", [4, 8])
def test_codes_survive_packing(shape: tuple[int, ...], bits: int) -> None:
    """Every code comes back, also where a row has an odd number of them."""
    low, high = (0, 16) if bits == 4 else (-127, 128)
    codes = torch.randint(low, high, shape, generator=torch.Generator().manual_seed(0))
    packed = pack(codes.float(), bits)
    assert tuple(packed.shape) == packed_shape(bits, shape)
    assert packed.dtype == packed_dtype(bits)
    assert torch.equal(unpack(packed, bits, shape), codes.to(torch.int8))


def test_two_codes_share_a_byte_the_even_one_below() -> None:
    """The layout on disk is fixed: 0x21 holds 1, then 2."""
    assert pack(torch.tensor([[1, 2, 15]]), 4).tolist() == [[0x21, 0x0F]]


def test_other_widths_are_refused() -> None:
    """Weights have 4 or 8 bits."""
    with pytest.raises(RecipeError):
        pack(torch.zeros(2, 2), 6)
