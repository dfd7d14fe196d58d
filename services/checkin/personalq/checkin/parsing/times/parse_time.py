"""Time of training and of use: a closed grammar over calendar words.

`times.points` finds everything that names a time; `parse_time` keeps those that constrain. A month
or season that is also an everyday word ("may", "march", "spring") and any bare weekday constrain
only beside a cue ("trained in", "from", "last") or as the modifier of the subject or of "model".
"""

from __future__ import annotations

from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import calendar
from personalq.checkin.intent import Attribute, Constraint, Interval, OrderKey, Span
from personalq.checkin.parsing.draft import Context, Draft
from personalq.checkin.parsing.text import ends_before
from personalq.checkin.parsing.times.point import Point, occurrence
from personalq.checkin.parsing.times.points import points
from personalq.checkin.parsing.times.role import constrains
from personalq.checkin.parsing.times.scene import of_the_scene
from personalq.checkin.parsing.times.setting import USED, Setting, applied, read_setting
from personalq.checkin.parsing.times.weekdays import on_a_weekday

_JOINT = compile_form(
    " ?(?P<j>to|until|till|through|thru|-|and|, ?or|, ?and|or|nor|/|,) ?((in|from) )?(the )?"
)
_ALSO = compile_form(" ?,? ?(and|but) ")
_USED_THEN = compile_form(
    rf"(?<!\w)(i|we) ((last|just) )?({USED})( (it|last|most|recently|lately|"
    "the last time))*, ?((basically|namely|that's|meaning|so) )?(the one )?$"
)
"""Before a time that a comma adds: "the one I used last, | on Wednesday"."""
_LEAD = compile_form(r"(?<!\w)((any(where|time)|some(where|time)) )?(between|from) (the )?$")
_EITHER = compile_form(r"(?<!\w)(n?either) (in |from )?(the )?$")
_BUILT = compile_form(
    r" (\w+ )?(build|version|training|run|release|edition|iteration|batch|export)"
)


def parse_time(draft: Draft) -> None:
    """Claim the times that constrain when a checkpoint was trained or used."""
    read = points(draft.page.shadow, draft.context)
    free = (p if draft.free(p.start, p.end) else p.bare for p in read)
    found = [point for point in free if point and draft.free(point.start, point.end)]
    index = 0
    while index < len(found):
        listed = _list(draft, found, index)
        constraint = _one_of(draft, listed) if len(listed) > 1 else None
        if len(listed) == 1:
            constraint = on_a_weekday(draft, listed[0])
        if constraint is None and index + 1 < len(found):
            listed = found[index : index + 2]
            constraint = _range(draft, *listed)
        if constraint is None:
            listed = found[index : index + 1]
            constraint = _single(draft, listed[0])
        if constraint is not None:
            draft.add(constraint, selecting=True)
        index += len(listed)
    _contradictions(draft)


def _single(draft: Draft, point: Point) -> Constraint | None:
    setting = read_setting(draft, point.start, point.end)
    if setting.used is None and _goes_on_of_use(draft, setting):
        setting = replace(setting, used=True)
    if not draft.free(setting.start, setting.end) or not constrains(draft, point, setting):
        return None
    interval = applied(setting.operator, point.interval)
    negated, last_then = setting.negated, False
    if point.hours and (negated or interval != point.interval):
        interval = applied(setting.operator, point.hours[0])
    if (
        negated
        and setting.used
        and (setting.operator in ("since", "after") or point.kind == "while")
    ):
        when = point.hours[0] if point.hours else point.interval
        last = when.end or when.start if setting.operator == "since" else interval.start
        interval, negated = Interval(end=last or interval.start), False
        last_then = setting.operator == "since" and not point.hours and when.start is not None
    bounded = interval == point.interval
    used = setting.used
    either = used is None and point.kind == "today"
    if either:
        # Table 7: "Yesterday's model" selects by usage; "yesterday's build" was built then
        built = _BUILT.match(draft.page.shadow, setting.end)
        used = draft.page.shadow[point.end : point.end + 2] == "'s" and not built
    dated = setting.used is not None or draft.page.shadow.startswith("from", setting.start)
    if setting.near and dated and not negated:
        draft.nearest = _nearest(draft, setting)
    whole = _constraint(
        draft,
        Span(setting.start, setting.end),
        (interval,),
        used=bool(used),
        either=either,
        excluded=negated,
        recurring=point if bounded and point.occurs is not None else None,
        coarse=point.kind not in ("month", "day", "today", "weekday", "holiday", "monthday"),
    )
    if last_then:  # "not used since April": then for the last time, or before if nothing was
        said = calendar.describe(point.interval, draft.context.zone)
        label = f"used {said} for the last time"
        return replace(whole, intervals=(point.interval,), label=label, fallback=whole)
    return _at_hours(whole, point, draft.context) if bounded and not negated else whole


