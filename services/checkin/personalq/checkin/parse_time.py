"""Time of training and of use: a closed grammar over calendar words.

`points` finds everything that names a time; `parse_time` keeps those that constrain. A month or
season that is also an everyday word ("may", "march", "spring") and any bare weekday constrain only
beside a cue ("trained in", "from", "last") or as the modifier of the subject or of "model".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from personalq.checkin import calendar, lexicon
from personalq.checkin.draft import Context, Draft
from personalq.checkin.intent import Attribute, Constraint, Interval, Span
from personalq.checkin.numbers import CARDINALS, number
from personalq.checkin.text import Word, ends_before

_MONTHS = "|".join(sorted(lexicon.calendar("months"), key=len, reverse=True))
_SEASONS = "|".join(sorted(lexicon.calendar("seasons"), key=len, reverse=True))
_WEEKDAYS = "|".join(lexicon.weekdays())
_HOLIDAYS = "|".join(sorted(map(re.escape, lexicon.calendar("holidays")), key=len, reverse=True))
_YEAR = r"(?:(?:19|20)\d\d)"
_OF_YEAR = rf"(?:(?:,?\s*|\s+of\s+)(?P<{{0}}>{_YEAR}|'\d\d)(?!\d)|\s+(?P<{{0}}r>last|this)\s+year)?"
_DAY = r"(?:\d{1,2}(?:st|nd|rd|th)?)"
_PART = (
    r"(?:(?P<{0}>early|mid|middle of|late|the beginning of|beginning of|the start of|"
    r"start of|the end of|end of|the first half of|first half of|the second half of|"
    r"second half of)[\s-]+)?"
)
_COUNT = (
    r"(?:\d{1,3}|a couple of|couple of|a few|few|several|an?|"
    + "|".join(sorted((re.escape(w) for w in CARDINALS if " " not in w), key=len, reverse=True))
    + ")"
)
_UNITS = r"(?:day|week|fortnight|month|quarter|year|weekend)"

_POINT = re.compile(
    "|".join(
        (
            rf"(?P<iso>(?P<iy>{_YEAR})-(?P<im>0[1-9]|1[0-2])(?:-(?P<id>0[1-9]|[12]\d|"
            rf"3[01]))?)(?![\d-])",
            rf"(?P<ydm>(?P<ya>{_YEAR})/(?P<yb>\d{{1,2}})(?:/(?P<yc>\d{{1,2}}))?)(?![\d/])",
            rf"(?P<slash>(?P<sa>\d{{1,2}})[/.](?:(?P<sb>\d{{1,2}})[/.])?(?P<sy>{_YEAR}))(?!\d)",
            rf"(?P<dm>(?P<dday>{_DAY})\s+(?:of\s+)?(?P<dmon>{_MONTHS})\.?{_OF_YEAR.format('dyear')})(?!\w)",
            rf"(?P<week>(?:the\s+)?(?P<wn>first|second|third|fourth|"
            rf"last)\s+week\s+of\s+(?P<wmon>{_MONTHS}){_OF_YEAR.format('wyear')})(?!\w)",
            rf"(?P<mon>{_PART.format('part')}(?:(?P<rel>this|last|past|"
            rf"previous)\s+)?(?P<mname>{_MONTHS})(?:\.(?=\s*\d))?"
            rf"(?:\s+(?P<mday>{_DAY})(?![\d\w]))?{_OF_YEAR.format('myear')})(?!\w)",
            rf"(?P<qrt>q(?P<qn>[1-4]){_OF_YEAR.format('qyear')}|(?P<qo>first|second|"
            rf"third|fourth|1st|2nd|3rd|"
            rf"4th)\s+quarter{_OF_YEAR.format('qoyear')})(?!\w)",
            rf"(?P<half>(?:h(?P<hn>[12])|(?P<ho>first|"
            rf"second)\s+half\s+of(?:\s+the\s+year)?){_OF_YEAR.format('hyear')})(?!\w)",
            r"(?P<dby>(?:the\s+)?day\s+before\s+yesterday)(?!\w)",
            r"(?P<wbl>(?:the\s+)?(?P<wblu>week|month|year)\s+before\s+last|"
            r"(?:from\s+)?last\s+(?P<wblb>week|month|year)\s+but\s+one)(?!\w)",
            r"(?P<tod>yesterday|today|last\s+night|this\s+(?:morning|afternoon|"
            r"evening)|earlier\s+today)(?!\w)",
            rf"(?P<ago>(?P<an>{_COUNT})\s+(?P<au>{_UNITS})s?\s+(?:ago|back|earlier))(?!\w)",
            rf"(?P<roll>(?:(?:in|within|over|during|for)\s+)?(?:the\s+|"
            rf"these\s+)?(?:last|past|"
            rf"previous)\s+(?P<rn>{_COUNT})\s+(?P<ru>{_UNITS})s?)(?!\w)",
            rf"(?P<relu>(?P<earlier>earlier\s+|later\s+)?(?:(?:in|over|during|within|"
            rf"from)\s+)?(?P<rlthe>the\s+)?(?P<rlw>this|last|past|"
            rf"previous)\s+(?P<rlu>{_UNITS}))(?!\w)",
            rf"(?P<sea>{_PART.format('spart')}(?:(?P<srel>this|last|past|"
            rf"previous)\s+)?(?P<sname>{_SEASONS}){_OF_YEAR.format('syear')})(?!\w)",
            rf"(?P<hol>(?:(?P<hrel>this|last|past|"
            rf"previous)\s+)?(?P<hname>{_HOLIDAYS})(?:\s+(?P<hyr>{_YEAR}))?)(?!\w)",
            rf"(?P<wd>(?:(?P<wrel>this|last|past|previous)\s+)?(?P<wname>{_WEEKDAYS}))(?!\w)",
            rf"(?P<yr>{_PART.format('ypart')}(?P<yname>{_YEAR}))(?![\w-])(?!s)",
        )
    ).join(("(?<![\\w/.#-])(?:", ")"))
)

_TRAINED = (
    r"(?:trained|created|made|built|tuned|finetuned|fine-tuned|learned|learnt|produced|"
    r"finished|dated|added|uploaded|released|published|baked)"
)
_USED = (
    r"(?:used|rendered(?:\s+with)?|generated\s+with|ran|worked\s+with|played\s+with|tried|"
    r"opened|touched|picked|was\s+using|were\s+using|been\s+using)"
)
_WHO = r"(?:(?:i|we|you|she|he|they|that|which)(?:'ve|'d)?\s+)*"
_ADVERB = (
    r"(?:(?:last|just|also|already|recently|originally|freshly|newly|first|had|have|has|"
    r"was|were|been|got|is|it|being)\s+)*"
)
_TAKES = r"(?:\s+(?:in|on|at|during|from|around|over|back\s+in|it|them|him|her|with|for))*"
_VERB_BEFORE = re.compile(
    rf"(?<!\w){_WHO}(?P<neg>(?:haven't|have\s+not|didn't|did\s+not|not|"
    rf"never)\s+)?{_WHO}{_ADVERB}(?P<verb>{_TRAINED}|{_USED}){_TAKES}\s+(?:the\s+)?$"
)
_VERB_AFTER = re.compile(
    rf"[\s-]*(?:(?P<trained>{_TRAINED})(?!\w)|"
    rf"\s(?:{_WHO}{_ADVERB}(?P<used>{_USED}))(?!\w)(?:\s+(?:it|with))?)"
)
_BEFORE = re.compile(
    r"(?<!\w)(?:(?:any\s+time\s+|sometime\s+)?(?P<op>no\s+later\s+than|no\s+earlier\s+than|"
    r"before|prior\s+to|earlier\s+than|older\s+than|until|till|up\s+to|by(?:\s+the\s+end\s+of)?|pre|"
    r"after|later\s+than|newer\s+than|more\s+recent\s+than|since|post|"
    r"starting(?:\s+(?:in|from))?|from|in|of|back\s+in|at|on|during|over|around|about|"
    r"circa|roughly|dated|through|within))(?:[\s-]+|$)(?:the\s+|my\s+)?$"
)
_ONWARD = re.compile(
    r"\s*(?:on(?:wards?)?|and\s+(?:later|after|newer)|or\s+(?:later|newer))(?=\s*(?:$|[,.;!?]))"
)
_OLDER = re.compile(r"\s*(?:and|or)\s+(?:earlier|older|before)(?!\w)")
_JOINT = re.compile(r"\s*(?P<j>to|until|till|through|thru|-|and|or|/)\s*(?:the\s+)?$")
_NEGATION = re.compile(
    r"(?<!\w)(?:not|except(?:\s+for)?|other\s+than|anything\s+but|"
    r"without)\s+(?:the\s+)?(?:ones?\s+)?$"
)
_SELECTOR_AFTER = re.compile(
    r"\s+(?:one|ones|model|version|build|checkpoint|lora|variant|edition|iteration|"
    r"release|training|run|batch|take|snapshot|ckpt)s?(?!\w)"
)
_NATURE = frozenset(
    [
        "flower",
        "tree",
        "mountain",
        "house",
        "bridge",
        "building",
        "garden",
        "landscape",
        "meadow",
        "forest",
        "lake",
        "river",
        "park",
        "rose",
        "tulip",
    ]
)
_SCENE_AFTER = frozenset(
    [
        "morning",
        "evening",
        "afternoon",
        "night",
        "day",
        "sky",
        "skies",
        "sun",
        "sunshine",
        "sunlight",
        "light",
        "breeze",
        "wind",
        "fog",
        "frost",
        "mist",
        "rain",
        "shower",
        "showers",
        "snow",
        "storm",
        "moon",
        "weather",
        "weekend",
        "market",
        "fair",
        "festival",
        "parade",
        "blossom",
        "blossoms",
        "bloom",
        "blooms",
        "leaves",
        "garden",
        "field",
        "meadow",
        "landscape",
        "scene",
        "forest",
        "holiday",
        "picnic",
        "harvest",
        "vibe",
        "vibes",
        "mood",
        "colors",
        "colours",
        "palette",
        "air",
        "sunset",
        "sunrise",
        "dawn",
        "dusk",
        "tree",
        "trees",
        "flower",
        "flowers",
        "decorations",
        "lights",
        "party",
        "wreath",
        "dinner",
        "roast",
        "eve",
        "street",
        "sale",
        "collection",
        "clothes",
        "coat",
        "fashion",
        "walk",
        "afternoon",
        "brunch",
        "wonderland",
        "heat",
        "queen",
        "pole",
        "madness",
        "bank",
        "band",
        "wedding",
        "ride",
        "drive",
        "stroll",
        "feast",
        "sweater",
        "jumper",
        "hat",
        "hats",
        "costume",
        "costumes",
        "theme",
        "themed",
        "pumpkin",
        "pumpkins",
    ]
)


_COMPARING = frozenset(
    ("before", "after", "since", "until", "prior to", "older than", "newer than", "till", "up to")
)
_DATING = frozenset(("from", "dated", "back in"))
_EVE = re.compile(r"\b(?:night|eve|day)\s+before\s+(?:the\s+)?$")


@dataclass(frozen=True, kw_only=True)
class Point:
    """A time named in the prompt."""

    start: int
    end: int
    interval: Interval
    kind: str
    """iso, day, week, month, quarter, half, season, holiday, weekday, year, relative."""
    month: int = 0
    """For a month without a year: 1-12."""
    sure: bool = True
    """Constrains wherever it stands; else only beside a cue."""
    everyday: bool = False
    """An everyday word too ("may", "spring"): needs a strong cue."""


def parse_time(draft: Draft) -> None:
    """Claim the times that constrain when a checkpoint was trained or used."""
    found = [
        point
        for point in points(draft.page.shadow, draft.context)
        if draft.free(point.start, point.end)
    ]
    index = 0
    while index < len(found):
        first = found[index]
        second = found[index + 1] if index + 1 < len(found) else None
        joined = _range(draft, first, second) if second else None
        if joined is not None:
            draft.add(joined, selecting=True)
            index += 2
            continue
        constraint = _single(draft, first)
        if constraint is not None:
            draft.add(constraint, selecting=True)
        index += 1
    _contradictions(draft)


def points(shadow: str, context: Context) -> Iterator[Point]:
    """Every time named in lower-cased text, left to right."""
    position = 0
    while match := _POINT.search(shadow, position):
        point = _point(match, context)
        if point is not None:
            yield point
        position = match.end()


def _two_digit(text: str | None, relative: str | None, today: date) -> int | None:
    if relative:
        return today.year - (relative == "last")
    if not text:
        return None
    return 2000 + int(text[1:]) if text.startswith("'") else int(text)


def _safe_days(year: int, month: int, day: int, context: Context) -> Interval | None:
    try:
        first = date(year, month, day)
    except ValueError:
        return None
    return calendar.days(first, first + timedelta(days=1), context.zone)


def _point(match: re.Match[str], context: Context) -> Point | None:
    """The point of one match of the grammar."""
    groups = {name: value for name, value in match.groupdict().items() if value is not None}
    today, zone = context.local.date(), context.zone
    start, end = match.start(), match.end()

    def at(interval: Interval | None, kind: str, **more: object) -> Point | None:
        if interval is None:
            return None
        return replace(Point(start=start, end=end, interval=interval, kind=kind), **more)  # type: ignore[arg-type]

    if "iso" in groups:
        year, month = int(groups["iy"]), int(groups["im"])
        if "id" in groups:
            return at(_safe_days(year, month, int(groups["id"]), context), "day")
        return at(calendar.month(year, month, zone), "month")
    if "ydm" in groups:
        year, month = int(groups["ya"]), int(groups["yb"])
        if not 1 <= month <= 12:
            return None
        if "yc" in groups:
            return at(_safe_days(year, month, int(groups["yc"]), context), "day")
        return at(calendar.month(year, month, zone), "month")
    if "slash" in groups:
        first, year = int(groups["sa"]), int(groups["sy"])
        if "sb" not in groups:
            return at(calendar.month(year, first, zone), "month") if 1 <= first <= 12 else None
        second = int(groups["sb"])
        dotted = "." in match[0]
        day, month = (first, second) if dotted or first > 12 else (second, first)
        return at(_safe_days(year, month, day, context), "day") if month <= 12 else None
    if "dm" in groups:
        month = lexicon.calendar("months")[groups["dmon"]]
        year_ = _two_digit(groups.get("dyear"), groups.get("dyearr"), today)
        return at(_day_of(int(re.sub(r"\D", "", groups["dday"])), month, year_, context), "day")
    if "week" in groups:
        return at(_week_of_month(groups, context), "week")
    if "mon" in groups:
        return _month_point(groups, context, start, end)
    if "qrt" in groups:
        words = {"first": 1, "second": 2, "third": 3, "fourth": 4}
        ordinal = groups.get("qo", "")
        quarter = int(groups.get("qn") or words.get(ordinal) or ordinal[0])
        year_ = _two_digit(
            groups.get("qyear") or groups.get("qoyear"),
            groups.get("qyearr") or groups.get("qoyearr"),
            today,
        )
        first_month = 3 * quarter - 2
        year = year_ or calendar.latest_month(today, first_month)
        return at(calendar.month(year, first_month, zone, 3), "quarter")
    if "half" in groups:
        second_half = groups.get("hn") == "2" or groups.get("ho") == "second"
        year_ = _two_digit(groups.get("hyear"), groups.get("hyearr"), today)
        if year_ is None and "hn" not in groups and "year" not in match[0]:
            return None
        first_month = 7 if second_half else 1
        year = year_ or calendar.latest_month(today, first_month)
        return at(calendar.month(year, first_month, zone, 6), "half")
    if "dby" in groups:
        return at(calendar.days(today - timedelta(2), today - timedelta(1), zone), "day")
    if "wbl" in groups:
        return at(_unit_ago(groups.get("wblu") or groups["wblb"], 2, context), "relative")
    if "tod" in groups:
        day_ = today - timedelta(1) if groups["tod"][0] in "yl" else today
        return at(calendar.days(day_, day_ + timedelta(1), zone), "today")
    if "ago" in groups:
        return at(
            _unit_ago(groups["au"], _count(groups["an"]), context, vague=_vague(groups["an"])),
            "ago",
        )
    if "roll" in groups:
        return at(_rolling(groups["ru"], _count(groups["rn"]), context), "relative")
    if "relu" in groups:
        if groups["rlw"] == "past" or ("rlthe" in groups and groups["rlw"] == "last"):
            return at(_rolling(groups["rlu"], 1, context), "relative")
        offset = 0 if groups["rlw"] == "this" else 1
        return at(_unit_ago(groups["rlu"], offset, context), "relative")
    if "sea" in groups:
        return _season_point(groups, context, start, end)
    if "hol" in groups:
        entry = lexicon.calendar("holidays")[groups["hname"]]
        year = int(groups.get("hyr", 0)) or today.year
        day_ = calendar.holiday(year, (entry[0], entry[1]))
        if "hyr" not in groups and day_ > today:
            day_ = calendar.holiday(year - 1, (entry[0], entry[1]))
        interval = calendar.days(day_, day_ + timedelta(1), zone)
        return at(interval, "holiday", sure=False, everyday=True)
    if "wd" in groups:
        back = (today.weekday() - lexicon.weekdays().index(groups["wname"])) % 7 or 7
        day_ = today - timedelta(back)
        sure = "wrel" in groups
        return at(
            calendar.days(day_, day_ + timedelta(1), zone), "weekday", sure=sure, everyday=not sure
        )
    year = int(groups["yname"])
    interval = calendar.month(year, 1, zone, 12)
    if part := groups.get("ypart"):
        interval = _part_of_year(part, year, context)
    return at(interval, "year", sure=False)


def _vague(text: str) -> bool:
    return text.endswith("few") or text == "several" or "couple" in text


def _count(text: str) -> int:
    if text in ("a", "an"):
        return 1
    if "couple" in text:
        return 2
    if "few" in text:
        return 3
    if text == "several":
        return 5
    return number(text) or 1


def _rolling(unit: str, count: int, context: Context) -> Interval:
    """The last `count` units up to the end of today."""
    today, zone = context.local.date(), context.zone
    if unit in ("month", "quarter", "year"):
        months = {"month": 1, "quarter": 3, "year": 12}[unit] * count
        first = calendar.add_months(today, -months)
        last_day = (calendar.add_months(first, 1) - timedelta(1)).day
        first = first.replace(day=min(today.day, last_day))
    else:
        length = {"day": 1, "week": 7, "fortnight": 14, "weekend": 7}[unit] * count
        first = today - timedelta(length)
    return calendar.days(first, today + timedelta(1), zone)


def _unit_ago(unit: str, count: int, context: Context, *, vague: bool = False) -> Interval:
    """The calendar unit `count` units before today's; wider when the count is vague."""
    today, zone = context.local.date(), context.zone
    slack = 1 if vague else 0
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
        year = max(today.year - count, 1)
        return calendar.month(year, 1, zone, 12)
    first = calendar.add_months(today, -count)
    return calendar.days(
        calendar.add_months(first, -slack), calendar.add_months(first, 1 + slack), zone
    )


