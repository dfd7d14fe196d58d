"""The record of what was made."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from personalq.quantizer.jobs import Made, key_of
from personalq.quantizer.ledger import Ledger

MADE = Made(
    digest="d" * 64,
    size_bytes=1,
    base_digest="",
    base_size_bytes=0,
    blobs=("d" * 64, "e" * 64),
    made_at=datetime(2026, 11, 20, 10, 30, tzinfo=UTC),
)


def test_what_was_recorded_is_found_after_a_restart(tmp_path: Path) -> None:
    """A second ledger on the same folder knows it, to the last field."""
    Ledger(tmp_path / "ledger").record("key", MADE)
    assert Ledger(tmp_path / "ledger").find("key") == MADE
    assert Ledger(tmp_path / "ledger").find("other") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"digest": "d"}', '{"made_at": 3}'])
def test_a_damaged_entry_counts_as_none(tmp_path: Path, text: str) -> None:
    """The work is done again rather than failing for ever."""
    ledger = Ledger(tmp_path)
    (tmp_path / "key.json").write_text(text)
    assert ledger.find("key") is None


def test_keys_depend_on_every_part_and_on_nothing_else() -> None:
    """Order does not matter; any other value gives another key."""
    assert key_of(a=1, b=("x",)) == key_of(b=("x",), a=1)
    assert key_of(a=1, b=("x",)) != key_of(a=1, b=("y",))
