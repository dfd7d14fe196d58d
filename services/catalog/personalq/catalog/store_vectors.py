"""Vectors of cards as searches need them: what lies in memory is not read again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence

import numpy as np

from personalq.catalog.cards import phrases_hash
from personalq.catalog.likeness import CardVectors, Stored
from personalq.catalog.ports import Model
from personalq.catalog.store_connections import Row, Statement

#: Cards whose vectors are kept for all tenants together, the latest that were found: some 15 kB
#: each of 384 dimensions, for twenty vectors.
_KEPT = 4096

#: Tenant, id, model, and what the vectors are of.
_Key = tuple[str, str, str, str, str]

# As they lie on the wire: as text, 384 numbers take as long to read as to compare a hundred times.
_GET_VECTORS = """
SELECT e.checkpoint_id, e.text_hash, e.phrases_hash, halfvec_send(e.embedding) AS text,
       array_send(e.phrases) AS phrases, array_send(e.words) AS words
  FROM embeddings_{dim} e
 WHERE e.tenant = :tenant AND e.model = :model AND e.checkpoint_id = ANY (:ids)
"""
#: Bytes before the elements of an array, of each element, and of each vector.
_ARRAY_HEAD, _ELEMENT_HEAD, _VECTOR_HEAD = 20, 4, 4


class FoundVectors:
    """The vectors of rows with checkpoint_id, text_hash and phrases_hash."""

    def __init__(
        self, read: Callable[[str, Statement], Awaitable[Sequence[Sequence[Row]]]]
    ) -> None:
        self._read = read
        self._known: OrderedDict[_Key, CardVectors] = OrderedDict()

    async def of(
        self, tenant: str, model: Model, rows: Sequence[Row]
    ) -> Sequence[CardVectors | None]:
        """Those of each row's card; None for one without, or made anew this very moment."""
        keys = [_key(tenant, model, row) for row in rows]
        vectors = {key: self._known[key] for key in keys if key in self._known}
        unknown = [key[1] for key in keys if key not in vectors and key[3]]
        if unknown:
            statement = _GET_VECTORS.format(dim=model.dim)
            [read] = await self._read(tenant, (statement, {"ids": unknown, "model": model.id}))
            vectors |= {_key(tenant, model, row): _to_vectors(row, model.dim) for row in read}
        self._remember(vectors)
        return [vectors.get(key) for key in keys]

    def _remember(self, vectors: Mapping[_Key, CardVectors]) -> None:
        for key, each in vectors.items():
            self._known[key] = each
            self._known.move_to_end(key)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)


def _key(tenant: str, model: Model, row: Row) -> _Key:
    """Vectors of the same text and phrases of a card are the same."""
    return (
        tenant, row["checkpoint_id"], model.id, row["text_hash"] or "", row["phrases_hash"] or "",
    )  # fmt: skip


def _to_vectors(row: Row, dim: int) -> CardVectors:
    """Words of phrases that were made otherwise are not compared."""
    current = row["phrases_hash"] == phrases_hash(row["text_hash"])
    text = np.frombuffer(row["text"], ">f2", dim, _VECTOR_HEAD).astype(np.float16)
    phrases = _vectors(row["phrases"], dim)
    words = _vectors(row["words"] if current else None, dim)
    return CardVectors(rows=np.concatenate([text[None], phrases, words]), phrases=len(phrases))


def _vectors(sent: bytes | None, dim: int) -> Stored:
    """An array of vectors as PostgreSQL sends it, (rows, dim)."""
    if sent is None or len(sent) <= _ARRAY_HEAD:
        return np.empty((0, dim), np.float16)
    head = _ELEMENT_HEAD + _VECTOR_HEAD
    elements = np.frombuffer(sent, np.uint8, offset=_ARRAY_HEAD).reshape(-1, head + 2 * dim)
    return np.ascontiguousarray(elements[:, head:]).view(">f2").astype(np.float16)
