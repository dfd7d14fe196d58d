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


@pytest.fixture
def model() -> SentenceTransformer:
    """All-MiniLM-L6-v2 as sentence-transformers runs it."""
    folder = str(embedders.minilm_folder())
    return SentenceTransformer(folder, device="cpu", local_files_only=True)


def test_the_same_vectors_alone_and_together(model: SentenceTransformer) -> None:
    """Empty, long, of other scripts; cut off at the same token."""
    expected = torch.tensor(model.encode(TEXTS, normalize_embeddings=True))
    encode = BertEncoder(model)
    together = torch.tensor([each.vector for each in encode(TEXTS)])
    alone = torch.tensor([encode([text])[0].vector for text in TEXTS])
    torch.testing.assert_close(together, expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(alone, expected, rtol=0, atol=1e-5)


def test_a_vector_for_each_word_that_says_something(model: SentenceTransformer) -> None:
    """Its token's, of length 1; a text of other words alone keeps those."""
    encode = BertEncoder(model)
    [scarf, of_the, nothing] = encode(["a red scarf, and it", "of the", ""])
    tokens = model.encode(["a red scarf, and it"], output_value="token_embeddings")[0]
    expected = torch.nn.functional.normalize(tokens[2:4], dim=1)  # behind [CLS] a
    torch.testing.assert_close(
        torch.tensor([list(word) for word in scarf.words]), expected, rtol=0, atol=1e-5
    )
    assert len(of_the.words) == 2
    assert len(nothing.words) == 0


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
