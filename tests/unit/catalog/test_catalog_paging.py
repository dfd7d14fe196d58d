"""Page tokens."""

from __future__ import annotations

import base64
import json

import pytest
from support.catalog_cards import NOW

from personalq.catalog.cards import Filter
from personalq.catalog.paging import (
    MAX_PAGE,
    Page,
    Position,
    checked_page,
    offset_of,
    offset_token,
    position_of,
    position_token,
)
from personalq.chassis.errors import InvalidInput

QUESTION = Filter(subjects=("bear",))


def test_page_sizes_have_a_default_and_a_limit() -> None:
    """0 means the default, more than the limit means the limit, negative is refused (AIP-158)."""
    assert checked_page(0, "", default=50).size == 50
    assert checked_page(5000, "", default=50).size == MAX_PAGE
    with pytest.raises(InvalidInput):
        checked_page(-1, "", default=50)


def test_a_token_leads_back_to_where_it_was_made() -> None:
    """Both kinds of token are read as they were written."""
    position = Position(created_at=NOW, checkpoint_id="bear-v4")
    token = position_token(position, QUESTION)
    assert position_of(Page(size=1, token=token), QUESTION) == position
    assert offset_of(Page(size=1, token=offset_token(20, QUESTION)), QUESTION) == 20
    assert position_of(Page(size=1), QUESTION) is None
    assert offset_of(Page(size=1), QUESTION) == 0


def _forged(content: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode()


@pytest.mark.parametrize(
    "token",
    [
        "x",
        "%%%",
        "é",
        "bm90IGpzb24",
        _forged([1]),
        base64.urlsafe_b64encode(b"[" * 100_000).decode(),
        _forged({"of": "other", "offset": 1}),
        offset_token(10, Filter(subjects=("dog",))),
    ],
)
def test_a_token_of_something_else_is_refused(token: str) -> None:
    """Made up, damaged, or of another question: the client learns what to do."""
    with pytest.raises(InvalidInput) as refused:
        offset_of(Page(size=1, token=token), QUESTION)
    assert "page_token" in refused.value.violations
    with pytest.raises(InvalidInput):
        position_of(Page(size=1, token=token), QUESTION)
