"""Everything in a text that names a time, left to right, with the words that narrow it.

First every rule finds its own words. Then neighbours join ("Tuesday of last week", "Q3 of last
year"), and words before a time narrow it ("mid-June", "the week of June 8", "two days after
Christmas").
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from personalq.chassis.forms import compile_form
from personalq.chassis.screening import Screened
from personalq.checkin import calendar
from personalq.checkin.intent import Interval
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.numbers import ORDINAL, number
from personalq.checkin.parsing.text import ends_before
from personalq.checkin.parsing.times import dates, periods, relative
from personalq.checkin.parsing.times.clock import with_hours
from personalq.checkin.parsing.times.point import (
    Point,
    day_interval,
    first_day,
    last_day,
    occurrence,
)
from personalq.checkin.parsing.times.units import back, part_of
from personalq.checkin.parsing.times.words import COUNT, NTHS, counted

_HERE = r"(?<![\w.#])(?<!\d[/-])(?<!next-to-)(?<!second-to-)"
_RULES = tuple(
    (Screened(compile_form(f"{_HERE}({pattern})")), read)
    for pattern, read in (*dates.RULES, *relative.RULES, *periods.RULES)
)
_THAT_YEAR = compile_form(r",? (of |in )?(that|the same) (same )?year(?!\w)")
_OF = compile_form("(,? | (of|in|from) (the )?)")
_ITS = compile_form("('s | (in|during|around) )")
"""Between a year and what is in it: "last year's November", "made last year in August"."""
_ENDS = compile_form(
    r" ?($|[^\w\s]|(on|at|with|and|please|for|by|under|beside|inside|near|in (an?|my|our)|"
    r"(?!morning|evening|training)[a-z]{3,}ing)\b)"
)
"""Behind a time that nothing is of: not "last year in winter | snow"."""

Narrow = Callable[[re.Match[str], Point, Context], Interval | None]


def points(shadow: str, context: Context) -> list[Point]:
    """Every time named in lower-cased text, left to right, none overlapping another."""
    found = _of_that_year(_joined(_atoms(shadow, context), shadow, context), shadow, context)
    found = _bounded(found, shadow)
    return with_hours(_narrowed(found, shadow, context), shadow, context)


def _atoms(shadow: str, context: Context) -> list[Point]:
    """What the rules find; at one place the first rule wins."""
    found: list[Point] = []
    position = 0
    upcoming = [said.search(shadow) for said, _ in _RULES]
    while True:
        for index, match in enumerate(upcoming):
            if match is not None and match.start() < position:
                upcoming[index] = _RULES[index][0].search(shadow, position)
        live = [(match.start(), i, match) for i, match in enumerate(upcoming) if match is not None]
        if not live:
            return found
        _, index, match = min(live, key=lambda item: item[:2])
        named = _RULES[index][1](match, context)
        if named is None or named.interval is None:
            upcoming[index] = _RULES[index][0].search(shadow, match.start() + 1)
            continue
        position = match.end()
        found.append(
            Point(
                start=match.start(),
                end=position,
                interval=named.interval,
                kind=named.kind,
                month=named.month,
                sure=named.sure,
                everyday=named.everyday,
                occurs=named.occurs,
            )
        )


def _joined(found: list[Point], shadow: str, context: Context) -> list[Point]:
    """Join "June" with "last year", "Tuesday" with "of last week", "Easter" with "2025"."""
    joined: list[Point] = []
    for point in found:
        before = joined[-1] if joined else None
        inside = _inside(before, point, shadow, context) if before is not None else None
        if inside is not None:
            joined[-1] = inside
        else:
            joined.append(point)
    return joined


def _inside(before: Point, point: Point, shadow: str, context: Context) -> Point | None:
    """One of two neighbours inside the other, the longer behind or before it."""
    for narrow, wide, link in ((before, point, _OF), (point, before, _ITS)):
        joint = link.fullmatch(shadow, before.end, point.start)
        told = joint is not None and (
            link is _OF or "'" in joint[0] or _ENDS.match(shadow, point.end)
        )
        interval = _within(narrow, wide, context) if told else None
        if interval is not None:
            return Point(start=before.start, end=point.end, interval=interval, kind=narrow.kind)
    return None


def _of_that_year(found: list[Point], shadow: str, context: Context) -> list[Point]:
    """Put "June of that year" into the year named before: "after 20 May 2025 but before June"."""
    read: list[Point] = []
    for point in found:
        said = _THAT_YEAR.match(shadow, point.end)
        year = first_day(read[-1].interval, context) if read else None
        if said and year is not None and point.occurs is not None:
            interval = occurrence(point.occurs, year.year)
            if interval is not None:
                point = replace(point, end=said.end(), interval=interval, sure=True)
        read.append(point)
    return read


_AND_BEFORE = compile_form(",? (and|but|yet) ((was )?(made|trained|created|built) )?before (the )?")


def _bounded(found: list[Point], shadow: str) -> list[Point]:
    """Put a time into the year of the one that bounds it: "after April but before June 2025"."""
    read = list(found)
    for place, (first, second) in enumerate(itertools.pairwise(found)):
        end = second.interval.start
        told = _AND_BEFORE.fullmatch(shadow, first.end, second.start)
        if first.occurs is None or second.occurs is not None or end is None or told is None:
            continue
        near = (occurrence(first.occurs, end.year - step) for step in (0, 1))
        before = (each for each in near if each and each.start and each.start < end)
        if (interval := next(before, None)) is not None:
            read[place] = replace(first, interval=interval, occurs=None)
    return read


def _within(point: Point, container: Point, context: Context) -> Interval | None:
    """The occurrence of a recurring time inside a longer one."""
    first, last = first_day(container.interval, context), last_day(container.interval, context)
    if first is None or last is None:
        return None
    if point.occurs is not None and container.kind in ("year", "relative"):
        if (last - first).days < 80:
            return None
        for year in (last.year, first.year):
            interval = occurrence(point.occurs, year)
            starts = interval and interval.start
            bounds = container.interval
            if starts and bounds.start and bounds.end and bounds.start <= starts < bounds.end:
                return interval
    if point.kind == "weekday" and (last - first).days == 7:
        weekday = first_day(point.interval, context)
        if weekday is not None:
            day = first + timedelta((weekday.weekday() - first.weekday()) % 7)
            return calendar.days(day, day + timedelta(1), context.zone)
    return None


def _part(match: re.Match[str], point: Point, context: Context) -> Interval | None:
    return part_of(match["part"], point.interval, context)


def _week(match: re.Match[str], point: Point, context: Context) -> Interval | None:
    """The calendar week, or the weekend of it, around a day."""
    day, last = first_day(point.interval, context), last_day(point.interval, context)
    if day is None or last is None or (last - day).days > 1:
        return None
    if match["unit"] == "weekend":
        first, _ = calendar.week(day, 0, 0)
        return calendar.days(first + timedelta(5), first + timedelta(7), context.zone)
    first, end = calendar.week(day, context.week_start, 0)
    return calendar.days(first, end, context.zone)


def _nth_week(match: re.Match[str], point: Point, context: Context) -> Interval | None:
    """Weeks and weekends counted in a longer time: "the last two weeks of May"."""
    first, last = first_day(point.interval, context), last_day(point.interval, context)
    if first is None or last is None or (last - first).days < 14:
        return None
    length = (
        7 * counted(match["n"] or "one") if match["unit"] != "day" else counted(match["n"] or "one")
    )
    if match["nth"] in ("last", "final"):
        begin = last - timedelta(length)
    else:
        begin = first + timedelta(length * ((NTHS.get(match["nth"]) or 1) - 1))
    if match["unit"] == "weekend":
        saturday = begin + timedelta((5 - begin.weekday()) % 7)
        return calendar.days(saturday, saturday + timedelta(2), context.zone)
    return calendar.days(begin, begin + timedelta(length), context.zone)


def _nth_day(match: re.Match[str], point: Point, context: Context) -> Interval | None:
    """Days counted in a month: "the 3rd of this month", "the last day of May"."""
    first, last = first_day(point.interval, context), last_day(point.interval, context)
    if first is None or last is None or not 27 < (last - first).days < 32:
        return None
    if match["last"]:
        return calendar.days(last - timedelta(1), last, context.zone)
    return day_interval(first.year, first.month, number(match["nth"]) or 0, context.zone)


def _nth_quarter(match: re.Match[str], point: Point, context: Context) -> Interval | None:
    first, last = first_day(point.interval, context), last_day(point.interval, context)
    if first is None or last is None or (last - first).days < 360:
        return None
    index = NTHS.get(match["nth"]) or 4
    return calendar.month(first.year, 3 * index - 2, context.zone, 3)


def _nth_months(match: re.Match[str], point: Point, context: Context) -> Interval | None:
    """Months counted in a year: "the first two months of 2026", "the third month of this year"."""
    first, last = first_day(point.interval, context), last_day(point.interval, context)
    if first is None or last is None or (last - first).days < 360:
        return None
    count = counted(match["n"]) if match["n"] else 1
    if not 1 <= count <= 12:
        return None
    if match["nth"] in ("last", "final", "closing"):
        return calendar.month(first.year, 13 - count, context.zone, count)
    index = NTHS.get(match["nth"]) or 1
    if index > 1 and match["n"]:
        return None
    return calendar.month(first.year, index, context.zone, count)


_SOME = {"day": 7, "week": 4, "month": 3}
"""What nobody counted: "in the weeks before Christmas"."""


def _around(match: re.Match[str], point: Point, context: Context) -> Interval | None:
    """All of the time beside a day: "in the two weeks leading up to Christmas"."""
    day, end = first_day(point.interval, context), last_day(point.interval, context)
    if day is None or end is None:
        return None
    some = _SOME[match["unit"]] if match["many"] else 1
    count = counted(match["n"]) if match["n"] else some
    if match["after"]:
        return calendar.days(end, back(end, match["unit"], -count), context.zone)
    return calendar.days(back(day, match["unit"], count), day, context.zone)


def _beside(match: re.Match[str], point: Point, context: Context) -> Interval | None:
    """Days and weeks beside a day: "the day after Christmas", "two weeks before Halloween"."""
    day = first_day(point.interval, context)
    if day is None or point.kind not in ("holiday", "day"):
        return None
    count = counted(match["n"]) if match["n"] and match["n"] != "the" else 1
    sign = 1 if match["side"] == "after" else -1
    if match["unit"].startswith("week"):
        span = sorted((day + timedelta(sign), day + timedelta(sign * 8)))
        middle = day + timedelta(weeks=sign * count)
        if match["n"] in (None, "the"):
            return calendar.days(span[0], span[1], context.zone)
        return calendar.days(middle - timedelta(3), middle + timedelta(4), context.zone)
    moved = day + timedelta(sign * count)
    return calendar.days(moved, moved + timedelta(1), context.zone)


_NARROWING: tuple[tuple[re.Pattern[str], Narrow], ...] = (
    (
        compile_form(
            r"(?<!\w)(?P<part>early|mid|middle of|late|the middle of|"
            "(the )?(very )?(beginn?ing|start|end|(first|second|1st|2nd) half|"
            "(first|opening|last|final) ((few|couple of) )?days) of)~(in )?(the )?$"
        ),
        _part,
    ),
    (
        compile_form(
            r"(?<!\w)(the )?(?P<unit>week|weekend) "
            "(of|around|beginning|starting|from) (on )?(the )?$"
        ),
        _week,
    ),
    (
        compile_form(
            rf"(?<!\w)(the )?(?P<nth>{'|'.join(NTHS)}|last|final) ((?P<n>{COUNT}) )?"
            "(?P<unit>week|weekend|day)s? (of|in) (the )?$"
        ),
        _nth_week,
    ),
    (
        compile_form(rf"(?<!\w)(the )?((?P<nth>{ORDINAL})|(?P<last>last day)) of (the )?$"),
        _nth_day,
    ),
    (
        compile_form(rf"(?<!\w)(the )?(?P<nth>{'|'.join(NTHS)}|last|final) quarter (of|in) $"),
        _nth_quarter,
    ),
    (
        compile_form(
            rf"(?<!\w)(the )?(?P<nth>{'|'.join(NTHS)}|opening|last|final|closing) "
            f"((?P<n>{COUNT}) months|month) (of|in) (the )?(year )?$"
        ),
        _nth_months,
    ),
    (
        compile_form(
            r"(?<!\w)(in|during|within|over|"
            f"from) the ((last|first|final) )?((?P<n>{COUNT}) )?(?P<unit>day|week|"
            "month)(?P<many>s)? ((?P<after>after|following)|before|preceding|"
            "(leading|running|coming)? ?(up )?to|prior to|ahead of) (the )?$"
        ),
        _around,
    ),
    (
        compile_form(
            rf"(?<!\w)(?P<n>the|{COUNT})? ?(?P<unit>day|week)s? (?P<side>before|after) (the )?$"
        ),
        _beside,
    ),
)


def _narrowed(found: list[Point], shadow: str, context: Context) -> list[Point]:
    """Narrow each time by the words before it; those may have been taken for a time."""
    kept: list[Point] = []
    for point in found:
        narrowed = point
        for pattern, narrow in _NARROWING:
            match = ends_before(pattern, shadow, point.start)
            if match is None:
                continue
            interval = narrow(match, point, context)
            if interval is None:
                continue
            while kept and kept[-1].end > match.start():
                kept.pop()
            kind = "day" if point.kind == "holiday" else point.kind
            kind = "quarter" if narrow is _nth_months else kind
            narrowed = replace(
                point, start=match.start(), interval=interval, kind=kind, month=0, sure=True,
                everyday=False, occurs=None,
            )  # fmt: skip
            break
        kept.append(narrowed)
    return kept
