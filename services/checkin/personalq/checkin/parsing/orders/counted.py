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
_A_LIST = "(the |our |my )?(list|line|row|series)( by date)?"
_STEPS = f"(?P<but>an?|{CARDINAL}) (step|place|position|notch|spot)s? "
_DOWN = "(back|down|removed)( from)? "
_BUT = (
    f"((with|has|have|there are|there's) )?(only|just|exactly|precisely) (?P<but>{CARDINAL})"
    "( (of (them|these|those)|others?|ones?|more))?( (are|is|were|was|being))? "
)
_SOME = f"((with|has|have|there are) )?(?P<but>{CARDINAL}) "
_THAN_IT = f"( (ones?|{SELECTOR}))?( (than|after|before) (it|this|that))?"
_EXIST = (
    f" ((ones?|{SELECTOR}) )?(exist|are there)(( ?[,.;:-])? ?((it's|it is|i mean|i want) )?the one "
    "((right|just) )?(behind|after|before|below) (those|them|these))?"
)
_NEWER = "(newer|more recent|later)"
_OLDER = "(older|earlier)"


def _told_by_others(compared: str) -> str:
    """What is so on one side of it: "exactly two red builds | are newer than the one I mean"."""
    return (
        "(?P<not>((with|has|have|there are) )?((only|just|exactly|precisely) )?"
        rf"(?P<but>{CARDINAL}))"
        rf"( (?!(is|are|of)\b)[\w-]+){{0,4}}? (?P<tail>({SELECTOR} )?(is|are) {compared} "
        "than (it|mine|the one|that one)( (that )?(i|we)( am|'m)? "
        "(have in mind|want|mean|need|after|am after|think of))?(, no more and no fewer)?)"
    )


def _next_to(left_out: str) -> str:
    """The next behind what is left out: "skip the latest bear | and take the next one"."""
    return (
        "(?P<not>(skip|leave out|leaving out|ignore|ignoring|not counting) (the |my |our )?"
        rf"{left_out})( (?!(and|then)\b)[\w-]+){{0,3}}? ?(?P<tail>(,|and|, and|then) "
        "((take|give me|show me|use|pick) )?(the )?"
        "(next( (newest|latest|oldest|earliest|one|in line))( (one|down|up))?|"
        "one (made )?(next )?after (that|it))( by date)?)"
    )


