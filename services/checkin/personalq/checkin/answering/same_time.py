"""Dates of an answer read by the dates said before it."""

from __future__ import annotations

from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import calendar
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.times.point import day_interval

_DAY_ALONE = compile_form(r"(^|\s)the (\d{1,2}(st|nd|rd|th)|[a-z-]+(st|nd|rd|th))$")


def read_by(earlier: Intent, constraint: Constraint, context: Context) -> Constraint:
    """The date of an answer, read by what the prompt and the answers before it said."""
    return _same_month(_same_year(constraint, earlier, context), earlier, context)


def _same_year(constraint: Constraint, intent: Intent, context: Context) -> Constraint:
    """Read "the May one" after "from 2025" as May 2025."""
    if (
        constraint.attribute is not Attribute.CREATED_AT
        or constraint.fallback is None
        or not constraint.fallback.months
    ):
        return constraint
    earlier = intent.first(Attribute.CREATED_AT)
    if earlier is None or earlier.interval is None or earlier.excluded:
        return constraint
    hull = earlier.interval
    begin = constraint.intervals[0].start
    if begin is None:
        return constraint
    local = begin.astimezone(context.zone)
    for year in range(local.year, local.year - 10, -1):
        interval = calendar.month(year, local.month, context.zone)
        starts_inside = hull.start is None or interval.end is None or interval.end > hull.start
        ends_inside = hull.end is None or interval.start is None or interval.start < hull.end
        if starts_inside and ends_inside:
            label = f"trained {calendar.describe(interval, context.zone)}"
            return replace(constraint, intervals=(interval,), label=label)
    return constraint


def _same_month(constraint: Constraint, intent: Intent, context: Context) -> Constraint:
    """Read "the one from the 24th" after "the May dragon" as 24 May."""
    earlier = intent.first(Attribute.CREATED_AT)
    day = constraint.interval
    if constraint.attribute is not Attribute.CREATED_AT or constraint.fallback or not day:
        return constraint
    if earlier is None or earlier.excluded or earlier.interval is None:
        return constraint
    hull = earlier.interval
    if not (day.start and day.end and hull.start and hull.end) or hull.holds(day.start):
        return constraint
    if _DAY_ALONE.search(constraint.text.casefold()) is None:
        return constraint
    said, first = day.start.astimezone(context.zone).day, hull.start.astimezone(context.zone)
    found = []
    for later in range(12):
        month = calendar.add_months(first.date().replace(day=1), later)
        interval = day_interval(month.year, month.month, said, context.zone)
        if interval is not None and hull.holds(interval.start):
            found.append(interval)
    if not found:
        return constraint
    label = "trained " + " or ".join(calendar.describe(i, context.zone) for i in found)
    return replace(constraint, intervals=tuple(found), label=label)
