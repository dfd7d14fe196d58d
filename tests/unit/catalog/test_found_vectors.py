"""Vectors of a search's cards: read once as long as their row is the same."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from personalq.catalog import store_vectors
from personalq.catalog.cards import phrases_hash
from personalq.catalog.likeness import CardVectors
from personalq.catalog.ports import Detail, Model
from personalq.catalog.store_connections import Row, Statement
from personalq.catalog.store_vectors import FoundVectors

MODEL = Model(id="m/3", dim=3)
X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, -0.5)


def _vector(numbers: Sequence[float]) -> bytes:
    """As `halfvec_send` writes it."""
    return struct.pack(">hh", len(numbers), 0) + np.array(numbers, ">f2").tobytes()


def _array(vectors: Sequence[Sequence[float]], *, nulls: int = 0) -> bytes:
    """As `array_send` writes it: dimensions, nulls, type; size and lower bound; elements."""
    if not vectors:
        return struct.pack(">iiI", 0, 0, 17)
    elements = [_vector(each) for each in vectors]
    head = struct.pack(">iiIii", 1, int(nulls > 0), 17, len(vectors) + nulls, 1)
    sent = [struct.pack(">i", len(each)) + each for each in elements]
    return head + b"".join(sent) + struct.pack(">i", -1) * nulls


class Table:
    """Rows of `embeddings_3`; counts the vectors that are read."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], dict[str, Any]] = {}
        self.read_rows = 0
        self._writes = 0

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
        self._writes += 1
        self.rows[tenant, checkpoint_id] = {
            "vectors_by": str(self._writes),
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
        rows = [self.rows[tenant, each] for each in ids if (tenant, each) in self.rows]
        words = "array_send(e.words)" in statement[0]
        return [[row if words else row | {"words": None} for row in rows]]


async def _of(
    vectors: FoundVectors,
    rows: Sequence[Row],
    *,
    tenant: str = "red",
    detail: Detail = Detail.WORDS,
) -> list[CardVectors]:
    """Those of rows that all have some."""
    found = await vectors.of(tenant, MODEL, detail, rows)
    return [each for each in found if each is not None]


async def test_vectors_are_read_once_as_long_as_their_row_is_the_same() -> None:
    """In the order of the rows; a tenant's are not another's."""
    table = Table()
    vectors = FoundVectors(table.read)
    bear, dog = table.put("red", "bear", "x"), table.put("red", "dog", "y", phrases=(), words=None)
    for _ in range(2):
        of_dog, of_bear = await _of(vectors, [dog, bear])
        assert (of_dog.rows.tolist(), of_dog.phrases) == ([list(Y)], 0)
        assert (of_bear.rows.tolist(), of_bear.phrases) == ([list(X), list(X), list(Y), list(Y)], 2)
    assert table.read_rows == 2
    await _of(vectors, [table.put("blue", "bear", "x")], tenant="blue")
    assert table.read_rows == 3
    [changed] = await _of(vectors, [table.put("red", "bear", "y")])
    assert changed.rows[0].tolist() == list(Y)
    assert table.read_rows == 4


async def test_a_row_written_again_for_the_same_text_is_read_again() -> None:
    """The model refused the phrases before, say."""
    table = Table()
    vectors = FoundVectors(table.read)
    await _of(vectors, [table.put("red", "bear", "x", phrases=(), words=())])
    [filled] = await _of(vectors, [table.put("red", "bear", "x")])
    assert filled.phrases == 2


async def test_a_card_without_vectors_is_not_looked_up() -> None:
    """The search has said so."""
    table = Table()
    bare = {"checkpoint_id": "bear", "vectors_by": None, "text_hash": None, "phrases_hash": None}
    found = await FoundVectors(table.read).of(
        "red", MODEL, Detail.WORDS, [bare, table.put("red", "dog", "x")]
    )
    assert [each is None for each in found] == [True, False]
    assert table.read_rows == 1


async def test_what_changed_since_the_search_is_taken_as_it_is_now() -> None:
    """And kept under what it is now; one whose vectors went away has none."""
    table = Table()
    vectors = FoundVectors(table.read)
    seen = table.put("red", "dog", "x")
    again = table.put("red", "dog", "y")
    [changed] = await _of(vectors, [seen])
    assert changed.rows[0].tolist() == list(Y)
    await _of(vectors, [again])
    assert table.read_rows == 1
    gone = table.put("red", "dog", "x")
    table.rows.clear()
    assert await vectors.of("red", MODEL, Detail.WORDS, [gone]) == [None]


async def test_words_are_read_only_where_they_are_compared() -> None:
    """Who asked without them gets them later all the same."""
    table = Table()
    vectors = FoundVectors(table.read)
    row = table.put("red", "bear", "x")
    for detail, rows in ((Detail.PHRASES, 3), (Detail.WORDS, 4), (Detail.PHRASES, 3)):
        [found] = await _of(vectors, [row], detail=detail)
        assert (len(found.rows), found.phrases) == (rows, 2)


async def test_words_of_phrases_made_otherwise_are_not_compared() -> None:
    """By an earlier version, or of an earlier text."""
    table = Table()
    [found] = await _of(FoundVectors(table.read), [table.put("red", "bear", "x", made="0:x")])
    assert (len(found.rows), found.phrases) == (3, 2)


async def test_vectors_of_which_one_is_missing_are_none() -> None:
    """What somebody wrote by hand must not fail the search."""
    table = Table()
    row = table.put("red", "bear", "x")
    table.rows["red", "bear"]["words"] = _array((X, Y), nulls=1)
    [found] = await _of(FoundVectors(table.read), [row])
    assert (len(found.rows), found.phrases) == (3, 2)


async def test_a_large_page_has_the_same_vectors(beside: list[str]) -> None:
    """They are taken apart beside the event loop."""
    table = Table()
    rows = [table.put("red", f"bear-{n}", "x" if n % 2 else "y") for n in range(150)]
    found = await _of(FoundVectors(table.read), rows)
    assert [each.rows[0].tolist() for each in found] == [list(Y), list(X)] * 75
    assert beside == ["_taken"]
    await _of(FoundVectors(table.read), rows[:100])
    assert beside == ["_taken"]


async def test_no_more_vectors_are_kept_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those longest unused go; a page may have more."""
    table = Table()
    vectors = FoundVectors(table.read)
    rows = [table.put("red", name, "x") for name in ("bear", "dog", "cat")]
    of_two = 2 * 4 * len(X) * 4  # four vectors each, of 4 bytes a number
    monkeypatch.setattr(store_vectors, "_KEPT", of_two)
    assert len(await _of(vectors, rows)) == 3
    await _of(vectors, rows[1:])
    assert table.read_rows == 3
    await _of(vectors, rows[:1])
    assert table.read_rows == 4
