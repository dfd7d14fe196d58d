"""A database full of cards: made once, gone on with when it broke off, kept with its figures."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path

import numpy as np
import psycopg

from personalq.bench.scale.cards import Tenant
from personalq.bench.scale.loading import load_tenant
from personalq.bench.scale.vectors import Pool, embed_pool
from personalq.catalog.indexing import index_large_tenants
from personalq.catalog.migrations import migrate
from personalq.catalog.ports import Embedder
from personalq.catalog.store_indexes import open_indexes
from personalq.sdk.embedded.ports import Ports
from personalq.sdk.embedded.postgres import run_postgres

#: The setting's default; see the catalog's settings.
INDEX_FROM_CARDS = 5_000
#: For loading: nothing is lost that would not be loaded again.
_OPTIONS = ("synchronous_commit=off", "max_wal_size=8GB", "checkpoint_timeout=30min")


@dataclass(kw_only=True, slots=True)
class Filling:
    """What making the database took; kept beside it, for a run that finds it made."""

    cards: int = 0
    copy_s: float = 0.0
    vacuum_s: float = 0.0
    #: Making the indexes of large tenants.
    index_s: float = 0.0
    indexed_tenants: int = 0


async def fill(
    folder: Path,
    ports: Ports,
    tenants: Sequence[Tenant],
    embedder: Embedder,
    *,
    loaded: Callable[[int], None],
) -> Filling:
    """Load what is not there yet, and index it; `loaded` hears of every card that is there."""
    folder.mkdir(parents=True, exist_ok=True)
    notes = folder / "filling.json"
    filling = _read(notes)
    pool = await _pool(folder / "pool.npy", embedder)
    async with run_postgres(folder, port=ports.of("postgres"), options=_OPTIONS) as url:
        await asyncio.to_thread(migrate, url, embedding_dim=embedder.model.dim)
        for tenant in tenants:
            began = time.perf_counter()
            await asyncio.to_thread(load_tenant, url, tenant, pool, embedder.model.id, loaded)
            filling.copy_s += time.perf_counter() - began
        if filling.cards != sum(tenant.cards for tenant in tenants):
            filling.cards = sum(tenant.cards for tenant in tenants)
            began = time.perf_counter()
            await asyncio.to_thread(_vacuum, url)
            filling.vacuum_s = time.perf_counter() - began
            notes.write_text(json.dumps(asdict(filling)))
        began = time.perf_counter()
        count = await index_large_tenants(
            open_indexes=partial(open_indexes, url, embedder.model),
            model=embedder.model,
            from_cards=INDEX_FROM_CARDS,
        )
        if count:
            filling.index_s = time.perf_counter() - began
            filling.indexed_tenants = count
        notes.write_text(json.dumps(asdict(filling)))
    return filling


def _read(notes: Path) -> Filling:
    if not notes.exists():
        return Filling()
    known = json.loads(notes.read_text())
    return Filling(**{field.name: known[field.name] for field in fields(Filling)})


async def _pool(path: Path, embedder: Embedder) -> Pool:
    """Embedding the pool takes a minute; a resumed run has it already."""
    if not path.exists():
        pool = await embed_pool(embedder)
        await asyncio.to_thread(np.save, path, pool)
    loaded: Pool = np.load(path)
    return loaded


def _vacuum(url: str) -> None:
    """Statistics for the planner, and what index-only scans need; autovacuum would come later."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
