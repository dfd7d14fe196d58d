"""The hour of a day: "last night after nine", "at quarter past nine today", "this morning".

Hours are the person's, and remembered, not looked up: a time has readings from narrow to wide, and
after the part of the day the day itself, for when nothing fits.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta

from personalq.chassis.forms import compile_form
from personalq.checkin import calendar
from personalq.checkin.intent import Interval
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.numbers import CARDINALS, number
from personalq.checkin.parsing.text import ends_before
from personalq.checkin.parsing.times.point import Point, first_day, last_day

_PARTS = {"morning": (4, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}
"""Hours of a part of the day, from the midnight before it."""
_NAMED = {"noon": 12.0, "midday": 12.0, "midnight": 24.0, "lunch": 12.5, "lunchtime": 12.5}
_NEAR = {False: (5 / 60, 20 / 60, 1.0), True: (1.0,)}
"""How many hours off a time may be, and one that was said to be about right."""
_FIRST_OF_MORNING = 7
"""An hour that nothing says more of is one of the morning from here to eleven."""

_HOUR = f"({'|'.join(word for word, value in CARDINALS.items() if 1 <= value <= 12)}|\\d{{1,2}})"
_MINUTES = "(five|ten|twenty|twenty[ -]five|5|10|20|25)( minutes?)?"
_PART = "((in the|that) (?P<part>morning|afternoon|evening)|at (?P<night>night))"
_CLOCK = (
    "((?P<lead>(exactly |right |just |shortly |sometime |a (bit|little) )?"
    "(at|around|about|round|roughly|by|after|before|past|from|since|towards?)( around| about)?) )?"
    f"(((?P<half>half past|half)|(?P<quarter>(a )?quarter) (?P<side>past|to|after)|"
    f"(?P<minutes>{_MINUTES}) (?P<which>past|to)) )?"
    rf"((?P<named>noon|midday|midnight|lunch(time)?)|(?P<hour>{_HOUR})([:.](?P<minute>\d\d))?"
    r"(?P<half_day> ?(am|pm|a\.m\.?|p\.m\.?)(?!\w))?(?P<oclock>~?o'?~?clock)?)"
    r"(?P<or_so>~?ish| or so)?( (sharp|on the dot))?(?![\w:])"
    rf"( {_PART}(?!\w))?"
)
_BEHIND = compile_form(rf"(,? (late ?,? |early ?,? )?){_CLOCK}")
_AHEAD = compile_form(rf"(?<![\w:.#-]){_CLOCK},? $")
_SAID = compile_form("morning|afternoon|evening|night")


def with_hours(found: list[Point], shadow: str, context: Context) -> list[Point]:
    """The same times with the hours that stand beside those that are a day."""
    read: list[Point] = []
    for index, point in enumerate(found):
        day, end = first_day(point.interval, context), last_day(point.interval, context)
        if day is None or end is None or (end - day).days != 1:
            read.append(point)
            continue
        begins = read[-1].end if read else 0
        ends = found[index + 1].start if index + 1 < len(found) else len(shadow)
        read.append(_with_hours(point, day, shadow, (begins, ends), context))
    return read


def _with_hours(
    point: Point, day: date, shadow: str, room: tuple[int, int], context: Context
) -> Point:
    part = said[0] if (said := _SAID.search(shadow, point.start, point.end)) else ""
    start, end, clock = point.start, point.end, None
    if (behind := _BEHIND.match(shadow, end, room[1])) and _tells_time(behind):
        clock, end = behind, behind.end()
    elif (
        (ahead := ends_before(_AHEAD, shadow, start))
        and ahead.start() >= room[0]
        and _tells_time(ahead)
    ):
        clock, start = ahead, ahead.start()
    hours: list[tuple[float, float]] = []
    if clock is not None:
        part = clock["part"] or clock["night"] or part
        hours = _hours(clock, part, day, context)
    if part:
        hours.append(_PARTS[part])
    try:
        said_hours = tuple(_of(day, each, context) for each in hours)
    except OverflowError:  # on the calendar's last day
        return point
    return replace(point, start=start, end=end, hours=said_hours)


def _tells_time(clock: re.Match[str]) -> bool:
    """Whether a number is an hour: "at 7", "half past three", "9pm"; "today | two dogs" is not."""
    if clock["hour"] and not 0 <= (number(clock["hour"]) or 0) <= 24:
        return False
    marks = ("lead", "half", "quarter", "minutes", "named", "half_day", "oclock", "minute")
    return any(clock[mark] for mark in marks)


def _hours(
    clock: re.Match[str], part: str, day: date, context: Context
) -> list[tuple[float, float]]:
    """Intervals of hours from the midnight before the day, narrow ones first."""
    hour = _NAMED[clock["named"]] if clock["named"] else _hour(clock, part, day, context)
    hour += _minutes(clock) / 60
    lead = clock["lead"] or ""
    least, most = _PARTS[part] if part else (0, 24)
    if re.search(r"after|past|from|since", lead):
        return [(hour, max(most, hour + 1))]
    if re.search(r"before|by", lead):
        return [(min(least, hour - 1), hour)]
    vague = re.search(r"about|around|round|rough|toward", lead) or clock["or_so"]
    return [(hour - off, hour + off) for off in _NEAR[bool(vague or clock["named"])]]


def _hour(clock: re.Match[str], part: str, day: date, context: Context) -> float:
    """The hour of 24, or beyond for what is after midnight."""
    hour = number(clock["hour"]) or 0
    if hour > 12 or (hour == 0 and clock["minute"]):
        return hour
    if clock["half_day"]:
        return hour % 12 + (12 if "p" in clock["half_day"] else 0)
    if part == "morning":
        return hour
    if part == "night":
        return hour % 12 + (24 if hour % 12 < _FIRST_OF_MORNING - 2 else 12)
    if part:
        return hour % 12 + 12
    if hour >= _FIRST_OF_MORNING:
        return hour
    later = day < context.local.date() or context.local.hour >= hour + 12
    return hour + 12 if later else hour


def _minutes(clock: re.Match[str]) -> int:
    if clock["half"]:
        return 30
    if clock["quarter"]:
        return -15 if clock["side"] == "to" else 15
    if clock["minutes"]:
        said = number(re.sub(r"\s*minutes?", "", clock["minutes"])) or 0
        return -said if clock["which"] == "to" else said
    return int(clock["minute"] or 0)


def _of(day: date, hours: tuple[float, float], context: Context) -> Interval:
    midnight = calendar.midnight(day, context.zone)
    start, end = (midnight + timedelta(hours=hour) for hour in hours)
    return Interval(start=start, end=end)
