"""Trigger-masked attention: equations 2–3 and the diffusers processor that computes them.

    K̃ = M ⊙ K + (1 − M) ⊙ Q(K)      Ṽ = M ⊙ V + (1 − M) ⊙ Q(V)      Q̃ = Q(Q)        (2)
    Ã = M ⊙ A + (1 − M) ⊙ Q(A)       A = softmax(Q̃ K̃ᵀ / √d)                           (3)

M is one at the text tokens of the trigger: it keeps their rows of K and V and their columns
of A. Q(·) is a uniform quantizer with one scale per row (token and head). Self-attention has no
text tokens; there M is zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from personalq.taq.errors import ContextError, WidthMismatchError
from personalq.taq.quantizers import code_limits
from personalq.taq.recipe import Recipe

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


def attend(
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
    q = quantize_rows(q, row_bits)
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


@dataclass(frozen=True)
class TextContext:
    """The text of a batch of prompts as a quantized UNet attends to it: K̃, Ṽ and M.

    Computed once per prompt; denoising steps, seeds and both halves of guidance reuse it, since
    text keys and values depend on neither the time nor the image. K̃ and Ṽ are held as the
    values they stand for, not as codes: they are under 1 % of a UNet's memory.
    """

    keys: dict[str, Tensor]  # cross-attention layer → K̃ (B, heads, T, d)
    values: dict[str, Tensor]  # the same for Ṽ
    mask: Tensor  # M, bool (B, T)

    @classmethod
    @torch.no_grad()
    def project(
        cls, unet: nn.Module, encoder_hidden_states: Tensor, trigger_mask: Tensor | None = None
    ) -> TextContext:
        """Return the context of B prompts for a UNet that `quantize_` or `load_unet_` prepared.

        Args:
            encoder_hidden_states: the text encoder's output, float (B, T, D).
            trigger_mask: M, bool (B, T); None protects nothing.

        Raises:
            ContextError: the UNet has no trigger-aware cross-attention, or the shapes differ.
            WidthMismatchError: D is not the width that the UNet was made for.
        """
        batch, tokens, _ = encoder_hidden_states.shape
        mask = _mask_like(encoder_hidden_states, trigger_mask)
        if mask.shape != (batch, tokens):
            raise ContextError(
                f"trigger_mask is {tuple(mask.shape)}, the text {(batch, tokens)} in (B, T)."
            )
        keys: dict[str, Tensor] = {}
        values: dict[str, Tensor] = {}
        for attn in unet.modules():
            processor = getattr(attn, "processor", None)
            if isinstance(processor, TriggerAttention) and processor.is_cross:
                k, v = processor.project_text(attn, encoder_hidden_states, mask)
                keys[processor.name], values[processor.name] = k, v
        if not keys:
            raise ContextError(
                "The UNet has no trigger-aware cross-attention; call quantize_ first."
            )
        return cls(keys, values, mask)

    @classmethod
    def cat(cls, contexts: Sequence[TextContext]) -> TextContext:
        """Return one batch of several, in order; prompts must have the same number of tokens.

        Raises:
            ContextError: no context, or contexts of different UNets or lengths.
        """
        if not contexts:
            raise ContextError("There is no context to concatenate.")
        first = contexts[0]
        for other in contexts[1:]:
            if other.keys.keys() != first.keys.keys() or other.tokens != first.tokens:
                raise ContextError("Contexts of different UNets or token counts cannot be batched.")
        return cls(
            {name: torch.cat([c.keys[name] for c in contexts]) for name in first.keys},
            {name: torch.cat([c.values[name] for c in contexts]) for name in first.values},
            torch.cat([c.mask for c in contexts]),
        )

    def __len__(self) -> int:
        """Return the number of prompts B."""
        return int(self.mask.shape[0])

    def __getitem__(self, rows: int | slice | Sequence[int]) -> TextContext:
        """Return the context of some of the prompts; the batch dimension stays."""
        index: Any = slice(rows, rows + 1 or None) if isinstance(rows, int) else rows
        if isinstance(index, Sequence):
            index = list(index)
        return TextContext(
            {name: k[index] for name, k in self.keys.items()},
            {name: v[index] for name, v in self.values.items()},
            self.mask[index],
        )

    @property
    def tokens(self) -> int:
        """The number of text tokens T."""
        return int(self.mask.shape[1])

    @property
    def size_bytes(self) -> int:
        """The memory that the context holds, in bytes."""
        held = [*self.keys.values(), *self.values.values(), self.mask]
        return sum(t.numel() * t.element_size() for t in held)

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> TextContext:
        """Return the context on `device`, K̃ and Ṽ in `dtype` (None: as they are)."""
        return TextContext(
            {name: k.to(device, dtype or k.dtype) for name, k in self.keys.items()},
            {name: v.to(device, dtype or v.dtype) for name, v in self.values.items()},
            self.mask.to(device),
        )


@dataclass(frozen=True)
class TriggerAttention:
    """Attention processor for diffusers' `Attention`: equations 2–3 in cross-attention.

    diffusers hands `cross_attention_kwargs={"text": context}` to every processor whose call
    names the argument. Without a context, keys and values come from `encoder_hidden_states` on
    every call and no token is protected.
    """

    name: str  # the layer, as in `unet.named_modules()`
    is_cross: bool
    row_bits: int | None  # bits of Q, K, V; None: full precision
    probability_bits: int | None  # bits of A; None: full precision

    def __call__(
        self,
        attn: Any,
        hidden_states: Tensor,
        encoder_hidden_states: Tensor | None = None,
        attention_mask: Tensor | None = None,
        temb: Tensor | None = None,
        text: TextContext | None = None,
        **_: Any,
    ) -> Tensor:
        """Return the layer's output in the shape of `hidden_states` (B, N, C) or (B, C, H, W).

        Raises:
            ContextError: `text` has another batch size or belongs to another UNet.
        """
        residual = hidden_states
        if attn.spatial_norm is not None:
            hidden_states = attn.spatial_norm(hidden_states, temb)
        as_image = hidden_states.ndim == 4
        if as_image:
            hidden_states = hidden_states.flatten(2).transpose(1, 2)  # (B, N, C)
        if attn.group_norm is not None:
            hidden_states = attn.group_norm(hidden_states.transpose(1, 2)).transpose(1, 2)

        k, v, mask = self._keys_values(attn, hidden_states, encoder_hidden_states, text)
        q = _normed(attn.norm_q, _split_heads(attn.to_q(hidden_states), attn.heads))
        bias = _score_bias(attn, attention_mask, len(hidden_states), k.shape[2])
        out = self._attend(q, k, v, mask, scale=attn.scale, bias=bias)
        out = out.transpose(1, 2).flatten(2).to(hidden_states.dtype)  # (B, N, heads · d)
        out = attn.to_out[1](attn.to_out[0](out))

        if as_image:
            out = out.transpose(1, 2).reshape(residual.shape)
        if attn.residual_connection:
            out = out + residual
        return cast(Tensor, out / attn.rescale_output_factor)

    def project_text(self, attn: Any, text: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return K̃, Ṽ (B, heads, T, d) of text states (B, T, D) under M (B, T), equation 2.

        Raises:
            WidthMismatchError: D is not the width of the layer.
        """
        if text.shape[-1] != attn.to_k.in_features:
            raise WidthMismatchError(
                f"The text is {text.shape[-1]} wide, "
                f"the UNet's cross-attention {attn.to_k.in_features}."
            )
        if attn.norm_cross:
            text = attn.norm_encoder_hidden_states(text)
        k = _normed(attn.norm_k, _split_heads(attn.to_k(text), attn.heads))
        v = _split_heads(attn.to_v(text), attn.heads)
        return protect_rows(k, mask, self.row_bits), protect_rows(v, mask, self.row_bits)

    def _attend(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, *, scale: float, bias: Any
    ) -> Tensor:
        """Return Ã Ṽ (B, heads, N, d), equation 3."""
        return attend(
            q,
            k,
            v,
            mask,
            scale=scale,
            row_bits=self.row_bits,
            probability_bits=self.probability_bits,
            bias=bias,
        )

    def _keys_values(
        self, attn: Any, image: Tensor, text: Tensor | None, context: TextContext | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return K̃, Ṽ and M for this call."""
        if not self.is_cross:
            k = _normed(attn.norm_k, _split_heads(attn.to_k(image), attn.heads))
            v = _split_heads(attn.to_v(image), attn.heads)
            return quantize_rows(k, self.row_bits), quantize_rows(v, self.row_bits), None
        if context is None:
            if text is None:
                raise ContextError("Cross-attention needs encoder_hidden_states or a text context.")
            return *self.project_text(attn, text, _mask_like(text, None)), None
        if self.name not in context.keys:
            raise ContextError(f"The text context has no layer {self.name}; it is another UNet's.")
        if len(context) != len(image):
            raise ContextError(
                f"The text context has {len(context)} prompts, the batch {len(image)} images."
            )
        return context.keys[self.name], context.values[self.name], context.mask


def is_attention(module: nn.Module) -> bool:
    """Tell whether `module` is a diffusers `Attention` (or is built like one)."""
    return all(hasattr(module, part) for part in ("to_q", "to_k", "to_v", "set_processor", "heads"))


def install_attention_(unet: nn.Module, recipe: Recipe) -> None:
    """Give every attention layer of `unet` the trigger-aware processor of `recipe`."""
    for name, attn in unet.named_modules():
        if is_attention(attn):
            processor = TriggerAttention(
                name=name,
                is_cross=bool(attn.is_cross_attention),
                row_bits=recipe.activation_bits,
                probability_bits=recipe.self_probability_bits,
            )
            if processor.is_cross:
                processor = replace(processor, probability_bits=recipe.cross_probability_bits)
            cast(Any, attn).set_processor(processor)


def _split_heads(x: Tensor, heads: int) -> Tensor:
    """View (B, N, heads · d) as (B, heads, N, d)."""
    return x.view(*x.shape[:2], heads, -1).transpose(1, 2)


def _normed(norm: nn.Module | None, x: Tensor) -> Tensor:
    return x if norm is None else cast(Tensor, norm(x))


def _mask_like(text: Tensor, mask: Tensor | None) -> Tensor:
    """Return `mask` on the device of `text` (B, T, D); None protects nothing."""
    if mask is None:
        return torch.zeros(text.shape[:2], dtype=torch.bool, device=text.device)
    return mask.to(text.device, torch.bool)


def _score_bias(attn: Any, mask: Tensor | None, batch: int, keys: int) -> Tensor | None:
    """Return diffusers' additive attention mask as (B, heads, 1 or N, T)."""
    if mask is None:
        return None
    prepared = attn.prepare_attention_mask(mask, keys, batch)
    return cast(Tensor, prepared.view(batch, attn.heads, -1, prepared.shape[-1]))
