"""Cards of a search: read once for each revision."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.catalog_cards import card

from personalq.catalog import store_cards
from personalq.catalog.store_cards import FoundCards
from personalq.catalog.store_connections import Row, Statement
from personalq.catalog.store_rows import card_values, to_card

_NOW = datetime(2026, 11, 20, tzinfo=UTC)


class Table:
    """Rows of `checkpoints`, by tenant and id; counts the cards that are read."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], dict[str, Any]] = {}
        self.read_cards = 0

    def put(self, tenant: str, checkpoint_id: str, revision: int, owner: str = "") -> Row:
        """Store a card; returns what a search says of it."""
        values = card_values(card(checkpoint_id, owner=owner))
        self.rows[tenant, checkpoint_id] = values | {
            "registered_at": _NOW,
            "updated_at": _NOW + timedelta(seconds=revision),
            "revision": revision,
            "artifacts": None,
        }
        return self.rows[tenant, checkpoint_id]

    async def read(self, tenant: str, statement: Statement) -> Sequence[Sequence[Row]]:
        """The cards asked for."""
        ids: Any = statement[1]["ids"]
        self.read_cards += len(ids)
        return [[self.rows[tenant, checkpoint_id] for checkpoint_id in ids]]


async def test_a_card_is_read_once_for_each_revision() -> None:
    """In the order of the rows; a tenant's cards are not another's."""
    table = Table()
    cards = FoundCards(table.read)
    bear, dog = table.put("red", "bear", 1, "ann"), table.put("red", "dog", 2)
    for _ in range(2):
        found = await cards.of("red", [dog, bear])
        assert found is not None
        assert [each.checkpoint_id for each in found] == ["dog", "bear"]
    assert table.read_cards == 2
    [other] = await cards.of("blue", [table.put("blue", "bear", 1, "bob")]) or []
    assert other.owner == "bob"
    [changed] = await cards.of("red", [table.put("red", "bear", 3, "cid")]) or []
    assert changed.owner == "cid"
    assert table.read_cards == 4


async def test_a_card_that_changed_since_is_none_of_the_search() -> None:
    """The search that found it is to be made again."""
    table = Table()
    cards = FoundCards(table.read)
    before = table.put("red", "bear", 1)
    after = table.put("red", "bear", 2)
    assert await cards.of("red", [before]) is None
    assert await cards.of("red", [after]) is not None


async def test_no_more_cards_are_kept_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those longest unused go; a page may have more."""
    monkeypatch.setattr(store_cards, "_KEPT", 2)
    table = Table()
    cards = FoundCards(table.read)
    rows = [table.put("red", name, 1) for name in ("bear", "dog", "cat")]
    assert len(await cards.of("red", rows) or []) == 3
    await cards.of("red", rows[1:])
    assert table.read_cards == 3
    await cards.of("red", rows[:1])
    assert table.read_cards == 4


async def test_a_card_that_was_just_written_is_not_read() -> None:
    """A search that comes right after finds it."""
    table = Table()
    cards = FoundCards(table.read)
    row = table.put("red", "bear", 1)
    cards.keep("red", [to_card(row)])
    assert await cards.of("red", [row]) == [to_card(row)]
    assert table.read_cards == 0
