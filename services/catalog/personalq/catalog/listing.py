"""Listing cards page by page, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from personalq.catalog.cards import SELECTABLE, Card, Filter
from personalq.catalog.paging import Page, Position, position_of, position_token
from personalq.catalog.ports import CardReader

DEFAULT_PAGE = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """A page of cards."""

    cards: Sequence[Card]
    #: "" on the last page.
    next_page_token: str


async def list_checkpoints(
    constraints: Filter, *, tenant: str, page: Page, reader: CardReader
) -> Listing:
    """The cards that satisfy the constraints, newest first.

    Raises:
        InvalidInput: the page token belongs to another listing.
        Unavailable: the database is out of reach.
    """
    after = position_of(page, constraints)
    states = constraints.states or SELECTABLE
    cards = await reader.page(
        tenant, replace(constraints, states=states), after=after, limit=page.size + 1
    )
    shown = cards[: page.size]
    if len(cards) <= page.size:
        return Listing(cards=shown, next_page_token="")
    return Listing(cards=shown, next_page_token=position_token(Position.of(shown[-1]), constraints))
