"""A time named in the prompt, and the small steps that make one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from personalq.checkin import calendar
from personalq.checkin.intent import Interval
from personalq.checkin.parsing.draft import Context

Occurs = Callable[[int], Interval | None]
"""The interval of a recurring time in a year: of "May", of "Q3", of "Christmas"."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A time named in the prompt."""

    start: int
    end: int
    interval: Interval
    kind: str
    """day, week, month, quarter, half, season, holiday, weekday, year, relative, ago, today …"""
    month: int = 0
    """For a month without a year: 1-12."""
    sure: bool = True
    """Constrains wherever it stands; else only beside a cue."""
    everyday: bool = False
    """An everyday word too ("may", "spring"): needs a strong cue."""
    occurs: Occurs | None = None
    """Set while no year was said."""
    hours: tuple[Interval, ...] = ()
    """Of a day: the hours that were said, from narrow to wide."""
    bare: Point | None = None
    """The same without its hours, for where other words have claimed those."""


@dataclass(frozen=True, kw_only=True)
class NamedTime:
    """What a rule reads out of its words: a point without its place."""

    interval: Interval | None
    kind: str
    month: int = 0
    sure: bool = True
    everyday: bool = False
    occurs: Occurs | None = None


def day_interval(year: int, month: int, day: int, zone: ZoneInfo) -> Interval | None:
    """One day; None when the calendar has none such."""
    try:
        first = date(year, month, day)
        return calendar.days(first, first + timedelta(days=1), zone)
    except (ValueError, OverflowError):
        return None


def occurrence(occurs: Occurs, year: int) -> Interval | None:
    """The occurrence in a year; None beyond the calendar."""
    return occurs(year) if 2 <= year <= 9997 else None


def latest(occurs: Occurs, context: Context) -> Interval | None:
    """The latest occurrence that has begun."""
    for year in range(context.local.year + 1, context.local.year - 9, -1):
        interval = occurrence(occurs, year)
        if interval and interval.start and interval.start <= context.now:
            return interval
    return None


def full_year(text: str) -> int:
    """2025 of "2025", "'25" and "25"."""
    digits = text.strip("' ")
    return int(digits) if len(digits) == 4 else 2000 + int(digits)


def first_day(interval: Interval, context: Context) -> date | None:
    """The first day of an interval in the person's time zone."""
    return interval.start.astimezone(context.zone).date() if interval.start else None


def last_day(interval: Interval, context: Context) -> date | None:
    """One past the last day of an interval in the person's time zone."""
    return interval.end.astimezone(context.zone).date() if interval.end else None
