"""The ends: "the latest", "the very first", "the highest version", and soft "recently"."""

from __future__ import annotations

from personalq.checkin.intent import OrderKey
from personalq.checkin.parsing.numbers import CARDINAL, ORDINAL
from personalq.checkin.parsing.orders.rule import rule
from personalq.checkin.parsing.orders.words import (
    IN_A_TIME,
    MADE,
    NEWEST,
    NOT_A_TIME,
    OF_ALL,
    OLDEST,
    SELECTOR,
    THAT,
    WHO,
)

_VERSION_NUMBER = r"~version~(numbered|number|num\b|no\b\.?)"
_NUMBERED = rf"({_VERSION_NUMBER}|~version|~(numbered|number|num\b|no\b\.?)(?! (of|on)\b))"
_DATE = r"~((creation|training|build|release|upload)~)?(date|time)(?!\w)"
_OF_SOME = rf"(?= (\w+ )?(of (the|them|these|those|both|my|our|[\w-]+('s|s'))(?!\w)|{SELECTOR}))"
_MAKE = "(train|create|make|build|tune|finish|add|upload|release)"
_WAS_THE = "(that|which) (is|was) the "
_IS = "((that|which)('s| is| was) )?"
_THE_OTHERS = "(((all|every|any|each)( of)? )?(the )?(others?|rest)( one)?)"
_WANTED = r"(it|mine|the [\w-]+( [\w-]+)? (that )?i (want|mean|need|have in mind|am after))"
_OLDER = "(older|earlier)"
_NEWER = "(newer|younger|later|more recent)"
_TO_COME = f"to (come out|be {MADE})"
_CAME = "(that|which) c(ame|omes?)( out)? "
_LAST = f"(last|latest|most recently){OF_ALL}"

