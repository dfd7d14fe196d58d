"""Our Repo-Prompts: what the files promise."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any

import pytest

from personalq.bench.dataset.__main__ import FOLDER
from personalq.bench.dataset.asks import Asks, Order, is_fair, meant_by, read_asks, write_asks
from personalq.bench.dataset.files import SEED, make_files, make_repository
from personalq.bench.dataset.queries import GROUPS, Query, UnfairQuery, check, make_queries
from personalq.bench.dataset.vocabulary import read_vocabulary


def rows(name: str) -> list[dict[str, Any]]:
    """The lines of a committed file."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def requests() -> list[dict[str, Any]]:
    """Both halves."""
    return [*rows("queries-dev.jsonl"), *rows("queries-test.jsonl")]


@cache
def made() -> tuple[Query, ...]:
    """The requests with their specifications."""
    return tuple(make_queries(make_repository(), SEED))


def test_the_committed_files_are_what_the_generator_writes() -> None:
    """Made again from the seed, every file is the same byte for byte."""
    for name, text in make_files().items():
        assert (FOLDER / name).read_bytes() == text.encode(), name


def test_another_seed_gives_other_cards() -> None:
    """The seed decides the repository."""
    assert make_repository(SEED + 1).cards != make_repository(SEED).cards


def test_there_are_a_thousand_cards_that_can_be_told_apart() -> None:
    """20 categories × v1–v50; no id and no description occurs twice."""
    cards = rows("cards.jsonl")
    per_category = Counter(card["subjects"][0] for card in cards)
    assert len(per_category) == 20
    assert set(per_category.values()) == {50}
    for category in per_category:
        versions = {card["version"] for card in cards if card["subjects"][0] == category}
        assert versions == set(range(1, 51))
    assert len({card["checkpoint_id"] for card in cards}) == 1000
    assert len({card["description"] for card in cards}) == 1000


def test_a_card_is_used_after_it_was_made_and_never_used_means_no_use() -> None:
    """The fields about use agree with each other and with the date of making."""
    for card in rows("cards.jsonl"):
        assert (card["last_used_at"] is None) == (card["use_count"] == 0)
        assert card["last_used_at"] is None or card["last_used_at"] > card["created_at"]
        assert card["created_at"] < "2026-11-20"


def test_triggers_come_in_every_shape_and_some_cards_have_none() -> None:
    """A parser that knows only `<bear-v4>` would not get through."""
    triggers = [tuple(card["triggers"]) for card in rows("cards.jsonl")]
    assert any(not words for words in triggers)
    assert any(len(words) > 1 for words in triggers)
    for start in ("<", "sks ", "ohwx_"):
        assert any(words and words[0].startswith(start) for words in triggers)


def test_the_requests_have_the_proportions_of_the_paper() -> None:
    """350 single, 100 ambiguous, 50 without a match; at least 150 worded by hand."""
    every = requests()
    assert Counter(row["group"] for row in every) == GROUPS
    assert sum(row["ground_truth"]["no_match"] for row in every) == 50
    assert sum(row["ground_truth"]["requires_clarification"] for row in every) == 100
    assert sum(row["worded"] == "hand" for row in every) >= 150
    assert len({row["query"].casefold() for row in every}) == 500
    assert len({row["instance_id"] for row in every}) == 500


def test_both_halves_have_the_same_share_of_every_group() -> None:
    """The halves differ by at most one request per group and way of wording."""
    halves = [
        Counter((row["group"], row["worded"]) for row in rows(name))
        for name in ("queries-dev.jsonl", "queries-test.jsonl")
    ]
    assert [half.total() for half in halves] == [250, 250]
    assert set(halves[0]) == set(halves[1])
    assert all(abs(halves[0][stratum] - halves[1][stratum]) <= 1 for stratum in halves[0])


def test_ground_truth_names_cards_that_may_be_chosen() -> None:
    """Every id is a card of the repository, and of the pool where there is one."""
    known = {card["checkpoint_id"] for card in rows("cards.jsonl")}
    for row in requests():
        truth = row["ground_truth"]
        allowed = set(row["candidate_pool"] or known)
        assert allowed <= known
        named = {truth["checkpoint_id"], *truth.get("acceptable_ids", ())} - {None}
        assert named <= allowed, row["instance_id"]
        assert bool(named) != truth["no_match"]


def test_single_requests_leave_one_card_and_no_match_none() -> None:
    """Counted again from the specifications."""
    cards = make_repository().cards
    for query in made():
        candidates = [c for c in cards if query.pool is None or c.checkpoint_id in query.pool]
        found = [] if query.unknown else meant_by(query.asks, candidates)
        if query.group == "no_match":
            assert not found, query.text
        elif query.group != "ambiguous":
            assert len(found) == 1, query.text


def test_ambiguous_requests_leave_a_few_cards_and_the_answer_exactly_one() -> None:
    """What is left open differs in something the reply can name."""
    for query in made():
        if query.group == "ambiguous":
            assert 2 <= len(query.acceptable) <= 6, query.text
            assert query.answer is not None
            assert meant_by(query.answer.asks, query.acceptable) == [query.meant], query.text


def test_a_request_that_breaks_the_promise_of_its_group_is_refused() -> None:
    """Fifty dogs are not one dog."""
    repository = make_repository()
    asks = Asks(category="dog")
    query = Query(
        text="a dog",
        group="style",
        worded="hand",
        asks=asks,
        acceptable=tuple(meant_by(asks, repository.cards)),
    )
    with pytest.raises(UnfairQuery, match="50 cards match"):
        check(query, repository)


def test_an_order_that_version_and_date_disagree_on_is_unfair() -> None:
    """In a category with retrained versions, "second newest" may mean two cards."""
    repository = make_repository()
    unfair = [
        rank
        for rank in range(1, 50)
        if not is_fair(Asks(category="cat", order=Order(by="created", rank=rank)), repository.cards)
    ]
    assert unfair
    assert 1 not in unfair


def test_a_specification_survives_its_written_form() -> None:
    """Reading what was written gives the same specification."""
    for query in made():
        assert read_asks(write_asks(query.asks)) == query.asks


def test_every_category_lacks_some_styles() -> None:
    """Without that there would be no style to ask for in vain."""
    vocabulary = read_vocabulary()
    for category in vocabulary.categories.values():
        assert set(category.styles) < set(vocabulary.styles)
