"""Equations 2–3: what of attention is rounded, and what the trigger's tokens keep.

    K̃ = M ⊙ K + (1 − M) ⊙ Q(K)      Ṽ = M ⊙ V + (1 − M) ⊙ Q(V)      Q̃ = Q(Q)        (2)
    Ã = M ⊙ A + (1 − M) ⊙ Q(A)       A = softmax(Q̃ K̃ᵀ / √d)                           (3)

M is one at the text tokens of the trigger: it keeps their rows of K and V and their columns
of A. Q(·) is a uniform quantizer with one scale per row (token and head). Self-attention has no
text tokens; there M is zero, and V has one scale per channel and head instead, which leaves the sum
over tokens: Q(A) Q(V) is then a product of integers.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from personalq.taq import native
from personalq.taq.kernels import is_native_allowed
from personalq.taq.quantizers import code_limits

PIECE = 1 << 18  # attention scores worked on at a time: one MiB in float32


def protect(mask: Tensor, x: Tensor, x_q: Tensor) -> Tensor:
    """Return M ⊙ x + (1 − M) ⊙ x_q for a bool `mask` that broadcasts against `x`."""
    return torch.where(mask, x, x_q)


def quantize_rows(x: Tensor, bits: int | None) -> Tensor:
    """Return Q(x), one symmetric scale per row of `x` (…, rows, d); None returns `x`.

    Equal to `quantizers.round_trip(x, bits, "row")` in fewer passes: nothing can clip.
    """
    if bits is None:
        return x
    _, last = code_limits(bits, symmetric=True)
    return _round_to(x, x.abs().amax(-1, keepdim=True).float() / last)


def quantize_columns(x: Tensor, bits: int | None) -> Tensor:
    """Return Q(x), one symmetric scale per column of `x` (…, rows, d); None returns `x`."""
    if bits is None:
        return x
    _, last = code_limits(bits, symmetric=True)
    return _round_to(x, x.abs().amax(-2, keepdim=True).float() / last)


def quantize_probabilities(a: Tensor, bits: int | None) -> Tensor:
    """Return Q(A), A (…, queries, keys) ≥ 0: per row, 0 is the first code, the maximum the last."""
    if bits is None:
        return a
    _, last = code_limits(bits, symmetric=False)
    return _round_to(a, a.amax(-1, keepdim=True).float() / last)


def _round_to(x: Tensor, step: Tensor) -> Tensor:
    """Return `x` rounded to multiples of `step`; where all of a row is zero, so is the step.

    The step is float32, and so the arithmetic: 1/255 of an even attention over 4096 keys is
    below what float16 holds.
    """
    step = step.clamp(min=torch.finfo(torch.float32).tiny)
    return (x / step).round_().mul_(step).to(x.dtype)


def protect_rows(x: Tensor, mask: Tensor, bits: int | None) -> Tensor:
    """Return K̃ or Ṽ of equation 2: x (B, heads, T, d), mask (B, T)."""
    return x if bits is None else protect(mask[:, None, :, None], x, quantize_rows(x, bits))


def protect_columns(a: Tensor, mask: Tensor | None, bits: int | None) -> Tensor:
    """Return Ã of equation 3: a (…, N, T), mask (…, T) with the same leading dimensions or None."""
    a_q = quantize_probabilities(a, bits)
    return a_q if mask is None else protect(mask[..., None, :], a, a_q)


def attend_image(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    scale: float,
    row_bits: int | None,
    probability_bits: int | None,
    bias: Tensor | None = None,
) -> Tensor:
    """Return Q(A) Q(V) (B, heads, N, d) of self-attention, for Q, K, V (B, heads, N, d).

    Args:
        scale: 1 / √d.
        row_bits: bits of Q, K and V.
        probability_bits: bits of A. With None the probabilities are never written to memory.
        bias: added to the scores, broadcastable to (B, heads, N, N).
    """
    if bits := _native_bits(q, k, v, None, bias, row_bits, probability_bits):
        return native.attend_image(q, k, v, scale=scale, **bits)
    return _attend(
        quantize_rows(q, row_bits),
        quantize_rows(k, row_bits),
        quantize_columns(v, row_bits),
        None,
        scale=scale,
        probability_bits=probability_bits,
        bias=bias,
    )


def attend_text(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    *,
    scale: float,
    row_bits: int | None,
    probability_bits: int | None,
    bias: Tensor | None = None,
) -> Tensor:
    """Return Ã Ṽ (B, heads, N, d) for Q (B, heads, N, d) and K̃, Ṽ (B, heads, T, d).

    Args:
        mask: M, bool (B, T); None protects nothing.
        scale: 1 / √d.
        row_bits: bits of Q̃; K̃ and Ṽ come as they are to be used.
        probability_bits: bits of Ã. With None the probabilities are never written to memory.
        bias: added to the scores, broadcastable to (B, heads, N, T).
    """
    if bits := _native_bits(q, k, v, mask, bias, row_bits, probability_bits):
        return native.attend_text(q, k, v, mask, scale=scale, **bits)
    q = quantize_rows(q, row_bits)
    return _attend(q, k, v, mask, scale=scale, probability_bits=probability_bits, bias=bias)


def _native_bits(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    bias: Tensor | None,
    row_bits: int | None,
    probability_bits: int | None,
) -> dict[str, int]:
    """Return the bits that the C++ kernels are to be asked for, {} where they are not."""
    if row_bits and probability_bits and bias is None and is_native_allowed():
        bits = {"row_bits": row_bits, "probability_bits": probability_bits}
        if native.supports_attention(q, k, v, mask, **bits):
            return bits
    return {}


def _attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    *,
    scale: float,
    probability_bits: int | None,
    bias: Tensor | None,
) -> Tensor:
    """Return Ã V of Q, K and V as they are to be used."""
    if probability_bits is None:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=scale)
    batch, heads, queries, _ = q.shape
    tokens = k.shape[2]
    # One matrix per head from here on: (B · heads, …).
    q, k_t, v = (q * scale).flatten(0, 1), k.transpose(2, 3).flatten(0, 1), v.flatten(0, 1)
    if mask is not None:
        mask = mask.repeat_interleave(heads, dim=0)
    if bias is not None:
        bias = bias.expand(batch, heads, queries, tokens).flatten(0, 1)
    out = torch.empty_like(q)
    # In pieces: probabilities are read five times, and a whole image's do not fit the cache.
    for piece in _pieces(len(q), queries, tokens):
        scores = torch.bmm(q[piece], k_t[piece[0]])
        a = (scores if bias is None else scores + bias[piece]).softmax(-1)
        a = protect_columns(a, None if mask is None else mask[piece[0]], probability_bits)
        out[piece] = torch.bmm(a, v[piece[0]])
    return out.view(batch, heads, queries, -1)


def _pieces(matrices: int, rows: int, columns: int) -> Iterator[tuple[slice, slice]]:
    """Cut (matrices, rows, columns) scores into pieces of about `PIECE` values, whole rows each."""
    row_step = min(rows, max(1, PIECE // columns))
    matrix_step = max(1, PIECE // (rows * columns))
    for m in range(0, matrices, matrix_step):
        for r in range(0, rows, row_step):
            yield slice(m, m + matrix_step), slice(r, r + row_step)