RULES = (
    rule(
        OrderKey.NEWEST,
        rf"(?P<not>(?P<n>{ORDINAL}))( (?!{SELECTOR})[\w-]+){{1,3}}? "
        r"(?P<tail>from the (end|last)(?! of\b))",
    ),
    rule(OrderKey.NEWEST, f"(?P<n>{ORDINAL})~{NEWEST}"),
    rule(
        OrderKey.NEWEST,
        rf"(?P<n>{ORDINAL})~last(?!~(used|week|weekend|month|year|time|day|night|spring|summer|"
        r"autumn|fall|winter|season|quarter)\b)(?!\w)",
    ),
    rule(OrderKey.OLDEST, rf"(?P<n>{ORDINAL})~({OLDEST}|ever(?= \w))"),
    rule(OrderKey.OLDEST, f"(?P<n>{ORDINAL}) {SELECTOR} ((that )?was )?ever {MADE}"),
    # "The 36th of the sofas", "the sixth of my fifty lamps"
    rule(
        OrderKey.OLDEST,
        f"(?P<n>{ORDINAL}) of (the|my|our|all( (the|my|our))?)( {CARDINAL})?",
        needs_head=True,
    ),
    # "The third red house | in order of making"
    rule(
        OrderKey.OLDEST,
        rf"(?P<not>(?P<n>{ORDINAL}))( [\w-]+){{1,4}}? (?P<tail>(in|by) (the )?order "
        "(of|they were|it was) (making|creation|training|date|age|made|trained|built)"
        "(,? (counting )?from the (start|beginning|first|oldest))?)",
    ),
    rule(
        OrderKey.NEWEST,
        "((that|which) (sits|comes|stands|ranks) )?"
        f"(?P<n>{ORDINAL})(~| {SELECTOR} )(to|from|before)~(the )?(last|latest|newest|end)"
        f"( of {_A_LIST})?",
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
    rule(
        OrderKey.OLDEST,
        rf"(?P<not>{OLDEST}|first)( [\w-]+){{1,3}}?(?P<tail> but (?P<but>{CARDINAL}))",
    ),
    rule(OrderKey.NEWEST, f"{_STEPS}(before|behind) {_MY}{NEWEST}( {SELECTOR})?"),
    rule(OrderKey.NEWEST, f"{_STEPS}{_DOWN}{_MY}({_LAST}|current)( {SELECTOR})?"),
    rule(
        OrderKey.NEWEST,
        f"go (?P<but>{CARDINAL}|an?) (back|down)( from)? {_MY}({_LAST}|current)( {SELECTOR})?",
    ),
    rule(OrderKey.OLDEST, f"{_STEPS}(up|on) from {_MY}{_FIRST}( {SELECTOR})?"),
    # "Only two are older", "with exactly three newer ones after it"
    rule(OrderKey.NEWEST, f"{_BUT}{_NEWER}{_THAN_IT}"),
    rule(OrderKey.OLDEST, f"{_BUT}{_OLDER}{_THAN_IT}"),
    rule(OrderKey.NEWEST, _told_by_others(f"({_NEWER}|younger)")),
    rule(OrderKey.OLDEST, _told_by_others(_OLDER)),
    rule(OrderKey.NEWEST, f"{_SOME}{_NEWER}{_EXIST}"),
    rule(OrderKey.OLDEST, f"{_SOME}{_OLDER}{_EXIST}"),
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
    # "Skip the latest and take the next", "leave out the three latest and give me the next"
    rule(OrderKey.NEWEST, _next_to(f"(?P<but>{CARDINAL}) {NEWEST}")),
    rule(OrderKey.OLDEST, _next_to(f"(?P<but>{CARDINAL}) {OLDEST}")),
    rule(OrderKey.NEWEST, _next_to(_LAST), rank=2),
    rule(OrderKey.OLDEST, _next_to(_FIRST), rank=2),
    rule(
        OrderKey.OLDEST,
        f"(?P<n>{ORDINAL})( in line)? from the (start|"
        f"beginning)(?! of (?!{_A_LIST}))( of {_A_LIST})?",
    ),
    rule(OrderKey.NEWEST, f"(?P<n>{ORDINAL})( in line)? from the (end|back) of {_A_LIST}"),
    rule(
        OrderKey.OLDEST, f"came (?P<n>{ORDINAL}) in (the )?order of (making|creation|training|date)"
    ),
    rule(OrderKey.OLDEST, f"(that|which) came (?!first)(?P<n>{ORDINAL})(?= ?($|[.,;:!?)]))"),
    rule(OrderKey.NEWEST, "silver medal (for|in) (recency|freshness|newness)", rank=2),
    rule(
        OrderKey.NEWEST,
        "bronze medal (for|in) (recency|freshness|newness)",
        "antepenultimate",
        rank=3,
    ),
    rule(
        OrderKey.OLDEST,
        f"(that )?came (right |just |straight )?after {_MY}(very first|first {SELECTOR})",
        rank=2,
    ),
    rule(OrderKey.NEWEST, f"(direct|immediate) predecessor of {_MY}{_LAST}( {SELECTOR})?", rank=2),
    rule(OrderKey.OLDEST, rf"runner[\s-]up (for|to|as) (the )?{OLDEST}( {SELECTOR})?", rank=2),
    rule(
        OrderKey.NEWEST,
        "penultimate",
        "next~to~(the )?(last|newest|latest)",
        f"({SELECTOR} )?((that )?came |that )?"
        "(right |just |straight |immediately |directly )?(before|preced(ing|es|ed)|prior to) "
        f"{_MY}(very )?({_LAST}( {SELECTOR})?|(current|present) {SELECTOR})",
        rf"previous(?= (\w+ ){{0,2}}{SELECTOR})",
        rf"runner[\s-]up( (for|to|as) (the )?{NEWEST}( {SELECTOR})?)?",
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