def _at_hours(day: Constraint, point: Point, context: Context) -> Constraint:
    """The hours that were said, the narrowest first; the whole day where nothing fits them."""
    readings = [day, day.fallback] if day.fallback and not point.occurs else [day]
    narrow = [
        replace(
            reading,
            intervals=(interval,),
            hour=True,
            label=f"{reading.label.split()[0]} {calendar.describe(interval, context.zone)}",
        )
        for interval in point.hours
        for reading in readings
        if reading is not None
    ]
    for each in reversed(narrow):
        day = replace(each, fallback=day)
    return day


def _goes_on_of_use(draft: Draft, setting: Setting) -> bool:
    """Whether it is told of a use before it: "used after October | and before Christmas"."""
    if ends_before(_USED_THEN, draft.page.shadow, setting.start):
        return True
    last = draft.constraints[-1] if draft.constraints else None
    if last is None or last.attribute is not Attribute.LAST_USED_AT or last.span is None:
        return False
    return _ALSO.fullmatch(draft.page.shadow, last.span.end, setting.start) is not None


def _nearest(draft: Draft, setting: Setting) -> Constraint:
    """The order of what came just before or after a time."""
    after = setting.operator == "after"
    orders = (OrderKey.OLDEST, OrderKey.NEWEST)
    if setting.used:
        orders = (OrderKey.LEAST_RECENTLY_USED, OrderKey.LAST_USED)
    span = Span(setting.start, setting.end)
    return Constraint(
        attribute=Attribute.ORDER,
        order=orders[0] if after else orders[1],
        rank=1,
        span=span,
        text=span.of(draft.page.text),
        label="the first after it" if after else "the last before it",
    )


def _list(draft: Draft, found: list[Point], index: int) -> list[Point]:
    """The times from `index` on that a list joins: "April, May or June"."""
    listed = found[index : index + 1]
    said = ""
    while index + 1 < len(found):
        joint = _JOINT.fullmatch(draft.page.shadow, found[index].end, found[index + 1].start)
        if joint is None or joint["j"] in ("to", "until", "till", "through", "thru", "-", "and"):
            break
        if joint["j"] == "," and "or" in said:
            break  # "neither May nor June, the July one"
        index += 1
        listed.append(found[index])
        said += joint["j"]
    return listed if "or" in said or "/" in said else listed[:1]


def _one_of(draft: Draft, listed: list[Point]) -> Constraint | None:
    """Any of several times; none of them after "neither"."""
    setting = read_setting(draft, listed[0].start, listed[-1].end)
    start, negated = setting.start, setting.negated
    if lead := _EITHER.search(draft.page.shadow, 0, start):
        start, negated = lead.start(), negated or lead[0].startswith("n")
    accepted = draft.answering or setting.cued or any(point.sure for point in listed)
    if not accepted and not constrains(draft, listed[-1], setting):
        return None
    if not draft.free(start, setting.end):
        return None
    intervals = [point.interval for point in listed]
    if len(listed) == 2:
        intervals = list(_aligned(listed[0], listed[1]))
    if negated:
        intervals = [
            point.hours[0] if point.hours else interval
            for point, interval in zip(listed, intervals, strict=True)
        ]
    return _constraint(
        draft,
        Span(start, setting.end),
        tuple(intervals),
        used=bool(setting.used),
        either=False,
        excluded=negated,
        recurring=None,
        coarse=True,
    )


