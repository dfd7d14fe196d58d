"""What a description means beside an order: "the latest with a throw"."""

from __future__ import annotations

import math
from collections.abc import Sequence

from personalq.checkin.cards import Hit
from personalq.checkin.intent import Constraint
from personalq.checkin.reasoning.descriptions.wishes import Wish, is_bare
from personalq.checkin.reasoning.meaning import Meant
from personalq.checkin.reasoning.order import in_order

SURELY_SHARED = 0.98
"""How likely the cards that share a detail must be together, beside an order, to be surely meant:
"the latest with a throw"."""
ALONE = 3.0
"""Logit by which it is less likely beside an order that one card alone is meant: who says "the
latest happy goose" speaks of several."""
SCENE = 1.0
"""Logit by which it is likelier there that nobody is told apart: "the latest goose swimming"."""


def _of_a_detail(meant: Sequence[float], shared: Sequence[Sequence[int]]) -> list[float]:
    """1 for the cards that share the detail which was surely meant: "the latest with a throw"."""
    sure = (places for places in shared if sum(meant[at] for at in places) >= SURELY_SHARED)
    fewest = min(sure, key=len, default=())
    return [float(place in fewest) for place in range(len(meant))]


def of_what_was_meant(
    wish: Wish,
    told: Meant,
    meant: Sequence[float],
    shared: Sequence[Sequence[int]],
    hits: Sequence[Hit],
    order: Constraint,
) -> list[float]:
    """1 for the cards of what was meant beside an order; of what may be the scene only if surely.

    Args:
        told: the readings of the wish.
        meant: how likely each card is by them.
    """
    vague = wish.action or is_bare(wish)  # "the latest tree, with owls"
    enough = [places for places in shared if len(places) >= order.rank]
    sure = [0.0] * len(hits) if vague else _of_a_detail(meant, enough)
    goes_on = wish.action and wish.text.partition(" ")[0].endswith("ing")  # "eating ice cream"
    if any(sure) or wish.placed or goes_on:
        return sure
    return _likeliest_in_order(told, shared, hits, order)


def _likeliest_in_order(
    told: Meant, shared: Sequence[Sequence[int]], hits: Sequence[Hit], order: Constraint
) -> list[float]:
    """1 for the cards of the likeliest reading beside an order: "the latest with a throw".

    Each reading leads to one card, the one at the place in order of those it means. Those that
    lead to the same card speak for it together; of too few cards nothing is third.
    """
    everybody = range(len(hits))
    means: list[tuple[Sequence[int], float]] = [
        ((place,), likely * math.exp(-ALONE)) for place, likely in enumerate(told.one)
    ]
    means += zip(shared, told.several, strict=True)
    means.append((everybody, told.nobody * math.exp(SCENE)))
    leads: dict[int, list[tuple[float, Sequence[int]]]] = {}
    ordered = in_order(everybody, order.order, lambda place: hits[place].card)
    for places, likely in means:
        queue = [place for place in ordered if place in places]
        if len(queue) >= order.rank:
            leads.setdefault(queue[max(order.rank, 1) - 1], []).append((likely, places))
    if not leads:
        return [0.0] * len(hits)
    chosen = max(leads.values(), key=lambda each: sum(likely for likely, _ in each))
    _, places = max(chosen, key=lambda each: each[0])
    return [float(place in places and places is not everybody) for place in everybody]
