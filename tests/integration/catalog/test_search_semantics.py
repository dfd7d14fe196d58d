"""What a search finds, and in which order, on a real database."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from support.catalog_cards import NOW, card, store_cards

from personalq.catalog.cards import Filter, Interval, State
from personalq.catalog.paging import Page
from personalq.catalog.ports import Embedded, Embedder, Model, Vector
from personalq.catalog.search import Hits, Order, Query, search_checkpoints
from personalq.catalog.store import PostgresStore
from personalq.chassis.errors import InvalidInput


def days(count: float) -> Any:
    """A moment so many days ago."""
    return NOW - timedelta(days=count)


CARDS = [
    card(
        "bear-v4",
        subjects=("bear", "teddy bear"),
        triggers=("<bear-v4>",),
        version=4,
        created_at=days(10),
        environments=("forest",),
        owner="Studio A",
        description="A tan teddy bear with a cream snout.",
        last_used_at=days(1),
        use_count=3,
    ),
    card(
        "bear-v5",
        subjects=("bear",),
        styles=("sketch",),
        triggers=("<bear-v5>", "sks bear"),
        version=5,
        created_at=days(5),
        environments=("snow", "city"),
        owner="studio-b",
        description="A polar bear drawn with a pencil.",
        use_count=40,
    ),
    card(
        "house.v1",
        subjects=("house",),
        styles=("watercolor", "photorealistic"),
        triggers=("<house>",),
        version=1,
        created_at=days(90),
        description="A red house beside a tree.",
        last_used_at=days(3),
    ),
    card(
        "mouse",
        subjects=("mouse",),
        styles=("cartoon",),
        triggers=("★mouse★",),
        created_at=days(40),
        description="A mouse that eats cheese.",
    ),
    card("gone", state=State.ARCHIVED, created_at=days(1)),
    card("broken", state=State.FAILED, created_at=days(2)),
]


class Searcher:
    """Searches with defaults."""

    def __init__(self, store: PostgresStore, tenant: str, embedder: Embedder | None = None) -> None:
        self.store = store
        self.tenant = tenant
        self.embedder = embedder

    async def __call__(
        self,
        text: str = "",
        *,
        order: Order = Order.RELEVANCE,
        size: int = 10,
        token: str = "",
        **constraints: Any,
    ) -> Hits:
        """Search."""
        return await search_checkpoints(
            Query(text=text, filter=Filter(**constraints), order=order),
            tenant=self.tenant,
            page=Page(size=size, token=token),
            reader=self.store,
            embedder=self.embedder,
        )


@pytest.fixture
async def search(store: PostgresStore) -> Searcher:
    """Search the six cards; another tenant has one that would match everything."""
    if await store.card("search", "mouse") is None:
        await store_cards(store, "search", CARDS)
        await store_cards(store, "search-other", [card("bear-v4", description="bear bear bear")])
    return Searcher(store, "search")


def ids(hits: Hits) -> list[str]:
    """Ids in their order."""
    return [hit.card.checkpoint_id for hit in hits.hits]


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("render <bear-v4> at night", "bear-v4"),
        ("<BEAR-V5>", "bear-v5"),
        ("sks bear", "bear-v5"),
        ("★mouse★ please", "mouse"),
        ("house.v1", "house.v1"),
        ("two mice", "mouse"),
        ("teddy bears", "bear-v4"),
        ("the house's garden", "house.v1"),
        ("a sketched bear", "bear-v5"),
        ("something in watercolor", "house.v1"),
        ("who eats cheese", "mouse"),
    ],
)
async def test_words_find_their_card(search: Searcher, text: str, best: str) -> None:
    """Triggers and ids as they stand, subjects in any number, styles, words of a description."""
    hits = await search(text)
    assert ids(hits)[0] == best
    assert hits.hits[0].sparse_rank == 1
    assert not hits.dense
    assert hits.hits[0].similarity is None
    assert hits.hits[0].dense_rank == 0


async def test_the_scene_does_not_choose_the_subject(search: Searcher) -> None:
    """What stands behind "by" is scenery: bears come first, though a card is called house."""
    assert set(ids(await search("a bear by the house"))[:2]) == {"bear-v4", "bear-v5"}


async def test_a_text_ranks_and_never_excludes(search: Searcher) -> None:
    """Constraints alone decide what is returned; words nobody used rank nothing."""
    hits = await search("giraffe")
    assert hits.total_matches == 4
    assert {hit.score for hit in hits.hits} == {0.0}
    assert {hit.sparse_rank for hit in hits.hits} == {0}


@pytest.mark.parametrize(
    ("subjects", "ranked"),
    [(("Bears",), False), (("bear", "teddy bear"), False), (("bear", "mouse"), True)],
)
async def test_a_word_of_all_that_is_asked_for_ranks_nothing(
    search: Searcher, subjects: tuple[str, ...], ranked: bool
) -> None:
    """Every match has it; words beside it still rank."""
    hits = await search("bear", subjects=subjects)
    assert any(hit.sparse_rank for hit in hits.hits) is ranked
    sketched = await search("a sketched bear", subjects=subjects)
    assert ids(sketched)[0] == "bear-v5"
    assert sketched.hits[0].sparse_rank == 1


@pytest.mark.parametrize(
    ("constraints", "expected"),
    [
        ({}, {"bear-v4", "bear-v5", "house.v1", "mouse"}),
        ({"subjects": ("Bears",)}, {"bear-v4", "bear-v5"}),
        ({"subjects": ("teddy bear", "mice")}, {"bear-v4", "mouse"}),
        ({"excluded_subjects": ("bear",)}, {"house.v1", "mouse"}),
        ({"styles": ("WATERCOLOR",)}, {"house.v1"}),
        ({"styles": ("photorealistic",)}, {"bear-v4", "house.v1"}),
        ({"styles": ("photorealistic",), "excluded_styles": ("watercolor",)}, {"bear-v4"}),
        ({"environments": ("city", "desert")}, {"bear-v5"}),
        ({"excluded_environments": ("snow",)}, {"bear-v4", "house.v1", "mouse"}),
        ({"created": Interval(start=days(10))}, {"bear-v4", "bear-v5"}),
        ({"created": Interval(end=days(10))}, {"house.v1", "mouse"}),
        ({"created": Interval(start=days(40), end=days(10))}, {"mouse"}),
        ({"last_used": Interval(start=days(2))}, {"bear-v4"}),
        ({"last_used": Interval(end=days(2))}, {"house.v1"}),
        ({"versions": (5, 1)}, {"bear-v5", "house.v1"}),
        ({"owners": ("STUDIO A",)}, {"bear-v4"}),
        ({"checkpoint_ids": ("mouse", "gone", "unknown")}, {"mouse"}),
        ({"triggers": ("<Bear-V4>", "SKS BEAR")}, {"bear-v4", "bear-v5"}),
        ({"states": (State.ARCHIVED,)}, {"gone"}),
        ({"states": (State.FAILED, State.ARCHIVED)}, {"gone", "broken"}),
        ({"checkpoint_ids": ("mouse\0", "\0")}, set()),
        ({"subjects": ("bear",), "versions": (1,)}, set()),
        ({"subjects": ("'; DROP TABLE checkpoints; --",)}, set()),
    ],
)
async def test_constraints_are_hard(
    search: Searcher, constraints: dict[str, Any], expected: set[str]
) -> None:
    """A card that misses one is not returned, however well the text fits."""
    for text in ("", "the photorealistic teddy bear <bear-v4> in the forest"):
        hits = await search(text, **constraints)
        assert set(ids(hits)) == expected
        assert hits.total_matches == len(expected)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (Order.NEWEST, ["bear-v5", "bear-v4", "mouse", "house.v1"]),
        (Order.OLDEST, ["house.v1", "mouse", "bear-v4", "bear-v5"]),
        (Order.LAST_USED, ["bear-v4", "house.v1", "bear-v5", "mouse"]),
        (Order.MOST_USED, ["bear-v5", "bear-v4", "mouse", "house.v1"]),
        (Order.LEAST_RECENTLY_USED, ["house.v1", "bear-v4", "bear-v5", "mouse"]),
        (Order.HIGHEST_VERSION, ["bear-v5", "bear-v4", "house.v1", "mouse"]),
        (Order.LOWEST_VERSION, ["house.v1", "bear-v4", "bear-v5", "mouse"]),
    ],
)
async def test_an_order_comes_before_relevance(
    search: Searcher, order: Order, expected: list[str]
) -> None:
    """With or without a text; what was never used comes last."""
    assert ids(await search("", order=order)) == expected
    assert ids(await search("house mouse", order=order))[:2] == expected[:2]


async def test_never_used_counts_as_least_used(search: Searcher) -> None:
    """Cards never rendered with come before those with a few uses."""
    assert ids(await search("", order=Order.LEAST_USED)) == [
        "mouse",
        "house.v1",
        "bear-v4",
        "bear-v5",
    ]


async def test_equal_cards_have_one_order(store: PostgresStore, tenant: str) -> None:
    """Ties go to the newer card, then to the smaller id, whatever was stored first."""
    await store_cards(store, tenant, [card(name) for name in ("c", "a", "b")])
    assert ids(await Searcher(store, tenant)("bear")) == ["a", "b", "c"]


async def test_pages_follow_each_other(search: Searcher) -> None:
    """Every match comes exactly once, and the last page has no successor."""
    seen: list[str] = []
    token = ""
    for _ in range(4):
        page = await search("bear", size=1, token=token)
        assert page.total_matches == 4
        seen += ids(page)
        token = page.next_page_token
    assert token == ""
    assert seen == ids(await search("bear"))


async def test_a_token_of_another_search_is_refused(search: Searcher) -> None:
    """Pages of different questions do not mix."""
    page = await search("bear", size=1)
    with pytest.raises(InvalidInput):
        await search("house", size=1, token=page.next_page_token)


async def test_a_page_beyond_the_end_still_counts(search: Searcher) -> None:
    """Cards may vanish between two pages."""
    page = await search("bear", size=1)
    hits = await search.store.search(
        search.tenant,
        Query(text="bear", filter=Filter(states=(State.SERVABLE, State.REGISTERED))),
        terms={"bear": "A"},
        dense=None,
        model=None,
        limit=10,
        offset=1000,
    )
    assert hits.hits == []
    assert hits.total_matches == page.total_matches


async def test_every_card_counts_as_long_as_it_can_be_selected(
    fresh_store: PostgresStore, postgres_url: str
) -> None:
    """Whatever comes, goes and changes, in how many writes; other tenants' cards never do."""
    search = Searcher(fresh_store, "red")

    async def count() -> int:
        hits = await search(order=Order.NEWEST)
        assert hits.total_matches == len(hits.hits) == (await search()).total_matches
        return hits.total_matches

    bear = card("bear")
    await store_cards(fresh_store, "blue", [card("bear"), card("dog")])
    await store_cards(
        fresh_store, "red", [bear, card("dog"), card("cat"), card("owl", state=State.FAILED)]
    )
    assert await count() == 3
    await store_cards(fresh_store, "red", [replace(bear, state=State.SERVABLE)])
    assert await count() == 3
    await store_cards(
        fresh_store, "red", [card("dog", state=State.ARCHIVED), card("owl"), card("owl")]
    )
    assert await count() == 3
    await store_cards(fresh_store, "red", [replace(bear, state=State.FAILED), card("fox")])
    assert await count() == 3
    async with fresh_store.writing("red") as writer:
        await writer.put_card(card("cat", state=State.ARCHIVED))
    assert await count() == 2
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DELETE FROM personalq.labels WHERE checkpoint_id IN ('fox', 'dog')")
        connection.execute("DELETE FROM personalq.artifacts")
        connection.execute("DELETE FROM personalq.checkpoints WHERE checkpoint_id IN ('fox','dog')")
    assert await count() == 1
    others = await Searcher(fresh_store, "blue")(order=Order.NEWEST)
    assert others.total_matches == len(others.hits) == 1


