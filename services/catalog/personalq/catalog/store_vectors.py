"""Vectors of cards as searches need them: what lies in memory is not read again.

A search says which row its vectors are (`xmin`, the transaction that wrote it): a row of the same
transaction is the same row.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from personalq.catalog.cards import phrases_hash
from personalq.catalog.likeness import CardVectors
from personalq.catalog.ports import Detail, Model
from personalq.catalog.store_connections import Row, Statement

#: Bytes of the vectors that are kept, for all tenants together, the latest that were found: 4 a
#: number, so that of 384 dimensions a card with 3 phrases of 9 words has 48 kB.
_KEPT = 128 << 20
#: Rows that are taken apart beside the event loop: it has other requests.
_MANY = 100

#: Tenant, id, model, detail, the row's transaction, and what it is of: a database that was restored
#: counts its transactions again.
_Key = tuple[str, str, str, Detail, str, str, str]

# As PostgreSQL sends them to its like: as text, 384 numbers take as long to read as to compare a
# hundred times.
_GET_VECTORS = """
SELECT e.checkpoint_id, e.xmin::text AS vectors_by, e.text_hash, e.phrases_hash,
       halfvec_send(e.embedding) AS text, array_send(e.phrases) AS phrases, {words} AS words
  FROM embeddings_{dim} e
 WHERE e.tenant = :tenant AND e.model = :model AND e.checkpoint_id = ANY (:ids)
"""
_WORDS: Mapping[Detail, str] = {
    Detail.PHRASES: "NULL::bytea",
    Detail.WORDS: "array_send(e.words)",
}
#: Bytes before the elements of an array, of each element, and of each vector; an array says whether
#: an element is NULL in the second four.
_ARRAY_HEAD, _ELEMENT_HEAD, _VECTOR_HEAD = 20, 4, 4
_HAS_NULL = slice(4, 8)


class FoundVectors:
    """The vectors of rows with checkpoint_id, vectors_by, text_hash and phrases_hash."""

    def __init__(
        self, read: Callable[[str, Statement], Awaitable[Sequence[Sequence[Row]]]]
    ) -> None:
        self._read = read
        self._known: OrderedDict[_Key, CardVectors] = OrderedDict()
        self._bytes = 0

    async def of(
        self, tenant: str, model: Model, detail: Detail, rows: Sequence[Row]
    ) -> Sequence[CardVectors | None]:
        """Those of each row's card; None for one without.

        What was written since the search is taken as it is now: vectors decide no hit.
        """
        keys = [_key(tenant, model, detail, row) for row in rows]
        vectors = {key: self._known[key] for key in keys if key in self._known}
        unknown = [
            row["checkpoint_id"]
            for key, row in zip(keys, rows, strict=True)
            if key not in vectors and row["vectors_by"] is not None
        ]
        read_now: dict[str, CardVectors] = {}
        if unknown:
            statement = _GET_VECTORS.format(dim=model.dim, words=_WORDS[detail])
            [read] = await self._read(tenant, (statement, {"ids": unknown, "model": model.id}))
            new = [_key(tenant, model, detail, row) for row in read]
            many = len(read) > _MANY
            made = await asyncio.to_thread(_taken, read, model) if many else _taken(read, model)
            vectors |= dict(zip(new, made, strict=True))
            read_now = {row["checkpoint_id"]: each for row, each in zip(read, made, strict=True)}
        self._remember(vectors)
        return [
            vectors[key] if key in vectors else read_now.get(row["checkpoint_id"])
            for key, row in zip(keys, rows, strict=True)
        ]

    def _remember(self, vectors: Mapping[_Key, CardVectors]) -> None:
        for key, each in vectors.items():
            if key not in self._known:
                self._bytes += each.rows.nbytes
            self._known[key] = each
            self._known.move_to_end(key)
        while self._bytes > _KEPT:
            _, oldest = self._known.popitem(last=False)
            self._bytes -= oldest.rows.nbytes


def _key(tenant: str, model: Model, detail: Detail, row: Row) -> _Key:
    return (
        tenant, row["checkpoint_id"], model.id, detail,
        row["vectors_by"] or "", row["text_hash"] or "", row["phrases_hash"] or "",
    )  # fmt: skip


def _taken(rows: Sequence[Row], model: Model) -> list[CardVectors]:
    return [_to_vectors(row, model.dim) for row in rows]


def _to_vectors(row: Row, dim: int) -> CardVectors:
    """Words of phrases that were made otherwise are not compared."""
    current = row["phrases_hash"] == phrases_hash(row["text_hash"])
    text = np.frombuffer(row["text"], ">f2", dim, _VECTOR_HEAD).astype(np.float32)
    phrases = _vectors(row["phrases"], dim)
    words = _vectors(row["words"] if current else None, dim)
    return CardVectors(rows=np.concatenate([text[None], phrases, words]), phrases=len(phrases))


def _vectors(sent: bytes | None, dim: int) -> NDArray[np.float32]:
    """An array of vectors as PostgreSQL sends it, (rows, dim); none of one with a NULL in it."""
    if sent is None or len(sent) <= _ARRAY_HEAD or any(sent[_HAS_NULL]):
        return np.empty((0, dim), np.float32)
    head = _ELEMENT_HEAD + _VECTOR_HEAD
    elements = np.frombuffer(sent, np.uint8, offset=_ARRAY_HEAD).reshape(-1, head + 2 * dim)
    return np.ascontiguousarray(elements[:, head:]).view(">f2").astype(np.float32)