def _range(draft: Draft, first: Point, second: Point) -> Constraint | None:
    """Read two points as one constraint: "between March and May", "April to June"."""
    shadow = draft.page.shadow
    joint = _JOINT.fullmatch(shadow, first.end, second.start)
    if joint is None or joint["j"] in (",", ", and"):
        return None
    lead = _LEAD.search(shadow, 0, first.start)
    start = lead.start() if lead else first.start
    setting = read_setting(draft, start, second.end)
    if not lead and joint["j"] == "and" and not setting.cued:
        return None
    accepted = lead or draft.answering or first.sure or second.sure or setting.cued
    if not accepted and not constrains(draft, second, setting):
        return None
    if not draft.free(setting.start, setting.end):
        return None
    a, b = _turn_of_year(first, second, draft) or _aligned(first, second)
    if a.start is not None and b.end is not None and b.start is not None and a.start > b.start:
        hull = Interval(start=b.start, end=a.end)
    else:
        hull = Interval(start=a.start, end=b.end)
    return _constraint(
        draft,
        Span(setting.start, setting.end),
        (hull,),
        used=bool(setting.used),
        either=False,
        excluded=setting.negated,
        recurring=None,
        coarse=True,
    )


def _turn_of_year(first: Point, second: Point, draft: Draft) -> tuple[Interval, Interval] | None:
    """Both ends of "between Christmas and New Year 2025": the days before the year was over."""
    to, said = second.interval, draft.page.shadow[second.start : second.end]
    if "day" in said or "eve" in said:
        return None  # that one day of that year
    if second.kind != "holiday" or first.kind != "holiday" or second.occurs is not None:
        return None
    if first.occurs is None or to.start is None or to.end is None or to.start.month != 1:
        return None
    since = occurrence(first.occurs, to.start.year)
    if since is None or since.start is None or (since.start.month, since.start.day) < (12, 18):
        return None
    start, end = (each.replace(year=each.year + 1) for each in (to.start, to.end))
    return (since, Interval(start=start, end=end)) if end <= draft.context.now else None


def _aligned(first: Point, second: Point) -> tuple[Interval, Interval]:
    """Both ends in matching years: "March and May 2025", "December to February"."""
    a, b = first.interval, second.interval
    if first.occurs is None or a.start is None or b.start is None:
        return a, b
    near = [occurrence(first.occurs, b.start.year + step) for step in (1, 0, -1)]
    before = [
        interval for interval in near if interval and interval.start and interval.start <= b.start
    ]
    return (before[0], b) if before else (a, b)


def _constraint(
    draft: Draft,
    span: Span,
    intervals: tuple[Interval, ...],
    *,
    used: bool,
    either: bool,
    excluded: bool,
    recurring: Point | None,
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
    if recurring is not None:
        return replace(built, fallback=_earlier(built, recurring, draft.context, verb))
    return built


def _earlier(built: Constraint, point: Point, context: Context, verb: str) -> Constraint | None:
    """The same time in an earlier year, for when the latest has nothing."""
    if point.month:
        return replace(
            built,
            intervals=(Interval(end=built.intervals[0].start),),
            months=frozenset({point.month}),
            label=f"{verb} in {calendar.MONTH_NAMES[point.month - 1]} of an earlier year",
        )
    start = built.intervals[0].start
    if point.occurs is None or start is None:
        return None
    year = start.astimezone(context.zone).year
    before = [occurrence(point.occurs, year - step) for step in range(10)]
    earlier = tuple(i for i in before if i and i.end and i.end <= start)
    label = f"{verb} at that time of an earlier year"
    return replace(built, intervals=earlier, label=label) if earlier else None


def _contradictions(draft: Draft) -> None:
    """Two disjoint training times cannot both hold: report them and let the person choose."""
    wanted = [
        c for c in draft.constraints if c.attribute is Attribute.CREATED_AT and not c.excluded
    ]
    if len(wanted) < 2:
        return
    hulls = [c.whole_day().interval for c in wanted]
    starts = [h.start for h in hulls if h is not None and h.start is not None]
    ends = [h.end for h in hulls if h is not None and h.end is not None]
    if not starts or not ends or max(starts) < min(ends):
        return
    shown = [c for c in wanted if c.span is not None and of_the_scene(draft, c.span)]
    if shown and len(shown) < len(wanted):
        for span in (c.span for c in shown if c.span is not None):
            draft.release(span)
        draft.constraints[:] = [c for c in draft.constraints if all(c is not s for s in shown)]
        _contradictions(draft)
        return
    draft.problems.append(" and ".join(f"“{c.text}”" for c in wanted) + " contradict each other")
    draft.contradiction = Attribute.CREATED_AT
    merged = replace(
        wanted[0],
        intervals=tuple(interval for c in wanted for interval in c.whole_day().intervals),
        hour=False,
        fallback=None,
        label=" or ".join(c.label for c in wanted),
    )
    kept = [c for c in draft.constraints if all(c is not w for w in wanted)]
    draft.constraints[:] = [*kept, merged]
