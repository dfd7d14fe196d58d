"""Pages: sizes, and tokens that are opaque to clients (AIP-158).

A token remembers where to go on and what was asked, so that it cannot be used with another
question. It holds nothing secret and grants nothing: every page is read under the caller's tenant.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from personalq.catalog.cards import Card
from personalq.chassis.errors import InvalidInput

MAX_PAGE = 1000
#: More than anybody pages through; also keeps the number within PostgreSQL's.
_MAX_OFFSET = 10_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """Which part of a result is wanted."""

    size: int
    token: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Position:
    """The last card of a page of a listing."""

    created_at: datetime
    checkpoint_id: str

    @classmethod
    def of(cls, card: Card) -> Position:
        """Where a stored card stands."""
        if card.created_at is None:
            raise ValueError("the card was never stored")
        return cls(created_at=card.created_at, checkpoint_id=card.checkpoint_id)


def checked_page(size: int, token: str, *, default: int) -> Page:
    """The page asked for: the default size for 0, MAX_PAGE at most; InvalidInput if negative."""
    if size < 0:
        raise InvalidInput(f"page_size is {size}; it cannot be negative", field="page_size")
    return Page(size=min(size or default, MAX_PAGE), token=token)


def offset_token(offset: int, question: object) -> str:
    """Token of the page that begins at a number of hits."""
    return _encode({"offset": offset, "of": _fingerprint(question)})


def offset_of(page: Page, question: object) -> int:
    """How many hits to skip; raises InvalidInput for a token of another question."""
    if not page.token:
        return 0
    offset = _decode(page.token, question).get("offset")
    if not isinstance(offset, int) or not 0 < offset <= _MAX_OFFSET:
        raise _bad_token()
    return offset


def position_token(position: Position, question: object) -> str:
    """Token of the page after a card."""
    return _encode(
        {
            "at": position.created_at.isoformat(),
            "id": position.checkpoint_id,
            "of": _fingerprint(question),
        }
    )


def position_of(page: Page, question: object) -> Position | None:
    """Which card to go on after; raises InvalidInput for a token of another question."""
    if not page.token:
        return None
    content = _decode(page.token, question)
    try:
        created_at = datetime.fromisoformat(content["at"])
        checkpoint_id = content["id"]
    except (KeyError, TypeError, ValueError):
        raise _bad_token() from None
    if created_at.tzinfo is None or not isinstance(checkpoint_id, str):
        raise _bad_token()
    return Position(created_at=created_at, checkpoint_id=checkpoint_id)


def _encode(content: dict[str, Any]) -> str:
    text = json.dumps(content, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decode(token: str, question: object) -> dict[str, Any]:
    try:
        content = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except (ValueError, RecursionError):
        raise _bad_token() from None
    if not isinstance(content, dict) or content.get("of") != _fingerprint(question):
        raise _bad_token()
    return content


def _fingerprint(question: object) -> str:
    # Frozen dataclasses of plain values: their repr is the same in every process.
    return hashlib.sha256(repr(question).encode()).hexdigest()[:16]


def _bad_token() -> InvalidInput:
    return InvalidInput(
        "page_token does not belong to this request; pass next_page_token unchanged, with the "
        "same filter, text and order, or leave it empty to begin anew",
        field="page_token",
    )
