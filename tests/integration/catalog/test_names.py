"""Which words name a checkpoint, and which words the cards use, on a real PostgreSQL."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import pytest
from sqlalchemy import text
from support.catalog_cards import RecordingAnnouncer, card, store_cards

from personalq.catalog.cards import SELECTABLE, Filter, State
from personalq.catalog.lifecycle import archive_checkpoint
from personalq.catalog.names import resolve_names
from personalq.catalog.store import PostgresStore, open_store
from personalq.chassis.errors import InvalidInput

BISCUIT = card(
    "biscuit-1",
    name="Biscuit at the sea",
    aliases=("Biscuit", "Mr. Woof"),
    triggers=("<biscuit>", "sks dog"),
    subjects=("dog",),
)


async def _resolved(store: PostgresStore, tenant: str, *names: str) -> list[tuple[str, str, str]]:
    found = await resolve_names(names, tenant=tenant, reader=store)
    return [(each.asked, str(each.name.kind), each.name.spelling) for each in found]


async def test_every_kind_of_name_is_found_however_it_is_written(
    store: PostgresStore, tenant: str
) -> None:
    """Ids, triggers, aliases and display names; what names nothing is left out."""
    await store_cards(store, tenant, [BISCUIT])
    asked = (
        "BISCUIT-1", "<Biscuit>", "sks  DOG", "mr woof", "biscuit at the sea", "sea", "", "%",
    )  # fmt: skip
    assert await _resolved(store, tenant, *asked) == [
        ("BISCUIT-1", "id", "biscuit-1"),
        ("<Biscuit>", "alias", "Biscuit"),
        ("<Biscuit>", "trigger", "<biscuit>"),
        ("sks  DOG", "trigger", "sks dog"),
        ("mr woof", "alias", "Mr. Woof"),
        ("biscuit at the sea", "name", "Biscuit at the sea"),
    ]
    assert await _resolved(store, "nobody", *asked) == []


async def test_a_name_that_many_cards_have_comes_once(store: PostgresStore, tenant: str) -> None:
    """Also when some of them were withdrawn; and both spellings of a trigger come."""
    cards = [card(f"toy-{i}", triggers=("<toy>",)) for i in range(60)]
    gone = [replace(made, state=State.ARCHIVED) for made in cards[:10]]
    await store_cards(store, tenant, [*gone, *cards[10:], card("plain", triggers=("toy",))])
    assert await _resolved(store, tenant, "toy") == [
        ("toy", "trigger", "<toy>"),
        ("toy", "trigger", "toy"),
    ]


async def test_names_follow_the_card(store: PostgresStore, tenant: str) -> None:
    """A changed name is found, the former is not; nor is any of a withdrawn checkpoint."""
    await store_cards(store, tenant, [BISCUIT])
    await store_cards(store, tenant, [replace(BISCUIT, aliases=("Waffles",), triggers=())])
    found = await _resolved(store, tenant, "biscuit", "waffles", "sks dog")
    assert found == [("waffles", "alias", "Waffles")]
    await archive_checkpoint("biscuit-1", tenant=tenant, store=store, announce=RecordingAnnouncer())
    assert await _resolved(store, tenant, "waffles", "biscuit-1") == []


async def test_a_name_stays_while_one_of_its_spellings_does(
    store: PostgresStore, tenant: str
) -> None:
    """Spellings that differ in case are one name: dropping one of them does not lose it."""
    twice = card("a", aliases=("Biscuit", "biscuit"), triggers=("SKS", "sks"))
    await store_cards(store, tenant, [twice])
    await store_cards(store, tenant, [replace(twice, aliases=("biscuit",), triggers=("sks",))])
    assert await _resolved(store, tenant, "Biscuit", "sks") == [
        ("Biscuit", "alias", "biscuit"),
        ("sks", "trigger", "sks"),
    ]
    found = await store.page(tenant, Filter(triggers=("sks",)), after=None, limit=2)
    assert [each.checkpoint_id for each in found] == ["a"]


async def test_cards_are_filtered_by_what_they_are_called(
    store: PostgresStore, tenant: str
) -> None:
    """By alias or display name; a trigger of that spelling is another matter."""
    other = card("other", triggers=("biscuit",), subjects=("cookie",))
    await store_cards(store, tenant, [BISCUIT, other])

    async def listed(*, names: tuple[str, ...] = (), triggers: tuple[str, ...] = ()) -> list[str]:
        wanted = Filter(names=names, triggers=triggers)
        cards = await store.page(tenant, wanted, after=None, limit=10)
        return sorted(made.checkpoint_id for made in cards)

    assert await listed(names=("BISCUIT",)) == ["biscuit-1"]
    assert await listed(names=("biscuit at the sea", "nothing")) == ["biscuit-1"]
    assert await listed(triggers=("Biscuit",)) == ["other"]
    assert await listed(triggers=("<biscuit>",)) == ["biscuit-1"]


@pytest.mark.parametrize("names", [["x"] * 1001, ["x" * 129]])
async def test_too_much_is_refused(store: PostgresStore, tenant: str, names: list[str]) -> None:
    """The limit is named."""
    with pytest.raises(InvalidInput, match="at most"):
        await resolve_names(names, tenant=tenant, reader=store)


async def test_only_a_new_word_or_name_changes_the_vocabulary(
    store: PostgresStore, tenant: str
) -> None:
    """A card that changes in other ways leaves the revision, so nobody reads the lists anew."""
    first, twin = card("a", owner="ann"), card("b", owner="ann")
    await store_cards(store, tenant, [first])
    words = await store.vocabulary(tenant, "")
    assert (words.subjects, words.styles, words.environments, words.owners) == (
        ("bear",), ("photorealistic",), (), ("ann",),
    )  # fmt: skip
    await store_cards(store, tenant, [twin])
    both = await store.vocabulary(tenant, words.revision)
    assert (both.modified, both.subjects) == (True, ("bear",))
    assert (words.cards, both.cards, (await store.vocabulary(tenant, both.revision)).cards) == (
        1, 2, 2,
    )  # fmt: skip
    used = replace(twin, use_count=7, description="A bear.", state=State.SERVABLE)
    await store_cards(store, tenant, [used])
    assert not (await store.vocabulary(tenant, both.revision)).modified
    await store_cards(store, tenant, [replace(first, environments=("snow",))])
    more = await store.vocabulary(tenant, both.revision)
    assert (more.modified, more.environments) == (True, ("snow",))
    await store_cards(store, tenant, [replace(first, state=State.ARCHIVED)])
    fewer = await store.vocabulary(tenant, more.revision)
    assert (fewer.modified, fewer.environments, fewer.subjects) == (True, (), ("bear",))
    await store_cards(store, tenant, [replace(twin, subjects=("Bear",))])
    other = await store.vocabulary(tenant, fewer.revision)
    assert other.subjects == ("Bear",)


async def _listed(store: PostgresStore, tenant: str, known: str = "") -> list[tuple[str, str]]:
    words = await store.vocabulary(tenant, known)
    assert words.modified
    assert words.names_complete
    return [(str(name.kind), name.spelling) for name in words.names]


async def test_names_come_with_the_vocabulary(store: PostgresStore, tenant: str) -> None:
    """All that resolving could find, each once; not another tenant's."""
    toys = [card(f"toy-{i}", triggers=("<toy>", "toy"), aliases=("Bär",)) for i in range(3)]
    await store_cards(store, tenant, [BISCUIT, *toys])
    await store_cards(store, f"{tenant}-other", [card("secret", triggers=("<hush>",))])
    listed = await _listed(store, tenant)
    assert sorted(listed) == sorted([
        ("id", "biscuit-1"), ("id", "toy-0"), ("id", "toy-1"), ("id", "toy-2"),
        ("trigger", "<biscuit>"), ("trigger", "sks dog"), ("trigger", "<toy>"), ("trigger", "toy"),
        ("alias", "Biscuit"), ("alias", "Mr. Woof"), ("alias", "Bär"),
        ("name", "Biscuit at the sea"),
    ])  # fmt: skip
    found = await _resolved(store, tenant, *(spelling for _, spelling in listed))
    assert {(kind, spelling) for _, kind, spelling in found} == set(listed)
    assert await _listed(store, "nobody") == []


