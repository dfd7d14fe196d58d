"""The files of the benchmark: cards, and the requests in two halves."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from personalq.bench.dataset.cards import card_row, make_cards
from personalq.bench.dataset.draw import Repository, open_repository
from personalq.bench.dataset.queries import Query, make_queries, query_row
from personalq.bench.dataset.vocabulary import read_vocabulary

# Another seed gives another benchmark; requests worded by hand belong to this one.
SEED = 1


def make_files(seed: int = SEED) -> dict[str, str]:
    """The text of each file by its name; the same seed gives the same bytes."""
    repository = make_repository(seed)
    queries = make_queries(repository, seed)
    ids = {query.text: f"rp_{number:03d}" for number, query in enumerate(queries, start=1)}
    development, test = split(queries, seed)
    return {
        "cards.jsonl": _lines(card_row(card) for card in repository.cards),
        "queries-dev.jsonl": _lines(query_row(query, ids[query.text]) for query in development),
        "queries-test.jsonl": _lines(query_row(query, ids[query.text]) for query in test),
    }


def make_repository(seed: int = SEED) -> Repository:
    """The cards of a seed with the vocabulary they are made of."""
    vocabulary = read_vocabulary()
    return open_repository(make_cards(vocabulary, seed), vocabulary)


def split(queries: Sequence[Query], seed: int) -> tuple[list[Query], list[Query]]:
    """Two halves of the same size with the same share of every group and way of wording."""
    strata: dict[tuple[str, str], list[Query]] = defaultdict(list)
    for query in queries:
        strata[query.group, query.worded].append(query)
    rng = Random(f"{seed}-split")
    mixed = [query for stratum in strata.values() for query in rng.sample(stratum, len(stratum))]
    chosen = {query.text for query in mixed[::2]}
    return (
        [query for query in queries if query.text in chosen],
        [query for query in queries if query.text not in chosen],
    )


def _lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
