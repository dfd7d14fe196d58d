"""What Check-in sends to be compared, and what a catalog takes."""

from __future__ import annotations

from personalq.catalog import cards, compare
from personalq.checkin import labels
from personalq.checkin.reasoning.descriptions import wishes


def test_check_in_never_sends_more_than_a_catalog_compares() -> None:
    """Else every request with a phrase that no card explains would be refused."""
    assert wishes.MAX_PHRASES <= compare.MAX_TEXTS
    assert wishes.LONGEST_PHRASE <= cards.MAX_PHRASE
    assert labels.MOST_WORDINGS <= compare.MAX_WORDINGS
    assert labels.LONGEST_WORDING <= compare.MAX_WORDING
