"""The direct computation of a BERT model gives sentence-transformers' vectors."""

from __future__ import annotations

import pytest
import torch
from sentence_transformers import SentenceTransformer

from personalq.catalog import embedders
from personalq.catalog.bert import BertEncoder, is_plain_bert

TEXTS = [
    "",
    " \n",
    "a",
    "a red scarf",
    "  Photorealistic TAN teddy bear,\twith a cream snout -- on forest grass!  ",
    "Ünïcode, 猫 on a 木, 🧸 and \u200bnothing",
    "word " * 253 + "the last ones that fit, and some that do not",
    "unbreakable" * 600,
]


@pytest.fixture(scope="module")
def model() -> SentenceTransformer:
    """All-MiniLM-L6-v2 as sentence-transformers runs it."""
    folder = str(embedders._minilm_folder())
    return SentenceTransformer(folder, device="cpu", local_files_only=True)


def test_the_same_vectors_alone_and_together(model: SentenceTransformer) -> None:
    """Empty, long, of other scripts; cut off at the same token."""
    expected = torch.tensor(model.encode(TEXTS, normalize_embeddings=True))
    encode = BertEncoder(model)
    together = torch.tensor(encode(TEXTS))
    alone = torch.tensor([encode([text])[0] for text in TEXTS])
    torch.testing.assert_close(together, expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(alone, expected, rtol=0, atol=1e-5)


def test_other_models_are_left_to_sentence_transformers(model: SentenceTransformer) -> None:
    """Another pooling, type or activation would be another computation."""
    assert is_plain_bert(model)
    bert = model[0].auto_model
    model[1].pooling_mode, kept = "cls", model[1].pooling_mode
    assert not is_plain_bert(model)
    model[1].pooling_mode = kept
    bert.config.hidden_act = "relu"
    assert not is_plain_bert(model)
    bert.config.hidden_act = "gelu"
    assert not is_plain_bert(model.bfloat16())
