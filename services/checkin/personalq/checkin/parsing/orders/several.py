"""One of several at an end: "one of my two newest", "something from the first dozen"."""

from __future__ import annotations

from personalq.checkin.intent import OrderKey
from personalq.checkin.parsing.numbers import CARDINAL
from personalq.checkin.parsing.orders.rule import rule
from personalq.checkin.parsing.orders.words import NEWEST, OLDEST

_OF = (
    r"(?P<not>((it's |(?<!\w\s))(one|any|some|something|anything|either|whichever) )?"
    "(out )?(of|from|among|amongst|(?<=was )in|(?<=is )in)) (the|my|our|these|those) (very )?"
)
_HOW_MANY = (
    rf"(?P<among>(?!(zero|one|0|1)\b(?![\s-]+hundred)){CARDINAL}|half a dozen|half dozen|dozen|few)"
)
_USED = "(~used|~in~use)"

_THE_ONE_BEFORE = rule(
    OrderKey.NEWEST,
    rf"(either )?(the )?{NEWEST} or (?P<among>the one) (just |right )?before( (it|that))?",
)
"""One of two: "either the newest or the one just before"."""
RULES = (
    _THE_ONE_BEFORE,
    *(
        rule(key, several)
        for key, end in (
            (OrderKey.LAST_USED, f"(most recently|last){_USED}"),
            (OrderKey.LEAST_USED, f"least(~(often|frequently))?{_USED}"),
            (OrderKey.MOST_USED, f"most(~(often|frequently))?{_USED}"),
            (OrderKey.NEWEST, f"({NEWEST}|last)"),
            (OrderKey.OLDEST, f"({OLDEST}|first)"),
        )
        for several in (f"{_OF}(?P<tail>{_HOW_MANY} {end})", f"{_OF}(?P<tail>{end} {_HOW_MANY})")
    ),
)
