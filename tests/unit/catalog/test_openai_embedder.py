"""The embedder for OpenAI-compatible servers, against a server that speaks the protocol."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from support.embedding_server import EmbeddingServer, embedding_server

from personalq.catalog import embedders
from personalq.catalog.embedders import open_embedder
from personalq.catalog.ports import Embedder, Unembeddable, Vector
from personalq.chassis.errors import Unavailable

DIM = 4


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    """A running server."""
    with embedding_server() as running:
        yield running


async def _vector(embedder: Embedder, text: str) -> Vector:
    [found] = await embedder.embed_queries([text])
    return found.vector


async def test_vectors_come_back_in_order_with_length_one(server: EmbeddingServer) -> None:
    """The server may answer in any order and any scale."""
    async with open_embedder("m", url=server.url, key="k", dim=DIM) as embedder:
        assert embedder is not None
        found = await embedder.embed_documents(["a" * n for n in range(1, 41)])
    vectors = [each.vector for each in found]
    assert [round(v[0] / v[1]) for v in vectors] == list(range(1, 41))
    assert all(math.isclose(math.hypot(*vector), 1.0) for vector in vectors)
    assert [len(request["input"]) for request in server.requests] == [32, 8]
    assert server.keys == ["Bearer k"] * 2
    assert server.requests[0]["model"] == "m"


async def test_questions_and_documents_have_their_own_prefix(server: EmbeddingServer) -> None:
    """Qwen3-Embedding wants an instruction before what is looked for, and none before cards."""
    instruct = "Instruct: find the card\nQuery:"
    async with open_embedder(
        "m", url=server.url, dim=DIM, query_prefix=instruct, document_prefix="card: "
    ) as embedder:
        assert embedder is not None
        await _vector(embedder, "bear")
        await embedder.embed_documents(["bear"])
    assert server.requests[0]["input"] == [f"{instruct}bear"]
    assert server.requests[1]["input"] == ["card: bear"]


async def test_several_questions_are_one_request(server: EmbeddingServer) -> None:
    """A search waits for one answer, whatever it wants compared."""
    async with open_embedder("m", url=server.url, dim=DIM, query_prefix="Q: ") as embedder:
        assert embedder is not None
        found = await embedder.embed_queries(["a", "aaa"])
        assert [each.vector for each in found] == [
            await _vector(embedder, "a"), await _vector(embedder, "aaa"),
        ]  # fmt: skip
    assert server.requests[0]["input"] == ["Q: a", "Q: aaa"]


async def test_the_model_id_changes_with_the_vectors() -> None:
    """Another width or document prefix is another space; another instruction is not."""
    ids = []
    for fields in (
        {"dim": 4},
        {"dim": 8},
        {"dim": 4, "document_prefix": "x"},
        {"dim": 4, "query_prefix": "x"},
    ):
        async with open_embedder("m", url="http://localhost/v1", **fields) as embedder:
            assert embedder is not None
            ids.append(embedder.model.id)
    assert len(set(ids)) == 3
    assert ids[0] == ids[3]


@pytest.mark.parametrize(
    ("status", "answer", "says"),
    [
        (503, b"", "HTTP 503"),
        (401, b"{}", "HTTP 401"),
        (200, b"<html>", "no embedding"),
        (200, b'{"data": [{"index": 0}]}', "no embedding"),
        (200, b'{"data": null}', "no embedding"),
        (200, b"[]", "no embedding"),
        (200, b'{"data": []}', "0 vectors for 1 texts"),
        (200, b'{"data": [{"index": 0, "embedding": [1, 2]}]}', "2 wide instead of 4"),
        (200, b'{"data": [{"index": 0, "embedding": [0, 0, 0, 0]}]}', "without a direction"),
        (200, b'{"data": [{"index": 0, "embedding": [NaN, 0, 0, 1]}]}', "without a direction"),
    ],
)
async def test_a_bad_answer_is_an_outage_with_its_reason(
    server: EmbeddingServer, status: int, answer: bytes, says: str
) -> None:
    """No make-believe vector is ever stored."""
    server.answer = lambda _: (status, answer)
    async with open_embedder("m", url=server.url, dim=DIM) as embedder:
        assert embedder is not None
        with pytest.raises(Unavailable, match=says):
            await _vector(embedder, "bear")


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_text_that_is_refused_is_no_outage(server: EmbeddingServer, status: int) -> None:
    """The server is well; another text may do, and the next question is asked at once."""
    server.answer = lambda _: (status, b"{}")
    async with open_embedder("m", url=server.url, dim=DIM) as embedder:
        assert embedder is not None
        for _ in range(2):
            with pytest.raises(Unembeddable, match=f"HTTP {status}"):
                await _vector(embedder, "bear")
    assert len(server.requests) == 2


async def test_a_server_that_gave_no_answer_is_left_alone_for_a_moment(
    server: EmbeddingServer,
) -> None:
    """Searches need not wait for it one after the other; documents are tried as ever."""
    server.answer = lambda _: (503, b"")
    async with open_embedder("m", url=server.url, dim=DIM, pause_s=3600) as embedder:
        assert embedder is not None
        for _ in range(3):
            with pytest.raises(Unavailable):
                await _vector(embedder, "bear")
        assert len(server.requests) == 1
        server.answer = server.vectors
        assert len(await embedder.embed_documents(["bear"])) == 1
    async with open_embedder("m", url=server.url, dim=DIM, pause_s=0) as embedder:
        assert embedder is not None
        server.answer = lambda _: (503, b"")
        with pytest.raises(Unavailable):
            await _vector(embedder, "bear")
        server.answer = server.vectors
        assert len(await _vector(embedder, "bear")) == DIM


async def test_after_the_pause_one_question_tries_whether_the_server_is_back(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others do without at once; as soon as it answered, all are asked again."""
    now = 0.0
    monkeypatch.setattr(embedders, "time", SimpleNamespace(monotonic=lambda: now))
    server.answer = lambda _: (503, b"")
    async with open_embedder("m", url=server.url, dim=DIM, pause_s=5) as embedder:
        assert embedder is not None
        ask = partial(_vector, embedder)
        with pytest.raises(Unavailable):
            await ask("bear")
        for away in (True, False):
            now += 5
            server.answer = (lambda _: (503, b"")) if away else server.vectors
            before = len(server.requests)
            found = await asyncio.gather(*(ask("bear") for _ in range(8)), return_exceptions=True)
            assert len(server.requests) == before + 1
            assert sum(isinstance(each, list) for each in found) == (0 if away else 1)
        found = await asyncio.gather(*(ask("bear") for _ in range(8)))
        assert len(found) == 8


async def test_a_slow_server_does_not_hold_the_search(server: EmbeddingServer) -> None:
    """The time allowed is a setting."""
    release = threading.Event()

    def slow(body: dict[str, Any]) -> tuple[int, bytes]:
        release.wait(10)
        return server.vectors(body)

    server.answer = slow
    async with open_embedder("m", url=server.url, dim=DIM, query_timeout_s=0.1) as embedder:
        assert embedder is not None
        with pytest.raises(Unavailable, match="in time"):
            await _vector(embedder, "bear")
    release.set()


async def test_a_server_that_is_away_is_an_outage() -> None:
    """Nobody listens there."""
    async with open_embedder("m", url="http://127.0.0.1:9/v1", dim=DIM) as embedder:
        assert embedder is not None
        with pytest.raises(Unavailable, match="cannot be reached"):
            await _vector(embedder, "bear")


async def test_no_model_means_no_embedder() -> None:
    """The dense ranking is off rather than imitated."""
    async with open_embedder("") as embedder:
        assert embedder is None
