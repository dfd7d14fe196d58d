"""What a UNet is told of prompts: by one text encoder, or by SDXL's two.

One gives its last states. SDXL's two give those before their last layer, side by side, and the
second a pooled state of the whole prompt, which enters the UNet with the picture's size: diffusers'
`StableDiffusionXLPipeline.encode_prompt` and `_get_add_time_ids`, without its cropping.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from personalq.taq.errors import LoraError

PLACEHOLDER = 0  # any token that the encoder's table has; its row is overwritten


@dataclass(frozen=True, kw_only=True)
class TextStates:
    """What B prompts give a UNet."""

    states: Tensor  # float (B, T, D): of two encoders side by side
    pooled: Tensor | None = None  # float (B, P): of SDXL's second encoder

    @classmethod
    def cat(cls, parts: Sequence[TextStates]) -> TextStates:
        """Return one batch of several, in order; all with a pooled state, or none."""
        pooled = [part.pooled for part in parts if part.pooled is not None]
        return cls(
            states=torch.cat([part.states for part in parts]),
            pooled=torch.cat(pooled) if pooled else None,
        )

    def __len__(self) -> int:
        """Return the number of prompts B."""
        return len(self.states)

    def __getitem__(self, rows: Sequence[int] | slice) -> TextStates:
        """Return some of the prompts; the batch dimension stays."""
        index = rows if isinstance(rows, slice) else list(rows)
        pooled = None if self.pooled is None else self.pooled[index]
        return TextStates(states=self.states[index], pooled=pooled)

    def to(self, device: torch.device) -> TextStates:
        """Return the same on `device`."""
        pooled = None if self.pooled is None else self.pooled.to(device)
        return TextStates(states=self.states.to(device), pooled=pooled)

    def conditions(self, *, height: int, width: int) -> dict[str, Any]:
        """Return the UNet's further arguments, {} where only the states enter it.

        Args:
            height, width: of the picture, in pixels: SDXL takes it for uncropped, of that size.
        """
        if self.pooled is None:
            return {}
        size = [height, width, 0, 0, height, width]  # original, top left corner, target
        time_ids = torch.tensor([size] * len(self), dtype=torch.float32, device=self.pooled.device)
        return {"added_cond_kwargs": {"text_embeds": self.pooled, "time_ids": time_ids}}


@dataclass(frozen=True, kw_only=True)
class TextEncoder:
    """A text encoder, its tokenizer, and rows that a checkpoint trained for tokens of its own."""

    tokenizer: Any  # a Hugging Face fast tokenizer
    model: Any  # a `CLIPTextModel`, or SDXL's second, a `CLIPTextModelWithProjection`
    #: float (n, D): embeddings of the tokens from `first_own_id` on, which `model` does not know
    rows: Tensor | None = None
    #: how many tokens the base's tokenizer has; only where there are `rows`
    first_own_id: int = 0

    def __post_init__(self) -> None:
        """Refuse rows that are not one for each token of its own."""
        if self.rows is not None and len(self.tokenizer) - self.first_own_id != len(self.rows):
            raise LoraError(
                f"There are {len(self.rows)} trained embeddings for "
                f"{len(self.tokenizer) - self.first_own_id} new tokens: some are one token to the "
                "tokenizer."
            )

    def read(self, texts: Sequence[str], *, penultimate: bool = False) -> TextStates:
        """Return the states (B, T, D) of `texts`, padded and truncated to T tokens.

        The pooled state, of an encoder with a projection, is that of the end token. Where
        `eos_token_id` is 2, transformers takes the highest id for it, which a trained token's
        would be; here trained tokens have no id of their own while the encoder reads.

        Args:
            penultimate: the states before the last layer, without a norm.
        """
        tokens = self.tokenizer(
            list(texts),
            padding="max_length",
            truncation=True,
            max_length=self.tokenizer.model_max_length,
            return_tensors="pt",
        )
        table = self.model.get_input_embeddings()
        ids = tokens["input_ids"].to(table.weight.device)
        own = torch.zeros_like(ids, dtype=torch.bool)
        if self.rows is not None:
            own = ids >= self.first_own_id
        with self._own_rows(table, ids, own):
            output = self.model(ids.masked_fill(own, PLACEHOLDER), output_hidden_states=penultimate)
        states = output.hidden_states[-2] if penultimate else output.last_hidden_state
        return TextStates(states=states, pooled=getattr(output, "text_embeds", None))

    @contextmanager
    def _own_rows(self, table: nn.Module, ids: Tensor, own: Tensor) -> Iterator[None]:
        """While the block runs, let `table` return `rows` at the places of their tokens."""
        if self.rows is None or not bool(own.any()):
            yield
            return
        rows = self.rows.to(ids.device)[ids[own] - self.first_own_id]

        def replace(_: nn.Module, __: object, output: Tensor) -> Tensor:
            return output.masked_scatter(own[..., None], rows.to(output.dtype))

        handle = table.register_forward_hook(replace)
        try:
            yield
        finally:
            handle.remove()


@dataclass(frozen=True, kw_only=True)
class TextEncoders:
    """The text encoders of a base model, in the order of `TEXT_PARTS`."""

    encoders: tuple[TextEncoder, ...]
    #: whether the empty prompt is told by zeros instead (`force_zeros_for_empty_prompt`)
    zero_empty: bool = False

    @property
    def tokenizers(self) -> list[Any]:
        """Their tokenizers, as `protected_mask` takes them."""
        return [encoder.tokenizer for encoder in self.encoders]

    @property
    def joined(self) -> bool:
        """Whether there are several, of which the states before the last layer are taken."""
        return len(self.encoders) > 1

    def read(self, texts: Sequence[str]) -> TextStates:
        """Return what the prompts `texts` give the UNet."""
        read = [encoder.read(texts, penultimate=self.joined) for encoder in self.encoders]
        states = torch.cat([of_one.states for of_one in read], dim=-1)
        pooled = read[-1].pooled if self.joined else None
        return TextStates(
            states=self.zeroed(states, texts),
            pooled=None if pooled is None else self.zeroed(pooled, texts),
        )

    def zeroed(self, states: Tensor, texts: Sequence[str]) -> Tensor:
        """Return the states (B, …) of `texts`, those of empty ones as this base takes them."""
        if not self.zero_empty:
            return states
        told = torch.tensor([text != "" for text in texts], device=states.device)
        return states * told.view(-1, *(1,) * (states.ndim - 1))
