"""Units counted from today, and parts of a period."""

from __future__ import annotations

from datetime import date, timedelta

from personalq.checkin import calendar
from personalq.checkin.intent import Interval
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.times.point import first_day, last_day

_DAYS = {"day": 1, "week": 7, "fortnight": 14, "weekend": 7}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def back(day: date, unit: str, count: int) -> date:
    """The day `count` units before a day."""
    if unit in _MONTHS:
        first = calendar.add_months(day, -_MONTHS[unit] * count)
        last = (calendar.add_months(first, 1) - timedelta(1)).day
        return first.replace(day=min(day.day, last))
    return day - timedelta(_DAYS.get(unit, 0) * count)


def rolling(unit: str, count: int, context: Context) -> Interval:
    """The last `count` units up to the end of today."""
    today = context.local.date()
    return calendar.days(back(today, unit, count), today + timedelta(1), context.zone)


def unit_ago(unit: str, count: int, context: Context, *, vague: bool = False) -> Interval:
    """The calendar unit `count` units before today's; wider when the count is vague."""
    today, zone = context.local.date(), context.zone
    slack = 1 if vague else 0
    if unit in ("hour", "minute"):
        return calendar.days(today, today + timedelta(1), zone)
    if unit == "day":
        day = today - timedelta(count)
        return calendar.days(day - timedelta(2 * slack), day + timedelta(1 + slack), zone)
    if unit in ("week", "fortnight"):
        weeks = count * (2 if unit == "fortnight" else 1)
        first, last = calendar.week(today, context.week_start, -weeks)
        return calendar.days(first - timedelta(weeks=slack), last + timedelta(weeks=slack), zone)
    if unit == "weekend":
        first, _ = calendar.week(today, 0, -count)
        if count == 0 and today.weekday() < 5:
            first -= timedelta(weeks=1)
        return calendar.days(first + timedelta(5), first + timedelta(7), zone)
    if unit == "quarter":
        quarter = date(today.year, 3 * ((today.month - 1) // 3) + 1, 1)
        first = calendar.add_months(quarter, -3 * count)
        return calendar.days(first, calendar.add_months(first, 3), zone)
    if unit == "year":
        return calendar.month(max(today.year - count, 1), 1, zone, 12)
    first = calendar.add_months(today, -count)
    return calendar.days(
        calendar.add_months(first, -slack), calendar.add_months(first, 1 + slack), zone
    )


_FEW_DAYS = 10
"""What "the first days" of a month, a quarter or a year are at most."""


def part_of(part: str, interval: Interval, context: Context) -> Interval:
    """The early, middle or late part of an interval: thirds, or halves when said."""
    first, last = first_day(interval, context), last_day(interval, context)
    if first is None or last is None:
        return interval
    part = part.removeprefix("the ").replace("1st", "first").replace("2nd", "second")
    if part.endswith("days of"):
        few = timedelta(min((last - first).days, _FEW_DAYS))
        start, end = (first, first + few) if _begins(part) else (last - few, last)
        return calendar.days(start, end, context.zone)
    whole_year = (last - first).days > 360
    if whole_year:
        return _part_of_year(part, first.year, context)
    length = (last - first).days
    third, half = length // 3, length // 2
    if "first half" in part:
        return calendar.days(first, first + timedelta(half), context.zone)
    if "second half" in part:
        return calendar.days(first + timedelta(half), last, context.zone)
    if part.startswith("mid"):
        return calendar.days(first + timedelta(third), last - timedelta(third), context.zone)
    if _begins(part):
        return calendar.days(first, first + timedelta(max(third, 1)), context.zone)
    return calendar.days(last - timedelta(max(third, 1)), last, context.zone)


def _begins(part: str) -> bool:
    return part.startswith(("early", "first", "opening")) or "begin" in part or "start" in part


def _part_of_year(part: str, year: int, context: Context) -> Interval:
    if "half" in part:
        return calendar.month(year, 1 if "first" in part else 7, context.zone, 6)
    first = 5 if part.startswith("mid") else 1 if _begins(part) else 9
    return calendar.month(year, first, context.zone, 4)
