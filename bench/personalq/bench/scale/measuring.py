"""Figures that are read from the database and the processes: recall, sizes, memory."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from personalq.bench.scale.cards import NOW, Tenant
from personalq.bench.scale.prompts import descriptions_of
from personalq.bench.scale.vocabulary import PLACES, STYLES, SUBJECTS
from personalq.catalog.cards import SELECTABLE, Filter, Interval
from personalq.catalog.migrations import driver_url
from personalq.catalog.ports import Embedder
from personalq.catalog.search import Query, ranking_terms
from personalq.catalog.store_search import SET_SCAN, Indexes, search_statement

#: Searches per set of constraints.
_SAMPLE = 12
_BEST = 10
#: What counts as idle: so much of a processor for so many rounds of so many seconds.
_IDLE = 0.2
_QUIET_ROUNDS = 3
_ROUND_S = 1.0

_SIZES = """
SELECT c.relname AS name, c.relkind = 'i' AS is_index,
       CASE WHEN c.relkind = 'i' THEN pg_relation_size(c.oid) ELSE pg_table_size(c.oid) END AS bytes
  FROM pg_class c
 WHERE c.relnamespace = 'personalq'::regnamespace AND c.relkind IN ('r', 'i')
 ORDER BY bytes DESC
"""
_INDEXES = "SELECT common_words, cards FROM personalq.indexed_tenants WHERE tenant = :tenant"


@dataclass(frozen=True, kw_only=True, slots=True)
class Recall:
    """Of the ten truly nearest cards, how many the index found."""

    constraints: str
    matches: int
    #: Whether there were enough matches for the index to be used.
    indexed: bool
    recall_at_10: float
    #: The same for the page as a whole: both rankings fused.
    page_recall_at_10: float
    #: Median time in the database, with the index and without.
    indexed_ms: float
    exact_ms: float


def constraints_of(subject: str, style: str) -> Mapping[str, Filter]:
    """From few matches to all."""
    states = SELECTABLE
    half_a_year = Interval(start=NOW.replace(month=5))
    return {
        "none": Filter(states=states),
        "trained in the last half year": Filter(states=states, created=half_a_year),
        "commonest subject": Filter(states=states, subjects=(subject,)),
        "one of two places": Filter(states=states, environments=PLACES[:2]),
        "one style": Filter(states=states, styles=(style,)),
    }


async def measure_recall(url: str, tenant: Tenant, embedder: Embedder) -> list[Recall]:
    """Compare what the search finds through the tenant's indexes with what it finds without."""
    engine = create_async_engine(
        driver_url(url),
        connect_args={
            "options": "-c role=personalq_app -c search_path=personalq,public -c jit=off "
            "-c plan_cache_mode=force_custom_plan -c work_mem=16MB -c random_page_cost=1.1 "
            "-c max_parallel_workers_per_gather=0 -c enable_memoize=off"
        },
    )
    try:
        async with engine.connect() as connection:
            row = (await connection.execute(text(_INDEXES), {"tenant": tenant.name})).one_or_none()
            await connection.rollback()
            if row is None:
                return []
            indexes = Indexes(common_words=frozenset(row.common_words), cards=row.cards)
            found = []
            for name, wished in constraints_of(SUBJECTS[0], STYLES[0]).items():
                texts = [
                    f"{wished.subjects[0] if wished.subjects else subject} {described}"
                    for subject, described in descriptions_of(tenant, _SAMPLE)
                ]
                found.append(
                    await _recall(connection, tenant, name, wished, texts, embedder, indexes)
                )
            return found
    finally:
        await engine.dispose()


async def _recall(
    connection: AsyncConnection,
    tenant: Tenant,
    name: str,
    wished: Filter,
    texts: Sequence[str],
    embedder: Embedder,
    indexes: Indexes,
) -> Recall:
    dense, pages, matches = [], [], 0
    taken: dict[bool, list[float]] = {True: [], False: []}
    for wanted in texts:
        [looked_for] = await embedder.embed_queries([wanted])
        query = Query(text=wanted, filter=wished)
        found: dict[bool, Sequence[Any]] = {}
        for indexed in (True, False):
            search = search_statement(
                query,
                terms=ranking_terms(query),
                dense=looked_for.vector,
                model=embedder.model,
                limit=200,
                offset=0,
                indexes=indexes if indexed else None,
            )
            async with connection.begin():
                await connection.execute(
                    text("SELECT set_config('app.tenant', :tenant, true)"), {"tenant": tenant.name}
                )
                await connection.execute(text(SET_SCAN))
                began = time.perf_counter() * 1000
                rows = await connection.execute(
                    text(search.statement), search.values | {"tenant": tenant.name}
                )
                found[indexed] = rows.mappings().all()
                taken[indexed].append(time.perf_counter() * 1000 - began)
        matches = found[False][0]["total_matches"]
        nearest = _ids(found[False], "dense_rank")
        dense.append(len(nearest & _ids(found[True], "dense_rank")) / max(1, len(nearest)))
        best = _ids(found[False], "place")
        pages.append(len(best & _ids(found[True], "place")) / max(1, len(best)))
    return Recall(
        constraints=name,
        matches=matches,
        indexed=matches > indexes.many,
        recall_at_10=round(statistics.fmean(dense), 3),
        page_recall_at_10=round(statistics.fmean(pages), 3),
        indexed_ms=round(statistics.median(taken[True]), 1),
        exact_ms=round(statistics.median(taken[False]), 1),
    )


def _ids(rows: Sequence[Any], rank: str) -> set[str]:
    """The first ten by a rank; 0 is none."""
    return {row["checkpoint_id"] for row in rows if row[rank] and 0 < row[rank] <= _BEST}


async def sizes(url: str) -> dict[str, int]:
    """Bytes of each table and index, the largest first."""
    engine = create_async_engine(driver_url(url))
    try:
        async with engine.connect() as connection:
            rows = await connection.execute(text(_SIZES))
            return {row.name: row.bytes for row in rows if row.bytes > 1_000_000}
    finally:
        await engine.dispose()


def read_through(folder: Path) -> None:
    """Read every file of a folder once: a server that has run a while waits for no disk."""
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            if path.is_file():
                with path.open("rb") as file:
                    while file.read(2**22):
                        pass


def memory(children: Mapping[str, int]) -> dict[str, int]:
    """Bytes of memory of each program with what it started, shared pages counted once."""
    found = {}
    for name, pid in children.items():
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
        found[name] = sum(each.memory_full_info().pss for each in family if each.is_running())
    return found


async def until_idle(programs: Mapping[str, int], *, within_s: float = 600.0) -> None:
    """Wait until the programs have done what they do by themselves, or for so long.

    Of a tenant that it has not seen Check-in reads what is on a page of cards, and has the catalog
    embed what that is called: some seconds each, one tenant after the other.

    Args:
        programs: process ids by name.
    """
    began = time.monotonic()
    quiet = 0
    while quiet < _QUIET_ROUNDS and time.monotonic() - began < within_s:
        before = cpu_seconds(programs)
        await asyncio.sleep(_ROUND_S)
        spent = sum(cpu_seconds(programs).values()) - sum(before.values())
        # Less than before: a process that has ended is not counted any more.
        quiet = quiet + 1 if 0 <= spent < _IDLE * _ROUND_S else 0


def cpu_seconds(programs: Mapping[str, int]) -> dict[str, float]:
    """Processor time so far of each program, its connections' processes included."""
    found = {}
    for name, pid in programs.items():
        process = psutil.Process(pid)
        spent = 0.0
        for each in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                times = each.cpu_times()
                spent += times.user + times.system
        found[name] = spent
    return found
