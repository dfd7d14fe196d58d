"""Times counted from now: "two weeks ago", "in the past month", "earlier this year"."""

from __future__ import annotations

import re
from datetime import timedelta

from personalq.checkin import calendar, lexicon
from personalq.checkin.intent import Interval
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.times.dates import Read
from personalq.checkin.parsing.times.point import NamedTime
from personalq.checkin.parsing.times.units import back, part_of, rolling, unit_ago
from personalq.checkin.parsing.times.words import COUNT, UNITS, WEEKDAYS, counted, is_vague


def _relative(interval: Interval, kind: str = "relative") -> NamedTime:
    return NamedTime(interval=interval, kind=kind)


def _before_yesterday(match: re.Match[str], context: Context) -> NamedTime:
    today = context.local.date()
    return _relative(calendar.days(today - timedelta(2), today - timedelta(1), context.zone), "day")


def _before_last(match: re.Match[str], context: Context) -> NamedTime:
    return _relative(unit_ago(match["u"] or match["v"], 2, context))


def _one_before(match: re.Match[str], context: Context) -> NamedTime:
    return _relative(unit_ago(match["u"], 1, context))


def _today(match: re.Match[str], context: Context) -> NamedTime:
    day = context.local.date() - timedelta(match["day"][0] in "yl")
    return _relative(calendar.days(day, day + timedelta(1), context.zone), "today")


def _ago(match: re.Match[str], context: Context) -> NamedTime:
    """Anything before then for "over a year ago", since then for "less than a month ago"."""
    said, count = match["cmp"] or "", counted(match["n"])
    when = unit_ago(match["u"], count, context, vague=is_vague(match["n"]))
    day = back(context.local.date(), match["u"], count)
    edge = calendar.midnight(day, context.zone)
    if re.match(r"more|over|at\s+least|longer", said):
        return _relative(Interval(end=edge + timedelta(days=1)), "ago")
    if re.match(r"less|under|no\s+more|at\s+most|within|not\s+(?:more|longer)", said):
        return _relative(Interval(start=edge), "ago")
    some = timedelta(days={"month": 12, "year": 60}.get(match["u"], 0))
    if said in _ABOUT and some and count < 4:
        return _relative(Interval(start=edge - some, end=edge + some), "ago")
    if said == "exactly" or (match["today"] and match["u"] not in ("hour", "minute")):
        return _relative(Interval(start=edge, end=edge + timedelta(days=1)), "day")
    return _relative(when, "ago")


def _half_year_ago(match: re.Match[str], context: Context) -> NamedTime:
    return _relative(unit_ago("month", 18 if match["more"] else 6, context), "ago")


def _aged(match: re.Match[str], context: Context) -> NamedTime:
    """How old a checkpoint is, beside a cue: "less than a month old", "older than two weeks"."""
    day = back(context.local.date(), match["u"], counted(match["n"]))
    edge = calendar.midnight(day, context.zone)
    old = re.match(r"more|over|at\s+least|older|(?:not|no)\s+(?:newer|younger)", match["cmp"])
    interval = Interval(end=edge + timedelta(days=1)) if old else Interval(start=edge)
    return NamedTime(interval=interval, kind="aged", sure=False)


def _weekdays_ago(match: re.Match[str], context: Context) -> NamedTime:
    today = context.local.date()
    last = (today.weekday() - lexicon.weekdays().index(match["name"])) % 7 or 7
    day = today - timedelta(last + 7 * (counted(match["n"]) - 1))
    return _relative(calendar.days(day, day + timedelta(1), context.zone), "day")


def _rolling(match: re.Match[str], context: Context) -> NamedTime:
    return _relative(rolling(match["u"], counted(match["n"]), context))


def _this(match: re.Match[str], context: Context) -> NamedTime:
    unit, which = match["u"], match["which"]
    rolls = which.endswith("past") or (match["the"] and which == "last")
    if rolls and unit != "weekend":
        return _relative(rolling(unit, 1, context))
    return _relative(unit_ago(unit, 0 if which.startswith("this") else 1, context))


def _in_the(match: re.Match[str], context: Context) -> NamedTime:
    return _relative(unit_ago(match["u"], 0, context))


def _part_of_this(match: re.Match[str], context: Context) -> NamedTime:
    return _relative(part_of(match[0], unit_ago(match["u"], 0, context), context))


def _weekend(match: re.Match[str], context: Context) -> NamedTime:
    return NamedTime(
        interval=unit_ago("weekend", 0, context), kind="weekday", sure=False, everyday=True
    )


