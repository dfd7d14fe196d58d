"""How codes lie in memory: one int8 per 8-bit code, two 4-bit codes per byte."""

from __future__ import annotations

from math import ceil, prod

import torch
from torch import Tensor

from personalq.taq.errors import RecipeError

PACKED_BITS = (4, 8)


def pack(codes: Tensor, bits: int) -> Tensor:
    """Pack integer codes (out, …).

    8 bits: codes −128…127 as int8 of the same shape. 4 bits: codes 0…15, flattened per output
    channel, the even one in the low half of the byte: uint8 (out, ⌈n / 2⌉).

    Raises:
        RecipeError: `bits` is neither 4 nor 8.
    """
    if bits == 8:
        return codes.to(torch.int8)
    if bits != 4:
        raise RecipeError(f"Weights are packed with 4 or 8 bits, not {bits}.")
    flat = codes.to(torch.uint8).flatten(1)
    if flat.shape[1] % 2:
        flat = torch.nn.functional.pad(flat, (0, 1))
    return flat[:, 0::2] | (flat[:, 1::2] << 4)


def unpack(packed: Tensor, bits: int, shape: tuple[int, ...]) -> Tensor:
    """Return the codes of `pack` as int8 of the given `shape` (out, …)."""
    if bits == 8:
        return packed.reshape(shape)
    halves = torch.stack((packed & 0x0F, packed >> 4), dim=-1).flatten(1)
    return halves[:, : prod(shape[1:])].reshape(shape).to(torch.int8)


def packed_shape(bits: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that `pack` gives codes of `shape`."""
    return shape if bits == 8 else (shape[0], ceil(prod(shape[1:]) / 2))


def packed_dtype(bits: int) -> torch.dtype:
    """Return the dtype that `pack` gives."""
    return torch.int8 if bits == 8 else torch.uint8