def _day_of(day: int, month: int, year: int | None, context: Context) -> Interval | None:
    today = context.local.date()
    if year is None:
        later = month > today.month or (month == today.month and day > today.day)
        year = today.year - later
    return _safe_days(year, month, day, context)


def _week_of_month(groups: dict[str, str], context: Context) -> Interval:
    today = context.local.date()
    month = lexicon.calendar("months")[groups["wmon"]]
    year = _two_digit(groups.get("wyear"), groups.get("wyearr"), today)
    first = date(year or calendar.latest_month(today, month), month, 1)
    index = {"first": 0, "second": 1, "third": 2, "fourth": 3}.get(groups["wn"])
    if index is None:
        last = calendar.add_months(first, 1)
        return calendar.days(last - timedelta(7), last, context.zone)
    begin = first + timedelta(7 * index)
    return calendar.days(begin, begin + timedelta(7), context.zone)


def _part_of(part: str, first: date, last: date, context: Context) -> Interval:
    """The early, middle or late part of [first, last)."""
    length = (last - first).days
    third, half = length // 3, length // 2
    if part.startswith("early") or "beginning" in part or "start" in part:
        return calendar.days(first, first + timedelta(third), context.zone)
    if part.startswith("mid"):
        return calendar.days(first + timedelta(third), last - timedelta(third), context.zone)
    if "first half" in part:
        return calendar.days(first, first + timedelta(half), context.zone)
    if "second half" in part:
        return calendar.days(first + timedelta(half), last, context.zone)
    return calendar.days(last - timedelta(third), last, context.zone)