RULES = (
    # By number; a version trained again later may have a lower one.
    rule(
        OrderKey.HIGHEST_VERSION,
        f"((?P<n>{ORDINAL})~)?((highest|top){_NUMBERED}|"
        f"(largest|biggest|greatest){_VERSION_NUMBER})",
    ),
    rule(
        OrderKey.LOWEST_VERSION,
        f"((?P<n>{ORDINAL})~)?(lowest{_NUMBERED}|smallest{_VERSION_NUMBER})",
    ),
    rule(
        OrderKey.OLDEST,
        f"{_IS}{_OLDER} than (all|{_THE_OTHERS}) but (?P<but>{CARDINAL})",
        rf"(?P<not>(only|just) (?P<nth>one|two|three))( [\w-]+){{0,3}} "
        f"(?P<tail>(is|are) {_OLDER} than {_WANTED})",
    ),
    rule(
        OrderKey.NEWEST,
        f"{_IS}{_NEWER} than (all|{_THE_OTHERS}) but (?P<but>{CARDINAL})",
        rf"(?P<not>(only|just) (?P<nth>one|two|three))( [\w-]+){{0,3}} "
        f"(?P<tail>(is|are) {_NEWER} than {_WANTED})",
    ),
    rule(OrderKey.OLDEST, rf"no [\w-]+( [\w-]+)? (?P<tail>is {_OLDER} than {_WANTED})"),
    rule(OrderKey.NEWEST, rf"no [\w-]+( [\w-]+)? (?P<tail>is {_NEWER} than {_WANTED})"),
    rule(OrderKey.OLDEST, f"{_IS}{_OLDER} than {_THE_OTHERS}"),
    rule(OrderKey.NEWEST, f"{_IS}{_NEWER} than {_THE_OTHERS}"),
    rule(OrderKey.NEWEST, f"with (the )?{NEWEST}{_DATE}"),
    rule(
        OrderKey.NEWEST,
        r"(?<=\bone\s)((that|which)('s| is) )?(only|just|barely) (a few|a couple of|some) "
        "(days|weeks) old",
    ),
    rule(OrderKey.OLDEST, f"with (the )?({OLDEST}|first){_DATE}"),
    rule(
        OrderKey.OLDEST,
        "first( (that|which))? ((was|we|i|you|they) )?ever (made|trained|created|built)",
        "very first",
        "first~ever",
        f"{THAT}((was )?{MADE}|came( out)?|existed) before (all|any|every(one)?)( of)?( the| its)?"
        "( others?| rest| successors)( one)?",
        "((with|has|that has) )?nothing (was )?"
        f"({MADE}|older|earlier) (before|than) (it|this|that)",
        "nothing is (older|earlier) than (the one|it|that)( i (want|mean|need))?",
        "(that )?(has|have) been around (the )?longest",
        f"most ancient( {SELECTOR})?",
        OLDEST,
        "(first|1st) (one|version|model|build|checkpoint|lora|variant|edition|iteration|release|"
        "attempt|try)( ever)?",
        "inaugural",
        "most original",
        rf"((?<=\bthe )|(?<=\bour )|(?<=\bmy ))original(?= (\w+ ){{0,2}}{SELECTOR}\b)",
        r"longest[\s-]standing",
        "most aged",
        "(that |which )?(started|began) (it all|(the|our) (whole|entire) (series|line|lot))",
        r"(that|which) (started|began) (the|our) series(?= ?($|[.,;:!?)])| (on|in|at|with)\b)",
        r"(that's )?where it all (began|started)(?= ?($|[,.;!?]))",
        rf"({THAT}was )(there|here) first(?= ?($|[.,;:!?)]))",
        rf"({THAT}{WHO} )(started|began|kicked off|set out) with(?= ?($|[.,;:!?)]))",
    ),
    # Of two: "the older of them", "the newer one"
    rule(
        OrderKey.OLDEST,
        "(the )?(very )?(first|earliest|oldest) of (them|these|those|the lot)( all)?",
    ),
    rule(
        OrderKey.NEWEST,
        "(the )?(very )?(last|latest|newest) of (them|these|those|the lot)( all)?",
        "(?<!is )(?<!was )(?<!ing )the (very )?last of all(?= ?($|[,.;:!?]))",
    ),
    rule(
        OrderKey.OLDEST,
        f"(?<!no )(?<!any )(older|earlier){_OF_SOME}",
        r"(?<!\bnothing )(the )?(older|earlier)(?=[\s.!?]*$)",
        "the (older|earlier)(?= ?[,.;!?])",
        r"(with|of) the (older|earlier) date( of the \w+)?",
    ),
    rule(
        OrderKey.NEWEST,
        f"(newer|later|more recent){_OF_SOME}",
        r"(the )?(newer|later|more recent)(?=[\s.!?]*$)",
        "the (newer|later|more recent)(?= ?[,.;!?])",
    ),
    # "Came third in time", "which did we make first", "that came out last"
    rule(
        OrderKey.OLDEST,
        f"{THAT}c(ame|omes?) (out |along )?(?P<n>{ORDINAL})( (in (time|order)|chronologically)|"
        r"(?= (of|among|amongst) (all )?(the|my|our|these|those)\b))"
        r"(?! (of|to|for|trials?)\b)",
    ),
    rule(OrderKey.OLDEST, f"({WHO} )?(ever )?{MADE} first", f"did {WHO} {_MAKE} first"),
    rule(OrderKey.OLDEST, rf"did [\w-]+ (?P<tail>{_MAKE} first)"),
    rule(
        OrderKey.OLDEST,
        rf"(?<=\bthe )(?P<nth>{ORDINAL}) ((one|version) )?(that )?(i|we) (ever )?{MADE}"
        r"(?= ?($|[.,;:!?)]))",
        f"({WHO} |{THAT}(was |were |got )){MADE} (?P<n>{ORDINAL})(?= ?($|[.,;:!?)]))",
    ),
    # "The third to be made", "that was the second of 2026"
    rule(
        OrderKey.OLDEST,
        rf"(?<=\bthe )(?P<nth>{ORDINAL}) ((one|version) )?to (be {MADE}|come out)"
        rf"({IN_A_TIME}|(?= ?($|[,.;:!?)])))",
        f"{_WAS_THE}(?P<n>{ORDINAL})( (one|version))?( {_TO_COME})?{IN_A_TIME}",
        rf"(that|which) was (?P<n2>{ORDINAL}) {_TO_COME}(?= ?($|[,.;:!?)]))",
        "first of (its|the|this|our) (series|line)",
        f"{_WAS_THE}(very )?first( (one|version))?( {_TO_COME})?{IN_A_TIME}",
        f"{_CAME}first{IN_A_TIME}",
    ),
    rule(
        OrderKey.NEWEST,
        f"{_WAS_THE}(very )?(last|latest|final)( (one|version))?( {_TO_COME})?{IN_A_TIME}",
        f"{_CAME}last{IN_A_TIME}",
    ),
    rule(OrderKey.NEWEST, f"did {WHO} {_MAKE} {_LAST}"),
    rule(OrderKey.NEWEST, rf"did [\w-]+ (?P<tail>{_MAKE} {_LAST})"),
    rule(
        OrderKey.OLDEST,
        f"{THAT}c(ame|omes?) (out|along) (first|earliest){OF_ALL}",
        rf"{THAT}c(ame|omes?) (first|earliest)"
        r"(?= ?($|[.;!?])|, (?!with\b)| (on|under|beside|near|behind)\s)",
    ),
    rule(
        OrderKey.NEWEST,
        f"{THAT}c(ame|omes?) (out|along) (the )?(last|latest|most recently){OF_ALL}",
    ),
    rule(OrderKey.OLDEST, "first", "original", "debut", "older", "earlier", needs_head=True),
    rule(OrderKey.NEWEST, "previous", rank=2, needs_head=True),
    rule(
        OrderKey.NEWEST,
        f"{THAT}(was )?{MADE} after (all|any|every(one)?)( of)?( the)?( others?| rest)( one)?",
        f"{THAT}nothing (newer|later|more recent) has (replaced|superseded|overtaken)",
        f"((with|has|that has) )?nothing ({MADE} after|newer than|later than) (it|this|that)",
        "nothing is (newer|later) than (the one|it|that)( i (want|mean|need))?",
        "((at )?the )?top of the pile by (date|age)",
        f"{THAT}c(ame|omes?) out of training last{OF_ALL}",
        "very (last|latest|newest)",
        f"{NEWEST}( and greatest)?",
        f"({WHO} )?{MADE} (the )?(last|latest|most recently){NOT_A_TIME}",
        rf"({WHO} )?last {MADE}(?! (in|on|before|during)\b)",
        r"hot off the press(es)?(?! of\b)",
    ),
    rule(
        OrderKey.NEWEST,
        *(
            "last",
            "final",
            "current",
            "most new",
            r"up[\s-]to[\s-]date",
            "newer",
            "later",
            "present",
        ),
        needs_head=True,
    ),
    rule(
        OrderKey.NEWEST,
        f"(quite |fairly |very |rather |pretty )?(recently|newly|freshly|lately|just)~{MADE}",
        f"{MADE} (very |quite )?"
        "(recently|lately|not (so |too |that )?long ago|the other (day|week))",
        "recentish",
        "more recently",
        "from (the other (day|week)|recent (days|weeks))",
        hard=False,
    ),
    rule(OrderKey.NEWEST, "recent", "recently", "newish", hard=False, needs_head=True),
)
