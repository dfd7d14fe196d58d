"""Fitting the embedding model to what people say of look-alikes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer

from personalq.bench.paraphrases.__main__ import Trainer, encoder_of, updates
from personalq.bench.paraphrases.groups import cards_of, read_groups
from personalq.bench.paraphrases.likeness import likeness
from personalq.catalog import adapter
from personalq.catalog.bert import BertEncoder
from personalq.catalog.cards import embedding_phrases, embedding_text
from personalq.catalog.embedders import minilm_folder


def published() -> SentenceTransformer:
    """All-MiniLM-L6-v2."""
    return SentenceTransformer(str(minilm_folder()), device="cpu", local_files_only=True)


@torch.no_grad()
def test_likeness_is_what_the_catalog_tells() -> None:
    """The whole text's cosine, and MaxSim of the words of its phrases."""
    group = read_groups()[0]
    chance = random.Random(1)  # noqa: S311 - the same each time
    cards, said = cards_of(group, chance)[:4], [each.text for each in group.said[:10]]
    whole, detail = likeness(encoder_of(adapted=False), said, cards)
    encode = BertEncoder(published())
    asked, texts = encode(said), encode([embedding_text(card) for card in cards])
    for column, card in enumerate(cards):
        words = [list(w) for each in encode(embedding_phrases(card)) for w in each.words]
        for row, each in enumerate(asked):
            cosine = torch.tensor(each.vector) @ torch.tensor(texts[column].vector)
            maxima = (torch.tensor([list(w) for w in each.words]) @ torch.tensor(words).T).amax(1)
            torch.testing.assert_close(whole[row, column], cosine, rtol=0, atol=1e-4)
            torch.testing.assert_close(detail[row, column], maxima.mean(), rtol=0, atol=1e-4)


@pytest.mark.timeout(600)  # trains for a minute or two on two cores
def test_what_is_learned_tells_look_alikes_apart_and_is_what_is_shipped(tmp_path: Path) -> None:
    """Some steps on a group are seen in it; the file gives the catalog the same model."""
    group, trainer = read_groups()[0], Trainer(seed=0)
    before, _ = trainer.measure([group])
    for _ in range(6):
        trainer.epoch([group], total_steps=60)
    after, _ = trainer.measure([group])
    assert after < before - 0.02
    learned = updates(trainer.encoder)
    assert learned.keys() == load_file(adapter.FILE).keys()
    save_file(learned, tmp_path / "learned.safetensors")
    model = published()
    adapter.adapt_(model[0].auto_model, tmp_path / "learned.safetensors")
    with torch.no_grad():
        expected = trainer.encoder(["a chipped spout"]).texts[0]
    [found] = BertEncoder(model)(["a chipped spout"])
    torch.testing.assert_close(torch.tensor(found.vector), expected, rtol=0, atol=2e-3)
