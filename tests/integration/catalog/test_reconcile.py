"""What is missing is asked for again, by one replica, with growing pauses."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import psycopg
import pytest
from support.catalog_cards import (
    PROFILES,
    RecordingAnnouncer,
    artifact,
    card,
    failure,
    store_cards,
)
from support.polling import eventually

from personalq.catalog.cards import State
from personalq.catalog.lifecycle import accept_artifact, accept_failure
from personalq.catalog.looks import Looks
from personalq.catalog.paging import Page
from personalq.catalog.ports import Claimed, Embedded, Model, Unembeddable
from personalq.catalog.reconcile import embed_missing, repeat, request_missing_artifacts
from personalq.catalog.search import Hits, Query, search_checkpoints
from personalq.catalog.store import PostgresStore
from personalq.chassis.errors import Unavailable

TENANT = "default"


async def _round(
    store: PostgresStore,
    announce: RecordingAnnouncer,
    *,
    profiles: Sequence[str] = PROFILES,
    recipe_version: int = 1,
    patience_s: float = 0.0,
    looks: Looks | None = None,
) -> int:
    return await request_missing_artifacts(
        upkeep=store,
        announce=announce,
        profiles=profiles,
        recipe_version=recipe_version,
        patience_s=patience_s,
        looks=looks or Looks(),
    )


async def _complete(store: PostgresStore, checkpoint_id: str = "bear") -> None:
    """Every profile has an artifact."""
    found = await store.card(TENANT, checkpoint_id)
    assert found is not None
    for profile in PROFILES:
        await accept_artifact(
            artifact(found, profile), tenant=TENANT, store=store, profiles=PROFILES
        )


async def test_missing_artifacts_are_asked_for_in_every_tenant(
    fresh_store: PostgresStore, announce: RecordingAnnouncer
) -> None:
    """Only the profiles that are missing."""
    [bear] = await store_cards(fresh_store, TENANT, [card("bear")])
    await store_cards(fresh_store, "other", [card("dog"), card("x", state=State.ARCHIVED)])
    await accept_artifact(artifact(bear), tenant=TENANT, store=fresh_store, profiles=PROFILES)
    assert await _round(fresh_store, announce) == 2
    assert sorted(announce.announced) == [
        ("wanted", "bear", ("full",)),
        ("wanted", "dog", ("full", "w8a8")),
    ]


async def test_a_complete_card_is_left_alone(
    fresh_store: PostgresStore, announce: RecordingAnnouncer
) -> None:
    """Nothing is missing, nothing is published."""
    await store_cards(fresh_store, TENANT, [card("bear")])
    await _complete(fresh_store)
    assert await _round(fresh_store, announce) == 0


async def test_a_new_profile_and_a_new_recipe_are_seen(
    fresh_store: PostgresStore, announce: RecordingAnnouncer
) -> None:
    """Both mean that an artifact is missing."""
    await store_cards(fresh_store, TENANT, [card("bear")])
    await _complete(fresh_store)
    await _round(fresh_store, announce, profiles=(*PROFILES, "w4a8"))
    await _round(fresh_store, announce, recipe_version=2)
    assert announce.announced == [
        ("wanted", "bear", ("w4a8",)),
        ("wanted", "bear", ("full", "w8a8")),
    ]


async def test_artifacts_that_protect_former_triggers_are_made_again(
    fresh_store: PostgresStore, announce: RecordingAnnouncer
) -> None:
    """The quantizer is given its time first; until then the former artifact serves."""
    await store_cards(fresh_store, TENANT, [card("bear")])
    await _complete(fresh_store)
    async with fresh_store.writing(TENANT) as writer:
        found = await writer.card("bear")
        assert found is not None
        changed = await writer.put_card(replace(found, triggers=("<new>",)))
    assert changed.state is State.SERVABLE
    assert await _round(fresh_store, announce, patience_s=60) == 0
    await _round(fresh_store, announce)
    assert announce.announced == [("wanted", "bear", ("full", "w8a8"))]
    await _complete(fresh_store)
    assert await _round(fresh_store, announce) == 0


async def _forget_artifacts(postgres_url: str) -> None:
    """As somebody's SQL may, past the catalog."""
    async with await psycopg.AsyncConnection.connect(postgres_url) as connection:
        await connection.execute("DELETE FROM personalq.artifacts")


