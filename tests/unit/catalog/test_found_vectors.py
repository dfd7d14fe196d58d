"""Vectors of a search's cards: read once as long as they are of the same text."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from personalq.catalog import store_vectors
from personalq.catalog.cards import phrases_hash
from personalq.catalog.ports import Model
from personalq.catalog.store_connections import Row, Statement
from personalq.catalog.store_vectors import FoundVectors

MODEL = Model(id="m/3", dim=3)
X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, -0.5)


def _vector(numbers: Sequence[float]) -> bytes:
    """As `halfvec_send` writes it."""
    return struct.pack(">hh", len(numbers), 0) + np.array(numbers, ">f2").tobytes()


def _array(vectors: Sequence[Sequence[float]]) -> bytes:
    """As `array_send` writes it: dimensions, nulls, type; size and lower bound; elements."""
    if not vectors:
        return struct.pack(">iiI", 0, 0, 17)
    elements = [_vector(each) for each in vectors]
    head = struct.pack(">iiIii", 1, 0, 17, len(vectors), 1)
    return head + b"".join(struct.pack(">i", len(each)) + each for each in elements)


class Table:
    """Rows of `embeddings_3`; counts the vectors that are read."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], dict[str, Any]] = {}
        self.read_rows = 0

    def put(
        self,
        tenant: str,
        checkpoint_id: str,
        text: str,
        *,
        phrases: Sequence[Sequence[float]] = (X, Y),
        words: Sequence[Sequence[float]] | None = (Y,),
        made: str = "",
    ) -> Row:
        """Store vectors; returns what a search says of their card."""
        self.rows[tenant, checkpoint_id] = {
            "checkpoint_id": checkpoint_id,
            "text_hash": text,
            "phrases_hash": made or phrases_hash(text),
            "text": _vector(X if text == "x" else Y),
            "phrases": _array(phrases),
            "words": None if words is None else _array(words),
        }
        return self.rows[tenant, checkpoint_id]

    async def read(self, tenant: str, statement: Statement) -> Sequence[Sequence[Row]]:
        """The vectors asked for."""
        assert "FROM embeddings_3 e" in statement[0]
        assert statement[1]["model"] == MODEL.id
        ids: Any = statement[1]["ids"]
        self.read_rows += len(ids)
        return [[self.rows[tenant, each] for each in ids if (tenant, each) in self.rows]]


async def test_vectors_are_read_once_as_long_as_the_text_is_the_same() -> None:
    """In the order of the rows; a tenant's are not another's."""
    table = Table()
    vectors = FoundVectors(table.read)
    bear, dog = table.put("red", "bear", "x"), table.put("red", "dog", "y", phrases=(), words=None)
    for _ in range(2):
        of_dog, of_bear = await vectors.of("red", MODEL, [dog, bear])
        assert of_dog is not None
        assert of_bear is not None
        assert (of_dog.rows.tolist(), of_dog.phrases) == ([list(Y)], 0)
        assert (of_bear.rows.tolist(), of_bear.phrases) == ([list(X), list(X), list(Y), list(Y)], 2)
    assert table.read_rows == 2
    await vectors.of("blue", MODEL, [table.put("blue", "bear", "x")])
    assert table.read_rows == 3
    [changed] = await vectors.of("red", MODEL, [table.put("red", "bear", "y")])
    assert changed is not None
    assert changed.rows[0].tolist() == list(Y)
    assert table.read_rows == 4


async def test_a_card_without_vectors_is_not_looked_up() -> None:
    """The search has said so; one whose vectors went away meanwhile has none either."""
    table = Table()
    vectors = FoundVectors(table.read)
    bare = {"checkpoint_id": "bear", "text_hash": None, "phrases_hash": None}
    assert await vectors.of("red", MODEL, [bare]) == [None]
    assert table.read_rows == 0
    gone = table.put("red", "dog", "x")
    table.rows.clear()
    assert await vectors.of("red", MODEL, [gone]) == [None]


async def test_words_of_phrases_made_otherwise_are_not_compared() -> None:
    """By an earlier version, or of an earlier text."""
    table = Table()
    row = table.put("red", "bear", "x", made="0:x")
    [found] = await FoundVectors(table.read).of("red", MODEL, [row])
    assert found is not None
    assert (len(found.rows), found.phrases) == (3, 2)


async def test_no_more_vectors_are_kept_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those longest unused go; a page may have more."""
    monkeypatch.setattr(store_vectors, "_KEPT", 2)
    table = Table()
    vectors = FoundVectors(table.read)
    rows = [table.put("red", name, "x") for name in ("bear", "dog", "cat")]
    assert all(await vectors.of("red", MODEL, rows))
    await vectors.of("red", MODEL, rows[1:])
    assert table.read_rows == 3
    await vectors.of("red", MODEL, rows[:1])
    assert table.read_rows == 4
