"""More cards satisfy a request than are looked at."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from support.checkin_cards import NOW, card
from support.checkin_session import Session
from support.fake_catalog import FakeCatalog

from personalq.checkin.cards import CardFilter, Query
from personalq.checkin.finding.search import find
from personalq.checkin.intent import OrderKey
from personalq.checkin.outcome import Selection

CARDS = [
    card(
        f"bear-{number:02d}",
        "bear",
        "sketch",
        f"2026-01-{number + 1:02d}",
        "A bear with a red scarf." if number == 3 else "A bear.",
    )
    for number in range(30)
]


@pytest.mark.parametrize(
    ("limit", "described", "searches"), [(10, True, 2), (30, True, 1), (10, False, 1)]
)
async def test_an_order_does_not_hide_what_is_described(
    limit: int, described: bool, searches: int
) -> None:
    """The one with the scarf is looked at, though many are newer; no search is made in vain."""
    catalog = FakeCatalog(CARDS)
    query = Query(text="red scarf", filter=CardFilter(), order=OrderKey.NEWEST, limit=limit)
    ids = [hit.card.checkpoint_id for hit in await find(query, catalog, described=described)]
    assert ids[0] == "bear-29"
    assert ("bear-03" in ids) is described
    assert len(ids) == len(set(ids))
    assert len(catalog.queries) == searches


@pytest.mark.parametrize("limit", [10, 30])
async def test_a_text_ranks_at_once_where_many_are_to_be_expected(limit: int) -> None:
    """One search; where all can be looked at after all, they come as without a text."""
    catalog = FakeCatalog(CARDS)
    query = Query(text="red scarf", filter=CardFilter(styles=("sketch",)), limit=limit)
    found = [hit.card.checkpoint_id for hit in await find(query, catalog, described=True)]
    assert [asked.text for asked in catalog.queries] == ["red scarf"]
    assert found[0] == ("bear-29" if limit == 30 else "bear-03")
    assert len(found) == limit


@pytest.mark.parametrize("limit", [10, 30])
async def test_a_text_ranks_at_once_where_many_were_found_before(limit: int) -> None:
    """What is found does not depend on what was asked before."""
    catalog = FakeCatalog(CARDS)
    query = Query(text="red scarf", filter=CardFilter(subjects=("bear",)), limit=limit)
    first = await find(query, catalog, described=True)
    catalog.queries.clear()
    assert await find(query, catalog, described=True) == first
    assert len(catalog.queries) == 1
    await catalog.search(replace(query, limit=5))
    assert await find(query, catalog, described=True) == first


DOGS = [
    replace(
        card(f"dog-{age:03d}", "dog", "photo", "2026-01-01", "A dog."),
        created_at=NOW - timedelta(days=age),
        use_count={333: 0, 335: 400, 340: 500}.get(age, 1 + age % 100),
        last_used_at=None if age == 333 else NOW - timedelta(minutes=5 if age == 338 else 60 + age),
    )
    for age in range(350)
]


@pytest.mark.parametrize(
    ("prompt", "chosen"),
    [
        ("my most used dog on a beach", "dog-340"),
        ("the second most used dog", "dog-335"),
        ("the dog I used last", "dog-338"),
        ("the least used dog", "dog-333"),
        ("the dog I have never used", "dog-333"),
        ("the newest dog that was never used", "dog-333"),
        ("the newest dog I used more than 300 times", "dog-335"),
        ("the oldest dog I used more than 300 times", "dog-340"),
        ("the dog I used 400 times", "dog-335"),
        ("the dog I used more than 450 times, in the rain", "dog-340"),
    ],
)
def test_use_is_counted_over_all_that_match(prompt: str, chosen: str) -> None:
    """Not over the newest hundred of them."""
    outcome = Session(DOGS).answered(prompt).outcome
    assert isinstance(outcome, Selection)
    assert outcome.candidate.card.checkpoint_id == chosen


HYDRAS = [
    replace(
        card(f"beast-{number}", f"beast{number % 4}", "sketch", f"2026-01-{number % 28 + 1:02d}"),
        description=f"A gold hydra with a {thing}." if number == 77 else f"A beast with a {thing}.",
    )
    for number, thing in enumerate(["red button", "green collar", "blue belt", "white cape"] * 40)
]


@pytest.mark.parametrize("prompt", ["the one with the red gadget", "the red gadget in the rain"])
def test_what_may_be_a_thing_costs_no_search_of_its_own(prompt: str) -> None:
    """Where the request is searched for by that word anyway."""
    session = Session(HYDRAS)
    session.answered(prompt)
    assert len([query for query in session.catalog.queries if query.text]) == 1


def test_what_a_thing_is_called_is_found_by_the_search_of_the_request() -> None:
    """Among more cards than are looked at."""
    outcome = Session(HYDRAS).answered("the gold hydra in a cave").outcome
    assert isinstance(outcome, Selection)
    assert outcome.candidate.card.checkpoint_id == "beast-77"
