"""Dates in digits and spelled out: "2026-04-11", "11.4.26", "April 11th", "the 11th of April"."""

from __future__ import annotations

import re
from collections.abc import Callable

from personalq.checkin import calendar, lexicon
from personalq.checkin.intent import Interval
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.numbers import ORDINALS, number
from personalq.checkin.parsing.times.point import NamedTime, day_interval, full_year, latest
from personalq.checkin.parsing.times.words import DAY, MONTHS, WEEKDAYS, YEAR, year_of

Read = Callable[[re.Match[str], Context], NamedTime | None]

_ORDINAL_DAYS = "|".join(
    sorted((w for w, value in ORDINALS.items() if value <= 31 and " " not in w), key=len)[::-1]
)


def _iso(match: re.Match[str], context: Context) -> NamedTime | None:
    year, month = int(match["y"]), int(match["m"])
    if not 1 <= month <= 12:
        return None
    if match["d"]:
        return _day(year, month, int(match["d"]), context)
    return NamedTime(interval=calendar.month(year, month, context.zone), kind="month")


def _slash(match: re.Match[str], context: Context) -> NamedTime | None:
    """Day and month in either order: dots and dashes put the day first, slashes the month."""
    first, second, year = int(match["a"]), int(match["b"]), full_year(match["y"])
    day_first = match["sep"] != "/" or first > 12
    day, month = (first, second) if day_first and second <= 12 else (second, first)
    return _day(year, month, day, context) if month <= 12 else None


def _month_year(match: re.Match[str], context: Context) -> NamedTime | None:
    month = int(match["m"])
    if not 1 <= month <= 12:
        return None
    return NamedTime(interval=calendar.month(int(match["y"]), month, context.zone), kind="month")


def _spelled(match: re.Match[str], context: Context) -> NamedTime | None:
    said = re.sub(r"(?<=\d)(?:st|nd|rd|th)", "", match["d"])
    day = number(said)
    if day is None or _is_counted(match):
        return None
    month = lexicon.calendar("months")[match["mon"]]
    if match["y"]:
        return _day(full_year(match["y"]), month, day, context)

    def occurs(year: int) -> Interval | None:
        return day_interval(year, month, day, context.zone)

    return NamedTime(interval=latest(occurs, context), kind="day", occurs=occurs)


def _is_counted(match: re.Match[str]) -> bool:
    """Whether builds of a month are counted: "the first October 2026 | version"."""
    joined = re.match(rf"{match['d']}\s+{match['mon']}", match[0]) is not None
    ones = re.match(r"\s+(one|version|build|model|checkpoint)\b", match.string[match.end() :])
    return joined and match["d"].isalpha() and ones is not None


def _days_of(match: re.Match[str], context: Context) -> NamedTime | None:
    """From one day of a month to another: "between 12 and 16 June"."""
    first, last = (int(re.sub(r"\D", "", said)) for said in (match["a"] or match["c"], match["b"]))
    month = lexicon.calendar("months")[match["mon"]]

    def occurs(year: int) -> Interval | None:
        begins = day_interval(year, month, first, context.zone)
        ends = day_interval(year, month, last, context.zone)
        return Interval(start=begins.start, end=ends.end) if begins and ends else None

    if first >= last:
        return None
    interval = occurs(full_year(match["y"])) if match["y"] else latest(occurs, context)
    return NamedTime(interval=interval, kind="day") if interval else None


def _of_this_month(match: re.Match[str], context: Context) -> NamedTime | None:
    """The latest such day: "on the 5th", "on the fifth"."""
    day, today = number(match["d"] or match["said"]) or 0, context.local.date()
    for back in range(13):
        first = calendar.add_months(today, -back)
        interval = day_interval(first.year, first.month, day, context.zone)
        if interval and interval.start and interval.start <= context.now:
            return NamedTime(interval=interval, kind="monthday", sure=False, everyday=True)
    return None


def _day(year: int, month: int, day: int, context: Context) -> NamedTime | None:
    interval = day_interval(year, month, day, context.zone)
    return NamedTime(interval=interval, kind="day") if interval else None


_ON_A = f"(({WEEKDAYS}),? (the )?)?"
"""The weekday of a date, which says no more: "Wednesday 18 November"."""

RULES: tuple[tuple[str, Read], ...] = (
    (
        rf"(?:between\s+(?:the\s+)?(?P<a>{DAY})\s+and|(?:from\s+)?(?:the\s+)?(?P<c>{DAY})\s*"
        r"(?:to|till|until|through|-))\s*"
        rf"(?:the\s+)?(?P<b>{DAY})\s+(?:of\s+)?(?P<mon>{MONTHS})\.?{year_of('y')}(?!\w)",
        _days_of,
    ),
    (
        rf"(?P<y>{YEAR})(?P<sep>[-/.])(?P<m>\d{{1,2}})(?:(?P=sep)(?P<d>\d{{1,2}}))?(?![\d./-]*\d)",
        _iso,
    ),
    (r"(?P<y>20\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?!\d)", _iso),
    (
        rf"(?P<a>\d{{1,2}})(?P<sep>[-/.])(?P<b>\d{{1,2}})(?P=sep)(?P<y>{YEAR}|\d\d)(?![\d./-]*\d)",
        _slash,
    ),
    (rf"(?P<m>\d{{1,2}})[/.](?P<y>{YEAR})(?!\d)", _month_year),
    (
        rf"{_ON_A}(?P<d>{DAY}|{_ORDINAL_DAYS})(?:\s+(?:day\s+)?(?:of\s+)?|-)(?P<mon>{MONTHS})\.?"
        rf"(?:-(?={YEAR}))?{year_of('y')}(?!\w)",
        _spelled,
    ),
    (
        rf"{_ON_A}(?P<mon>{MONTHS})\.?\s+(?:the\s+)?(?P<d>{DAY}|{_ORDINAL_DAYS})(?![\d\w]){year_of('y')}(?!\w)",
        _spelled,
    ),
    (
        r"(?:(?:the\s+)?(?P<d>[12]?\d|3[01])(?:st|nd|rd|th)|"
        rf"(?<=\bon\s)the\s+(?P<said>{_ORDINAL_DAYS}))(?=\s*(?:$|[^\w\s]|(?:in|on|at|with)\b))",
        _of_this_month,
    ),
)