def _part_of_year(part: str, year: int, context: Context) -> Interval:
    first = date(year, 1, 1)
    if "half" in part:
        return calendar.month(year, 1 if "first" in part else 7, context.zone, 6)
    start = 1 if part.startswith("early") or "beginning" in part or "start" in part else 9
    if part.startswith("mid"):
        start = 5
    return calendar.month(first.year, start, context.zone, 4)


def _month_point(groups: dict[str, str], context: Context, start: int, end: int) -> Point | None:
    today, zone = context.local.date(), context.zone
    name = groups["mname"]
    month = lexicon.calendar("months")[name]
    year = _two_digit(groups.get("myear"), groups.get("myearr"), today)
    relative = groups.get("rel")
    everyday = name in ("may", "march")
    dated = year is not None or relative is not None
    if "mday" in groups:
        day = int(re.sub(r"\D", "", groups["mday"]))
        interval = _day_of(day, month, year, context)
        if interval is not None:
            return Point(start=start, end=end, interval=interval, kind="day")
        return None
    if year is None:
        if relative == "this":
            year = today.year
        elif relative:
            year = calendar.latest_month(today, month, current=False)
        else:
            year = calendar.latest_month(today, month)
    interval = calendar.month(year, month, zone)
    if part := groups.get("part"):
        first = date(year, month, 1)
        interval = _part_of(part, first, calendar.add_months(first, 1), context)
    return Point(
        start=start,
        end=end,
        interval=interval,
        kind="month",
        month=0 if dated or part else month,
        sure=dated or bool(part) or not everyday,
        everyday=everyday and not dated and not part,
    )


