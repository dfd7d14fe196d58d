"""The repository: 20 categories of 50 versions each, made from a seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from personalq.bench.dataset.describe import describe
from personalq.bench.dataset.vocabulary import Category, Vocabulary, Word

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
FIRST_MONTH = datetime(2025, 4, 1, tzinfo=UTC)
MONTHS = 20
VERSIONS = 50
# How busy a month of a category is; months nobody trained in are part of every history.
MONTH_WEIGHTS = (0, 0, 1, 1, 1, 2, 2, 3, 4)
TWO_STYLES = 0.12
NEVER_USED = 0.06
KIND_IS_NO_SUBJECT = 0.2
# Categories where a few versions were trained again later, so that dates do not follow versions.
RETRAINED = ("cat", "house", "bag", "tree", "logo", "horse")


@dataclass(frozen=True, kw_only=True)
class Card:
    """One checkpoint with what a request may ask for, spelled by its plain names."""

    checkpoint_id: str
    category: str
    subjects: tuple[str, ...]
    triggers: tuple[str, ...]
    version: int
    created_at: datetime
    last_used_at: datetime | None
    use_count: int
    styles: tuple[str, ...]
    style_tags: tuple[str, ...]
    environments: tuple[str, ...]
    environment_tags: tuple[str, ...]
    owner: str
    kind: str
    colour: str
    accessory: str
    material: str | None
    description: str


def make_cards(vocabulary: Vocabulary, seed: int) -> list[Card]:
    """All cards, in the order of categories and versions."""
    return [
        card
        for category in vocabulary.categories.values()
        for card in _category_cards(
            category,
            vocabulary,
            Random(f"{seed}-{category.name}"),
            Random(f"{seed}-{category.name}-words"),
        )
    ]


def card_row(card: Card) -> dict[str, Any]:
    """The card in the published format."""
    return {
        "checkpoint_id": card.checkpoint_id,
        "name": card.checkpoint_id,
        "triggers": list(card.triggers),
        "subjects": list(card.subjects),
        "styles": list(card.style_tags),
        "description": card.description,
        "base_model": "stable-diffusion-v1-5",
        "version": card.version,
        "created_at": card.created_at.isoformat(),
        "last_used_at": card.last_used_at.isoformat() if card.last_used_at else None,
        "use_count": card.use_count,
        "environments": list(card.environment_tags),
        "owner": card.owner,
    }


def _category_cards(
    category: Category, vocabulary: Vocabulary, rng: Random, words: Random
) -> list[Card]:
    dates = _dates(rng)
    if category.name in RETRAINED:
        _retrain(dates, rng)
    used = _uses(dates, rng)
    counts = _counts(used, rng)
    looks = _looks(category, rng)
    places = rng.sample(sorted(vocabulary.environments), 9)
    template_order = rng.sample(range(VERSIONS), VERSIONS)
    details = _spread(vocabulary.details[category.group], rng)
    cards = []
    for index, (kind, colour, accessory) in enumerate(looks):
        version = index + 1
        styles = _pick_styles(category, rng)
        place = rng.choice(places)
        material = rng.choice(category.materials) if category.materials else None
        style_tags = tuple(rng.choice(vocabulary.styles[style].spelled) for style in styles)
        place_tag = rng.choice(vocabulary.environments[place].tags)
        subjects = _subjects(category, kind, rng)
        cards.append(
            Card(
                checkpoint_id=f"{category.name}-v{version}",
                category=category.name,
                subjects=subjects,
                triggers=_triggers(subjects, version, rng),
                version=version,
                created_at=dates[index],
                last_used_at=used[index],
                use_count=counts[index],
                styles=styles,
                style_tags=style_tags,
                environments=(place,),
                environment_tags=(place_tag,),
                owner=rng.choice(list(vocabulary.owners)),
                kind=kind.name,
                colour=colour,
                accessory=accessory.name,
                material=material.name if material else None,
                description=describe(
                    form=template_order[index],
                    colour_form=category.colour_form,
                    kind=kind.name,
                    colour=words.choice(vocabulary.colours[colour].on_card),
                    accessory=words.choice(accessory.on_card),
                    material=words.choice(material.on_card) if material else None,
                    detail=details[index],
                    style=style_tags[0],
                    place=place,
                ),
            )
        )
    return cards


def _dates(rng: Random) -> list[datetime]:
    """Fifty days, no two alike, at office hours; the last month always has a few."""
    weights = [rng.choice(MONTH_WEIGHTS) for _ in range(MONTHS)]
    weights[-1] = 3
    days: set[datetime] = set()
    while len(days) < VERSIONS:
        month = rng.choices(range(MONTHS), weights)[0]
        start = _month(month)
        day = start + timedelta(days=rng.randrange((_month(month + 1) - start).days))
        if day < NOW - timedelta(days=1):
            days.add(day)
    return [
        day + timedelta(hours=rng.randint(8, 18), minutes=rng.randrange(60)) for day in sorted(days)
    ]


def _month(index: int) -> datetime:
    months = FIRST_MONTH.month - 1 + index
    return FIRST_MONTH.replace(year=FIRST_MONTH.year + months // 12, month=months % 12 + 1)


def _retrain(dates: list[datetime], rng: Random) -> None:
    for index in rng.sample(range(8, 40, 4), 3):
        dates[index], dates[index + 2] = dates[index + 2], dates[index]


def _uses(dates: Sequence[datetime], rng: Random) -> list[datetime | None]:
    """Last uses: one or two yesterday, a few this and last week, the rest further back."""
    wanted = (
        [1] * rng.choice((0, 1, 1, 1, 2))
        + [3] * rng.choice((0, 1))
        + [6, 8, 10][: rng.randint(0, 3)]
    )
    order = rng.sample(range(VERSIONS), VERSIONS)
    used: list[datetime | None] = [None] * VERSIONS
    midnight = NOW.replace(hour=0)
    for index in order:
        if wanted and dates[index] < midnight - timedelta(days=wanted[0]):
            day = midnight - timedelta(days=wanted.pop(0))
            used[index] = day + timedelta(hours=rng.randint(8, 20), minutes=rng.randrange(60))
        elif rng.random() > NEVER_USED:
            latest = midnight - timedelta(days=13)
            used[index] = max(
                dates[index] + timedelta(hours=2), _between(dates[index], latest, rng)
            )
    return used


def _between(start: datetime, end: datetime, rng: Random) -> datetime:
    days = max((end - start).days, 1)
    hour = timedelta(hours=rng.randint(8, 20), minutes=rng.randrange(60))
    return start.replace(hour=0, minute=0) + timedelta(days=rng.randrange(days)) + hour


def _counts(used: Sequence[datetime | None], rng: Random) -> list[int]:
    """Uses of each card: none if never used, and no two alike."""
    numbers = rng.sample(range(1, 400), VERSIONS)
    return [0 if last is None else number for last, number in zip(used, numbers, strict=True)]


def _looks(category: Category, rng: Random) -> list[tuple[Word, str, Word]]:
    every = [
        (kind, colour, accessory)
        for kind in category.kinds
        for colour in category.colours
        for accessory in category.accessories
    ]
    return rng.sample(every, VERSIONS)


def _spread(values: Sequence[str], rng: Random) -> list[str]:
    repeated = list(values) * math.ceil(VERSIONS / len(values))
    return rng.sample(repeated, VERSIONS)


def _pick_styles(category: Category, rng: Random) -> tuple[str, ...]:
    return tuple(rng.sample(category.styles, 2 if rng.random() < TWO_STYLES else 1))


def _subjects(category: Category, kind: Word, rng: Random) -> tuple[str, ...]:
    if rng.random() < KIND_IS_NO_SUBJECT:
        return category.nouns
    return (*category.nouns, kind.name)


def _triggers(subjects: tuple[str, ...], version: int, rng: Random) -> tuple[str, ...]:
    """Trigger words in the shapes people publish; a few cards have several, a few none."""
    noun = subjects[0]
    shape = rng.choices(("angle", "sks", "ohwx", "both", "none"), (60, 14, 10, 8, 8))[0]
    return {
        "angle": (f"<{noun}-v{version}>",),
        "sks": (f"sks {subjects[-1]}",),
        "ohwx": (f"ohwx_{noun}",),
        "both": (f"<{noun}-v{version}>", f"{noun}v{version}style"),
        "none": (),
    }[shape]
