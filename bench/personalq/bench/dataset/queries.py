"""The 500 requests: those worded by hand, then patterns until every group is full."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from random import Random
from typing import Any

from personalq.bench.dataset.answers import Answer, draw_answer
from personalq.bench.dataset.asks import Asks, is_fair, meant_by, read_asks
from personalq.bench.dataset.cards import NOW, Card
from personalq.bench.dataset.draw import (
    MOST_ACCEPTABLE,
    Draft,
    Repository,
    draw_ambiguous,
    draw_no_match,
    draw_single,
    means,
    no_match_kinds,
)
from personalq.bench.dataset.vocabulary import PACKAGE
from personalq.bench.dataset.wording import Said, compose, say, word_of

GROUPS = {
    "temporal": 60, "version": 35, "recency": 45, "style": 40, "environment": 35, "usage": 30,
    "description": 55, "owner": 10, "combination": 40, "ambiguous": 100, "no_match": 50,
}  # fmt: skip
POOLED = 0.1
POOL_SIZE = 12


class UnfairQuery(ValueError):
    """A request does not mean what its group needs, or people could read it in two ways."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """A request, what it asks for, the cards it leaves and, if several, the reply.

    `unknown`: its subject is one no card has.
    """

    text: str
    group: str
    worded: str
    asks: Asks
    acceptable: tuple[Card, ...]
    unknown: bool = False
    pool: tuple[str, ...] | None = None
    meant: Card | None = None
    answer: Answer | None = None


def make_queries(repository: Repository, seed: int) -> list[Query]:
    """All requests, in the order of their groups; nothing is asked for in two patterns."""
    queries = list(_hand_worded(repository))
    for group, count in GROUPS.items():
        rng = Random(f"{seed}-{group}")
        missing = count - sum(query.group == group for query in queries)
        queries.extend(_patterned(group, missing, repository, rng, queries))
    order = list(GROUPS)
    queries.sort(key=lambda query: order.index(query.group))
    for query in queries:
        check(query, repository)
    return queries


def check(query: Query, repository: Repository) -> None:
    """Holds a request against what its group promises.

    Raises:
        UnfairQuery: the ground truth is not what the group needs.
    """
    cards = _candidates(query.pool, repository)
    found = [] if query.unknown else meant_by(query.asks, cards)
    problem = ""
    if tuple(found) != query.acceptable:
        problem = "the ground truth is not what the cards say"
    elif query.group == "no_match":
        problem = "something matches" if found else ""
    elif query.group != "ambiguous":
        problem = f"{len(found)} cards match" if len(found) != 1 else ""
    elif not 2 <= len(found) <= MOST_ACCEPTABLE:
        problem = f"{len(found)} cards match"
    elif query.meant is None or query.answer is None:
        problem = "nobody answers"
    elif meant_by(query.answer.asks, found) != [query.meant]:
        problem = "the answer does not single out the card that was meant"
    if not problem and found and not is_fair(query.asks, cards):
        problem = "its order can be read in two ways"
    if problem:
        raise UnfairQuery(f"{query.text!r}: {problem}: {[card.checkpoint_id for card in found]}")


def query_row(query: Query, instance_id: str) -> dict[str, Any]:
    """The request in the published format."""
    ambiguous = query.group == "ambiguous"
    meant = query.meant if ambiguous else next(iter(query.acceptable), None)
    truth: dict[str, Any] = {
        "checkpoint_id": meant.checkpoint_id if meant else None,
        "requires_clarification": ambiguous,
        "no_match": meant is None,
    }
    if ambiguous:
        truth["acceptable_ids"] = [card.checkpoint_id for card in query.acceptable]
    return {
        "instance_id": instance_id,
        "query": query.text,
        "now": NOW.isoformat(),
        "candidate_pool": list(query.pool) if query.pool else None,
        "ground_truth": truth,
        "answer": query.answer.text if query.answer else None,
        "group": query.group,
        "worded": query.worded,
    }


def _candidates(pool: Sequence[str] | None, repository: Repository) -> list[Card]:
    if pool is None:
        return list(repository.cards)
    return [card for card in repository.cards if card.checkpoint_id in pool]


def _hand_worded(repository: Repository) -> Iterator[Query]:
    text = resources.files(PACKAGE).joinpath("worded.jsonl").read_text(encoding="utf-8")
    for line in text.splitlines():
        row = json.loads(line)
        asks = read_asks(row["asks"])
        pool = tuple(row["pool"]) if "pool" in row else None
        unknown = row.get("unknown", False)
        acceptable = [] if unknown else meant_by(asks, _candidates(pool, repository))
        answer = None
        meant: list[Card] = []
        if "answer" in row:
            answer = Answer(text=row["answer"], asks=read_asks(row["answer_asks"]))
            meant = meant_by(answer.asks, acceptable)
        yield Query(
            text=row["query"],
            group=row["group"],
            worded="hand",
            asks=asks,
            acceptable=tuple(acceptable),
            unknown=unknown,
            pool=pool,
            meant=meant[0] if len(meant) == 1 else None,
            answer=answer,
        )


def _patterned(
    group: str, count: int, repository: Repository, rng: Random, others: Sequence[Query]
) -> Iterator[Query]:
    taken = {_identity(query) for query in others}
    kinds = list(no_match_kinds(count)) if group == "no_match" else [""] * count
    for kind in kinds:
        while True:
            query = _pattern(group, kind, repository, rng)
            if query is not None and _identity(query) not in taken:
                break
        taken.add(_identity(query))
        yield query


def _identity(query: Query) -> tuple[Asks, str]:
    """What makes a request different from another one: what it asks for, or an unknown noun."""
    return query.asks, query.text.casefold() if query.unknown else ""


def _pattern(group: str, kind: str, repository: Repository, rng: Random) -> Query | None:
    if group == "no_match":
        draft = draw_no_match(kind, repository, rng)
    elif group == "ambiguous":
        draft = draw_ambiguous(repository, rng)
    else:
        draft = draw_single(group, repository, rng)
    acceptable = [] if draft.unknown else means(draft, repository.cards) or []
    query = Query(
        text=_word(draft, acceptable, repository, rng),
        group=group,
        worded="pattern",
        asks=draft.asks,
        acceptable=tuple(acceptable),
        unknown=draft.unknown is not None,
    )
    if rng.random() < POOLED and not draft.unknown:
        query = replace(query, pool=_pool(draft, acceptable, repository, rng))
        found = means(draft, _candidates(query.pool, repository))
        if found is None or tuple(found) != query.acceptable:
            return None
    if group != "ambiguous":
        return query
    meant = rng.choice(acceptable)
    answer = draw_answer(meant, acceptable, draft.asks, repository.vocabulary, rng)
    return replace(query, meant=meant, answer=answer) if answer else None


def _pool(
    draft: Draft, acceptable: Sequence[Card], repository: Repository, rng: Random
) -> tuple[str, ...]:
    own = [card for card in repository.of(draft.asks.category) if card not in acceptable]
    others = [card for card in repository.cards if card.category != draft.asks.category]
    chosen = [*acceptable, *rng.sample(own, POOL_SIZE - 3), *rng.sample(others, 2)]
    return tuple(sorted(card.checkpoint_id for card in chosen))


def _word(draft: Draft, acceptable: Sequence[Card], repository: Repository, rng: Random) -> str:
    asks, vocabulary = draft.asks, repository.vocabulary
    said = say(asks, draft.period, vocabulary, rng)
    if asks.category is None:
        return compose(said, str(draft.unknown), "creature", rng)
    category = vocabulary.categories[asks.category]
    noun = rng.choice((category.name, category.name, *category.nouns))
    if asks.kind is not None:
        asked = word_of(category.kinds, asks.kind).asked
        named = bool(acceptable) and all(asks.kind in card.subjects for card in acceptable)
        word = rng.choice(asked)
        if asks.order is not None and asks.order.rank > 1:
            noun = word if category.name in word.split() else f"{word} {category.name}"
        elif named and rng.random() < 0.5:
            noun = asks.kind
        else:
            article = "an" if word[0] in "aeiou" else "a"
            said.append(Said(clause=(f"the {word}", f"the one that's {article} {word}")))
    return compose(said, noun, category.group, rng)
