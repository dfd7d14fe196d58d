"""Constraints in SQL against the same constraints in plain Python, on random cards."""

from __future__ import annotations

import random
import uuid
from dataclasses import replace
from datetime import timedelta

import pytest
from support.catalog_cards import NOW, card, store_cards

from personalq.catalog.cards import SELECTABLE, Card, Filter, Interval, State
from personalq.catalog.search import Order, Query
from personalq.catalog.store import PostgresStore
from personalq.catalog.words import key
from personalq.chassis.names import fold

SUBJECTS = ("bear", "Teddy Bears", "mice", "house")
STYLES = ("sketch", "Watercolor", "oil painting")
PLACES = ("snow", "Forests", "city")
OWNERS = ("", "Studio A", "studio-b")


def _card(number: int, draw: random.Random) -> Card:
    made = card(
        f"c{number:02d}",
        subjects=tuple(draw.sample(SUBJECTS, draw.randint(0, 2))),
        styles=tuple(draw.sample(STYLES, draw.randint(0, 2))),
        environments=tuple(draw.sample(PLACES, draw.randint(0, 2))),
        owner=draw.choice(OWNERS),
        version=draw.choice([None, 1, 2, 3]),
        created_at=NOW - timedelta(days=draw.randint(0, 30)),
        use_count=draw.randint(0, 3),
        state=draw.choice([State.SERVABLE, State.SERVABLE, State.REGISTERED, State.ARCHIVED]),
    )
    used = NOW - timedelta(days=draw.randint(0, 30))
    return replace(made, last_used_at=used if made.use_count else None)


def _filter(draw: random.Random) -> Filter:
    def some(words: tuple[str, ...], chance: float) -> tuple[str, ...]:
        return tuple(draw.sample(words, draw.randint(1, 2))) if draw.random() < chance else ()

    def interval(chance: float) -> Interval:
        if draw.random() >= chance:
            return Interval()
        start = NOW - timedelta(days=draw.randint(0, 30))
        return Interval(start=start, end=start + timedelta(days=draw.randint(1, 20)))

    return Filter(
        subjects=some(SUBJECTS, 0.4),
        excluded_subjects=some(SUBJECTS, 0.2),
        styles=some(STYLES, 0.3),
        excluded_styles=some(STYLES, 0.2),
        environments=some(PLACES, 0.3),
        excluded_environments=some(PLACES, 0.2),
        owners=some(OWNERS[1:], 0.2),
        versions=tuple(draw.sample([1, 2, 3], 2)) if draw.random() < 0.3 else (),
        created=interval(0.3),
        last_used=interval(0.2),
        states=SELECTABLE,
    )


def _satisfies(made: Card, wished: Filter) -> bool:
    def keys(words: tuple[str, ...]) -> set[str]:
        return {key(word) for word in words}

    def within(moment: object, interval: Interval) -> bool:
        if interval == Interval():
            return True
        return moment is not None and interval.start <= moment < interval.end  # type: ignore[operator]

    for has, wanted, unwanted in (
        (made.subjects, wished.subjects, wished.excluded_subjects),
        (made.styles, wished.styles, wished.excluded_styles),
        (made.environments, wished.environments, wished.excluded_environments),
    ):
        if wanted and not keys(has) & keys(tuple(wanted)):
            return False
        if keys(has) & keys(tuple(unwanted)):
            return False
    if wished.owners and fold(made.owner) not in {fold(owner) for owner in wished.owners}:
        return False
    if wished.versions and made.version not in wished.versions:
        return False
    if made.state not in wished.states:
        return False
    return within(made.created_at, wished.created) and within(made.last_used_at, wished.last_used)


@pytest.fixture(scope="module")
def random_cards() -> tuple[str, list[Card]]:
    """A tenant and its sixty cards."""
    draw = random.Random(7)  # noqa: S311 - the same each time
    return f"t-{uuid.uuid4().hex[:12]}", [_card(number, draw) for number in range(60)]


@pytest.mark.parametrize("order", list(Order))
async def test_a_search_returns_what_satisfies_the_constraints(
    store: PostgresStore, random_cards: tuple[str, list[Card]], order: Order
) -> None:
    """Every card once, none besides, whatever is constrained and however it is ordered."""
    tenant, cards = random_cards
    if await store.card(tenant, cards[0].checkpoint_id) is None:
        await store_cards(store, tenant, cards)
    draw = random.Random(str(order))  # noqa: S311 - the same each time
    for _ in range(40):
        wished = _filter(draw)
        expected = sorted(made.checkpoint_id for made in cards if _satisfies(made, wished))
        hits = await store.search(
            tenant,
            Query(text="bear", filter=wished, order=order),
            terms={"bear": "ABD"},
            dense=None,
            model=None,
            limit=100,
            offset=0,
        )
        assert sorted(hit.card.checkpoint_id for hit in hits.hits) == expected, wished
        assert hits.total_matches == len(expected)
        listed = await store.page(tenant, wished, after=None, limit=100)
        assert sorted(made.checkpoint_id for made in listed) == expected


async def test_labels_follow_a_card_that_changes(store: PostgresStore, tenant: str) -> None:
    """New words are found, former ones are not; state and time of training count as they are."""
    bear = card("x", subjects=("bear",), styles=("sketch",), version=1)
    await store_cards(store, tenant, [bear])
    fox = replace(
        bear,
        subjects=("fox",),
        styles=(),
        version=2,
        created_at=NOW - timedelta(days=1),
        state=State.ARCHIVED,
    )
    await store_cards(store, tenant, [fox])

    async def found(**wished: object) -> int:
        return len(await store.page(tenant, Filter(**wished), after=None, limit=10))  # type: ignore[arg-type]

    assert await found(subjects=("fox",)) == 1
    assert await found(subjects=("fox",), states=SELECTABLE) == 0
    assert await found(subjects=("fox",), created=Interval(start=NOW - timedelta(days=2))) == 1
    for former in ({"subjects": ("bear",)}, {"styles": ("sketch",)}, {"versions": (1,)}):
        assert await found(**former) == 0
