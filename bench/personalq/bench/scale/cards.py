"""Synthetic cards: the same seed, tenant and number always make the same card."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache

import numpy as np
from numpy.typing import NDArray

from personalq.bench.scale.vocabulary import (
    COLOURS,
    DETAILS,
    FORMS,
    OWNERS,
    PLACES,
    STYLES,
    SUBJECTS,
    THINGS,
)
from personalq.catalog.cards import Card, Format, Origin, State, registration_hash

SEED = 20_261_120
#: The moment the cards are dated from; requests are asked as of it.
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
_DAYS = 3 * 365
#: Numbers a card is drawn from.
_DRAWS = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Tenant:
    """Whose cards, and how many."""

    name: str
    cards: int


def tenants_of(cards: int, tenants: int, largest: int) -> list[Tenant]:
    """One tenant has `largest`, the others share the rest evenly."""
    if tenants == 1:
        return [Tenant(name="tenant-0000", cards=cards)]
    rest, extra = divmod(cards - largest, tenants - 1)
    sizes = [largest, *(rest + (index < extra) for index in range(tenants - 1))]
    return [Tenant(name=f"tenant-{index:04d}", cards=size) for index, size in enumerate(sizes)]


def make_cards(tenant: Tenant, *, start: int = 0) -> Iterator[Card]:
    """The tenant's cards, from a number on.

    Subjects are Zipf-distributed, so the commonest makes up a tenth of a tenant; everything else is
    drawn evenly.
    """
    draws = _draws(tenant)
    for number in range(start, tenant.cards):
        yield _card(tenant, number, draws[number])


def _draws(tenant: Tenant) -> NDArray[np.float64]:
    seed = int.from_bytes(hashlib.sha256(f"{SEED} {tenant.name}".encode()).digest()[:8])
    return np.random.default_rng(seed).random((tenant.cards, _DRAWS))


def _card(tenant: Tenant, number: int, draw: NDArray[np.float64]) -> Card:
    numbers: list[float] = draw.tolist()
    subject = SUBJECTS[int(np.searchsorted(_zipf(len(SUBJECTS)), numbers[0]))]
    style = _pick(STYLES, numbers[1])
    colour, thing = _pick(COLOURS, numbers[2]), _pick(THINGS, numbers[3])
    place = _pick(PLACES, numbers[5])
    article = "an" if subject[0] in "aeiou" else "a"
    description = _pick(FORMS, numbers[6]).format(
        a=f"{article} {subject}",
        A=f"{article.capitalize()} {subject}",
        style=style,
        Style=style.capitalize(),
        colour=colour,
        thing=thing,
        detail=_pick(DETAILS, numbers[4]),
        place=place,
    )
    version = 1 + number % 50
    checkpoint_id = f"{subject.replace(' ', '-')}-{number:06d}"
    created_at = NOW - timedelta(days=_DAYS * numbers[7])
    used = numbers[8] < 0.4
    uses = int(200 * numbers[9] ** 3) if used else 0
    card = Card(
        checkpoint_id=checkpoint_id,
        name=f"{subject.capitalize()} {number}",
        triggers=(f"<{checkpoint_id}>",),
        subjects=(subject,),
        styles=(style,),
        description=description,
        base_model="synthetic",
        version=version,
        created_at=created_at,
        last_used_at=created_at + (NOW - created_at) * numbers[10] if used else None,
        use_count=uses,
        environments=(place,),
        owner=_pick(OWNERS, numbers[11]),
        source=Origin(
            uri=f"s3://synthetic/{tenant.name}/{checkpoint_id}.safetensors",
            sha256=hashlib.sha256(f"{tenant.name}/{checkpoint_id}".encode()).hexdigest(),
            size_bytes=3_000_000 + number,
            format=Format.LORA,
        ),
        lora_rank=4,
        cross_attention_width=768,
        state=State.SERVABLE,
    )
    return replace(card, registration_hash=registration_hash(card))


def _pick(words: Sequence[str], number: float) -> str:
    return words[int(number * len(words))]


@cache
def _zipf(count: int) -> NDArray[np.float64]:
    """Cumulated shares of the 1st, 2nd … of `count`, each in proportion to 1 / rank ** 0.8."""
    shares = 1 / np.arange(1, count + 1) ** 0.8
    cumulated: NDArray[np.float64] = np.cumsum(shares / shares.sum())
    cumulated[-1] = 1.0
    return cumulated
