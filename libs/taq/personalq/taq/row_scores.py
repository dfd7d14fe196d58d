"""How much each text row carries of the trigger: what the protected set `conditioned` goes by.

A causal text encoder copies the trigger into every later row, end and padding included, so the
rows that carry it need not be the trigger's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from personalq.taq.attention import TriggerAttention, is_attention
from personalq.taq.errors import ContextError


@torch.no_grad()
def conditioning(
    unet: nn.Module, states: Tensor, plain_states: Tensor, attention: Tensor | None = None
) -> Tensor:
    """Return how much each row depends on the trigger, weighted by the attention it gets.

        s_i = a_i · Σ_layers ( ‖K_i − K°_i‖² / ‖K_i‖² + ‖V_i − V°_i‖² / ‖V_i‖² )

    K and V are the prompt's, K° and V° those of the same prompt with the class noun in the
    trigger's place, of the row that `counterparts` names. Without unit; zero where nothing
    changes. The source of the idea, not of the formula, is the "trigger-conditioned key/value
    rows" of the paper's later text.

    Args:
        states: text states of the prompts, float (B, T, D).
        plain_states: of `plain_prompt`, gathered by `counterparts`, float (B, T, D).
        attention: a, from `attention_received`, float (B, T); None weighs all rows alike.

    Raises:
        ContextError: the UNet has no cross-attention.
        WidthMismatchError: D is not the width that the UNet was made for.
    """
    score = states.new_zeros(states.shape[:2], dtype=torch.float32)
    none = torch.zeros(states.shape[:2], dtype=torch.bool, device=states.device)
    for name, attn in _cross_attention(unet):
        precise = TriggerAttention(name, is_cross=True, row_bits=None, probability_bits=None)
        with_trigger = precise.project_text(attn, states, none)
        without = precise.project_text(attn, plain_states, none)
        for x, x_plain in zip(with_trigger, without, strict=True):
            score += _squared(x - x_plain) / _squared(x).clamp(min=torch.finfo(torch.float32).tiny)
    return score if attention is None else score * attention.to(score)


@torch.no_grad()
def attention_received(
    unet: nn.Module, sample: Tensor, timestep: Tensor | float, states: Tensor, **conditions: Any
) -> Tensor:
    """Return the attention that each text row gets: float32 (B, T), rows of prompt b sum to 1.

    The mean of A over cross-attention layers, heads and queries in one forward pass, whatever
    processors the UNet has.

    Args:
        sample: noisy latents (B, C, H, W), one per prompt.
        timestep: their time, as the UNet takes it.
        states: text states, float (B, T, D).
        conditions: further arguments of the UNet, such as SDXL's `added_cond_kwargs`.

    Raises:
        ContextError: the UNet has no cross-attention.
    """
    seen: list[Tensor] = []
    layers = list(_cross_attention(unet))
    hooks = [
        attn.to_q.register_forward_hook(partial(_collect, seen, attn, states)) for _, attn in layers
    ]
    try:
        unet(sample, timestep, encoder_hidden_states=states, **conditions)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(seen).mean(0)


def _collect(
    seen: list[Tensor], attn: Any, states: Tensor, _: nn.Module, __: Any, q: Tensor
) -> None:
    """Forward hook of `to_q`: note the mean attention (B, T) of this layer."""
    nothing = torch.zeros(states.shape[:2], dtype=torch.bool, device=states.device)
    precise = TriggerAttention("", is_cross=True, row_bits=None, probability_bits=None)
    k, _v = precise.project_text(attn, states, nothing)
    q = q.view(*q.shape[:2], attn.heads, -1).transpose(1, 2)
    if attn.norm_q is not None:
        q = attn.norm_q(q)
    scores = q.float() @ k.float().transpose(2, 3) * attn.scale
    seen.append(scores.softmax(-1).mean((1, 2)))


def _cross_attention(unet: nn.Module) -> Iterator[tuple[str, Any]]:
    """Yield the cross-attention layers by name.

    Raises:
        ContextError: there is none.
    """
    found = False
    for name, attn in unet.named_modules():
        if is_attention(attn) and bool(attn.is_cross_attention):
            found = True
            yield name, attn
    if not found:
        raise ContextError("The UNet has no cross-attention.")


def _squared(x: Tensor) -> Tensor:
    """Return ‖x_i‖² of each row over heads: (B, heads, T, d) → float32 (B, T)."""
    return x.float().square().sum((1, 3))
