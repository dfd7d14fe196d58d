"""A model on this machine remembers the vectors of the latest queries."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from personalq.catalog.embedders import SentenceTransformerEmbedder
from personalq.catalog.ports import QUERY_WORDS, Embedded, Model, Unembeddable, Vector


class Encoder:
    """Notes what it is asked; the vector of a text is its length."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> list[Embedded]:
        """One number per text; none for "broken"."""
        self.asked += texts
        return [
            Embedded(
                vector=[math.nan if "broken" in text else len(text)],
                words=((1.0,),) * (text.count(" ") if len(text) > 100 else 0),
            )
            for text in texts
        ]


@pytest.fixture
def encoder() -> Encoder:
    """What stands for the model's weights."""
    return Encoder()


@pytest.fixture
def embedder(encoder: Encoder) -> Iterator[SentenceTransformerEmbedder]:
    """The embedder around it."""
    with ThreadPoolExecutor(max_workers=1) as executor:
        yield SentenceTransformerEmbedder(
            encoder,
            model=Model(id="m/1", dim=1),
            executor=executor,
            query_prefix="Q: ",
            document_prefix="",
        )


async def _vectors(embedder: SentenceTransformerEmbedder, *texts: str) -> list[Vector]:
    return [each.vector for each in await embedder.embed_queries(texts)]


async def test_a_query_is_embedded_once(
    encoder: Encoder, embedder: SentenceTransformerEmbedder
) -> None:
    """Asked again it costs nothing; a document of the same words is another text."""
    assert await _vectors(embedder, "bear") == await _vectors(embedder, "bear") == [[7.0]]
    assert await embedder.embed_documents(["bear"]) == [Embedded(vector=[4.0])]
    assert encoder.asked == ["Q: bear", "bear"]


async def test_several_queries_are_embedded_together(
    encoder: Encoder, embedder: SentenceTransformerEmbedder
) -> None:
    """Only those that are new, each once; the answers come in the order of the questions."""
    await _vectors(embedder, "bear")
    found = await _vectors(embedder, "a cup", "bear", "a cup", "teapot")
    assert found == [[8.0], [7.0], [8.0], [9.0]]
    assert encoder.asked == ["Q: bear", "Q: a cup", "Q: teapot"]
    assert await _vectors(embedder, "teapot", "bear") == [[9.0], [7.0]]
    assert await embedder.embed_queries([]) == []
    assert len(encoder.asked) == 3


async def test_only_the_latest_are_remembered(
    encoder: Encoder, embedder: SentenceTransformerEmbedder
) -> None:
    """However many different queries come, the memory stays small."""
    await asyncio.gather(*(_vectors(embedder, f"q{number}") for number in range(600)))
    del encoder.asked[:]
    await _vectors(embedder, "q599")
    assert encoder.asked == []
    await _vectors(embedder, "q0")
    assert encoder.asked == ["Q: q0"]


async def test_a_failure_is_not_remembered(
    encoder: Encoder, embedder: SentenceTransformerEmbedder
) -> None:
    """The next attempt asks the model again."""
    for _ in range(2):
        with pytest.raises(Unembeddable):
            await _vectors(embedder, "broken")
    assert encoder.asked == ["Q: broken"] * 2


async def test_of_a_query_few_words_are_kept(embedder: SentenceTransformerEmbedder) -> None:
    """A prompt of hundreds would fill the memory."""
    [found] = await embedder.embed_queries(["a " * 200])
    assert len(found.words) == QUERY_WORDS
