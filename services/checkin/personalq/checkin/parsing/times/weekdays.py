"""Days of the week within a longer time: "made on a Sunday in October"."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from personalq.chassis.forms import compile_form
from personalq.checkin import calendar, lexicon
from personalq.checkin.intent import Attribute, Constraint, Interval, Span
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import ends_before
from personalq.checkin.parsing.times.point import Point, occurrence
from personalq.checkin.parsing.times.setting import read_setting
from personalq.checkin.parsing.times.words import WEEKDAYS

_IN = compile_form(
    r"(?<!\w)((?P<came>(that|which) (came|comes|is|was|dates)( (from|to life))?) )?"
    rf"((on|from) )?(?P<a>(an?|some|one) (?P<day>{WEEKDAYS}|weekend)"
    rf"( or (an? )?(?P<other>{WEEKDAYS}))?|(?P<days>{WEEKDAYS})s) "
    r"((in|of|during) )?(the( (month|year) of)? )?$"
)
_LONGEST = timedelta(days=370)
_WEEKEND = frozenset([5, 6])
_YEARS = 5
"""Years in which the same time is looked for, where the latest has nothing."""


def on_a_weekday(draft: Draft, point: Point) -> Constraint | None:
    """The days of a longer time that are such days of the week; None where none is named.

    Without a word that says what was done then it is the picture's: "on a Sunday in March".
    """
    said = ends_before(_IN, draft.page.shadow, point.start)
    if said is None or not draft.free(said.start(), point.end):
        return None
    setting = read_setting(draft, said.start("a"), point.end)
    came = said["came"] is not None
    if setting.operator not in ("", "on", "from", "in"):
        return None  # "before a Sunday in October"
    if not came and setting.used is None and setting.operator != "from":
        return None
    wanted = _numbers(said["day"] or said["days"], said["other"])
    latest = _among(point.interval, wanted, draft)
    if not latest:
        return None
    start = min(setting.start, said.start()) if came else setting.start
    span = Span(start, setting.end)
    zone = draft.context.zone
    when = " or ".join(filter(None, (f"on a {said['day'] or said['days']}", said["other"]))) + " in"
    built = Constraint(
        attribute=Attribute.LAST_USED_AT if setting.used else Attribute.CREATED_AT,
        intervals=latest,
        excluded=setting.negated,
        span=span,
        text=span.of(draft.page.text),
        label=f"{'not ' if setting.negated else ''}{'used' if setting.used else 'trained'} {when} "
        + calendar.describe(point.interval, zone),
    )
    earlier = _earlier(point, wanted, draft)
    if setting.negated or not earlier:
        return built
    label = f"{'used' if setting.used else 'trained'} {when} that time of an earlier year"
    return replace(built, fallback=replace(built, intervals=earlier, label=label))


def _numbers(day: str, other: str | None) -> frozenset[int]:
    """Days of the week as `date.weekday` counts them."""
    named = [each for each in (day, other) if each and each != "weekend"]
    found = frozenset(map(lexicon.weekdays().index, named))
    return found | _WEEKEND if day == "weekend" else found


def _earlier(point: Point, wanted: frozenset[int], draft: Draft) -> tuple[Interval, ...]:
    """Such days at the same time of earlier years."""
    begun = point.interval.start
    if point.occurs is None or begun is None:
        return ()
    year = begun.astimezone(draft.context.zone).year
    times = (occurrence(point.occurs, year - step) for step in range(1, _YEARS + 1))
    return tuple(day for time in times if time for day in _among(time, wanted, draft))


def _among(time: Interval, wanted: frozenset[int], draft: Draft) -> tuple[Interval, ...]:
    """The days of a time that are such days of the week."""
    if time.start is None or time.end is None or time.end - time.start > _LONGEST:
        return ()
    zone = draft.context.zone
    first, end = time.start.astimezone(zone).date(), time.end.astimezone(zone).date()
    dates = (first + timedelta(days=step) for step in range((end - first).days))
    return tuple(
        calendar.days(each, each + timedelta(days=1), zone)
        for each in dates
        if each.weekday() in wanted
    )
