"""Named periods: months, seasons, quarters, halves, holidays, weekdays, years."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import partial

from personalq.checkin import calendar, lexicon
from personalq.checkin.intent import Interval
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.numbers import CARDINALS, number
from personalq.checkin.parsing.times.dates import Read
from personalq.checkin.parsing.times.point import (
    NamedTime,
    Occurs,
    day_interval,
    first_day,
    full_year,
    latest,
    occurrence,
)
from personalq.checkin.parsing.times.words import (
    COUNT,
    HOLIDAYS,
    MONTHS,
    NTHS,
    SEASONS,
    WEEKDAYS,
    YEAR,
    counted,
    year_of,
)

_WHICH = "((?P<rel>this( past| very)?|last|past|previous|the past) )?"
_FARTHEST = 40
"""Months back in which every weekday meets every day of a month."""
_NEVER_BARE = frozenset(("may", "march"))


def _recurring(
    occurs: Occurs, match: re.Match[str], context: Context, kind: str, **more: bool
) -> NamedTime | None:
    """The occurrence meant: of the year said, this one, the last one, else the latest begun."""
    if match["y"]:
        return NamedTime(interval=occurs(full_year(match["y"])), kind=kind)
    newest = latest(occurs, context)
    if newest is None or newest.start is None:
        return None
    relative = match["rel"] if "rel" in match.re.groupindex else None
    if relative is None:
        return NamedTime(interval=newest, kind=kind, occurs=occurs, **more)
    if relative.startswith("this") and not relative.endswith("past"):
        running = occurrence(occurs, context.local.year)
        inside = newest.end is not None and newest.end > context.now
        return NamedTime(interval=newest if inside or running is None else running, kind=kind)
    if newest.end is not None and newest.end > context.now:  # the running one is not the last
        year = newest.start.astimezone(context.zone).year
        before = [occurrence(occurs, year + step) for step in (1, 0, -1, -2)]
        ended = [i for i in before if i and i.end and i.end <= context.now]
        newest = ended[0] if ended else newest
    return NamedTime(interval=newest, kind=kind)


def _month(match: re.Match[str], context: Context) -> NamedTime | None:
    name = match["name"]
    month = lexicon.calendar("months")[name]

    def occurs(year: int) -> Interval:
        return calendar.month(year, month, context.zone)

    named = _recurring(occurs, match, context, "month")
    if named is None or named.occurs is None:
        return named
    bare = name in _NEVER_BARE
    return NamedTime(
        interval=named.interval,
        kind="month",
        month=month,
        occurs=occurs,
        sure=not bare,
        everyday=bare,
    )


def _season(match: re.Match[str], context: Context) -> NamedTime | None:
    """A season; "winter 2026" is the one that ended in 2026."""
    first = lexicon.calendar("seasons")[match["name"]]
    if context.southern:
        first = (first + 5) % 12 + 1

    def occurs(year: int) -> Interval:
        return calendar.month(year - (first == 12), first, context.zone, 3)

    return _recurring(occurs, match, context, "season", sure=False, everyday=True)


def _ago(match: re.Match[str], context: Context) -> NamedTime | None:
    """The one before last for "two summers ago", "two Novembers ago"."""
    name = match["name"]
    months, seasons = lexicon.calendar("months"), lexicon.calendar("seasons")
    first, length = (months[name], 1) if name in months else (seasons[name], 3)
    if length == 3 and context.southern:
        first = (first + 5) % 12 + 1
    year = calendar.latest_month(context.local.date(), first) - counted(match["n"]) + 1
    return NamedTime(
        interval=calendar.month(max(year, 1), first, context.zone, length), kind="relative"
    )


def _before_last(match: re.Match[str], context: Context) -> NamedTime | None:
    """The one before the last that has ended: "the winter before last"."""
    name = match["name"]
    months, seasons = lexicon.calendar("months"), lexicon.calendar("seasons")
    first, length = (months[name], 1) if name in months else (seasons[name], 3)
    if length == 3 and context.southern:
        first = (first + 5) % 12 + 1
    year = calendar.latest_month(context.local.date(), first)
    last = calendar.month(year, first, context.zone, length)
    running = last.end is not None and last.end > context.now
    year = max(year - 1 - running, 1)
    return NamedTime(interval=calendar.month(year, first, context.zone, length), kind="relative")


def _weekday_the(match: re.Match[str], context: Context) -> NamedTime | None:
    """The latest day of a month that is such a weekday: "Friday the 13th"."""
    today = context.local.date()
    for months in range(_FARTHEST):
        first = calendar.add_months(today, -months)
        interval = day_interval(first.year, first.month, int(match["d"]), context.zone)
        day = first_day(interval, context) if interval is not None else None
        if day and day <= today and day.weekday() == lexicon.weekdays().index(match["name"]):
            return NamedTime(interval=interval, kind="day")
    return None


def _months_at(year: int, *, first: int, length: int, context: Context) -> Interval:
    return calendar.month(year, first, context.zone, length)


def _quarter(match: re.Match[str], context: Context) -> NamedTime | None:
    said = match["n"]
    first = 3 * (NTHS.get(said) or CARDINALS.get(said) or int(said[-1])) - 2
    occurs = partial(_months_at, first=first, length=3, context=context)
    return _recurring(occurs, match, context, "quarter")


def _year_quarter(match: re.Match[str], context: Context) -> NamedTime | None:
    first = 3 * int(match["n"]) - 2
    interval = calendar.month(full_year(match["y"]), first, context.zone, 3)
    return NamedTime(interval=interval, kind="quarter")


def _half(match: re.Match[str], context: Context) -> NamedTime | None:
    first = 7 if match["n"] in ("2", "second", "2nd") else 1
    occurs = partial(_months_at, first=first, length=6, context=context)
    return _recurring(occurs, match, context, "half")


def _holiday(match: re.Match[str], context: Context) -> NamedTime | None:
    entry = lexicon.calendar("holidays")[match["name"]]

    def occurs(year: int) -> Interval:
        day = calendar.holiday(year, (entry[0], entry[1]))
        return calendar.days(day, day + timedelta(1), context.zone)

    named = _recurring(occurs, match, context, "holiday", sure=False, everyday=True)
    if named is None:
        return None
    return NamedTime(
        interval=named.interval, kind="holiday", sure=False, everyday=True, occurs=named.occurs
    )


def _weekday(match: re.Match[str], context: Context) -> NamedTime | None:
    today = context.local.date()
    back = (today.weekday() - lexicon.weekdays().index(match["name"])) % 7 or 7
    day = today - timedelta(back)
    sure = match["rel"] is not None
    interval = calendar.days(day, day + timedelta(1), context.zone)
    return NamedTime(interval=interval, kind="weekday", sure=sure, everyday=not sure)


def _year(match: re.Match[str], context: Context) -> NamedTime | None:
    interval = calendar.month(int(match["y"]), 1, context.zone, 12)
    return NamedTime(interval=interval, kind="year", sure=False)


def _short_year(match: re.Match[str], context: Context) -> NamedTime | None:
    return NamedTime(
        interval=calendar.month(full_year(match["y"]), 1, context.zone, 12), kind="year", sure=False
    )


def _spoken_year(match: re.Match[str], context: Context) -> NamedTime | None:
    year = 2000 + 20 + (number(match["y"]) or 0) if match["y"] else 2020
    return NamedTime(interval=calendar.month(year, 1, context.zone, 12), kind="year", sure=False)


RULES: tuple[tuple[str, Read], ...] = (
    (rf"(?P<y>{YEAR})\s*-?\s*q(?P<n>[1-4])(?!\w)", _year_quarter),
    (rf"{_WHICH}(?P<n>q[1-4]){year_of('y')}(?!\w)", _quarter),
    (rf"(?P<n>{'|'.join(NTHS)})[\s-]+quarter{year_of('y')}(?!\w)", _quarter),
    (rf"quarter\s+(?P<n>one|two|three|four|[1-4]){year_of('y')}(?!\w)", _quarter),
    (rf"h(?P<n>[12]){year_of('y')}(?!\w)", _half),
    (rf"(?P<n>[12])h{year_of('y')}(?!\w)", _half),
    (
        rf"(?P<n>first|second|1st|2nd)\s+half\s+of\s+(?:the\s+year|(?P<y>{YEAR}))(?!\w)",
        _half,
    ),
    (rf"{_WHICH}(?P<name>{HOLIDAYS}){year_of('y')}(?!\w)", _holiday),
    (rf"{_WHICH}(?P<name>{MONTHS})(?:\.(?=\s*\d))?(?:-(?={YEAR}))?{year_of('y')}(?!\w)", _month),
    (rf"(?P<n>{COUNT})\s+(?P<name>{SEASONS}|{MONTHS})s\s+ago(?!\w)", _ago),
    (
        rf"(?:the\s+)?(?P<name>{SEASONS}|{MONTHS})\s+before\s+last(?!\s+(?:\w+day|week|month|year|{SEASONS}|{MONTHS}|{HOLIDAYS})\b)(?!\w)",
        _before_last,
    ),
    (rf"(?P<name>{WEEKDAYS})\s+the\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)(?!\w)", _weekday_the),
    (
        rf"{_WHICH}(?P<name>{SEASONS})(?:\s+(?:holidays?|break|vacation|term|season))?"
        rf"{year_of('y')}(?!\w)",
        _season,
    ),
    (
        rf"(?:{YEAR}[-/](?=\d\d\s))?(?P<y>{YEAR}|(?<=\d[-/])\d\d)\s+(?P<name>{SEASONS})"
        r"(?=\s*(?:$|[^\w\s]|(?:one|version|model|build|checkpoint|run|batch|on|at|with|and|please)\b))",
        _season,
    ),
    (rf"{_WHICH}(?P<name>{WEEKDAYS})(?!\w)", _weekday),
    (
        r"twenty\s+twenty(?:[\s-]+(?P<y>one|two|three|four|five|six|seven|eight|nine))?(?!\w)",
        _spoken_year,
    ),
    (rf"(?P<y>{YEAR})(?![\w-])(?!s)", _year),
    (r"(?P<y>'\d\d)(?![\w'])", _short_year),
)
