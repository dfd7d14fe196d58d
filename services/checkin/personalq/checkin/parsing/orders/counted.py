"""Places counted from an end: "third newest", "latest but one", "the one before the last"."""

from __future__ import annotations

from personalq.checkin.intent import OrderKey
from personalq.checkin.parsing.numbers import CARDINAL, ORDINAL
from personalq.checkin.parsing.orders.rule import rule
from personalq.checkin.parsing.orders.words import ENDS, MADE, NEWEST, OLDEST, SELECTOR, WHO

_MY = "(the |my |our )?"
_LAST = f"({NEWEST}|last)"
_FIRST = f"({OLDEST}|first)"
_NEXT_TO_IT = (
    "([,;-] ?)?(no,? )?(but )?(rather )?the (one|version|model|build) "
    "((that (came|was made)|made|trained|built) )?"
    "(just |right |straight |immediately |directly )?"
)
_IT = f"( (it|that|this|that one))?{ENDS}"

RULES = (
    rule(
        OrderKey.NEWEST,
        rf"(?P<not>(?P<n>{ORDINAL}))( (?!{SELECTOR})[\w-]+){{1,3}}? "
        r"(?P<tail>from the (end|last)(?! of\b))",
    ),
    rule(OrderKey.NEWEST, f"(?P<n>{ORDINAL})~{NEWEST}"),
    rule(OrderKey.OLDEST, rf"(?P<n>{ORDINAL})~({OLDEST}|ever(?= \w))"),
    rule(
        OrderKey.NEWEST,
        f"(?P<n>{ORDINAL})(~| {SELECTOR} )(to|from|before)~(the )?(last|latest|newest|end)",
    ),
    rule(OrderKey.OLDEST, f"(?P<n>{ORDINAL})(~| {SELECTOR} )from~(the )?{OLDEST}"),
    # "Two before the latest", "the one before the one before the last"
    rule(OrderKey.NEWEST, f"(?P<but>{CARDINAL})(~{SELECTOR})?~before~(the )?{_LAST}( {SELECTOR})?"),
    rule(
        OrderKey.NEWEST,
        rf"before the \w+ before {_MY}{_LAST}( {SELECTOR})?",
        rank=3,
    ),
    rule(OrderKey.NEWEST, f"{_LAST}( {SELECTOR})?~but~(?P<but>{CARDINAL})"),
    rule(OrderKey.OLDEST, f"{_FIRST}( {SELECTOR})?~but~(?P<but>{CARDINAL})"),
    rule(
        OrderKey.NEWEST,
        rf"(?P<not>{NEWEST}|last)( [\w-]+){{1,3}}?(?P<tail> but (?P<but>{CARDINAL}))",
    ),
    # "Not the latest robot | but the one before it"
    rule(
        OrderKey.NEWEST,
        rf"(?P<not>(not )?{_MY}(very )?{_LAST})( [\w-]+){{0,5}}? ?"
        f"(?P<tail>{_NEXT_TO_IT}before{_IT})",
        rank=2,
    ),
    rule(
        OrderKey.OLDEST,
        rf"(?P<not>(not )?{_MY}(very )?{_FIRST})( [\w-]+){{0,5}}? ?"
        f"(?P<tail>{_NEXT_TO_IT}after{_IT})",
        rank=2,
    ),
    rule(
        OrderKey.OLDEST,
        rf"(?P<not>{_MY}(very )?{_FIRST})((?!\b(while|when|as|is|are)\b)[^.;]){{0,40}}?"
        "(?P<tail>(the )?next (one )?after (it|that))",
        rank=2,
    ),
    rule(
        OrderKey.NEWEST,
        "penultimate",
        "next~to~(the )?(last|newest|latest)",
        f"({SELECTOR} )?((that )?came |that )?"
        "(right |just |straight |immediately |directly )?(before|preced(ing|es|ed)|prior to) "
        f"{_MY}(very )?({_LAST}( {SELECTOR})?|(current|present) {SELECTOR})",
        rf"previous(?= (\w+ ){{0,2}}{SELECTOR})",
        r"runner[\s-]up",
        rank=2,
    ),
    rule(
        OrderKey.OLDEST,
        "next~to~(the )?(oldest|first|earliest)",
        f"({SELECTOR} )?(right |just )?(after|following) the (very )?{_FIRST}"
        rf"( {SELECTOR})?(?= ?($|[^\w\s]))",
        rank=2,
    ),
    # "The third robot | we ever made", but not "with the first cup I ever made"
    rule(
        OrderKey.OLDEST,
        "(?<!with )(?<!with the )(?<!with a )(?<!wearing the )(?<!holding the )"
        rf"(?P<not>(?P<n>{ORDINAL}))( (?!{SELECTOR})[\w-]+){{1,3}}? "
        f"(?P<tail>(that |which )?{WHO} (have )?ever {MADE})",
    ),
    rule(
        OrderKey.NEWEST,
        rf"((order|sort)(ed)? by (date|age|time)[\s,;:]+)?(?P<n>{ORDINAL}) from the top"
        r"[\s,;(]+(newest|latest) first",
    ),
)
