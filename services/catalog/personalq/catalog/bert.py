"""A BERT sentence model computed for a few short texts: MiniLM, BGE, E5 and their like.

A prompt is a dozen tokens. The general implementation then spends as long around the matrix
products as in them; this one computes the same vectors in half the time (docs/scale.md).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import BertModel

from personalq.catalog.packed_linear import packed
from personalq.catalog.ports import Embedded
from personalq.catalog.words import STOPWORDS

#: Rows of a usual request: a prompt's tokens, or those of its phrases.
_USUAL_ROWS = 32


class BertEncoder:
    """What `SentenceTransformer.encode` returns for a model that `is_plain_bert`, and of each word.

    Texts of any length lie one after the other: no padding is computed, and a text's vector does
    not depend on its neighbours.
    """

    def __init__(self, encoder: SentenceTransformer) -> None:
        transformer: Any = encoder[0]
        bert: Any = transformer.auto_model
        self._tokenizer = transformer.tokenizer.backend_tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(transformer.max_seq_length)
        self._embeddings = bert.embeddings
        self._layers = [_Layer(layer) for layer in bert.encoder.layer]
        # oneDNN makes its kernels when a number of rows first comes, which takes as long again.
        for words in range(_USUAL_ROWS):
            self(["a " * words])

    @torch.inference_mode()
    def __call__(self, texts: Sequence[str]) -> list[Embedded]:
        """One for each text, in order."""
        encoded = [self._tokenizer.encode(text) for text in texts]
        ids = [each.ids for each in encoded]
        lengths = [len(each) for each in ids]
        x = self._embed(ids)
        for layer in self._layers:
            x = layer(x, lengths)
        means = torch.stack([text.mean(dim=0) for text in torch.split(x, lengths)])
        vectors = F.normalize(means, dim=1).tolist()
        words = torch.split(F.normalize(x, dim=1), lengths)
        return [
            Embedded(vector=vector, words=_arrays(tokens[_telling(each.tokens)]))
            for vector, tokens, each in zip(vectors, words, encoded, strict=True)
        ]

    def _embed(self, ids: Sequence[Sequence[int]]) -> Tensor:
        tables = self._embeddings
        words = torch.tensor([number for text in ids for number in text])
        places = torch.tensor([place for text in ids for place in range(len(text))])
        x = tables.word_embeddings(words) + tables.position_embeddings(places)
        normed: Tensor = tables.LayerNorm(x + tables.token_type_embeddings.weight[0])
        return normed


def _arrays(rows: Tensor) -> list[array[float]]:
    """Rows as they take the least memory: queries are remembered."""
    return [array("f", row.tobytes()) for row in rows.numpy()]


def _telling(tokens: Sequence[str]) -> list[int]:
    """Places of the tokens that say something; of all between the marks where none does."""
    between = list(range(1, len(tokens) - 1))
    words = {place: tokens[place].lower().removeprefix("##") for place in between}
    telling = [p for p, word in words.items() if word.isalnum() and word not in STOPWORDS]
    return telling or between


class _Layer:
    """Attention within each text, then the wide part; both added to what came in."""

    def __init__(self, layer: Any) -> None:
        attention = layer.attention
        own = attention.self
        self._heads = own.num_attention_heads
        self._qkv = packed(_joined(own.query, own.key, own.value))
        self._mix = packed(attention.output.dense)
        self._mix_norm = attention.output.LayerNorm
        self._widen = packed(layer.intermediate.dense)
        self._narrow = packed(layer.output.dense)
        self._norm = layer.output.LayerNorm

    def __call__(self, x: Tensor, lengths: list[int]) -> Tensor:
        """(tokens, hidden) to the same, where text i has `lengths[i]` tokens."""
        attended = [self._attend(qkv) for qkv in torch.split(self._qkv(x), lengths)]
        x = self._mix_norm(self._mix(torch.cat(attended)) + x)
        normed: Tensor = self._norm(self._narrow(F.gelu(self._widen(x))) + x)
        return normed

    def _attend(self, qkv: Tensor) -> Tensor:
        # (tokens, 3 · heads · width) -> three of (1, heads, tokens, width)
        query, key, value = qkv.view(1, len(qkv), 3, self._heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value)
        return mixed.transpose(1, 2).reshape(len(qkv), -1)


def is_plain_bert(encoder: SentenceTransformer) -> bool:
    """Whether `BertEncoder` computes this model: BERT on the CPU, the mean of its tokens."""
    modules = list(encoder)
    if len(modules) < 2 or not isinstance(modules[1], Pooling):
        return False
    if not all(isinstance(module, Normalize) for module in modules[2:]):
        return False
    bert: Any = getattr(modules[0], "auto_model", None)
    return (
        type(bert) is BertModel
        and bert.device.type == "cpu"
        and bert.dtype == torch.float32
        and bert.config.hidden_act == "gelu"
        and modules[1].pooling_mode == "mean"
    )


def _joined(*linears: nn.Linear) -> nn.Linear:
    """One layer whose output is theirs, side by side."""
    width = sum(linear.out_features for linear in linears)
    joined = nn.Linear(linears[0].in_features, width)
    joined.weight = nn.Parameter(torch.cat([linear.weight for linear in linears]))
    joined.bias = nn.Parameter(torch.cat([linear.bias for linear in linears]))
    return joined
