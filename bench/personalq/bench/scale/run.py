"""`personalq bench scale`: fill a database, ask the services in front of it, write it down."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from personalq.bench.repo_prompts.embedding_cost import Yardstick
from personalq.bench.repo_prompts.services import Quiet
from personalq.bench.scale.cards import Tenant, tenants_of
from personalq.bench.scale.filling import fill
from personalq.bench.scale.loading import PROFILE
from personalq.bench.scale.measuring import measure_recall, memory, read_through, sizes
from personalq.bench.scale.prompts import Request, requests_of
from personalq.bench.scale.report import write
from personalq.bench.scale.selecting import CLIENTS, measure_selecting
from personalq.catalog.embedders import MINILM, open_embedder
from personalq.chassis.errors import InvalidInput
from personalq.sdk.cli.console import err, out
from personalq.sdk.cli.failing import Exit, complain
from personalq.sdk.embedded.ports import PortInUse, Ports, free_base
from personalq.sdk.embedded.postgres import data_directory, superuser_url
from personalq.sdk.embedded.process import ChildFailed
from personalq.sdk.embedded.signals import until_signal
from personalq.sdk.embedded.stack import Stack, run_stack

_LOWEST_PORT = 21_000
_SERVICES = ("catalog", "checkin")
_SETTINGS = {"PERSONALQ_CATALOG_PROFILES": PROFILE}
#: Tenants that are asked for; half of the requests go to the largest.
_ASKED_TENANTS = 20
#: Turns from here on are theirs, so that a tenant that is alone is not asked the same twice.
_OTHERS = 100


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to measure, and where the results go."""

    cards: int
    tenants: int
    #: Cards of the largest tenant.
    largest: int
    #: Where the database is kept; a temporary folder when None.
    data: Path | None
    results_dir: Path | None
    quick: bool
    as_json: bool


def run(options: Options) -> Exit:
    """Measure, print, write."""
    _check(options)
    # Read when torch is imported, in this process and in those it starts.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        finished = asyncio.run(until_signal(_run(options)))
    except (ChildFailed, PortInUse) as error:
        complain(str(error))
        return Exit.SERVICE
    return Exit.OK if finished else Exit.INTERRUPTED


def _check(options: Options) -> None:
    if options.tenants < 1 or options.cards < options.tenants:
        raise InvalidInput("--cards must be at least --tenants, and both at least 1")
    if not 1 <= options.largest <= options.cards - options.tenants + 1:
        raise InvalidInput("--largest leaves the other tenants without cards")


async def _run(options: Options) -> None:
    tenants = tenants_of(options.cards, options.tenants, options.largest)
    async with open_embedder(MINILM) as embedder:
        if embedder is None:
            raise InvalidInput("the scale benchmark needs the embedding model all-MiniLM-L6-v2")
        with _folder(options.data) as folder:
            ports = Ports(base=free_base(_LOWEST_PORT + os.getpid() % 1_000 * 10))
            with _bar(options.cards) as loaded:
                filling = await fill(folder, ports, tenants, embedder, loaded=loaded)
            largest = tenants[0]
            count = 44 if options.quick else 220
            turns = [_requests(tenants, count, turn=turn) for turn in range(len(CLIENTS) + 2)]
            yardstick = Yardstick(embedder)
            url = superuser_url(folder, port=ports.of("postgres"))
            async with _stack(folder, ports) as stack:
                await asyncio.to_thread(read_through, data_directory(folder))
                err().print("asking")
                selecting = await stack.during(
                    measure_selecting(
                        stack,
                        turns,
                        largest=largest.name,
                        yardstick=yardstick,
                        quick=options.quick,
                    )
                )
                used = memory({child.name: child.popen.pid for child in stack.children})
                err().print("comparing with exact search")
                recall = await measure_recall(url, largest, embedder)
                stored = await sizes(url)
            alone = yardstick.result()
    result = {
        "cards": options.cards,
        "tenants": options.tenants,
        "largest_tenant": options.largest,
        "machine": f"{os.cpu_count()} cores",
        "load_average": round(os.getloadavg()[1], 1),
        "filling": {
            **asdict(filling),
            "copy_cards_per_s": round(filling.cards / max(filling.copy_s, 1e-9)),
        },
        **selecting,
        "embedding_alone_ms": asdict(alone) if alone else None,
        "recall": [asdict(each) for each in recall],
        "memory_bytes": used,
        "size_bytes": stored,
    }
    if options.results_dir is not None:
        for path in write(result, options.results_dir):
            err().print(f"written: {path}")
    if options.as_json:
        sys.stdout.write(json.dumps(result) + "\n")
    else:
        out().print_json(data=result)


def _requests(tenants: list[Tenant], count: int, *, turn: int) -> list[Request]:
    """Of the largest tenant and of some others, in turn."""
    others = tenants[1 : _ASKED_TENANTS + 1] or tenants[:1]
    of_largest = requests_of(tenants[0], count, turn=turn)
    of_others = [
        requests_of(tenant, -(-count // len(others)), turn=turn + _OTHERS) for tenant in others
    ]
    mixed = [request for row in zip(*of_others, strict=True) for request in row][:count]
    return [request for pair in zip(of_largest, mixed, strict=True) for request in pair]


@asynccontextmanager
async def _stack(folder: Path, ports: Ports) -> AsyncIterator[Stack]:
    async with run_stack(
        data=folder,
        ports=ports,
        base_models={},
        report=Quiet(),
        settings=_SETTINGS,
        services=_SERVICES,
    ) as stack:
        yield stack


@contextmanager
def _folder(data: Path | None) -> Iterator[Path]:
    if data is not None:
        yield data.expanduser().resolve()
        return
    folder = Path(tempfile.mkdtemp(prefix="personalq-scale-"))
    try:
        yield folder
    finally:
        shutil.rmtree(data_directory(folder), ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _bar(cards: int) -> Iterator[Callable[[int], None]]:
    columns = (TextColumn("loading"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err(), redirect_stdout=False) as bar:
        task = bar.add_task("loading", total=cards)
        yield lambda count: bar.advance(task, count)
