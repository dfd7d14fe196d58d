"""One of several at an end: "one of my two newest", "something from the first five"."""

from __future__ import annotations

from personalq.checkin.intent import OrderKey
from personalq.checkin.parsing.numbers import CARDINAL
from personalq.checkin.parsing.orders.rule import rule
from personalq.checkin.parsing.orders.words import NEWEST, OLDEST

_OF = (
    "((it's )?(one|any|some|something|anything|either|whichever) )?(out )?(of|from|among|amongst) "
    "(the|my|our|these|those) (very )?"
)
_HOW_MANY = rf"(?P<among>(?!(zero|one|0|1)\b){CARDINAL})"
_NO_TIME = r"(?! (hours?|days?|weeks?|months?|years?|quarters?|seasons?|sessions?)\b)"
_USED = "(~used|~in~use)"

RULES = tuple(
    rule(key, several)
    for key, end in (
        (OrderKey.LAST_USED, f"(most recently|last){_USED}"),
        (OrderKey.LEAST_USED, f"least(~(often|frequently))?{_USED}"),
        (OrderKey.MOST_USED, f"most(~(often|frequently))?{_USED}"),
        (OrderKey.NEWEST, f"({NEWEST}|last)"),
        (OrderKey.OLDEST, f"({OLDEST}|first)"),
    )
    for several in (
        f"{_OF}{_HOW_MANY} {end}{_NO_TIME}",
        f"{_OF}{end} {_HOW_MANY}{_NO_TIME}",
    )
)
