"""The text of a batch of prompts as a quantized UNet attends to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from personalq.taq.errors import ContextError


@runtime_checkable
class TextProjector(Protocol):
    """The attention processor of a layer that may attend to text."""

    name: str
    is_cross: bool

    def project_text(self, attn: Any, text: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return K̃, Ṽ (B, heads, T, d) of text states (B, T, D) under M (B, T), equation 2."""
        ...


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
        mask = mask_like(encoder_hidden_states, trigger_mask)
        if mask.shape != (batch, tokens):
            raise ContextError(
                f"trigger_mask is {tuple(mask.shape)}, the text {(batch, tokens)} in (B, T)."
            )
        keys: dict[str, Tensor] = {}
        values: dict[str, Tensor] = {}
        for attn in unet.modules():
            processor = getattr(attn, "processor", None)
            if isinstance(processor, TextProjector) and processor.is_cross:
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


def mask_like(text: Tensor, mask: Tensor | None) -> Tensor:
    """Return `mask` on the device of `text` (B, T, D); None protects nothing."""
    if mask is None:
        return torch.zeros(text.shape[:2], dtype=torch.bool, device=text.device)
    return mask.to(text.device, torch.bool)
