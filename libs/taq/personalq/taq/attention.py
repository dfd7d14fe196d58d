"""The diffusers attention processor that computes equations 2–3."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

from torch import Tensor, nn

from personalq.taq.context import TextContext, mask_like
from personalq.taq.equations import attend_image, attend_text, protect_rows
from personalq.taq.errors import ContextError, WidthMismatchError
from personalq.taq.recipe import Recipe


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
        """Return Ã Ṽ (B, heads, N, d), equation 3: of K̃, Ṽ of the text, of unrounded K, V else."""
        rows, probabilities = self.row_bits, self.probability_bits
        if self.is_cross:
            return attend_text(
                q, k, v, mask, scale=scale, row_bits=rows, probability_bits=probabilities, bias=bias
            )
        return attend_image(
            q, k, v, scale=scale, row_bits=rows, probability_bits=probabilities, bias=bias
        )

    def _keys_values(
        self, attn: Any, image: Tensor, text: Tensor | None, context: TextContext | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return what `_attend` takes: K̃, Ṽ and M of the text, or K and V of the image."""
        if not self.is_cross:
            k = _normed(attn.norm_k, _split_heads(attn.to_k(image), attn.heads))
            v = _split_heads(attn.to_v(image), attn.heads)
            return k, v, None
        if context is None:
            if text is None:
                raise ContextError("Cross-attention needs encoder_hidden_states or a text context.")
            return *self.project_text(attn, text, mask_like(text, None)), None
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


def _score_bias(attn: Any, mask: Tensor | None, batch: int, keys: int) -> Tensor | None:
    """Return diffusers' additive attention mask as (B, heads, 1 or N, T)."""
    if mask is None:
        return None
    prepared = attn.prepare_attention_mask(mask, keys, batch)
    return cast(Tensor, prepared.view(batch, attn.heads, -1, prepared.shape[-1]))