def _season_point(groups: dict[str, str], context: Context, start: int, end: int) -> Point:
    today, zone = context.local.date(), context.zone
    first_month = lexicon.calendar("seasons")[groups["sname"]]
    if context.southern:
        first_month = (first_month + 5) % 12 + 1
    year = _two_digit(groups.get("syear"), groups.get("syearr"), today)
    relative = groups.get("srel")
    dated = year is not None or relative is not None
    if year is None:
        year = calendar.latest_month(today, first_month)
        inside = calendar.month(year, first_month, zone, 3).holds(context.local)
        if relative == "this":
            year = today.year if not inside else year
        elif relative and inside:
            year -= 1
    elif first_month == 12 and "syearr" not in groups:
        year -= 1  # "winter 2026" is the one that ended in 2026
    interval = calendar.month(year, first_month, zone, 3)
    if part := groups.get("spart"):
        first = date(year, first_month, 1)
        interval = _part_of(part, first, calendar.add_months(first, 3), context)
    return Point(
        start=start, end=end, interval=interval, kind="season", sure=dated, everyday=not dated
    )


@dataclass(frozen=True, kw_only=True)
class _Setting:
    """The words around a point: which field it is about, what they do with it, where they end."""

    start: int
    end: int
    used: bool | None
    """True for use, False for training, None when nothing says."""
    operator: str
    negated: bool
    cued: bool