async def test_an_empty_catalog_answers(store: PostgresStore, tenant: str) -> None:
    """No tenant, no cards, no error."""
    for text, order in (("bear", Order.RELEVANCE), ("", Order.NEWEST)):
        hits = await Searcher(store, tenant)(text, order=order)
        assert (hits.hits, hits.total_matches, hits.next_page_token) == ([], 0, "")


@pytest.mark.parametrize(
    "text",
    [
        "o'neil's \\ bear",
        "'; DROP TABLE personalq.checkpoints; --",
        "!bear & (|) <-> *:A ''",
        "<" * 500,
        "🐻🐻🐻",
        "דוב גדול",
        "a" * 3000,
        "bear " * 2000,
        "\u0000\u0001bear",
        "'':A\\'",
    ],
)
async def test_no_text_breaks_a_search(search: Searcher, text: str) -> None:
    """Text is data, whatever it looks like to SQL or to tsquery."""
    assert (await search(text)).total_matches == 4


async def test_strange_cards_can_be_stored_and_found(store: PostgresStore, tenant: str) -> None:
    """Triggers and descriptions may hold whatever people write."""
    strange = ["'", "\\", "a'b\\c", "!|&", "<->:*", "🐻", "דוב"]
    await store_cards(
        store,
        tenant,
        [card(f"c{i}", triggers=(text,), description=text) for i, text in enumerate(strange)],
    )
    for index, trigger in enumerate(strange):
        hits = await Searcher(store, tenant)(triggers=(trigger,))
        assert ids(hits) == [f"c{index}"]


