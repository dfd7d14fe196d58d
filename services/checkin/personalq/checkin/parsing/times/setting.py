"""The words around a time: created or used, before or after, wanted or not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

from personalq.chassis.forms import compile_form
from personalq.checkin.intent import Interval
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.owners.deeds import trains
from personalq.checkin.parsing.text import ends_before

TRAINED = (
    "(trained|created|made|built|tuned|finetuned|fine-tuned|learned|learnt|produced|saved|"
    "c(ame|omes?) into (being|existence)|((whose|with a) )?date of creation( (falls|lies|is))?|"
    "(finished|completed|stopped|started|began|ended) (training|tuning|building|making)|finished|"
    r"completed|((?<=i\s)|(?<=we\s)|(?<=you\s)|(?<=they\s)|(?<=was\s)|(?<=were\s))(wrapped up|"
    "polished off|rolled out)|dated|added|uploaded|released|registered|published|baked|"
    r"((?<=that\s)|(?<=which\s)|(?<=one\s)|(?<=model\s)|(?<=version\s)|(?<=it\s))c(ame|omes) out|"
    "(with )?((a|its|the) )?(creation|training|release|upload) date|put together|cooked up|dates|"
    r"dating|(?<=i\s)did|(?<=we\s)did|put (it|this|this one|that one) together|"
    "the (year|month|season|date|day) (that )?it was (trained|made|created|built|finished)"
    "( (in|on))?( (is|was))?)"
)
USED = (
    "(used|rendered( with)?|generated with|(?<!training i )(?<!training we )ran|run|worked with|"
    "played with|(working|playing) with|"
    r"had open|tried|opened|touched|picked(?! up\b)|loaded|was using|"
    r"were using|"
    "(made|did) (some )?(pictures|images|renders|art) with|saw use|put to use|been using|"
    "stopped using|(last|latest|most recent) (use|run|render)( (was|is|dates|falls|fell|lies|"
    "happened|took place|goes back|(has to|must|should|needs to) (be|lie|fall)))?|last employed|"
    "((my|our|the|its) )?last (session|run|time) with (it|him|her|that|this one)( (was|"
    "is))?|"
    "(the )?last time (it was|i|"
    "we)( ever)? (used|ran|opened|loaded)( (it|this|that|them)( one)?)? was|"
    "in use)"
)
_IDLE = (
    r"unused|untouched|idle|dormant|(?<=\bi )left (it )?alone|(?<=\bwe )left (it )?alone|"
    r"(?<=\bhave )left (it )?alone|(gathering|collecting|gathered|collected) dust|"
    "(sitting|lying|sat|lain) (idle|unused|untouched)|out of use"
)
_DID = "did (i|we|you|he|she|they) ((last|first|actually) )?"
_WAS_TRAINED = (
    f"({TRAINED}|{_DID}(train|create|make|build|tune|fine-?tune|produce|finish|complete|add|"
    "upload|release|publish|bake))"
)
_WAS_USED = f"({USED}|{_DID}(use|run|try|open|touch|pick|load|(render|generate|work|play) with))"
_IS_USE = compile_form(_WAS_USED)
_NOT = (
    "(haven't|hasn't|hadn't|have not|has not|had not|didn't|did not|wasn't|weren't|was not|"
    "were not|not|never|nobody|no one|noone|nothing|none)"
)
_WHO = "((i|we|you|she|he|they|that|which|with|its)('ve|'d|'s)? )*"
_ADVERB = (
    "((last|just|also|already|recently|originally|freshly|newly|first|had|have|has|was|were|been|"
    "got|is|it|being|actually|really) )*"
)
_TAKES = (
    "( (at all|in|on|at|during|from|around|over|back|to|it|them|him|her|that one|this one|with|for|"
    "sometime|some time|once|the last time))*( ?[?:])?"
)
_VERB_BEFORE = compile_form(
    rf"(?<!\w)(?<!training )(?:(?<!\w-)|"
    rf"(?<=ly-))((and )?when )?{_WHO}((?P<neg>{_NOT}) )?{_WHO}{_ADVERB}"
    f"((?P<verb>{_WAS_TRAINED}|{_WAS_USED})|(?P<idle>{_IDLE})){_TAKES} (the )?$"
)
_A = "(an?|one|the|my|our|this|that)"
_USED_ONE = compile_form(
    rf"(?<!\w)(i|we) ((last )?{USED} {_A} [\w-]+( [\w-]+)?|had {_A} [\w-]+( [\w-]+)? "
    r"(open|going|running|loaded)) $|(?<!\w)(last|latest|most recent) (use|run|render) of"
    r"( [\w'-]+){1,6}? (was|is|dates|falls|fell|lies)( (in|on|at|from))? $"
)
"""With what was used in between: "I used a chair | last Sunday"."""
_TRAINED_ONE = compile_form(
    r"(?<!\w)(i|we) ((only|just) )?(trained|tuned|made|built|finished) ((only|just|exactly) )?"
    rf"{_A} [\w-]+( [\w-]+)? $"
)
"""The same of training: "we trained only one chair | over the winter"."""
_VERB_AFTER = compile_form(
    rf"(, ?the \d{{1,2}}(st|nd|rd|th) ?,)?~?((?P<trained>{TRAINED}|"
    "(?P<told>(i|we) ((just|also|finally) )?(trained|tuned|finished|uploaded|published|produced|"
    rf"built))(?=(?P<thing> {_A} [\w-]+( [\w-]+)?)))(?!\w)|"
    rf"(?!\srun(?! by\b)(?!\w))\s({_WHO}{_ADVERB}(?P<used>{USED}))(?!\w)( (it|with))?|"
    rf"\s(was|is) (when|the (last )?time) (i|we|it was|(the|my|our) [\w-]+( [\w-]+)? (was|were)) "
    rf"((last|just) )?(?P<then>{USED})(?!\w)"
    "( (it|him|her|that one))?( for the last time)?)"
)
_OF = compile_form(r" of(?!\w)")
"""Behind what only begins a time: "on the weekend | of 10 October"."""
_IN_USE = compile_form(r"[^.;!?]{1,40}\sin use(?!\w)")
"""Behind a time of use: "yesterday | I had a chair in use"."""
_USED_THEN = compile_form(
    rf"[\s,;-](i|we) (was |were )?(using|{USED})( (it|him|her|that one))? then(?!\w)"
)
"""Behind a time of use, anywhere: "Monday's barn - I was using it then"."""
_PLACE_AFTER = compile_form(
    " ((mostly|only|entirely|mainly) )?(in|on|at|by|near|among|amid|around|outside|inside|using|"
    r"with|from)\s"
)
"""Where rather than when something was trained: "of 2026 trained on the beach"."""
_BEFORE = compile_form(
    r"(?<!\w)(from (?=(just|right|shortly|soon)\s))?((any time|sometime|some time|"
    "(?P<near>just|right|shortly|soon)|anywhere) )?(?P<from>from )?(?P<op>"
    r"(on|in) or (after|before)|(after|before) or (on|in)|no later than|ahead of|"
    "no earlier than|not (before|after)|before|predat(es?|ed|ing)|prior to|earlier than|"
    "older than|until|till|up to( and including)?|by( the end of)?|pre|after|postdat(es?|ed|ing)|"
    "later than|newer than|more recent than|(not|no) (older|newer) than|since|post|as of|"
    r"starting( (in|from))?|from|(in|over) the course of|(in|during) the (week|days|period|"
    r"time)( of)?|at some point in|in|"
    r"(out (?=of (?!the|"
    r"my|our|an?\b)))?of|back in|at|on|during|"
    "over|round about|around|about|circa|roughly|dated|through|within)(~|$)(the (month of |year )?|"
    "my )?(sometime in |some time in )?$"
)
_SAME_AS = compile_form(
    r"(?<!\w)(the )?(?P<same>same)( [\w-]+){1,5} (?P<as>as( (from|on|in|for))?) $"
)
"""What was used then: "the same kettle as yesterday"."""
_ONWARD = compile_form(
    r" ?(at the earliest(?!\w)|or (any|some) (day|time|month|week|year) (after|later|since)"
    r"( (that|then|it))?(?!\w)|(on(wards?)?|and after|or after)(?= ?($|[,.;!?]|and\b))|(and|"
    r"or) (later|newer)(?!\w))"
)
_ONCE = compile_form(r"(?<!\w)(once|as soon as|after|since) (the month of )?$")
_PASSED = compile_form(
    r" (was|had) ((already|just|finally|well) )?(?P<over>over|done|past|gone|through|finished|"
    r"ended)(?= ?($|[,.;:!?)]| (in|on|at|with|as)\b))|,? ((was|had|has) )?(began|begun|started)"
    r"(?!\w)"
)
"""What became of a time: "once August was over", "since August began"."""
_OLDER = compile_form(
    r" at the latest(?!\w)| or (any|some) (day|time|month|week|year) (before|earlier)"
    r"( (that|then|it))?(?!\w)| ?(and|or) ((earlier|older)(?!\w)|"
    r"before(?= ?($|[^\s\w])| (on|at|in|under|beside|near|with) (an?|the|my|our)\s))"
)
_NEGATION = compile_form(
    r"(?<!\w)(not|((any|every) (time|month|season|day|week|year) )?except( for)?|excluding|"
    "other than|(any( ?(time|thing|one|month|season|day|week|year))?|"
    r"every\w*( (month|season|year))?|all|always) but|without|neither) (the )?(ones? )?$"
)
_SAME = {
    "no later than": "until",
    "not after": "until",
    "no earlier than": "since",
    "not before": "since",
    **dict.fromkeys(("on or after", "in or after", "after or on", "after or in"), "since"),
    **dict.fromkeys(("on or before", "in or before", "before or on", "before or in"), "until"),
    "as of": "since",
    "ahead of": "before",
    "no older than": "since",
    "not older than": "since",
    "no newer than": "until",
    "not newer than": "until",
    "out of": "of",
    "round about": "around",
    **dict.fromkeys(
        (
            *("in the course of", "over the course of", "at some point in"),
            *(
                f"{lead} the {span}{of}"
                for lead in ("in", "during")
                for span in ("week", "days", "period", "time")
                for of in ("", " of")
            ),
        ),
        "in",
    ),
    "up to and including": "up to",
    **dict.fromkeys(("predate", "predates", "predated", "predating"), "before"),
    **dict.fromkeys(("postdate", "postdates", "postdated", "postdating"), "after"),
}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What the words around a time say, and where they begin and end."""

    start: int
    end: int
    used: bool | None
    """True for use, False for training, None when nothing says."""
    operator: str
    negated: bool
    cued: bool
    near: bool = False
    """Whether the nearest before or after is meant: "just after Easter"."""