def _setting(draft: Draft, start: int, end: int) -> _Setting:
    """Read cue words to the left and right of [start, end)."""
    shadow = draft.page.shadow
    used: bool | None = None
    operator = ""
    negated = cued = False
    if match := ends_before(_BEFORE, shadow, start):
        operator = re.sub(r"\s+", " ", match["op"])
        operator = {"no later than": "until", "no earlier than": "since"}.get(operator, operator)
        start, cued = match.start(), True
    if match := ends_before(_VERB_BEFORE, shadow, start):
        used = re.fullmatch(_USED, match["verb"]) is not None
        negated = bool(match["neg"])
        start, cued = match.start(), True
    if match := ends_before(_NEGATION, shadow, start):
        negated, start, cued = True, match.start(), True
    tail = shadow[end:]
    if tail.startswith("'s"):
        end, tail = end + 2, tail[2:]
    if match := _ONWARD.match(tail):
        operator, end = "since", end + match.end()
    elif match := _OLDER.match(tail):
        operator, end = "until", end + match.end()
    elif match := _VERB_AFTER.match(tail):
        cued = True
        used = match["trained"] is None
        end += match.end()
    return _Setting(start=start, end=end, used=used, operator=operator, negated=negated, cued=cued)


def _accepts(draft: Draft, point: Point, setting: _Setting) -> bool:
    """Whether a point constrains, by its place in the sentence."""
    if draft.answering:
        return True
    if setting.used is not None or setting.operator in _COMPARING:
        return not (point.kind == "holiday" and _is_eve(draft, point))
    following = draft.page.word_at(point.end)
    after = following if following is not None and following.joined else None
    if after is not None and _is_scene(draft, after) and not draft.leads_to_selector(after.index):
        return False
    if _SELECTOR_AFTER.match(draft.page.shadow, setting.end) or (
        after is not None and draft.leads_to_selector(after.index)
    ):
        return True
    if point.kind == "year":
        recent = 2000 <= _year_of(point) <= draft.context.local.year + 1
        return recent and (setting.operator in _DATING | {"in", "of"} or _heads(draft, point))
    if setting.operator in ("in", "during", "on") and _in_a_scene(draft, setting.start):
        return False
    if not point.everyday and point.kind != "weekday":
        return _heads(draft, point) or not _has_article(draft, point)
    return _accepts_everyday(draft, point, setting, after)