async def test_a_text_beyond_reason_is_refused(search: Searcher) -> None:
    """Longer than any prompt."""
    with pytest.raises(InvalidInput):
        await search("x" * 10_001)


class Topics:
    """A tiny honest embedding: one axis per topic, so that expected ranks can be computed."""

    AXES = ("bear", "house", "mouse", "teddy", "pencil", "cheese", "red", "other")
    model = Model(id="topics", dim=8)

    async def embed_documents(self, texts: Sequence[str]) -> list[Embedded]:
        """Count the topics' words."""
        return [Embedded(vector=self.vector(text)) for text in texts]

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedded]:
        """The same for questions."""
        return await self.embed_documents(texts)

    def vector(self, text: str) -> Vector:
        """One number per topic."""
        counts = [text.lower().count(axis) + 0.01 for axis in self.AXES]
        length = math.hypot(*counts)
        return [count / length for count in counts]


@pytest.fixture
async def hybrid(store: PostgresStore, tenant: str) -> Searcher:
    """The six cards with vectors."""
    await store.verify(Topics.model)
    await store_cards(store, tenant, CARDS, embedder=Topics())
    return Searcher(store, tenant, Topics())


async def test_both_rankings_are_fused(hybrid: Searcher) -> None:
    """The score is the sum of 1 / (60 + rank) over the rankings (RRF, k = 60)."""
    hits = await hybrid("pencil bear")
    assert hits.dense
    assert ids(hits)[0] == "bear-v5"
    for hit in hits.hits:
        ranks = [rank for rank in (hit.dense_rank, hit.sparse_rank) if rank]
        assert hit.score == pytest.approx(sum(1 / (60 + rank) for rank in ranks))
    assert sorted(hit.dense_rank for hit in hits.hits) == [1, 2, 3, 4]


