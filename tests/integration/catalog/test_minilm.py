"""The dense ranking with a real model: all-MiniLM-L6-v2, offline."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.catalog_cards import card, store_cards

from personalq.catalog import embedders
from personalq.catalog.embedders import open_embedder
from personalq.catalog.paging import Page
from personalq.catalog.search import Query, search_checkpoints
from personalq.catalog.store import PostgresStore
from personalq.chassis.errors import PersonalQError

CARDS = [
    card("a", description="A fluffy white bear on an ice floe."),
    card("b", description="A bear wearing sunglasses and a red cap."),
    card("c", description="A bear made of folded paper."),
]


async def test_a_card_is_found_in_other_words(store: PostgresStore, tenant: str) -> None:
    """No word of the question is on the card; the vectors know what is meant."""
    async with open_embedder("minilm") as embedder:
        assert embedder is not None
        assert embedder.model.dim == 384
        assert embedder.model.id.startswith("all-MiniLM-L6-v2@53aa51172d14+")
        [origami] = await embedder.embed_queries(["origami"])
        assert math.isclose(math.hypot(*origami.vector), 1.0, rel_tol=1e-5)
        await store_cards(store, tenant, CARDS, embedder=embedder)
        for question, best in (("origami animal", "c"), ("polar wildlife in the arctic", "a")):
            hits = await search_checkpoints(
                Query(text=question),
                tenant=tenant,
                page=Page(size=3),
                reader=store,
                embedder=embedder,
            )
            assert hits.dense
            assert hits.hits[0].card.checkpoint_id == best
            assert hits.hits[0].similarity is not None


async def test_another_width_than_the_models_is_refused() -> None:
    """Better at start than at the first card."""
    with pytest.raises(PersonalQError, match="384 wide, not 512"):
        async with open_embedder("minilm", dim=512):
            pass


async def test_damaged_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest of what ships is known."""
    (tmp_path / "model.safetensors").write_bytes(b"other")
    monkeypatch.setattr(embedders, "minilm_folder", lambda: tmp_path)
    with pytest.raises(PersonalQError, match="damaged"):
        async with open_embedder("minilm"):
            pass
    shutil.rmtree(tmp_path)
    with pytest.raises(PersonalQError, match="cannot be read"):
        tmp_path.mkdir()
        async with open_embedder("minilm"):
            pass


def test_without_a_model_torch_is_never_imported() -> None:
    """The catalog installs, imports and starts without it."""
    code = (
        "import sys; import personalq.catalog.__main__; "
        "sys.exit(bool({'torch', 'sentence_transformers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_a_model_on_this_machine_leaves_the_hub_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Checkpoints at hf:// are read by the same process, which must not go offline for it."""
    monkeypatch.delenv("HF_HUB_OFFLINE")
    async with open_embedder("minilm"):
        assert "HF_HUB_OFFLINE" not in os.environ
