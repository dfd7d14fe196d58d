"""Artifacts and failures as the quantizer reports them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from support.catalog_cards import (
    NOW,
    PROFILES,
    RecordingAnnouncer,
    artifact,
    card,
    failure,
    origin,
    store_cards,
)

from personalq.catalog.cards import Artifact, Card, State
from personalq.catalog.lifecycle import (
    Failure,
    accept_artifact,
    accept_failure,
    archive_checkpoint,
)
from personalq.catalog.store import PostgresStore
from personalq.chassis.errors import InvalidInput, NotFound


class Quantizer:
    """Reports to a tenant's catalog."""

    def __init__(self, store: PostgresStore, tenant: str) -> None:
        self.store = store
        self.tenant = tenant

    async def ready(self, made: Artifact) -> bool:
        """An artifact is ready."""
        return await accept_artifact(made, tenant=self.tenant, store=self.store, profiles=PROFILES)

    async def failed(self, why: Failure) -> bool:
        """A try has failed."""
        return await accept_failure(why, tenant=self.tenant, store=self.store, profiles=PROFILES)

    async def card(self) -> Card:
        """The card as it is now."""
        found = await self.store.card(self.tenant, "bear")
        assert found is not None
        return found


@pytest.fixture
async def bear(store: PostgresStore, tenant: str) -> Card:
    """A registered card."""
    [stored] = await store_cards(store, tenant, [card("bear")])
    return stored


@pytest.fixture
def quantizer(store: PostgresStore, tenant: str) -> Quantizer:
    """Reports to the tenant's catalog."""
    return Quantizer(store, tenant)


async def test_the_first_artifact_makes_a_card_servable(quantizer: Quantizer, bear: Card) -> None:
    """Further profiles are added; each is listed once."""
    assert await quantizer.ready(artifact(bear, "w8a8"))
    assert (await quantizer.card()).state is State.SERVABLE
    assert await quantizer.ready(artifact(bear, "full"))
    assert [each.profile for each in (await quantizer.card()).artifacts] == ["full", "w8a8"]
    assert (await quantizer.card()).artifacts[1] == artifact(bear, "w8a8")


async def test_a_failure_makes_it_failed_and_a_success_servable(
    quantizer: Quantizer, bear: Card
) -> None:
    """The reason is there for people to read, and goes away."""
    assert await quantizer.failed(failure(bear, "w8a8"))
    failed = await quantizer.card()
    assert (failed.state, failed.state_reason) == (State.FAILED, "w8a8: out of memory")
    assert await quantizer.ready(artifact(bear, "full"))
    assert (await quantizer.card()).state_reason == ""


async def test_duplicates_change_nothing(quantizer: Quantizer, bear: Card) -> None:
    """No revision is spent on what is known, so nobody is woken."""
    await quantizer.ready(artifact(bear))
    before = await quantizer.card()
    assert not await quantizer.ready(artifact(bear))
    await quantizer.failed(failure(bear, failed_at=NOW - timedelta(hours=1)))
    assert await quantizer.card() == before


async def test_an_artifact_of_an_earlier_file_is_ignored(quantizer: Quantizer, bear: Card) -> None:
    """It was under way when the file changed."""
    async with quantizer.store.writing(quantizer.tenant) as writer:
        await writer.put_card(replace(bear, source=origin("new")))
    assert not await quantizer.ready(artifact(bear))
    assert not await quantizer.failed(failure(bear))
    now = await quantizer.card()
    assert (now.state, now.artifacts) == (State.REGISTERED, ())


async def test_events_of_unknown_cards_are_harmless(quantizer: Quantizer) -> None:
    """The database may have been restored from an older backup."""
    assert not await quantizer.ready(artifact(card("unknown")))
    assert not await quantizer.failed(failure(card("unknown")))


async def test_archiving_is_for_good_and_can_be_repeated(
    quantizer: Quantizer, bear: Card, announce: RecordingAnnouncer
) -> None:
    """A late artifact does not bring it back; the event is published again."""
    for _ in range(2):
        archived = await archive_checkpoint(
            "bear", tenant=quantizer.tenant, store=quantizer.store, announce=announce
        )
        assert archived.state is State.ARCHIVED
    await quantizer.ready(artifact(bear))
    assert (await quantizer.card()).state is State.ARCHIVED
    assert announce.announced == [("archived", "bear", ())] * 2


@pytest.mark.parametrize(("wrong", "error"), [("nobody", NotFound), ("no/body", InvalidInput)])
async def test_only_what_exists_can_be_archived(
    store: PostgresStore,
    tenant: str,
    announce: RecordingAnnouncer,
    wrong: str,
    error: type[Exception],
) -> None:
    """And an id that cannot exist is an invalid request."""
    with pytest.raises(error):
        await archive_checkpoint(wrong, tenant=tenant, store=store, announce=announce)
    assert announce.announced == []


async def test_the_vocabulary_follows_what_can_be_selected(
    quantizer: Quantizer, bear: Card, announce: RecordingAnnouncer
) -> None:
    """Its revision changes when a list does, and only then."""
    store, tenant = quantizer.store, quantizer.tenant
    first = await store.vocabulary(tenant, "")
    assert (first.modified, first.subjects) == (True, ("bear",))
    await quantizer.ready(artifact(bear))
    same = await store.vocabulary(tenant, first.revision)
    assert (same.modified, same.subjects, same.revision) == (False, (), first.revision)
    await archive_checkpoint("bear", tenant=tenant, store=store, announce=announce)
    after = await store.vocabulary(tenant, first.revision)
    assert (after.modified, after.subjects) == (True, ())


async def test_a_tenant_without_cards_has_an_empty_vocabulary(
    store: PostgresStore, tenant: str
) -> None:
    """Its revision says so, and is current until the first card."""
    none = await store.vocabulary(tenant, "")
    assert none.modified
    assert not (await store.vocabulary(tenant, none.revision)).modified