async def test_a_complete_tenant_is_not_looked_at_until_one_of_its_cards_changes(
    fresh_store: PostgresStore, announce: RecordingAnnouncer, postgres_url: str
) -> None:
    """What is missing nevertheless is seen by another process, or by this one in a while."""
    looks = Looks()
    await store_cards(fresh_store, TENANT, [card("bear")])
    assert await _round(fresh_store, announce, looks=looks) == 1
    await _complete(fresh_store)
    assert await _round(fresh_store, announce, looks=looks) == 0
    await _forget_artifacts(postgres_url)
    assert await _round(fresh_store, announce, looks=looks) == 0
    assert await _round(fresh_store, announce, looks=Looks()) == 1
    await store_cards(fresh_store, TENANT, [card("dog")])
    assert await _round(fresh_store, announce, looks=looks) == 2


async def test_a_tenant_that_only_waits_for_the_quantizer_is_looked_at_again(
    fresh_store: PostgresStore, announce: RecordingAnnouncer
) -> None:
    """Asked for is not there."""
    looks = Looks()
    await store_cards(fresh_store, TENANT, [card("bear")])
    assert await _round(fresh_store, announce, patience_s=60, looks=looks) == 0
    assert await _round(fresh_store, announce, looks=looks) == 1


async def test_a_round_asks_for_so_many_and_the_next_goes_on_with_other_tenants(
    fresh_store: PostgresStore, announce: RecordingAnnouncer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new recipe makes everything a missing artifact at once."""
    monkeypatch.setattr("personalq.catalog.reconcile._MOST_PER_ROUND", 3)
    monkeypatch.setattr("personalq.catalog.reconcile._MOST_OF_TENANT", 2)
    for tenant in ("a", "b", "c"):
        await store_cards(fresh_store, tenant, [card(f"{tenant}{i}") for i in range(2)])
    looks = Looks()
    announced = []
    for _ in range(2):
        assert await _round(fresh_store, announce, looks=looks) == 3
        announced.append(sorted(name for _, name, _ in announce.announced))
        announce.announced.clear()
    assert announced[0][:2] == ["a0", "a1"]
    assert announced[0][2] in ("b0", "b1")
    assert {"c0", "c1"} <= set(announced[1])


class Broken:
    """Upkeep that cannot look into one of its tenants."""

    def __init__(self, store: PostgresStore, tenant: str) -> None:
        self._store = store
        self._tenant = tenant

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    async def claim_unserved(self, tenant: str, **values: Any) -> Claimed:
        """Refused for the one tenant."""
        if tenant == self._tenant:
            raise Unavailable("no database")
        return await self._store.claim_unserved(tenant, **values)


async def test_a_tenant_that_breaks_the_round_off_keeps_nobody_else_waiting(
    fresh_store: PostgresStore, announce: RecordingAnnouncer
) -> None:
    """It has had its turn, as the others."""
    for tenant in ("a", "b", "c"):
        await store_cards(fresh_store, tenant, [card(tenant)])
    looks, broken = Looks(), cast(PostgresStore, Broken(fresh_store, "b"))
    for _ in range(2):
        with pytest.raises(Unavailable):
            await _round(broken, announce, looks=looks)
    assert {name for _, name, _ in announce.announced} == {"a", "c"}


async def test_a_hopeless_checkpoint_is_not_asked_for_until_the_recipe_changes(
    fresh_store: PostgresStore, announce: RecordingAnnouncer
) -> None:
    """Failing for good is an answer; a new recipe may do better."""
    [bear] = await store_cards(fresh_store, TENANT, [card("bear")])
    for profile in PROFILES:
        await accept_failure(
            failure(bear, profile, recipe_version=1),
            tenant=TENANT,
            store=fresh_store,
            profiles=PROFILES,
        )
    assert await _round(fresh_store, announce) == 0
    assert await _round(fresh_store, announce, recipe_version=2) == 1


async def test_the_quantizer_is_given_time(
    fresh_store: PostgresStore, announce: RecordingAnnouncer
) -> None:
    """A card that was just registered, or just asked for, is not missing anything yet."""
    await store_cards(fresh_store, TENANT, [card("bear")])
    assert await _round(fresh_store, announce, patience_s=60) == 0
    assert await _round(fresh_store, announce, patience_s=0) == 1
    assert await _round(fresh_store, announce, patience_s=0.001) >= 0
    assert await _round(fresh_store, announce, patience_s=60) == 0


async def test_two_replicas_ask_once(
    fresh_store: PostgresStore, announce: RecordingAnnouncer, postgres_url: str
) -> None:
    """However many run their rounds at the same time."""
    await store_cards(fresh_store, TENANT, [card(f"c{i}") for i in range(5)])
    with psycopg.connect(postgres_url) as connection:
        connection.execute(
            "UPDATE personalq.checkpoints SET requested_at = now() - interval '1 hour'"
        )
    asked = await asyncio.gather(*(_round(fresh_store, announce, patience_s=300) for _ in range(4)))
    assert sum(asked) == 5
    assert len(announce.announced) == 5


async def test_what_was_claimed_while_the_bus_was_away_comes_again(
    fresh_store: PostgresStore, announce: RecordingAnnouncer
) -> None:
    """A round that breaks off costs one pause, not the artifact."""
    await store_cards(fresh_store, TENANT, [card("bear")])
    announce.away = True
    rounds = asyncio.create_task(
        repeat(lambda: _round(fresh_store, announce), every_s=0.01, name="reconcile")
    )

    async def refused() -> bool:
        return announce.refused > 0

    await eventually(refused)
    announce.away = False

    async def announced() -> bool:
        return bool(announce.announced)

    await eventually(announced)
    rounds.cancel()
    await asyncio.gather(rounds, return_exceptions=True)
    assert announce.announced[0] == ("wanted", "bear", ("full", "w8a8"))


class Constant:
    """An embedder of one direction, under a name and of a width."""

    def __init__(self, name: str, dim: int) -> None:
        self.model = Model(id=name, dim=dim)
        self.embedded: list[str] = []
        self.away = False
        self.breaks_after: int | None = None
        self.refuses: str | None = None

    async def embed_documents(self, texts: Sequence[str]) -> list[Embedded]:
        """The first axis."""
        if self.away or (self.breaks_after is not None and len(self.embedded) > self.breaks_after):
            raise Unavailable("no embedder")
        if self.refuses is not None and any(self.refuses in text for text in texts):
            raise Unembeddable("not this one")
        self.embedded += texts
        return [_axis(self.model.dim) for _ in texts]

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedded]:
        """The first axis."""
        if self.away:
            raise Unavailable("no embedder")
        return [_axis(self.model.dim) for _ in texts]


def _axis(dim: int) -> Embedded:
    return Embedded(vector=[1.0, *[0.0] * (dim - 1)])


async def _search(store: PostgresStore, embedder: Constant) -> Hits:
    return await search_checkpoints(
        Query(text="bear"), tenant=TENANT, page=Page(size=50), reader=store, embedder=embedder
    )


async def _dense_ranks(store: PostgresStore, embedder: Constant) -> list[int]:
    return [hit.dense_rank for hit in (await _search(store, embedder)).hits]


async def test_another_model_is_filled_in_beside_the_old_one(fresh_store: PostgresStore) -> None:
    """Start-up makes room, searches go on, and processes with the old model keep their vectors."""
    old, new = Constant("old", 384), Constant("new", 16)
    cards = await store_cards(fresh_store, TENANT, [card(f"c{i}") for i in range(40)], embedder=old)
    assert await _dense_ranks(fresh_store, old) == list(range(1, 41))

    await fresh_store.verify(new.model)
    assert not (await _search(fresh_store, new)).dense
    assert await _dense_ranks(fresh_store, new) == [0] * 40
    assert await embed_missing(upkeep=fresh_store, embedder=new, looks=Looks()) == len(cards)
    assert await _dense_ranks(fresh_store, new) == list(range(1, 41))
    assert await _dense_ranks(fresh_store, old) == list(range(1, 41))
    assert await embed_missing(upkeep=fresh_store, embedder=new, looks=Looks()) == 0


async def test_cards_that_have_a_vector_do_not_overtake_those_that_wait_for_one(
    fresh_store: PostgresStore,
) -> None:
    """Until nearly all have one the words alone rank; then who waits is placed by its words."""
    await store_cards(fresh_store, TENANT, [card(f"c{i:02}") for i in range(20)])
    by_words = [
        hit.card.checkpoint_id for hit in (await _search(fresh_store, Constant("x", 384))).hits
    ]
    new = Constant("new", 384)
    last = [card(name) for name in by_words[::-1]]
    await store_cards(fresh_store, TENANT, last[:17], embedder=new)
    partly = await _search(fresh_store, new)
    assert not partly.dense
    assert [hit.card.checkpoint_id for hit in partly.hits] == by_words

    await store_cards(fresh_store, TENANT, last[17:19], embedder=new)
    nearly = await _search(fresh_store, new)
    assert nearly.dense
    waiting = next(hit for hit in nearly.hits if hit.card.checkpoint_id == by_words[0])
    assert (waiting.dense_rank, waiting.sparse_rank) == (0, 1)
    assert nearly.hits[0] == waiting


async def test_a_model_that_is_away_leaves_the_ranking_to_the_words(
    fresh_store: PostgresStore, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer says that no vectors took part; nobody is refused an answer."""
    embedder = Constant("m", 384)
    await store_cards(fresh_store, TENANT, [card("a"), card("b")], embedder=embedder)
    assert (await _search(fresh_store, embedder)).dense
    embedder.away = True
    found = await _search(fresh_store, embedder)
    assert (found.dense, found.total_matches) == (False, 2)
    assert [hit.sparse_rank for hit in found.hits] == [1, 2]
    assert "searched without vectors" in caplog.messages


async def test_a_round_that_breaks_off_is_taken_up_by_the_next(fresh_store: PostgresStore) -> None:
    """What is stored is not embedded again, and a large tenant keeps nobody waiting."""
    for tenant, count in (("large", 200), ("small", 3)):
        await store_cards(fresh_store, tenant, [card(f"c{i:03}") for i in range(count)])
    embedder = Constant("m", 384)
    embedder.breaks_after = 100
    with pytest.raises(Unavailable):
        await embed_missing(upkeep=fresh_store, embedder=embedder, looks=Looks())
    assert await fresh_store.count_unembedded("small", embedder.model) == 0
    left = await fresh_store.count_unembedded("large", embedder.model)
    assert 0 < left < 200
    embedder.breaks_after = None
    assert await embed_missing(upkeep=fresh_store, embedder=embedder, looks=Looks()) == left
    texts = [text for text in embedder.embedded if "<c" in text]
    assert len(texts) == 203


async def test_a_text_the_model_refuses_stops_no_other(
    fresh_store: PostgresStore, caplog: pytest.LogCaptureFixture
) -> None:
    """It is named in the log, and tried again in the next round."""
    await store_cards(fresh_store, TENANT, [card(f"c{i:02}") for i in range(40)])
    embedder = Constant("m", 384)
    embedder.refuses = "<c07>"
    assert await embed_missing(upkeep=fresh_store, embedder=embedder, looks=Looks()) == 39
    assert "card cannot be embedded" in caplog.messages
    embedder.refuses = None
    assert await embed_missing(upkeep=fresh_store, embedder=embedder, looks=Looks()) == 1


async def test_a_changed_text_is_embedded_again(fresh_store: PostgresStore) -> None:
    """Only that card, and not because of something that is not in the text."""
    embedder = Constant("m", 384)
    await store_cards(fresh_store, TENANT, [card("a"), card("b")], embedder=embedder)
    embedder.embedded.clear()
    async with fresh_store.writing(TENANT) as writer:
        for name, change in (("a", {"description": "New."}), ("b", {"use_count": 4})):
            found = await writer.card(name)
            assert found is not None
            await writer.put_card(replace(found, **change))
    assert await embed_missing(upkeep=fresh_store, embedder=embedder, looks=Looks()) == 1
    assert embedder.embedded == ["bear. photorealistic. <a>. New", "New"]


async def test_an_embedded_tenant_is_not_looked_at_until_one_of_its_cards_changes(
    fresh_store: PostgresStore, postgres_url: str
) -> None:
    """The look that embeds is not the one that says so."""
    await store_cards(fresh_store, TENANT, [card("bear")])
    embedder, looks = Constant("m", 384), Looks()
    for embedded in (1, 0):
        assert await embed_missing(upkeep=fresh_store, embedder=embedder, looks=looks) == embedded
    with psycopg.connect(postgres_url) as connection:
        connection.execute("DELETE FROM personalq.embeddings_384")
    assert await embed_missing(upkeep=fresh_store, embedder=embedder, looks=looks) == 0
    await store_cards(fresh_store, TENANT, [card("dog")])
    assert await embed_missing(upkeep=fresh_store, embedder=embedder, looks=looks) == 2


async def test_a_round_of_embedding_ends(fresh_store: PostgresStore, postgres_url: str) -> None:
    """Also when texts are put together otherwise than by the version that stored the cards."""
    await store_cards(fresh_store, TENANT, [card(f"c{i}") for i in range(40)])
    with psycopg.connect(postgres_url) as connection:
        connection.execute("UPDATE personalq.checkpoints SET text_hash = 'of another version'")
    embedder = Constant("m", 384)
    async with asyncio.timeout(60):
        assert await embed_missing(upkeep=fresh_store, embedder=embedder, looks=Looks()) == 40
