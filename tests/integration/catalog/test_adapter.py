"""The updates that fit all-MiniLM-L6-v2 to descriptions."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer

from personalq.catalog import adapter
from personalq.catalog.embedders import minilm_folder, open_embedder
from personalq.catalog.ports import Embedder
from personalq.chassis.errors import PersonalQError


def plain() -> SentenceTransformer:
    """All-MiniLM-L6-v2 as published."""
    return SentenceTransformer(str(minilm_folder()), device="cpu", local_files_only=True)


def test_every_update_is_added_to_its_layer() -> None:
    """W + B A, and nothing else."""
    before, after = plain()[0].auto_model, plain()[0].auto_model
    adapter.adapt_(after)
    changed, file = dict(after.named_parameters()), load_file(adapter.FILE)
    layers = {name.removesuffix(adapter.DOWN) for name in file if name.endswith(adapter.DOWN)}
    assert len(layers) == 6 * 6  # of each block: query, key, value and three dense ones
    for name, weight in before.named_parameters():
        layer = name.removesuffix(".weight")
        if layer in layers:
            update = file[layer + adapter.UP].float() @ file[layer + adapter.DOWN].float()
            assert update.abs().max() > 0
            torch.testing.assert_close(changed[name], weight + update)
        else:
            assert torch.equal(changed[name], weight), name


@pytest.mark.parametrize("content", [None, b"", b"nothing of that kind"])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes | None) -> None:
    """Like damaged weights."""
    file = tmp_path / "updates.safetensors"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(PersonalQError, match=r"updates\.safetensors is damaged; reinstall"):
        adapter.adapt_(plain()[0].auto_model, file)


async def test_the_shipped_model_is_adapted_and_a_folder_is_not(tmp_path: Path) -> None:
    """Rows of one are no rows of the other: the ids differ."""
    expected = plain()
    async with open_embedder(str(minilm_folder())) as published, open_embedder("minilm") as ours:
        assert published is not None
        assert ours is not None
        assert ours.model.id == (f"all-MiniLM-L6-v2@53aa51172d14+{adapter.digest()[:8]}/384")
        assert published.model.id.endswith("@53aa51172d14/384")
        [text] = await published.embed_queries(["a chipped spout"])
        [adapted] = await ours.embed_queries(["a chipped spout"])
        torch.testing.assert_close(
            torch.tensor(text.vector),
            torch.tensor(expected.encode("a chipped spout", normalize_embeddings=True)),
            rtol=0,
            atol=1e-5,
        )
        kept = torch.tensor(text.vector) @ torch.tensor(adapted.vector)
        assert 0.5 < kept < 0.999


#: What is said, the card that is meant, and look-alikes; none is in the training set.
LOOK_ALIKES = [
    (
        "the one with the damaged spout",
        "A teapot with a chipped spout",
        "A blue teapot, long spout",
    ),
    (
        "gets power from the sun",
        "A backpack with a solar panel on the flap",
        "A yellow backpack with a sun print",
    ),
    ("see-through", "A clear plastic backpack", "A leather backpack with a window patch"),
    ("in his nightclothes", "A grandpa in striped pyjamas", "A grandpa with a lantern at night"),
    ("wearing shades", "A cat in sunglasses", "A cat in the shade of a lamp"),
]


async def _margin(embedder: Embedder, said: str, meant: str, other: str) -> float:
    """By how much the cosine of the card that is meant is the larger."""
    [asked] = await embedder.embed_queries([said])
    first, second = (torch.tensor(e.vector) for e in await embedder.embed_documents([meant, other]))
    return float(torch.tensor(asked.vector) @ (first - second))


async def test_look_alikes_are_further_apart() -> None:
    """Than the published model puts them."""
    async with open_embedder("minilm") as ours, open_embedder(str(minilm_folder())) as published:
        assert ours is not None
        assert published is not None
        gained = [
            await _margin(ours, *case) - await _margin(published, *case) for case in LOOK_ALIKES
        ]
    assert sum(gained) / len(gained) > 0.03