def _accepts_everyday(draft: Draft, point: Point, setting: _Setting, after: Word | None) -> bool:
    """The same for "may", "spring", "sunday": they need a cue or the place of a modifier."""
    if setting.operator in _DATING:
        return True
    if point.month and setting.operator in ("in", "of", "around"):
        # "in may" names the month; "in march of the penguins" does not
        return after is None or after.norm in lexicon.words("prepositions")
    capital = bool(point.month) and draft.page.text[point.start].isupper()
    if _heads(draft, point):
        natural = after is not None and after.norm in _NATURE
        return capital and not natural if _has_article(draft, point) else capital or not natural
    return capital and after is None and not _is_joined(draft, point)


def _is_eve(draft: Draft, point: Point) -> bool:
    """Whether the holiday is part of the scene: "the night before Christmas"."""
    return ends_before(_EVE, draft.page.shadow, point.start) is not None


def _has_article(draft: Draft, point: Point) -> bool:
    """Whether "a" or "an" stands before a point."""
    before = draft.page.word_before(point.start)
    return before is not None and _is_joined(draft, point) and before.norm in ("a", "an")


def _is_joined(draft: Draft, point: Point) -> bool:
    """Whether only a space stands between a point and the word before it."""
    word = draft.page.word_at(point.start)
    return word is not None and word.joined


