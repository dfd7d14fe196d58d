"""By use: "most used", "the one I ran last", "longest unused"."""

from __future__ import annotations

from personalq.checkin.intent import OrderKey
from personalq.checkin.parsing.numbers import CARDINAL, ORDINAL
from personalq.checkin.parsing.orders.rule import rule
from personalq.checkin.parsing.orders.words import (
    ENDS,
    HAVE,
    NOT_A_TIME,
    OF_ALL,
    SELECTOR,
    THAT,
    USE,
    WHO,
)

_OFTEN = "(often|frequently|heavily|commonly|regularly)"
_COUNT = "((use|usage|render)~(count|number|total)s?|uses|renders|runs)"
_LIST = (
    "(the |our |my )?(use|usage|render)~(list|ranking|rankings|chart|charts|table|statistics|stats)"
)
_THAN_ANY = "than (any|all|the|every|each)( (the )?others?| rest)?( (one|of them))?"
_LONGEST = "(the )?longest( time)?"
_FOR_LONGEST = f"(for )?{_LONGEST}"

# The least used and the longest unused come first: "most used" and "last used" are words of theirs.
RULES = (
    rule(
        OrderKey.LEAST_USED,
        f"((?P<n>{ORDINAL})~)?least~({_OFTEN}~|popular|favou?rite|used|loved|worn)(used)?",
        f"{WHO} {HAVE}{USE} (it )?less(?= ?($|[.,;!?]))",
        f"({WHO} )?{HAVE}(been )?{USE} (it )?(the )?(least|fewest times){OF_ALL}",
        "used (the )?(least|(fewest|(least|smallest|lowest) number of) times)",
        f"({WHO} )?{USE} (it )?less (often )?{_THAN_ANY}",
        f"(({WHO}|is|are|was|that|which) )*(hardly|rarely|seldom|barely|scarcely) (ever )?{USE}",
        f"{WHO} (don't|do not) {USE} much",
        r"(with )?(the )?(lowest|lightest) usage(?! \w)",
        r"with (the )?least (usage|uses?)( so far)?(?!\w)",
        f"(with )?(the |its )?(lowest|smallest|fewest) (number of )?{_COUNT}",
        f"((at|from) )?(the )?(very )?(bottom|end|foot) of {_LIST}",
        "(rarest|least|lowest) in use( of (them )?all)?",
    ),
    rule(
        OrderKey.LEAST_RECENTLY_USED,
        "(least|longest)~recently~used",
        "used (the )?least recently",
        f"({WHO} )?{HAVE}{USE} (it )?(the )?longest ago",
        "(longest|most)~(unused|neglected|forgotten|untouched|idle)",
        f"(({WHO}|that|which|has|have|had|been) )+(neglected|ignored|forgotten) {_FOR_LONGEST}",
        f"(({WHO}|that|which|has|have|had|been) )+left (it )?"
        f"(untouched|unused|alone) {_FOR_LONGEST}",
        f"(({WHO}|that|which) )*(haven't|hasn't|have not|has not|not) (been )?"
        f"{USE} ((in|for) )?{_LONGEST}",
        "(((that|which)( one)? )?(has|have|had|'s) been )?"
        f"((lying|sitting|standing) )?(unused|idle|untouched|dormant) {_FOR_LONGEST}"
        "( since (its|the) last (use|run|render))?",
        f"({WHO} |{THAT})((has|have|had|'s) )?(gone|went|been) (the )?longest without "
        "(any use|use|being used|using( it)?)",
        f"(that |has )?(nobody|no one) (has )?{USE} (in|for) {_LONGEST}",
        "((that|which)( has|'s)? (been )?)?"
        f"(gathering|collecting|gathered|collected) dust {_FOR_LONGEST}",
        "(with )?(the )?longest (time )?since (its |the )?last (use|used|render)",
        "((with )?the )?(oldest|earliest) last use",
        r"(?<![,;]\s)left alone (for )?the longest(?! time)",
        "whose last use (is|was|lies) (the )?(furthest|farthest|longest) "
        "(back( in time)?|ago|in the past)",
    ),
    rule(
        OrderKey.MOST_USED,
        f"(with )?(the |its )?(?P<n>{ORDINAL})~(highest|largest|biggest) (number of )?{_COUNT}",
    ),
    rule(
        OrderKey.MOST_USED,
        f"(({WHO}|that|which|has|have|with) )*"
        "((clocked|racked|notched|chalked|piled) up |seen |had )?"
        rf"(the )?(most|highest number of) {_COUNT}(?! than\b)",
        f"(with )?more {_COUNT} {_THAN_ANY}",
        "with (the )?most generations( (to its name|under its belt|so far))?",
    ),
    rule(OrderKey.MOST_USED, f"((at|from) )?(the )?(very )?(top|head) of {_LIST}"),
    rule(OrderKey.MOST_USED, f"(?P<n>{ORDINAL})~most(~{_OFTEN})?~used"),
    rule(
        OrderKey.MOST_USED,
        "((that|which) (comes|came|ranks|is|stands) )?"
        f"(?P<n>{ORDINAL}) (place )?(in|by) ((the )?number of )?(uses|usage|renders|popularity)",
        f"ranks (?P<nth>{ORDINAL}) (for|by|in) how often ({WHO}|it) (was |has been )?(use|"
        f"used)( it)?",
    ),
    rule(
        OrderKey.MOST_USED,
        f"number (?P<n>{CARDINAL}) (in|on|of) (my|our|the) (use|usage) (ranking|list|chart|table)",
    ),
    rule(
        OrderKey.MOST_USED,
        r"(?P<not>(only|just) (?P<but>one|two|three))( [\w-]+){0,4} "
        r"(?P<tail>(is|are) used more (often )?than (it|mine|the one i (want|mean)))",
    ),
    rule(
        OrderKey.MOST_USED,
        r"runner[\s-]up (in|by) (use|usage)( count)?",
        rf"runner[\s-]up (in|by) how often {WHO} {HAVE}{USE}( (it|them))?",
        rank=2,
    ),
    rule(
        OrderKey.MOST_USED,
        f"{WHO} {HAVE}{USE} (it )?(the )?(?P<n>{ORDINAL})~most(~{_OFTEN})?(?!-){ENDS}",
    ),
    rule(
        OrderKey.LAST_USED,
        f"({WHO} )?{HAVE}{USE} (it )?((second|next)~to~last|last but one)",
        rank=2,
    ),
    rule(
        OrderKey.MOST_USED,
        r"(?P<not>runner[\s-]up)( [\w-]+){0,3}? "
        "(?P<tail>(in|by) ((the )?number of )?(uses|usage|renders|popularity))",
        rank=2,
    ),
    rule(
        OrderKey.LAST_USED,
        f"(?P<n>{ORDINAL})~most~recently~used",
        f"({WHO} )?{HAVE}{USE} (it )?(the )?(?P<nth>{ORDINAL})~most~recently",
    ),
    rule(OrderKey.MOST_USED, f"most~({_OFTEN}~)?used( {SELECTOR})? but (?P<but>{CARDINAL})"),
    rule(
        OrderKey.MOST_USED,
        rf"(?P<not>most~({_OFTEN}~)?used)( [\w-]+){{1,3}}?"
        rf"(?P<tail> but (?P<but>{CARDINAL}))(?!\w)",
    ),
    rule(
        OrderKey.MOST_USED,
        f"most~({_OFTEN}~)?used",
        r"top[\s-]used(?! (as|by|for|to)\b)",
        f"({WHO} )?{HAVE}{USE} (it )?(the )?most( times)?{OF_ALL}",
        f"{WHO} (always {USE}|{USE} all the time)",
        rf"{WHO} used? more( often)?(?=[\s.!]*$)",
        "most~popular",
        "favou?rite",
        r"((?<=\bmy\s)|(?<=\bour\s)|(?<=\bthe\s))go[\s-]to",
        r"(?<=\bmy\s)number one(?! (\d|fans?\b))",
        r"(?<=\bour\s)number one(?! fans?\b)",
        f"({WHO} )?{HAVE}(been )?{USE} ((it|that one|this one|them) )?more (often |frequently )?"
        f"{_THAN_ANY}",
        "((at|on) )?(the )?top(s|ping)? (of )?(the|our|my) (usage|use) "
        "(charts?|lists?|stats|statistics|tables?|rankings?|leaderboard)",
        "number one (by|in) (usage|uses?|renders|popularity)",
        r"top (use|usage)( (count|number|figure|score))?(?= ?($|[,.;:!?)]))",
        "(everybody|everyone|we all) (reach|reaches|go|goes) for"
        "( (the )?most|,? by (the )?number of uses)+(?!\\w)",
        r"(everybody|everyone|we all) (reach|reaches) for(?= ?($|[,.;:!?)]))",
        "(with|gets|got|has|had|sees|saw|seen) ((had|seen) )?(the )?most "
        "(uses?|renders|runs|mileage)",
        "most~loved",
        r"(with )?(the )?(highest|heaviest) usage(?! \w)",
        f"(with )?(the |its )?(highest|largest|biggest) (number of )?{_COUNT}",
        "(busiest|highest|heaviest) in use( of (them )?all)?",
    ),
    # "I use one robot | more than any other"
    rule(
        OrderKey.MOST_USED,
        rf"{WHO} (often )?{USE} one [\w-]+ (?P<tail>more (often )?{_THAN_ANY})",
        "(none|nothing)( else)? (gets|is|was|has been) used more (often )?than (this|that|it)( "
        "one)?",
    ),
    rule(
        OrderKey.MOST_USED,
        r"no other [\w-]+( [\w-]+)? (?P<tail>(is|was|gets|has been) used as (often|much) as (it|"
        r"mine|this( one)?|that( one)?|the [\w-]+ i (want|mean|need)))",
    ),
    rule(
        OrderKey.LAST_USED,
        f"({WHO} )?{HAVE}{USE} the time before (last|that)",
        f"({WHO} )?{HAVE}{USE} (it )?((just|right) )?before (the )?last"
        rf"( {SELECTOR}( (that )?{WHO} {USE})?| (that )?{WHO} {USE}|(?= ?($|[,.;:!?)])))",
        f"({WHO} )?{HAVE}{USE} (it )?((just|right) )?before (the )?(last|most recently)~used"
        f"( {SELECTOR})?",
        rank=2,
    ),
    rule(OrderKey.LAST_USED, f"(last|most recently)~used( {SELECTOR})? but (?P<but>{CARDINAL})"),
    rule(
        OrderKey.LAST_USED,
        r"(?P<not>(last|most recently)~used)( [\w-]+){1,3}?"
        rf"(?P<tail> but (?P<but>{CARDINAL}))(?!\w)",
    ),
    rule(
        OrderKey.LAST_USED,
        "most recently used",
        "(most recently|most lately|last) in use",
        "last~used",
        f"(the )?last( {SELECTOR})? (that )?{WHO} (have )?{USE}",
        f"({WHO} )?{HAVE}{USE} (it )?"
        f"(last|most (recently|lately)|the last time|last time){NOT_A_TIME}",
        f"{WHO} last (used|ran|worked with|rendered with)",
        f"{WHO} (was|were) last (using|running|(working|playing|rendering) with)",
        rf"{WHO} (was|were) (using|working with|rendering with) last(?= ?($|[,.;:!?)]))",
        f"({WHO} )?(have )?just (now )?(used|had (in use|open))",
        f"{WHO} used (a (moment|minute|second) ago|just now)",
        "((the )?same )?(as )?(in|from) (my|our) (last|latest|most recent) session"
        "( with (it|them|one( of (them|these|those))?))?",
        "whose last use (is|was|lies) (the )?(most recent|latest|last|newest)",
        "(that )?served (me|us) (most recently|last)",
    ),
    # "The last bear | I worked with", but "the second to last bear I used" is counted
    rule(
        OrderKey.LAST_USED,
        "(?<!to )(?<!to the )(?<!before )(?<!before the )"
        "(?<!second )(?<!third )(?<!2nd )(?<!3rd )(?P<not>last)"
        r"( (?!(but|ones?|two|three|four|five|few|couple|\d+)\b)[\w-]+){1,3}? "
        f"(?P<tail>(that )?{WHO} {HAVE}(used|ran|run|rendered|worked with|played with))",
    ),
    rule(
        OrderKey.LAST_USED,
        "recently used",
        f"({WHO} )?(have )?(been using|used|was using|(was|were|been) (playing|working) with) "
        "(recently|lately|the other day)",
        f"({WHO} )?recently (used|worked with)",
        hard=False,
    ),
)