async def test_listed_names_follow_the_cards(
    store: PostgresStore, tenant: str, announce: RecordingAnnouncer
) -> None:
    """A changed spelling, a withdrawn checkpoint and one that comes back change the revision."""
    await store_cards(store, tenant, [BISCUIT, card("toy", triggers=("toy",))])
    first = (await store.vocabulary(tenant, "")).revision
    shouted = replace(BISCUIT, name="biscuit-1", aliases=("BISCUIT",), triggers=())
    await store_cards(store, tenant, [shouted])
    assert await _listed(store, tenant, first) == [
        ("alias", "BISCUIT"), ("id", "biscuit-1"), ("id", "toy"), ("trigger", "toy"),
    ]  # fmt: skip
    second = (await store.vocabulary(tenant, "")).revision
    await archive_checkpoint("biscuit-1", tenant=tenant, store=store, announce=announce)
    assert await _listed(store, tenant, second) == [("id", "toy"), ("trigger", "toy")]
    third = (await store.vocabulary(tenant, "")).revision
    await store_cards(store, tenant, [shouted])
    assert ("alias", "BISCUIT") in await _listed(store, tenant, third)


async def test_too_many_names_are_not_listed(shared_database: str, tenant: str) -> None:
    """None come then, and the answer says so; withdrawn checkpoints do not count."""
    async with open_store(shared_database, listed_names=6) as store:
        cards = [card(f"c-{i}", aliases=(f"Name {i}",), triggers=()) for i in range(3)]
        await store_cards(store, tenant, cards)
        few = await store.vocabulary(tenant, "")
        assert (few.names_complete, len(few.names)) == (True, 6)
        await store_cards(store, tenant, [card("more", triggers=())])
        many = await store.vocabulary(tenant, few.revision)
        assert (many.modified, many.names_complete, many.names) == (True, False, ())
        assert many.subjects == ("bear",)
        await store_cards(store, tenant, [replace(cards[0], state=State.ARCHIVED)])
        assert len((await store.vocabulary(tenant, many.revision)).names) == 5