def _is_scene(draft: Draft, after: Word) -> bool:
    """Whether the word after a time makes it part of the picture ("April rain")."""
    if draft.noun_at(after.index):
        return False
    return after.norm in _SCENE_AFTER or after.norm in lexicon.words("scenes")


def _in_a_scene(draft: Draft, position: int) -> bool:
    """Whether a time belongs to the place before it: "at a spring market [in May]"."""
    words = [word for word in draft.page.words if word.full_end <= position][-5:]
    for word in reversed(words):
        if word.norm in lexicon.words("selectors") or draft.nouns_cover(word.index):
            return False
        if word.norm in ("at", "on", "in", "under", "through", "near", "by", "along", "across"):
            before = draft.page.words[word.index - 1] if word.index else None
            return before is None or re.fullmatch(_TRAINED, before.norm) is None
        if not word.joined:
            return False
    return False


def _heads(draft: Draft, point: Point) -> bool:
    """Whether the point modifies the subject, a style or "model"."""
    following = draft.page.word_at(point.end)
    return following is not None and following.joined and draft.leads_to_head(following.index)


def _year_of(point: Point) -> int:
    return point.interval.start.year if point.interval.start is not None else 0


def _apply(operator: str, interval: Interval) -> Interval:
    """The interval that "before April", "since April" … mean."""
    if operator in ("before", "prior to", "earlier than", "older than", "pre"):
        return Interval(end=interval.start)
    if operator in ("until", "till", "up to", "by", "by the end of", "through"):
        return Interval(end=interval.end)
    if operator in ("after", "later than", "newer than", "more recent than", "post"):
        return Interval(start=interval.end)
    if operator in ("since", "starting", "starting in", "starting from"):
        return Interval(start=interval.start)
    if operator in ("around", "about", "circa", "roughly") and interval.start and interval.end:
        length = interval.end - interval.start
        slack = timedelta(days=7) if length <= timedelta(days=2) else length / 2
        return Interval(start=interval.start - slack, end=interval.end + slack)
    return interval


def _single(draft: Draft, point: Point) -> Constraint | None:
    setting = _setting(draft, point.start, point.end)
    if not draft.free(setting.start, setting.end) or not _accepts(draft, point, setting):
        return None
    interval = _apply(setting.operator, point.interval)
    negated = setting.negated
    if negated and setting.used and setting.operator in ("since", "after"):
        interval, negated = Interval(end=interval.start), False  # "haven't used since April"
    bounded = interval == point.interval
    used = setting.used
    if used is None and point.kind == "today":
        # Table 7: "Yesterday's model" selects by usage; "yesterday's build" was built then
        tail = draft.page.shadow[setting.end :]
        built = re.match(
            r"\s+(?:\w+\s+)?(?:build|version|training|run|release|edition|iteration|batch|export)",
            tail,
        )
        used = draft.page.shadow[point.end : point.end + 2] == "'s" and not built
        either = True
    else:
        either = False
    return _constraint(
        draft,
        Span(setting.start, setting.end),
        (interval,),
        used=bool(used),
        either=either,
        excluded=negated,
        month=point.month if bounded else 0,
        coarse=point.kind not in ("month", "day", "today", "weekday", "holiday"),
    )


