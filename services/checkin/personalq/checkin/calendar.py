"""Calendar arithmetic in the person's time zone: days, weeks, months, seasons, holidays."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from personalq.checkin.intent import Interval

MONTH_NAMES = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """The first instant of a day."""
    return datetime.combine(day, time(), tzinfo=zone)


def days(first: date, last: date, zone: ZoneInfo) -> Interval:
    """[first day, last day), whole days."""
    return Interval(start=midnight(first, zone), end=midnight(last, zone))


def add_months(day: date, months: int) -> date:
    """The first day of the month `months` after the one of `day`; clamped to years 1-9998."""
    index = min(max(day.year * 12 + day.month - 1 + months, 12), 9998 * 12)
    return date(index // 12, index % 12 + 1, 1)


def month(year: int, number: int, zone: ZoneInfo, length: int = 1) -> Interval:
    """`length` whole months from a month on."""
    first = date(year, number, 1)
    return days(first, add_months(first, length), zone)


def latest_month(today: date, number: int, *, current: bool = True) -> int:
    """The year of the latest month `number` that has begun (or, without `current`, has ended)."""
    begun = number <= today.month if current else number < today.month
    return today.year if begun else today.year - 1


def week(today: date, start: int, offset: int) -> tuple[date, date]:
    """The calendar week `offset` weeks from today's, from weekday `start` on."""
    first = today - timedelta(days=(today.weekday() - start) % 7) + timedelta(weeks=offset)
    return first, first + timedelta(weeks=1)


def easter(year: int) -> date:
    """Easter Sunday, Gregorian (Anonymous algorithm)."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = b // 4, b % 4
    g = (b - (b + 8) // 25 + 1) // 3
    h = (19 * a + b - d - g + 15) % 30
    i, k = c // 4, c % 4
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    index = h + m - 7 * n + 114
    return date(year, index // 31, index % 31 + 1)


def holiday(year: int, entry: tuple[int, int]) -> date:
    """The day of a holiday entry of the calendar file."""
    month_, day = entry
    if month_:
        return date(year, month_, day)
    if day == 0:
        return easter(year)
    first = date(year, 11, 1)  # Thanksgiving: the fourth Thursday of November
    return first + timedelta(days=(3 - first.weekday()) % 7 + 21)


def name_of_month(moment: datetime, zone: ZoneInfo) -> str:
    """The month of a moment: "April"."""
    return MONTH_NAMES[moment.astimezone(zone).month - 1]


def describe(interval: Interval, zone: ZoneInfo) -> str:
    """An interval in words: "in April 2026", "before 1 June 2026"."""
    start = interval.start.astimezone(zone) if interval.start else None
    end = interval.end.astimezone(zone) if interval.end else None
    if start is None:
        return f"before {day_of(end)}" if end is not None else "at any time"
    if end is None:
        return f"from {day_of(start)} on"
    if end - start <= timedelta(days=1, hours=1):
        hours = "" if start.time() == end.time() == time() else f", {start:%H:%M} to {end:%H:%M}"
        return f"on {day_of(start)}{hours}"
    if start.day == 1 and end.day == 1 and start.time() == time() == end.time():
        last = end - timedelta(days=1)
        if (start.year, start.month) == (last.year, last.month):
            return f"in {MONTH_NAMES[start.month - 1]} {start.year}"
        if start.month == 1 and last.month == 12 and start.year == last.year:
            return f"in {start.year}"
        first_year = "" if start.year == last.year else f" {start.year}"
        return (
            f"from {MONTH_NAMES[start.month - 1]}{first_year} "
            f"to {MONTH_NAMES[last.month - 1]} {last.year}"
        )
    return f"from {day_of(start)} to {day_of(end - timedelta(seconds=1))}"


def day_of(moment: datetime) -> str:
    """A day in words: "12 May 2026"; of an aware moment in its own zone."""
    return f"{moment.day} {MONTH_NAMES[moment.month - 1]} {moment.year}"
