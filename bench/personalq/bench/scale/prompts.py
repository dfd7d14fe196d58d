"""Requests for synthetic cards, and what they ask of the search."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np

from personalq.bench.scale.cards import SEED, Tenant, make_cards
from personalq.bench.scale.vocabulary import COLOURS, THINGS
from personalq.catalog.cards import Card

#: Kind of request → how it is worded, for some card of the tenant. From one match to all of them.
_WORDED = {
    "subject and style": "a {style} picture of my {subject} on a hill at dawn",
    "subject and time": "my {month} {subject} beside an old stone wall",
    "subject and description": "the {subject} with the {colour} {thing}, in heavy rain",
    "subject alone": "paint my {subject} in a rowing boat",
    "version": "version {version} of my {subject} under a rainbow",
    "newest of a subject": "my latest {subject} in front of a waterfall",
    "most used of a subject": "my most used {subject}, sunset, soft light",
    "style alone": "something in {style} with mountains in the background",
    "description alone": "the one with the {colour} {thing}",
    "newest of all": "use my newest checkpoint for a quiet village street",
    "name": "<{id}> walks along the beach",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One request of a tenant's."""

    tenant: str
    kind: str
    prompt: str


def requests_of(tenant: Tenant, count: int, *, turn: int = 0) -> list[Request]:
    """Requests of all kinds in turn, each about another card; another turn, other cards."""
    draw = np.random.default_rng(SEED + turn)
    chosen = sorted(draw.choice(tenant.cards, min(count, tenant.cards), replace=False).tolist())
    cards = [next(islice(make_cards(tenant, start=number), 1)) for number in chosen]
    draw.shuffle(cards)
    kinds = list(_WORDED)
    return [
        Request(
            tenant=tenant.name,
            kind=kinds[index % len(kinds)],
            prompt=_worded(kinds[index % len(kinds)], cards[index % len(cards)]),
        )
        for index in range(count)
    ]


def descriptions_of(tenant: Tenant, count: int) -> list[tuple[str, str]]:
    """Subject and described thing of some of the tenant's cards: what is searched for."""
    cards = make_cards(Tenant(name=tenant.name, cards=min(count, tenant.cards)))
    return [(card.subjects[0], " ".join(_described(card))) for card in cards]


def _worded(kind: str, card: Card) -> str:
    colour, thing = _described(card)
    return _WORDED[kind].format(
        subject=card.subjects[0],
        style=card.styles[0],
        month=f"{card.created_at:%B}" if card.created_at else "",
        version=card.version,
        id=card.checkpoint_id,
        colour=colour,
        thing=thing,
    )


def _described(card: Card) -> tuple[str, str]:
    """The colour and the thing that the description names."""
    return next(
        (colour, thing)
        for colour in COLOURS
        for thing in THINGS
        if f"{colour} {thing}" in card.description
    )