def read_setting(draft: Draft, start: int, end: int) -> Setting:
    """Read cue words to the left and right of [start, end)."""
    shadow = draft.page.shadow
    used: bool | None = None
    operator = ""
    negated = cued = near = False
    once, passed = ends_before(_ONCE, shadow, start), _PASSED.match(shadow, end)
    if once and passed and draft.free(once.start(), start):
        operator, cued = "after" if passed["over"] else "since", True
        start, end = once.start(), passed.end()
    elif (match := ends_before(_BEFORE, shadow, start)) and draft.free(match.start(), start):
        operator = re.sub(r"\s+", " ", match["op"])
        operator = _SAME.get(operator, operator)
        near = match["near"] is not None and operator in ("before", "after")
        if match["from"] and operator in ("over", "during", "in"):
            operator = "from"
        start, cued = match.start(), True
    if (match := ends_before(_VERB_BEFORE, shadow, start)) and draft.free(match.start(), start):
        used = bool(match["idle"]) or _IS_USE.fullmatch(match["verb"]) is not None
        negated = bool(match["neg"]) or bool(match["idle"])
        start, cued = match.start(), True
    elif used is None and (match := ends_before(_USED_ONE, shadow, start)):
        used = True if _is_the_only_subject(draft, match.start(), start) else None
        cued = cued or used is True
    elif (match := ends_before(_TRAINED_ONE, shadow, start)) and not _OF.match(shadow, end):
        used = False if _is_the_only_subject(draft, match.start(), start) else None
        cued = cued or used is False
    elif trains(draft, start, made=True):
        used, cued = False, True
    if (match := ends_before(_SAME_AS, shadow, start)) and draft.free(match.start("as"), start):
        used, start, cued = True, match.start("as"), True
    if (match := ends_before(_NEGATION, shadow, start)) and draft.free(match.start(), start):
        negated, start, cued = True, match.start(), True
        made = ends_before(_VERB_BEFORE, shadow, start)
        if made and not made["neg"] and draft.free(made.start(), start):
            start, used = made.start(), _IS_USE.fullmatch(made["verb"] or "") is not None
    tail = shadow[end:]
    if tail.startswith("'s"):
        end, tail = end + 2, tail[2:]
    if match := _ONWARD.match(tail):
        operator, end = "since", end + match.end()
    elif match := _OLDER.match(tail):
        operator, end = "until", end + match.end()
    elif (match := _VERB_AFTER.match(tail)) and (
        match["told"] is None or _is_the_only_subject(draft, end, end + match.end("thing"))
    ):
        cued = True
        used = match["trained"] is None
        if used or not _PLACE_AFTER.match(tail, match.end()):
            end += match.end()
    had = _IN_USE.match(tail)
    if used is None and had and re.match(r"\s*,?\s*(i|we) had\s", tail):
        used = cued = True
    if used is None and _USED_THEN.search(tail):
        used = cued = True
    return Setting(
        start=start,
        end=end,
        used=used,
        operator=operator,
        negated=negated,
        cued=cued,
        near=near,
    )


def _is_the_only_subject(draft: Draft, start: int, end: int) -> bool:
    """Whether a subject stands in [start, end), and no other anywhere: "I used a chair | …"."""
    known = [noun for noun in draft.nouns if noun.entry.subjects]
    spans = [draft.span_of(noun.first, noun.last) for noun in known]
    inside = any(start <= span.start and span.end <= end for span in spans)
    return inside and len({noun.entry.subjects for noun in known}) == 1


def applied(operator: str, interval: Interval) -> Interval:
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