async def test_similarity_is_the_cosine(hybrid: Searcher) -> None:
    """It says how near a card is in absolute terms, which the score cannot."""
    hits = await hybrid("cheese")
    best = hits.hits[0]
    assert best.card.checkpoint_id == "mouse"
    expected = sum(
        a * b
        for a, b in zip(
            Topics().vector("cheese"),
            Topics().vector("mouse. cartoon. ★mouse★. A mouse that eats cheese"),
            strict=True,
        )
    )
    assert best.similarity == pytest.approx(expected, abs=2e-3)


async def test_constraints_hold_before_the_dense_ranking(hybrid: Searcher) -> None:
    """The nearest card is not returned when it misses a constraint, and takes nobody's place."""
    hits = await hybrid("pencil bear", excluded_styles=("sketch",), size=1)
    assert ids(hits) == ["bear-v4"]
    assert hits.hits[0].dense_rank == 1


async def test_without_a_text_there_is_no_dense_ranking(hybrid: Searcher) -> None:
    """An order alone needs no vectors."""
    hits = await hybrid("", order=Order.NEWEST)
    assert not hits.dense
    assert ids(hits)[0] == "bear-v5"


async def test_a_card_without_a_vector_is_still_found(hybrid: Searcher) -> None:
    """While a new model's vectors are being made, the sparse ranking carries on."""
    await store_cards(
        hybrid.store, hybrid.tenant, [card("late", subjects=("zebra",), triggers=("<z>",))]
    )
    hits = await hybrid("zebra")
    late = next(hit for hit in hits.hits if hit.card.checkpoint_id == "late")
    assert (late.dense_rank, late.sparse_rank, late.similarity) == (0, 1, None)
