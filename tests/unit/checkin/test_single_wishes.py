"""How many single wishes are read, each worded in a construction of its own.

`single_wishes.tsv` was written by two people who had read neither the parser nor each other: what
is wished for, and a sentence that says so about a subject in a scene; "none" has the same words in
the scene alone. Of all, 0.78 were read when they were first measured.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from support.checkin_cards import card
from support.fake_catalog import vocabulary_of

from personalq.checkin.intent import Attribute, Constraint, Intent, Interval
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.vocabulary import Lexicon, compile_lexicon

TODAY = date(2026, 11, 20)
CONTEXT = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
VERSIONS = range(1, 51)
SUBJECTS = (
    "dog", "teapot", "backpack", "bicycle", "dancer", "wizard", "fire truck", "lamp", "parrot",
    "cake", "sneaker", "robot",
)  # fmt: skip
PLACES = (
    "kitchen", "beach", "forest", "snow", "studio", "garden", "harbor", "market", "library",
    "desert", "street", "mountains", "office", "museum",
)  # fmt: skip
LOOKS = (
    "photorealistic", "watercolor", "cartoon", "pixel art", "oil painting", "pencil sketch",
    "claymation", "origami", "stained glass", "anime", "charcoal", "low poly",
)  # fmt: skip
OWNERS = ("studio-a", "press-team", "design-guild", "mia", "north-lab", "otis")
NAMES = {
    Attribute.ENVIRONMENT: "place",
    Attribute.STYLE: "style",
    Attribute.OWNER: "owner",
    Attribute.CREATED_AT: "made",
    Attribute.LAST_USED_AT: "used",
}


@cache
def _lexicon() -> Lexicon:
    return compile_lexicon(
        vocabulary_of(
            card(
                f"{subject.replace(' ', '-')}-v{number + 1}",
                subject,
                LOOKS[number % len(LOOKS)],
                "2026-01-01",
                environments=PLACES[number % len(PLACES)],
                owner=OWNERS[number % len(OWNERS)],
            )
            for subject in SUBJECTS
            for number in range(len(PLACES))
        )
    )


@cache
def _wishes() -> tuple[tuple[str, str], ...]:
    text = (Path(__file__).parent / "single_wishes.tsv").read_text(encoding="utf-8")
    return tuple((wish, said) for wish, said in (line.split("\t") for line in text.splitlines()))


def _days(start: date | None, end: date | None) -> str:
    """The days of both ends; open where it began before all cards, or ends today or later."""
    last = end if end is not None and end < TODAY else None
    return f"{start or ''}..{last or ''}"


def _of_interval(interval: Interval) -> str:
    last = interval.end - timedelta(seconds=1) if interval.end else None
    return _days(interval.start.date() if interval.start else None, last.date() if last else None)


def _of_numbers(values: Iterable[str]) -> str:
    """Versions as the file has them: "4..7", "..4", "12..", "3|9"."""
    numbers = sorted({int(value) for value in values} & set(VERSIONS))
    if len(numbers) > 1 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        low = "" if numbers[0] == VERSIONS[0] else numbers[0]
        return f"{low}..{'' if numbers[-1] == VERSIONS[-1] else numbers[-1]}"
    return "|".join(map(str, numbers))


def _read(intent: Intent) -> Iterator[str]:
    """The wishes of an intent, as the file has them."""
    told: dict[str, list[Constraint]] = {}
    for each in intent.constraints:
        unlike = "!" if each.excluded else ""
        if each.attribute is Attribute.ORDER and each.order is not None:
            rank = f"#{each.rank}" if each.rank > 1 else ""
            yield f"order={each.order.value}{rank}{f'/{each.among}' if each.among else ''}"
        elif each.attribute is Attribute.USE_COUNT:
            fewest, most = each.uses
            yield f"uses={fewest or ''}..{'' if most is None else most}"
        elif each.attribute is Attribute.VERSION:
            told.setdefault(f"version{unlike}", []).append(each)
        elif each.attribute in NAMES and not each.prefers:
            told.setdefault(f"{NAMES[each.attribute]}{unlike}", []).append(each)
    for name, all_of_it in told.items():
        if name.startswith("version"):
            common = set.intersection(*(set(each.values) for each in all_of_it))
            yield f"{name}={_of_numbers(common)}"
        elif name.startswith(("made", "used")):
            for each in all_of_it:
                yield f"{name}={'|'.join(map(_of_interval, each.intervals))}"
        else:
            yield f"{name}={'+'.join(sorted('|'.join(sorted(e.values)) for e in all_of_it))}"
    if intent.unknown_subject is not None or intent.contradiction is not None:
        yield "nothing"


def _wanted(wish: str) -> set[str]:
    """A line's wish in one spelling: months as days, several things in order."""
    if wish == "none":
        return set()
    name, _, value = wish.partition("=")
    if month := re.fullmatch(r"(\d{4})-(\d\d)", value):
        year, number = int(month[1]), int(month[2])
        value = f"{value}-01..{value}-{calendar.monthrange(year, number)[1]}"
    elif name in ("made", "used"):
        first, _, last = value.partition("..")
        start, end = (date.fromisoformat(day) if day else None for day in (first, last))
        value = _days(start, end)
    elif name == "version":
        numbers = [int(number) for number in re.findall(r"\d+", value)]
        if ".." in value:
            low = numbers[0] if value[0] != "." else VERSIONS[0]
            high = numbers[-1] if value[-1] != "." else VERSIONS[-1]
            numbers = list(range(low, high + 1))
        value = _of_numbers(map(str, numbers))
    elif name.startswith(("place", "style")):
        joint = "+" if "+" in value else "|"
        value = joint.join(sorted(value.split(joint)))
    return {f"{name}={value}"}


def _as_before(read: str) -> str:
    """What is not after a day is until it: "made!=..2026-08-11" is from 12 August on."""
    found = re.fullmatch(r"(made|used)!=(\S*)\.\.(\S*)", read)
    if not found or bool(found[2]) == bool(found[3]):
        return read
    day = date.fromisoformat(found[2] or found[3])
    step = timedelta(days=1)
    return f"{found[1]}={_days(None, day - step) if found[2] else _days(day + step, None)}"


@pytest.mark.parametrize(
    ("kind", "share"),
    [
        ("place", 0.9),
        ("style", 0.93),
        ("owner", 0.93),
        ("version", 0.88),
        ("order", 0.92),
        ("made", 0.88),
        ("used", 0.9),
        ("uses", 0.85),
        ("none", 0.82),
    ],
)
def test_wishes_are_read(kind: str, share: float) -> None:
    """Nearly all, and in the scene none."""
    lines = [each for each in _wishes() if re.match(rf"{kind}(!?=|$)", each[0])]
    unread = [
        said
        for wish, said in lines
        if set(map(_as_before, _read(parse(said, _lexicon(), CONTEXT)))) != _wanted(wish)
    ]
    assert len(lines) > 25
    assert len(unread) <= (1 - share) * len(lines), unread
