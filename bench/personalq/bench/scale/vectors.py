"""Vectors of synthetic cards: real embeddings of a few thousand texts, mixed for the rest.

Embedding a million texts would take an hour. So some texts of each subject are embedded with the
catalog's own model, and a card's vector is a mixture of three of its subject's with a little noise,
of length 1 again: as near to its subject as real ones are, and no two alike.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from personalq.bench.scale.cards import Tenant, make_cards
from personalq.bench.scale.vocabulary import SUBJECTS
from personalq.catalog.cards import Card, embedding_text
from personalq.catalog.ports import Embedder

#: Texts embedded per subject.
_PER_SUBJECT = 20
_MIXED = 3
#: Length of the noise; of two texts about one thing the vectors are about 0.6 apart.
_NOISE = 0.25

Pool = NDArray[np.float32]


async def embed_pool(embedder: Embedder) -> Pool:
    """(subjects, texts per subject, width) of real embeddings."""
    texts: dict[str, list[str]] = defaultdict(list)
    for card in make_cards(Tenant(name="pool", cards=200_000)):
        found = texts[card.subjects[0]]
        if len(found) < _PER_SUBJECT:
            found.append(embedding_text(card))
    flat = [text for subject in SUBJECTS for text in texts[subject]]
    embedded = await embedder.embed_documents(flat)
    vectors = np.asarray([each.vector for each in embedded], dtype=np.float32)
    return vectors.reshape(len(SUBJECTS), _PER_SUBJECT, -1)


def mixed(cards: Sequence[Card], pool: Pool, tenant: str) -> NDArray[np.float32]:
    """(cards, width): one vector of length 1 per card, the same for the same card."""
    place = {subject: index for index, subject in enumerate(SUBJECTS)}
    subjects = np.array([place[card.subjects[0]] for card in cards])
    seed = zlib.crc32(f"{tenant} {cards[0].checkpoint_id}".encode())
    draw = np.random.default_rng(seed)
    chosen = draw.integers(0, pool.shape[1], (len(cards), _MIXED))
    shares = draw.dirichlet(np.ones(_MIXED), len(cards)).astype(np.float32)
    vectors = np.einsum("nmd,nm->nd", pool[subjects[:, None], chosen], shares)
    noise = draw.standard_normal(vectors.shape, dtype=np.float32)
    vectors += noise * np.float32(_NOISE / np.sqrt(vectors.shape[1]))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / lengths, dtype=np.float32)
