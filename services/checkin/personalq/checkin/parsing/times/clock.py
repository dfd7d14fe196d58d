"""The hour of a day: "last night after nine", "at quarter past nine today", "this morning".

Hours are the person's, and remembered, not looked up: what was said comes first, then the part of
the day, and the day itself for when nothing fits.
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

Hours = tuple[float, float | None]
"""From one to another, counted from the midnight before the day; open to the end of time."""

_PARTS: dict[str, tuple[float, float]] = {
    "morning": (4, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)
}  # fmt: skip
_NAMED = {"noon": 12.0, "midday": 12.0, "midnight": 24.0, "lunch": 12.5, "lunchtime": 12.5}
_EXACT, _NEAR, _VAGUE = 5 / 60, 20 / 60, 1.0
"""How many hours off a time may be: to the minute, as people say it, said to be about right."""
_SMALL_HOURS = 5
"""A night goes on till then."""
_FIRST_OF_MORNING = 7
"""An hour that nothing says more of is one of the morning from here to eleven."""

_HOUR = f"({'|'.join(word for word, value in CARDINALS.items() if 1 <= value <= 12)}|\\d{{1,2}})"
_MINUTES = "(five|ten|twenty|twenty[ -]five|5|10|20|25)( minutes?)?"
_PART = "((in the|that) (?P<part>morning|afternoon|evening)|at (?P<night>night))"
_ENDS = (
    r"(?= ?($|[;:!?)]|[.,](?!\d)| -|(on|in|at|under|near|by|beside|behind|over|through|with|"
    r"and(?! (an?|the|one)\b)|but|or(?! (so|an?|the)\b)|while|to|for|from|please|inside|as|then|"
    r"it|that|which|who|i|we)\b))"
)
"""Behind a number that is an hour no thing follows: "at 9, by a lake", not "at 2 rivers"."""
_NEXT_HOUR = (
    "((about|around|before|after|at|half past|(a )?quarter (past|to)) )*"
    rf"({_HOUR}|noon|midday|midnight)"
)
_NO_RANGE = rf"(?! ?(to|till|until|through|or|and|-|–) ?{_NEXT_HOUR})"
"""What goes on to another hour is not read: "from 9 to 11"."""
_RANGE = compile_form(
    rf"({_HOUR}([:.]\d\d)?|[ap]\.?m\.?|noon|midnight) ?(to|till|until|through|or|and|-|–) ?$"
)
"""Before an hour that another goes on to."""
_CLOCK = (
    "((?P<lead>(exactly |right |just |shortly |sometime |a (bit|little) )?"
    "(at|around|about|round|roughly|by|after|before|past|from|since|towards?)( around| about)?) )?"
    f"(((?P<half>half past|half)|(?P<quarter>(a )?quarter) (?P<side>past|to|after)|"
    f"(?P<minutes>{_MINUTES}) (?P<which>past|to)) )?"
    rf"((?P<named>noon|midday|midnight|lunch(time)?)|(?P<hour>{_HOUR})([:.](?P<minute>[0-5]\d))?"
    r"(?P<half_day> ?(am|pm|a\.m\.?|p\.m\.?)(?!\w))?(?P<oclock>~?o'?~?clock)?)"
    r"(?P<or_so>~?ish| or so)?( (?P<sharp>sharp|on the dot))?(?![\w%]|[:.,/]\d)"
    rf"( {_PART}(?!\w))?{_ENDS}{_NO_RANGE}"
)
_BEHIND = compile_form(rf"(,? (late ?,? |early ?,? )?){_CLOCK}")
_AHEAD = compile_form(rf"(?<![\w:.,/#-])({_CLOCK.removesuffix(f'{_ENDS}{_NO_RANGE}')}),?( on)? $")
_PART_BEHIND = compile_form(
    rf"( (?P<said>morning|afternoon|evening|night)(?!\w)|,? {_PART}(?!\w)){_ENDS}"
)
_SAID = compile_form(r"(?<!\w)(to)?(?P<part>morning|afternoon|evening|night)(?!\w)")


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
    start, end = point.start, point.end
    said = _SAID.search(shadow, start, end)
    part = said["part"] if said else ""
    if not part and (behind := _PART_BEHIND.match(shadow, end, room[1])):
        part, end = behind["said"] or behind["part"] or behind["night"], behind.end()
    clock = _BEHIND.match(shadow, end)
    if clock is not None and clock.end() <= room[1] and _tells_time(clock):
        end = clock.end()
    else:
        clock = ends_before(_AHEAD, shadow, start)
        if clock is not None and not (
            clock.start() >= room[0]
            and _tells_time(clock)
            and ends_before(_RANGE, shadow, clock.start()) is None
        ):
            clock = None
        if clock is not None:
            start = clock.start()
    hours: list[Hours] = []
    if clock is not None:
        part = clock["part"] or clock["night"] or part
        hours.append(_hours(clock, part, day, context))
    if part:
        hours.append(_PARTS[part])
    try:
        intervals = tuple(_of(day, each, context) for each in hours)
    except OverflowError:  # on the calendar's last day
        return point
    widened = replace(point, start=start, end=end, hours=intervals)
    return replace(widened, bare=point) if widened != point else point


def _tells_time(clock: re.Match[str]) -> bool:
    """Whether a number is an hour: "at 7", "half past three", "9pm"; "today | 2 dogs" is not."""
    if clock["hour"]:
        most = 12 if clock["half_day"] else 23
        if not 0 <= (number(clock["hour"]) or 0) <= most:
            return False
    marks = ("lead", "half", "quarter", "minutes", "named", "half_day", "oclock", "minute", "or_so")
    return any(clock[mark] for mark in marks)


def _hours(clock: re.Match[str], part: str, day: date, context: Context) -> Hours:
    hour = _NAMED[clock["named"]] if clock["named"] else _hour(clock, part, day, context)
    hour += _minutes(clock) / 60
    lead = clock["lead"] or ""
    least, most = _PARTS[part] if part else (0.0, 24.0)
    if "since" in lead:
        return hour, None
    if re.search(r"after|past|from", lead):
        return hour, max(most, hour + 1)
    if re.search(r"before|by", lead):
        return (0.0 if part == "morning" else min(least, hour - 1)), hour
    vague = re.search(r"about|around|round|rough|toward", lead) or clock["or_so"] or clock["named"]
    exact = clock["sharp"] or lead.startswith(("exactly", "right"))
    off = _VAGUE if vague else _EXACT if exact else _NEAR
    return hour - off, hour + off


def _hour(clock: re.Match[str], part: str, day: date, context: Context) -> float:
    """The hour of 24, or beyond for what is after midnight."""
    hour = number(clock["hour"]) or 0
    if clock["half_day"]:
        hour = hour % 12 + (12 if "p" in clock["half_day"] else 0)
    elif part in ("afternoon", "evening") and hour <= 12:
        hour = hour % 12 + 12
    elif part == "night" and hour <= 12:
        hour = hour % 12 + (0 if hour % 12 < _SMALL_HOURS else 12)
    elif not part and 0 < hour < _FIRST_OF_MORNING and clock["hour"][0] != "0":
        later = day < context.local.date() or context.local.hour >= hour + 12
        hour = hour + 12 if later else hour
    return hour + 24 if part == "night" and hour < _SMALL_HOURS else hour


def _minutes(clock: re.Match[str]) -> int:
    if clock["half"]:
        return 30
    if clock["quarter"]:
        return -15 if clock["side"] == "to" else 15
    if clock["minutes"]:
        said = number(re.sub(r"\s*minutes?", "", clock["minutes"])) or 0
        return -said if clock["which"] == "to" else said
    return int(clock["minute"] or 0)


def _of(day: date, hours: Hours, context: Context) -> Interval:
    midnight = calendar.midnight(day, context.zone)
    first, last = hours
    end = None if last is None else midnight + timedelta(hours=last)
    return Interval(start=midnight + timedelta(hours=first), end=end)
