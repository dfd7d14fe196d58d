"""Stretches of time with the words people say for them on 20 November 2026, a Friday."""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from personalq.bench.dataset.asks import Span
from personalq.bench.dataset.cards import NOW

TODAY = NOW.replace(hour=0)
TOMORROW = TODAY + timedelta(days=1)
MONTHS = list(calendar.month_name)
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
QUARTERS = ("first", "second", "third", "fourth")


@dataclass(frozen=True, kw_only=True)
class Period:
    """A span and how it is said.

    A request is used only if every span of `readings` means the same cards and nothing it
    asks for lies in a span of `apart`: people may read the words that way, too.

    `before`: as an adjective of a noun. `after`: behind "made", "trained" or "from" where
    `after` does not begin with a preposition of its own.
    """

    span: Span
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    readings: tuple[Span, ...] = ()
    apart: tuple[Span, ...] = ()
    family: str


def day(year: int, month: int, number: int = 1) -> datetime:
    """Midnight of a day; months past December run into the next year."""
    return datetime(year + (month - 1) // 12, (month - 1) % 12 + 1, number, tzinfo=UTC)


def month_span(year: int, month: int, months: int = 1) -> Span:
    """Whole months."""
    return Span(start=day(year, month), end=day(year, month + months))


def all_periods() -> list[Period]:
    """Every period a pattern may use; the names of months mean the last one that has begun."""
    return [*_months(), *_ranges(), *_seasons(), *_quarters(), *_around_now(), *_days()]


def _months() -> Iterator[Period]:
    for month in range(1, 13):
        name = MONTHS[month]
        year = 2026 if month <= NOW.month else 2025
        span = month_span(year, month)
        earlier = (month_span(2025, month),) if 4 <= month <= NOW.month else ()
        yield Period(
            span=span,
            before=(name,),
            after=(f"from {name}", f"in {name}"),
            apart=earlier,
            family="month",
        )
        other = month_span(2025, month)
        if month >= 4:
            yield Period(
                span=other,
                before=(f"{name} 2025", f"2025-{month:02d}"),
                after=(f"in {name} 2025", f"from {name} 2025", f"from 2025-{month:02d}"),
                family="dated",
            )
        if month <= NOW.month:
            yield Period(
                span=span,
                before=(f"{name} 2026", f"2026-{month:02d}"),
                after=(f"in {name} 2026", f"in {name} of this year", f"this {name}"),
                family="dated",
            )
        if 4 <= month <= 10:
            yield Period(span=other, after=(f"in {name} last year",), family="dated")


def _ranges() -> Iterator[Period]:
    for month in range(1, 9):
        for length in (2, 3):
            last = month + length - 1
            yield Period(
                span=month_span(2026, month, length),
                after=(
                    f"between {MONTHS[month]} and {MONTHS[last]} this year",
                    f"from {MONTHS[month]} to {MONTHS[last]} 2026",
                ),
                family="range",
            )
    for month in range(2, 11):
        name = MONTHS[month]
        yield Period(
            span=Span(end=day(2026, month)), after=(f"before {name} 2026",), family="before"
        )
        yield Period(
            span=Span(start=day(2026, month + 1)), after=(f"after {name} 2026",), family="after"
        )
        yield Period(span=Span(start=day(2026, month)), after=(f"since {name}",), family="after")
    for month in range(5, 9):
        name = MONTHS[month]
        yield Period(
            span=Span(end=day(2025, month)), after=(f"before {name} 2025",), family="before"
        )
    christmas = datetime(2025, 12, 25, tzinfo=UTC)
    yield Period(
        span=Span(end=christmas),
        after=("before Christmas", "before last Christmas"),
        readings=(month_span(2025, 4, 9),),
        family="before",
    )
    yield Period(
        span=Span(start=christmas + timedelta(days=1)),
        after=("after last Christmas",),
        readings=(Span(start=christmas),),
        family="after",
    )


def _seasons() -> Iterator[Period]:
    for name, first in SEASONS.items():
        year = 2025 if name == "winter" else 2026
        span = month_span(year, first, 3)
        later = Span(
            start=day(year, first, 21), end=day(year, first + 3, 21)
        )  # the astronomical season
        words = (name, "fall") if name == "autumn" else (name,)
        yield Period(
            span=span,
            before=words,
            after=tuple(f"in {word}" for word in words),
            readings=(later,),
            apart=() if name == "winter" else (month_span(2025, first, 3),),
            family="season",
        )
        if name in ("spring", "summer"):
            yield Period(
                span=span,
                before=(f"{name} 2026",),
                after=(f"this {name}", f"in {name} 2026"),
                readings=(later,),
                family="season",
            )
            if name == "summer":
                yield Period(
                    span=month_span(2025, 6, 3),
                    before=("summer 2025",),
                    after=("in the summer of 2025",),
                    family="season",
                    readings=(Span(start=day(2025, 6, 21), end=day(2025, 9, 21)),),
                )
        if name == "autumn":
            yield Period(
                span=month_span(2025, 9, 3),
                after=("last autumn", "last fall"),
                readings=(Span(start=day(2025, 9, 21), end=day(2025, 12, 21)),),
                apart=(span,),
                family="season",
            )


def _quarters() -> Iterator[Period]:
    for number in range(1, 5):
        word = QUARTERS[number - 1]
        if number > 1:
            yield Period(
                span=month_span(2025, 3 * number - 2, 3),
                before=(f"Q{number} 2025",),
                after=(f"in the {word} quarter of 2025", f"in Q{number} of last year"),
                family="quarter",
            )
        if number < 4:
            span = month_span(2026, 3 * number - 2, 3)
            earlier = (month_span(2025, 3 * number - 2, 3),)
            yield Period(
                span=span,
                before=(f"Q{number} 2026",),
                after=(f"in the {word} quarter of this year", f"in Q{number} 2026"),
                family="quarter",
            )
            yield Period(
                span=span,
                before=(f"Q{number}",),
                after=(f"in Q{number}",),
                apart=earlier,
                family="quarter",
            )


def _around_now() -> Iterator[Period]:
    monday = TODAY - timedelta(days=TODAY.weekday())
    week = timedelta(days=7)
    yield Period(
        span=Span(start=monday - week, end=monday),
        after=("from last week", "last week"),
        readings=(Span(start=TODAY - week, end=TOMORROW),),
        family="recent",
    )
    yield Period(
        span=Span(start=monday, end=TOMORROW),
        after=("this week", "from this week"),
        readings=(Span(start=TODAY - week, end=TOMORROW),),
        family="recent",
    )
    yield Period(
        span=month_span(2026, 10),
        after=("last month", "from last month"),
        readings=(Span(start=datetime(2026, 10, 20, tzinfo=UTC), end=TOMORROW),),
        family="recent",
    )
    yield Period(span=month_span(2026, 11), after=("this month",), family="recent")
    for days in (10, 14, 21):
        words = {10: "ten days", 14: "two weeks", 21: "three weeks"}[days]
        yield Period(
            span=Span(start=TODAY - timedelta(days=days), end=TOMORROW),
            after=(
                f"in the last {words}",
                f"in the past {days} days",
                f"within the last {days} days",
            ),
            readings=(Span(start=TODAY - timedelta(days=days - 1), end=TOMORROW),),
            family="recent",
        )
    yield Period(span=month_span(2025, 4, 9), after=("last year", "in 2025"), family="year")
    yield Period(span=month_span(2026, 1, 12), after=("this year", "in 2026"), family="year")


def _days() -> Iterator[Period]:
    moment = datetime(2025, 4, 1, tzinfo=UTC)
    while moment < TODAY - timedelta(days=2):
        following = moment + timedelta(days=1)
        name = MONTHS[moment.month]
        yield Period(
            span=Span(start=moment, end=following),
            before=(moment.date().isoformat(),),
            after=(
                f"on {name} {moment.day}, {moment.year}",
                f"from {moment.date().isoformat()}",
                f"on {moment.day} {name} {moment.year}",
            ),
            family="day",
        )
        moment = following