def _while(match: re.Match[str], context: Context) -> NamedTime:
    """Constrains only after "haven't used": "in months", "for three weeks"."""
    count = counted(match["n"]) if match["n"] else 1
    unit = {"ages": "month", "time": "month", "while": "month"}.get(
        match["u"], match["u"].rstrip("s")
    )
    first = back(context.local.date(), unit, count)
    return NamedTime(
        interval=Interval(start=calendar.midnight(first, context.zone)),
        kind="while",
        sure=False,
        everyday=True,
    )


def _half_year(match: re.Match[str], context: Context) -> NamedTime:
    first = back(context.local.date(), "month", 6)
    return NamedTime(
        interval=Interval(start=calendar.midnight(first, context.zone)),
        kind="while",
        sure=False,
        everyday=True,
    )


_ABOUT = ("about", "around", "roughly", "some", "almost", "nearly", "just over", "just under")
"""Of a month ago it is no calendar month."""
_MORE = (
    "((?P<cmp>more than|over|at least|longer than|less than|under|no more than|not more than|"
    "not longer than|at most|within|almost|nearly|about|around|roughly|some|exactly|just over|"
    "just under) )?"
)

RULES: tuple[tuple[str, Read], ...] = (
    (r"(?:the\s+)?day\s+before\s+yesterday(?!\w)", _before_yesterday),
    (
        r"(?:(?:the\s+)?(?P<u>week|month|year|weekend|quarter)\s+before\s+last|"
        r"(?:from\s+)?last\s+(?P<v>week|month|year)\s+but\s+one)(?!\w)",
        _before_last,
    ),
    (
        r"the\s+(?P<u>week|month|year|quarter)\s+before\s+(?:this|the\s+(?:current|present))"
        r"(?:\s+one)?(?!\s*\w)",
        _one_before,
    ),
    (
        r"(?P<day>yesterday(?:\s+(?:morning|afternoon|evening))?|today|last\s+night|this\s+(?:very\s+)?(?:morning|"
        r"afternoon|evening)|earlier\s+today|tonight)(?!\w)",
        _today,
    ),
    (
        r"(?:half\s+a\s+year|a\s+year\s+and\s+(?P<more>a)\s+half)\s+(?:ago|back)(?!\w)",
        _half_year_ago,
    ),
    (
        rf"(?P<cmp>more\s+than|over|at\s+least|less\s+than|under|at\s+most|(?:not|no)\s+more\s+than)\s+"
        rf"(?P<n>{COUNT})\s+(?P<u>{UNITS})s?\s+old(?!\w)",
        _aged,
    ),
    (
        rf"(?P<cmp>(?:(?:not|no)\s+)?(?:older|newer|younger)\s+than)\s+(?P<n>{COUNT})\s+"
        rf"(?P<u>{UNITS})s?(?:\s+old)?(?!\w)",
        _aged,
    ),
    (rf"(?P<n>{COUNT})\s+(?P<name>{WEEKDAYS})s\s+ago(?!\w)", _weekdays_ago),
    (
        rf"{_MORE}(?P<n>{COUNT})\s+(?P<u>{UNITS}|hour|minute)s?\s+(?:ago|back|earlier)"
        r"(?P<today>\s+today)?(?!\w)",
        _ago,
    ),
    (
        rf"(?:(?:in|within|over|during|for)\s+)?(?:the\s+|these\s+)?(?:last|past|previous)\s+"
        rf"(?P<n>{COUNT})\s+(?P<u>{UNITS})s?(?!\w)",
        _rolling,
    ),
    (
        rf"(?:earlier\s+|later\s+)?(?:(?:in|over|during|within|from)\s+)?(?P<the>the\s+)?"
        rf"(?P<which>this\s+past|this(?:\s+very)?|last|past|previous)\s+(?P<u>{UNITS})(?!\w)",
        _this,
    ),
    (
        r"(?:earlier|later|early|late)\s+(?:in\s+)?the\s+(?P<u>week|month|quarter|year)(?!\w)",
        _in_the,
    ),
    (
        r"(?:the\s+)?(?:very\s+)?(?:beginning|start|end|first\s+half|second\s+half)\s+of\s+the\s+"
        r"(?P<u>week|month|year)(?!\w)",
        _part_of_this,
    ),
    (r"the\s+weekend(?!\w)", _weekend),
    (
        rf"(?:in|for)\s+(?:(?:over|more\s+than|at\s+least)\s+)?(?:(?:many|some|a\s+long)\s+|(?P<n>{COUNT})\s+)?"
        r"(?P<u>days?|weeks?|months?|years?|ages|time|while)(?!\w)",
        _while,
    ),
    (
        r"(?:in|for)\s+(?:(?:over|more\s+than|at\s+least|nearly|almost)\s+)?half\s+a\s+year(?!\w)",
        _half_year,
    ),
)
