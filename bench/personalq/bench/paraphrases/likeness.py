"""How like what is said cards are, as a catalog tells, with gradients.

The whole text's cosine and the mean over the words said of the highest cosine among the card's
(decision 010); `personalq.catalog.bert` and SQL compute the same without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from personalq.catalog.cards import Card, embedding_phrases, embedding_text
from personalq.catalog.ports import QUERY_WORDS
from personalq.catalog.words import STOPWORDS

_LONGEST = 128  # tokens
_UNLIKE = -9.0


class Encoded(NamedTuple):
    """Texts: their vectors (texts, width), those of tokens, and which of these say something."""

    texts: Tensor
    tokens: Tensor
    telling: Tensor


class Encoder(nn.Module):
    """A BertModel and its tokenizer."""

    def __init__(self, bert: Any, tokenizer: Any) -> None:
        super().__init__()
        self.bert, self._tokenizer = bert, tokenizer
        says = [False] * len(tokenizer)
        for token, number in tokenizer.get_vocab().items():
            word = token.lower().removeprefix("##")
            says[number] = word.isalnum() and word not in STOPWORDS
        self._says = torch.tensor(says)

    def forward(self, texts: Sequence[str]) -> Encoded:
        """As `personalq.catalog.bert.BertEncoder`, padded; trained in bfloat16 products."""
        batch = self._tokenizer(
            list(texts), padding=True, truncation=True, max_length=_LONGEST, return_tensors="pt"
        )
        ids, mask = batch["input_ids"], batch["attention_mask"].bool()
        with torch.autocast("cpu", torch.bfloat16, enabled=self.training):
            x = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
        x = x.float()
        means = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        between = mask.clone()
        between[:, 0] = False
        between[torch.arange(len(ids)), mask.sum(1) - 1] = False
        telling = self._says[ids] & between
        telling = torch.where(telling.any(1, keepdim=True), telling, between)
        return Encoded(F.normalize(means, dim=1), F.normalize(x, dim=2), telling)


def likeness(encoder: Encoder, said: Sequence[str], cards: Sequence[Card]) -> tuple[Tensor, Tensor]:
    """(whole, detail), each (said, cards), cosines."""
    phrases = [embedding_phrases(card) or (card.description,) for card in cards]
    spoken = encoder(said)
    whole = spoken.texts @ encoder([embedding_text(card) for card in cards]).texts.T
    described = encoder([phrase for of_card in phrases for phrase in of_card])
    owner = torch.tensor([place for place, of_card in enumerate(phrases) for _ in of_card])
    like = torch.einsum("qth,pdh->qtpd", spoken.tokens, described.tokens)
    by_phrase = like.masked_fill(~described.telling, _UNLIKE).amax(3)  # (said, tokens, phrases)
    by_card = torch.full((*by_phrase.shape[:2], len(cards)), _UNLIKE).scatter_reduce(
        2, owner.expand_as(by_phrase), by_phrase, "amax"
    )
    counted = spoken.telling & (spoken.telling.cumsum(1) <= QUERY_WORDS)
    detail = (by_card * counted[..., None]).sum(1) / counted.sum(1, keepdim=True).clamp_min(1)
    return whole, detail