def _range(draft: Draft, first: Point, second: Point) -> Constraint | None:
    """Read two points as one constraint: "between March and May", "April or May"."""
    shadow = draft.page.shadow
    joint = _JOINT.fullmatch(shadow[first.end : second.start])
    if joint is None:
        return None
    lead = re.search(r"(?<!\w)(?:between|from)\s+(?:the\s+)?$", shadow[: first.start])
    start = lead.start() if lead else first.start
    setting = _setting(draft, start, second.end)
    if not lead and joint["j"] == "and" and not setting.cued:
        return None
    accepted = lead or draft.answering or first.sure or second.sure or setting.cued
    if not accepted and not _accepts(draft, second, setting):
        return None
    if not draft.free(setting.start, setting.end):
        return None
    a, b = _aligned(first, second, draft.context)
    if joint["j"] == "or" or (joint["j"] == "/"):
        intervals: tuple[Interval, ...] = (a, b)
    elif a.start is not None and b.end is not None and a.start > b.start:  # type: ignore[operator]
        intervals = (Interval(start=b.start, end=a.end),)
    else:
        intervals = (Interval(start=a.start, end=b.end),)
    return _constraint(
        draft,
        Span(setting.start, setting.end),
        intervals,
        used=bool(setting.used),
        either=False,
        excluded=setting.negated,
        month=0,
        coarse=True,
    )


def _aligned(first: Point, second: Point, context: Context) -> tuple[Interval, Interval]:
    """Both ends in matching years: "March and May 2025", "December to February"."""
    a, b = first.interval, second.interval
    if not first.month or a.start is None or b.start is None:
        return a, b
    year = b.start.astimezone(context.zone).year
    if not second.month:
        a = calendar.month(year, first.month, context.zone)
    if a.start is not None and a.start > b.start:
        a = calendar.month(a.start.astimezone(context.zone).year - 1, first.month, context.zone)
    return a, b


def _constraint(
    draft: Draft,
    span: Span,
    intervals: tuple[Interval, ...],
    *,
    used: bool,
    either: bool,
    excluded: bool,
    month: int,
    coarse: bool,
) -> Constraint:
    zone = draft.context.zone
    said = " or ".join(calendar.describe(interval, zone) for interval in intervals)
    verb = "used" if used else "trained"
    built = Constraint(
        attribute=Attribute.LAST_USED_AT if used else Attribute.CREATED_AT,
        intervals=intervals,
        excluded=excluded,
        span=span,
        text=span.of(draft.page.text),
        coarse=coarse,
        label=f"{'not ' if excluded else ''}{verb} {said}",
    )
    if excluded:
        return built
    if either:
        other = Attribute.CREATED_AT if used else Attribute.LAST_USED_AT
        label = f"{'trained' if used else 'used'} {said}"
        return replace(built, fallback=replace(built, attribute=other, label=label))
    if month:
        name = calendar.MONTH_NAMES[month - 1]
        earlier = replace(
            built,
            intervals=(Interval(end=intervals[0].start),),
            months=frozenset({month}),
            label=f"{verb} in {name} of an earlier year",
        )
        return replace(built, fallback=earlier)
    return built


def _contradictions(draft: Draft) -> None:
    """Two disjoint training times cannot both hold: report them and let the person choose."""
    wanted = [
        c for c in draft.constraints if c.attribute is Attribute.CREATED_AT and not c.excluded
    ]
    if len(wanted) < 2:
        return
    hulls = [c.interval for c in wanted]
    starts = [h.start for h in hulls if h is not None and h.start is not None]
    ends = [h.end for h in hulls if h is not None and h.end is not None]
    if not starts or not ends or max(starts) < min(ends):
        return
    draft.problems.append(" and ".join(f"“{c.text}”" for c in wanted) + " contradict each other")
    draft.contradiction = Attribute.CREATED_AT
    merged = replace(
        wanted[0],
        intervals=tuple(interval for c in wanted for interval in c.intervals),
        fallback=None,
        label=" or ".join(c.label for c in wanted),
    )
    kept = [c for c in draft.constraints if all(c is not w for w in wanted)]
    draft.constraints[:] = [*kept, merged]
