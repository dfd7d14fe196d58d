"""From prompts to text states, with the trained tokens of a checkpoint.

A checkpoint may ship an embedding for its trigger. Its prompts are then tokenized by a tokenizer
of its own that knows the trigger, and the rows of the shared encoder's embedding table are
replaced, for that one call, at the places of those tokens. Neither the shared tokenizer nor the
shared encoder is ever changed, so no other checkpoint's prompts can notice.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from tokenizers import AddedToken
from torch import Tensor, nn

from personalq.taq import Protection, Words, counterparts, plain_prompt, protected_mask

PLACEHOLDER = 0  # any token that the shared table has; its row is overwritten


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """A tokenizer, and the embeddings of the tokens that it knows beyond the encoder's table."""

    tokenizer: Any
    first_id: int  # ids from here on are rows of `embeddings`
    embeddings: Tensor  # float32 (n, D)
    phrases: Mapping[str, str]  # trigger → its tokens, as they are written into a prompt

    def expand(self, text: str) -> str:
        """Write out triggers of several tokens: `<x>` becomes `<x> <x>_1`."""
        for trigger, phrase in self.phrases.items():
            if phrase != trigger:
                text = _replace(text, trigger, phrase)
        return text


def _replace(text: str, trigger: str, phrase: str) -> str:
    """Replace a trigger in any case; one of letters only where it is a whole word."""
    before = r"(?<!\w)" if re.match(r"\w", trigger[0]) else ""
    after = r"(?!\w)" if re.match(r"\w", trigger[-1]) else ""
    pattern = before + re.escape(trigger) + after
    return re.sub(pattern, lambda _: phrase, text, flags=re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class EncodedPrompts:
    """Text states of some prompts and where their triggers stand."""

    states: Tensor  # float32 (B, T, D), on the encoder's device
    mask: Tensor  # bool (B, T): the tokens to keep precise


def extend(tokenizer: Any, embeddings: Mapping[str, Tensor]) -> Vocabulary:
    """Return the vocabulary of a checkpoint that ships `embeddings`: trigger → (n, D).

    Several rows become several tokens, named as diffusers does: `<x>`, `<x>_1`, …. The tokenizer
    is copied: one that is in use in one thread must not be read in another.
    """
    own, known = copy.deepcopy(tokenizer), tokenizer.get_vocab()
    rows: list[Tensor] = []
    phrases: dict[str, str] = {}
    for trigger, table in embeddings.items():
        first = trigger if trigger not in known else f"<|{trigger}|>"  # a word of the base's
        names = [first, *(f"{first}_{i}" for i in range(1, len(table)))]
        # Normalized: a trigger is found whatever its case, as words are in CLIP.
        own.add_tokens([AddedToken(name, normalized=True) for name in names])
        phrases[trigger] = " ".join(names)
        rows.append(table.float())
    return Vocabulary(
        tokenizer=own,
        first_id=len(tokenizer),
        embeddings=torch.cat(rows) if rows else torch.zeros(0, 0),
        phrases=phrases,
    )


@torch.inference_mode()
def encode(
    prompts: Sequence[str],
    triggers: Sequence[Sequence[str]],
    *,
    encoder: Any,
    vocabulary: Vocabulary,
    protection: Protection,
    score: Callable[[Tensor, Tensor], Tensor],
) -> EncodedPrompts:
    """Return the encoder's last states of `prompts`, and the tokens to keep precise in them.

    Args:
        triggers: of each prompt.
        score: how much each row (B, T) depends on the trigger, from the states and those of the
            same rows without it; called for the protected set `conditioned` only.
    """
    words = [
        Words(
            vocabulary.expand(prompt),
            tuple(vocabulary.phrases.get(trigger, trigger) for trigger in of_prompt),
            protection.noun,
        )
        for prompt, of_prompt in zip(prompts, triggers, strict=True)
    ]
    states = _states([of_prompt.prompt for of_prompt in words], encoder, vocabulary)

    def conditioning(words: Sequence[Words]) -> Tensor:
        return score(states, _plain_states(words, encoder, vocabulary))

    mask = protected_mask(
        protection.protected,
        words,
        vocabulary.tokenizer,
        conditioning=conditioning,
        device=states.device,
    )
    return EncodedPrompts(states=states, mask=mask)


def _plain_states(words: Sequence[Words], encoder: Any, vocabulary: Vocabulary) -> Tensor:
    """Return the states of the prompts with the noun for the trigger, row beside row."""
    tokenizer = vocabulary.tokenizer
    states = _states([plain_prompt(w, tokenizer) for w in words], encoder, vocabulary)
    rows = torch.stack([counterparts(w, tokenizer) for w in words]).to(states.device)
    return states.gather(1, rows[..., None].expand_as(states))


def _states(texts: Sequence[str], encoder: Any, vocabulary: Vocabulary) -> Tensor:
    """Return the encoder's last states (B, T, D)."""
    tokenizer = vocabulary.tokenizer
    tokens = tokenizer(
        list(texts),
        padding="max_length",
        truncation=True,
        max_length=tokenizer.model_max_length,
        return_tensors="pt",
    )
    table = encoder.get_input_embeddings()
    ids = tokens["input_ids"].to(table.weight.device)
    with _own_rows(table, ids, vocabulary):
        known = ids.masked_fill(ids >= vocabulary.first_id, PLACEHOLDER)
        states: Tensor = encoder(known).last_hidden_state
    return states


@contextmanager
def _own_rows(table: nn.Module, ids: Tensor, vocabulary: Vocabulary) -> Iterator[None]:
    """While the block runs, let `table` return the vocabulary's rows at its tokens' places."""
    own = ids >= vocabulary.first_id
    if not bool(own.any()):
        yield
        return
    rows = vocabulary.embeddings.to(ids.device)[ids[own] - vocabulary.first_id]

    def replace(_: nn.Module, __: object, output: Tensor) -> Tensor:
        return output.masked_scatter(own[..., None], rows.to(output.dtype))

    handle = table.register_forward_hook(replace)
    try:
        yield
    finally:
        handle.remove()