async def test_long_names_are_not_listed(shared_database: str, tenant: str) -> None:
    """A few names may be too much for one message."""
    async with open_store(shared_database, listed_names=6) as store:
        cards = [card(f"c-{i}", aliases=("n" * 100 * 2**i,), triggers=()) for i in range(3)]
        await store_cards(store, tenant, cards[:2])
        assert (await store.vocabulary(tenant, "")).names_complete
        await store_cards(store, tenant, cards[2:])
        assert not (await store.vocabulary(tenant, "")).names_complete


async def test_words_are_counted_right_by_writers_at_the_same_time(
    store: PostgresStore, tenant: str
) -> None:
    """Cards added, changed, withdrawn and brought back: the counts are what the cards say."""

    async def live(number: int) -> None:
        made = card(f"c{number}", owner=f"o{number % 3}", environments=("snow", f"e{number % 4}"))
        withdrawn = replace(made, state=State.ARCHIVED)
        changed = replace(made, subjects=("fox", "bear"), environments=(f"e{number % 2}",))
        for step in (made, changed, withdrawn, withdrawn, changed, made, changed)[: 3 + number % 5]:
            await store_cards(store, tenant, [step])

    async def broken_off() -> None:
        with pytest.raises(RuntimeError):
            async with store.writing(tenant) as writer:
                await writer.put_card(card("never", subjects=("unicorn",)))
                raise RuntimeError

    await asyncio.gather(*(live(number) for number in range(12)), broken_off())
    cards = await store.page(tenant, Filter(states=SELECTABLE), after=None, limit=99)
    assert 0 < len(cards) < 12
    expected: Counter[tuple[str, str]] = Counter()
    for each in cards:
        expected.update(("subjects", word) for word in each.subjects)
        expected.update(("styles", word) for word in each.styles)
        expected.update(("environments", word) for word in each.environments)
        expected["owners", each.owner] += 1
    async with store._transaction(tenant) as connection:
        rows = await connection.execute(
            text("SELECT kind, word, cards FROM words WHERE cards <> 0")
        )
        assert {(row.kind, row.word): row.cards for row in rows} == dict(expected)
