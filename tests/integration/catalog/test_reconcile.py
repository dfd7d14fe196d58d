"""What is missing is asked for again, by one replica, with growing pauses."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import psycopg
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
from personalq.catalog.paging import Page
from personalq.catalog.ports import Model, Vector
from personalq.catalog.reconcile import embed_missing, repeat, request_missing_artifacts
from personalq.catalog.search import Query, search_checkpoints
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
) -> int:
    return await request_missing_artifacts(
        upkeep=store,
        announce=announce,
        profiles=profiles,
        recipe_version=recipe_version,
        patience_s=patience_s,
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


async def test_a_hopeless_checkpoint_is_not_asked_for_until_the_recipe_changes(
    fresh_store: PostgresStore, announce: RecordingAnnouncer
) -> None:
    """Failing for good is an answer; a new recipe may do better."""
    [bear] = await store_cards(fresh_store, TENANT, [card("bear")])
    for profile in PROFILES:
        await accept_failure(
            failure(bear, profile),
            tenant=TENANT,
            store=fresh_store,
            profiles=PROFILES,
            recipe_version=1,
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

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """The first axis."""
        if self.away:
            raise Unavailable("no embedder")
        self.embedded += texts
        return [[1.0, *[0.0] * (self.model.dim - 1)] for _ in texts]

    async def embed_query(self, text: str) -> Vector:
        """The first axis."""
        return [1.0, *[0.0] * (self.model.dim - 1)]


async def _dense_ranks(store: PostgresStore, embedder: Constant) -> list[int]:
    hits = await search_checkpoints(
        Query(text="bear"), tenant=TENANT, page=Page(size=10), reader=store, embedder=embedder
    )
    return [hit.dense_rank for hit in hits.hits]


async def test_another_model_is_filled_in_beside_the_old_one(fresh_store: PostgresStore) -> None:
    """Start-up makes room, searches go on, and processes with the old model keep their vectors."""
    old, new = Constant("old", 384), Constant("new", 16)
    cards = await store_cards(fresh_store, TENANT, [card(f"c{i}") for i in range(40)], embedder=old)
    assert await _dense_ranks(fresh_store, old) == list(range(1, 11))

    await fresh_store.verify(new.model)
    assert await _dense_ranks(fresh_store, new) == [0] * 10
    assert await embed_missing(upkeep=fresh_store, embedder=new) == len(cards)
    assert await _dense_ranks(fresh_store, new) == list(range(1, 11))
    assert await _dense_ranks(fresh_store, old) == list(range(1, 11))
    assert await embed_missing(upkeep=fresh_store, embedder=new) == 0


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
    assert await embed_missing(upkeep=fresh_store, embedder=embedder) == 1
    assert embedder.embedded == ["bear. photorealistic. <a>. New"]


async def test_a_round_of_embedding_ends(fresh_store: PostgresStore, postgres_url: str) -> None:
    """Also when texts are put together otherwise than by the version that stored the cards."""
    await store_cards(fresh_store, TENANT, [card(f"c{i}") for i in range(40)])
    with psycopg.connect(postgres_url) as connection:
        connection.execute("UPDATE personalq.checkpoints SET text_hash = 'of another version'")
    embedder = Constant("m", 384)
    async with asyncio.timeout(60):
        assert await embed_missing(upkeep=fresh_store, embedder=embedder) == 40
