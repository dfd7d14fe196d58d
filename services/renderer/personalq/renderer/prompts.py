"""From prompts to text states, with the trained tokens of a checkpoint.

A checkpoint may ship an embedding for its trigger, of SDXL one for each text encoder. Its prompts
are then tokenized by tokenizers of its own that know the trigger, and the rows of a shared
encoder's embedding table are replaced, for that one call, at the places of those tokens. Neither a
shared tokenizer nor a shared encoder is ever changed, so no other checkpoint's prompts can notice.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from tokenizers import AddedToken
from torch import Tensor

from personalq.taq import (
    Protection,
    TextEncoder,
    TextEncoders,
    TextStates,
    Words,
    counterparts,
    plain_prompt,
    protected_mask,
)
from personalq.taq.formats.embeddings import check_token_names, token_names
from personalq.taq.triggers import find


@dataclass(frozen=True, kw_only=True)
class Reader:
    """What reads a checkpoint's prompts."""

    text: TextEncoders
    phrases: Mapping[str, str]  # trigger → its tokens, as they are written into a prompt

    def expand(self, text: str) -> str:
        """Write out triggers of several tokens: `<x>` becomes `<x> <x>_1`."""
        for trigger, phrase in self.phrases.items():
            if phrase != trigger:
                text = _replace(text, trigger, phrase, self.text.tokenizers[0])
        return text


def _replace(text: str, trigger: str, phrase: str, tokenizer: Any) -> str:
    """Replace a trigger wherever the tokenizer would read it, however it is spelled there."""
    replaced, copied = "", 0
    for start, stop in find(text, trigger, tokenizer):
        replaced += text[copied:start] + phrase
        copied = stop
    return replaced + text[copied:]


@dataclass(frozen=True, kw_only=True)
class EncodedPrompts:
    """What some prompts give the UNet, and where their triggers stand."""

    told: TextStates  # B prompts of T tokens, on the encoders' device
    mask: Tensor  # bool (B, T): the tokens to keep precise


def extend(text: TextEncoders, *embeddings: Mapping[str, Tensor]) -> Reader:
    """Return what reads the prompts of a checkpoint that ships `embeddings`.

    Several rows become several tokens (`token_names`). The tokenizers are copied: one that is in
    use in one thread must not be read in another.

    Args:
        embeddings: trigger → (n, D), for each of the text encoders, with as many rows for each.

    Raises:
        ValueError: not for each of them.
        LoraError: two tokens are one to a tokenizer.
    """
    known = {token for tokenizer in text.tokenizers for token in tokenizer.get_vocab()}
    names: list[str] = []
    phrases: dict[str, str] = {}
    for trigger, table in embeddings[0].items():
        first = trigger if trigger not in known else f"<|{trigger}|>"  # a word of the base's
        of_trigger = token_names(first, len(table))
        phrases[trigger] = " ".join(of_trigger)
        names += of_trigger
    check_token_names(names)
    encoders = []
    for encoder, tables in zip(text.encoders, embeddings, strict=True):
        own = copy.deepcopy(encoder.tokenizer)
        own.add_tokens([_token(name) for name in names])
        rows = torch.cat([tables[trigger].float() for trigger in phrases]) if phrases else None
        encoders.append(
            TextEncoder(
                tokenizer=own,
                model=encoder.model,
                rows=rows,
                first_own_id=len(encoder.tokenizer),
            )
        )
    return Reader(text=replace(text, encoders=tuple(encoders)), phrases=phrases)


def _token(name: str) -> AddedToken:
    """Return a token that is found in any case, as words are in CLIP; a word not within others."""
    is_word = all(re.match(r"\w", end) for end in (name[0], name[-1]))
    return AddedToken(name, normalized=True, single_word=is_word)


@torch.inference_mode()
def encode(
    prompts: Sequence[str],
    triggers: Sequence[Sequence[str]],
    *,
    reader: Reader,
    protection: Protection,
    score: Callable[[TextStates, Tensor], Tensor],
) -> EncodedPrompts:
    """Return what `prompts` give the UNet, and the tokens to keep precise in them.

    Args:
        triggers: of each prompt.
        score: how much each row (B, T) depends on the trigger, from what the prompts give and the
            states of the same rows without it; called for the protected set `conditioned` only.
    """
    words = [
        Words(
            reader.expand(prompt),
            tuple(reader.expand(trigger) for trigger in of_prompt),
            protection.noun,
        )
        for prompt, of_prompt in zip(prompts, triggers, strict=True)
    ]
    told = reader.text.read([of_prompt.prompt for of_prompt in words])

    def conditioning(words: Sequence[Words]) -> Tensor:
        return score(told, _plain_states(words, reader.text))

    mask = protected_mask(
        protection.protected,
        words,
        reader.text.tokenizers,
        conditioning=conditioning,
        device=told.states.device,
    )
    return EncodedPrompts(told=told, mask=mask)


def _plain_states(words: Sequence[Words], text: TextEncoders) -> Tensor:
    """Return the states of the prompts with the noun for the trigger, row beside row."""
    found = []
    for encoder in text.encoders:
        tokenizer = encoder.tokenizer
        plain = [plain_prompt(w, tokenizer) for w in words]
        states = text.zeroed(encoder.read(plain, penultimate=text.joined).states, plain)
        rows = torch.stack([counterparts(w, tokenizer) for w in words]).to(states.device)
        found.append(states.gather(1, rows[..., None].expand_as(states)))
    return torch.cat(found, dim=-1)
