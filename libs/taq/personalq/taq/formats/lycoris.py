"""LyCORIS' LoKr and LoHa, exactly, in products of small factors.

LoKr: ΔW = s · (W₁ ⊗ W₂), kept as the factors of W₁ and of W₂. LoHa: ΔW = s · (B₁A₁ ∘ B₂A₂), which
is of rank r₁r₂ with the columns b₁ ∘ b₂ and the rows a₁ ∘ a₂ of all pairs, or dense where that is
smaller. s = alpha / r, once, as in LyCORIS' training; a full W₁ beside a full W₂ has s = 1.

A convolution's rows are kept flat (in · kh · kw); they get their kernel when its layer is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from personalq.taq.errors import LoraError, UnknownKeysError
from personalq.taq.formats.low_rank import check_product, scale_of
from personalq.taq.formats.names import ALPHA
from personalq.taq.lora import Factors


def is_kronecker(tensors: Mapping[str, Tensor]) -> bool:
    """Tell whether a layer's tensors are LoKr's."""
    return any(role.startswith("lokr_") for role in tensors)


def is_hadamard(tensors: Mapping[str, Tensor]) -> bool:
    """Tell whether a layer's tensors are LoHa's."""
    return any(role.startswith("hada_") for role in tensors)


def kronecker(layer: str, tensors: Mapping[str, Tensor]) -> tuple[Factors, Factors]:
    """Return W₁ (a, b) and s · W₂ (c, d·kh·kw) of a LoKr of a layer (a·c, b·d, kh, kw).

    Raises:
        UnknownKeysError: a tensor of the layer is missing or has no meaning.
        LoraError: shapes or an alpha that make no Kronecker product.
    """
    used = {ALPHA}
    up1, down1, rank1 = _matrix(layer, tensors, "lokr_w1", None, used)
    up2, down2, rank2 = _matrix(layer, tensors, "lokr_w2", "lokr_t2", used)
    _refuse_others(layer, tensors, used)
    rank = rank1 or rank2
    scale = scale_of(layer, tensors[ALPHA], rank) if rank and ALPHA in tensors else 1.0
    return Factors(down1, up1, 1.0), Factors(down2, up2, scale)


def hadamard(layer: str, tensors: Mapping[str, Tensor]) -> Factors:
    """Return the change of a layer (out, in·kh·kw) from LoHa's tensors, in float32.

    Raises:
        UnknownKeysError: a tensor of the layer is missing or has no meaning.
        LoraError: shapes or an alpha that make no product of this kind.
    """
    used = {ALPHA}
    up1, down1, rank = _matrix(layer, tensors, "hada_w1", "hada_t1", used)
    up2, down2, _ = _matrix(layer, tensors, "hada_w2", "hada_t2", used)
    _refuse_others(layer, tensors, used)
    if up1.shape[0] != up2.shape[0] or down1.shape[1] != down2.shape[1]:
        raise LoraError(
            f"The two products of {layer} are of different sizes: {up1.shape[0]} x "
            f"{down1.shape[1]} and {up2.shape[0]} x {down2.shape[1]}."
        )
    scale = scale_of(layer, tensors[ALPHA], rank) if ALPHA in tensors else 1.0
    rows, columns, pairs = up1.shape[0], down1.shape[1], up1.shape[1] * up2.shape[1]
    # With an identity beside it, as there are two factors always.
    low, dense = pairs * (rows + columns), rows * columns + min(rows, columns) ** 2
    check_product(layer, min(low, dense), tensors)
    up1, down1, up2, down2 = (tensor.float() for tensor in (up1, down1, up2, down2))
    if low <= dense:
        up = torch.einsum("op,oq->opq", up1, up2).flatten(1)
        down = torch.einsum("pi,qi->pqi", down1, down2).flatten(0, 1)
        return Factors(down, up, scale)
    change, one = (up1 @ down1) * (up2 @ down2), torch.eye(min(rows, columns))
    return Factors(change, one, scale) if rows <= columns else Factors(one, change, scale)


def _matrix(
    layer: str, tensors: Mapping[str, Tensor], name: str, core: str | None, used: set[str]
) -> tuple[Tensor, Tensor, int]:
    """Return (rows, r), (r, columns) and the rank r of one matrix; rank 0 if it is stored whole.

    With a core (r, r, kh, kw) the first factor is stored transposed, and the core is multiplied
    into the second.
    """
    used |= {name, f"{name}_a", f"{name}_b", *([core] if core else [])}
    whole = tensors.get(name)
    if whole is not None:
        if whole.ndim not in (2, 4) or not whole.numel():
            raise LoraError(f"{name} of {layer} is no matrix: {tuple(whole.shape)}.")
        flat = whole.flatten(1)
        rows, columns = flat.shape
        if rows <= columns:
            return torch.eye(rows, dtype=flat.dtype), flat, 0
        return flat, torch.eye(columns, dtype=flat.dtype), 0
    first, second = tensors.get(f"{name}_a"), tensors.get(f"{name}_b")
    if first is None or second is None:
        raise UnknownKeysError(f"{layer} lacks {name}, or one of its factors {name}_a, {name}_b.")
    if core and core in tensors:
        return _with_core(layer, name, core, tensors)
    if first.ndim != 2 or second.ndim not in (2, 4) or first.shape[1] != second.shape[0]:
        raise LoraError(
            f"The factors {name} of {layer} have no common rank: {tuple(first.shape)}, "
            f"{tuple(second.shape)}."
        )
    return first, second.flatten(1), _rank(layer, name, first.shape[1])


def _with_core(
    layer: str, name: str, core_name: str, tensors: Mapping[str, Tensor]
) -> tuple[Tensor, Tensor, int]:
    first, second, core = (tensors[key] for key in (f"{name}_a", f"{name}_b", core_name))
    fits = (
        (first.ndim, second.ndim) == (2, 2)
        and core.ndim >= 2
        and core.shape[:2] == (first.shape[0], second.shape[0])
    )
    if not fits:
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in (first, second, core))
        raise LoraError(f"The factors {name} of {layer} do not fit their core: {shapes}.")
    numbers = first.shape[0] * second.shape[1] * math.prod(core.shape[2:])
    check_product(layer, numbers, tensors)
    down = torch.einsum("ij...,jn->in...", core.float(), second.float())
    return first.t(), down.flatten(1), _rank(layer, name, first.shape[0])


def _rank(layer: str, name: str, rank: int) -> int:
    if not rank:
        raise LoraError(f"The factors {name} of {layer} have rank 0.")
    return rank


def _refuse_others(layer: str, tensors: Mapping[str, Tensor], used: set[str]) -> None:
    if others := sorted(tensors.keys() - used):
        raise UnknownKeysError(f"{layer} has {', '.join(others)} besides.")
