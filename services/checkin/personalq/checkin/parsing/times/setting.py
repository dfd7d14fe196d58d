"""The words around a time: created or used, before or after, wanted or not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

from personalq.checkin.intent import Interval
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import ends_before

TRAINED = (
    r"(?:trained|created|made|built|tuned|finetuned|fine-tuned|learned|learnt|produced|"
    r"(?:finished|completed|stopped|started|began|ended)\s+(?:training|tuning|building|making)|"
    r"finished|completed|(?:(?<=i\s)|(?<=we\s)|(?<=you\s)|(?<=they\s)|(?<=was\s)|(?<=were\s))(?:wrapped\s+up|polished\s+off|rolled\s+out)|dated|added|uploaded|released|registered|published|baked|"
    r"(?:(?<=that\s)|(?<=which\s)|(?<=one\s)|(?<=model\s)|(?<=version\s)|(?<=it\s))c(?:ame|omes)\s+out|"
    r"(?:with\s+)?(?:(?:a|its|the)\s+)?(?:creation|training|release|upload)\s+date|put\s+together|cooked\s+up|"
    r"dates|dating|(?<=i\s)did|(?<=we\s)did)"
)
USED = (
    r"(?:used|rendered(?:\s+with)?|generated\s+with|ran|run|worked\s+with|played\s+with|"
    r"(?:working|playing)\s+with|had\s+open|tried|opened|touched|picked|loaded|was\s+using|were\s+using|"
    r"(?:made|did)\s+(?:some\s+)?(?:pictures|images|renders|art)\s+with|saw\s+use|put\s+to\s+use|"
    r"been\s+using|stopped\s+using|last\s+(?:use|run|render)(?:\s+(?:was|is|dates))?|"
    r"last\s+time\s+(?:it\s+was|i|we)\s+used(?:\s+it)?\s+was|in\s+use|idle|"
    r"dormant)"
)
_DID = r"did\s+(?:i|we|you|he|she|they)\s+(?:(?:last|first|actually)\s+)?"
_WAS_TRAINED = (
    rf"(?:{TRAINED}|{_DID}(?:train|create|make|build|tune|fine-?tune|produce|finish|complete|add|"
    r"upload|release|publish|bake))"
)
_WAS_USED = (
    rf"(?:{USED}|{_DID}(?:use|run|try|open|touch|pick|load|(?:render|generate|work|play)\s+with))"
)
_NOT = (
    r"(?:haven't|hasn't|hadn't|have\s+not|has\s+not|had\s+not|didn't|did\s+not|wasn't|weren't|"
    r"was\s+not|were\s+not|not|never|nobody|no\s+one|noone)"
)
_WHO = r"(?:(?:i|we|you|she|he|they|that|which|with|its)(?:'ve|'d|'s)?\s+)*"
_ADVERB = (
    r"(?:(?:last|just|also|already|recently|originally|freshly|newly|first|had|have|has|"
    r"was|were|been|got|is|it|being|actually|really)\s+)*"
)
_TAKES = (
    r"(?:\s+(?:in|on|at|during|from|around|over|back|to|it|them|him|her|that\s+one|"
    r"this\s+one|with|for|sometime|some\s+time|once|the\s+last\s+time))*"
)
_VERB_BEFORE = re.compile(
    rf"(?<!\w){_WHO}(?:(?P<neg>{_NOT})\s+)?{_WHO}{_ADVERB}"
    rf"(?:(?P<verb>{_WAS_TRAINED}|{_WAS_USED})|(?P<idle>unused|untouched)){_TAKES}\s+(?:the\s+)?$"
)
_A = r"(?:an?|one|the|my|our|this|that)"
_USED_ONE = re.compile(
    rf"(?<!\w)(?:i|we)\s+(?:(?:last\s+)?{USED}\s+{_A}\s+[\w-]+(?:\s+[\w-]+)?|"
    rf"had\s+{_A}\s+[\w-]+(?:\s+[\w-]+)?\s+open)\s+$"
)
"""With what was used in between: "I used a chair | last Sunday"."""
_VERB_AFTER = re.compile(
    rf"(?:,\s*the\s+\d{{1,2}}(?:st|nd|rd|th)\s*,)?[\s-]*(?:(?P<trained>{TRAINED}|(?P<told>(?:i|we)\s+(?:(?:just|also|finally)\s+)?(?:trained|tuned|finished|"
    rf"uploaded|published|produced|built))(?=(?P<thing>\s+{_A}\s+[\w-]+(?:\s+[\w-]+)?)))(?!\w)|"
    rf"\s(?:{_WHO}{_ADVERB}(?P<used>{USED}))(?!\w)(?:\s+(?:it|with))?)"
)
_USED_THEN = re.compile(
    rf"[\s,;-](?:i|we)\s+(?:was\s+|were\s+)?(?:using|{USED})\s+(?:it|him|her|that\s+one)\s+then(?!\w)"
)
"""Behind a time of use, anywhere: "Monday's barn - I was using it then"."""
_PLACE_AFTER = re.compile(
    r"\s+(?:(?:mostly|only|entirely|mainly)\s+)?(?:in|on|at|by|near|among|amid|around|outside|inside|using|with|from)\s"
)
"""Where rather than when something was trained: "of 2026 trained on the beach"."""
_BEFORE = re.compile(
    r"(?<!\w)(?:from\s+(?=(?:just|right|shortly|soon)\s))?(?:(?:any\s+time|sometime|some\s+time|(?P<near>just|right|shortly|soon)|anywhere)\s+)?"
    r"(?P<from>from\s+)?(?P<op>no\s+later\s+than|no\s+earlier\s+than|not\s+(?:before|after)|"
    r"before|predat(?:es?|ed|ing)|prior\s+to|earlier\s+than|older\s+than|until|till|up\s+to(?:\s+and\s+including)?|by(?:\s+the\s+end\s+of)?|pre|"
    r"after|postdat(?:es?|ed|ing)|later\s+than|newer\s+than|more\s+recent\s+than|(?:not|no)\s+(?:older|newer)\s+than|since|post|as\s+of|"
    r"starting(?:\s+(?:in|from))?|from|in|(?:out\s+(?=of\s+(?!the|my|our|an?\b)))?of|back\s+in|at|on|during|over|around|about|"
    r"circa|roughly|dated|through|within)(?:[\s-]+|$)(?:the\s+(?:month\s+of\s+|year\s+)?|my\s+)?"
    r"(?:sometime\s+in\s+|some\s+time\s+in\s+)?$"
)
_SAME_AS = re.compile(
    r"(?<!\w)(?:the\s+)?(?P<same>same)(?:\s+[\w-]+){1,5}\s+(?P<as>as(?:\s+(?:from|on|in|for))?)\s+$"
)
"""What was used then: "the same kettle as yesterday"."""
_ONWARD = re.compile(
    r"\s*(?:(?:on(?:wards?)?|and\s+after|or\s+after)(?=\s*(?:$|[,.;!?]|and\b))|"
    r"(?:and|or)\s+(?:later|newer)(?!\w))"
)
_OLDER = re.compile(
    r"\s*(?:and|or)\s+(?:(?:earlier|older)(?!\w)|"
    r"before(?=\s*(?:$|[^\s\w])|\s+(?:on|at|in|under|beside|near|with)\s+(?:an?|the|my|our)\s))"
)
_NEGATION = re.compile(
    r"(?<!\w)(?:not|(?:(?:any|every)\s+(?:time|month|season|day|week|year)\s+)?except(?:\s+for)?|excluding|other\s+than|"
    r"(?:any(?:\s*(?:time|thing|one|month|season|day|week|year))?|every\w*(?:\s+(?:month|season|year))?|all|always)\s+but|without|neither)\s+(?:the\s+)?(?:ones?\s+)?$"
)
_SAME = {
    "no later than": "until",
    "not after": "until",
    "no earlier than": "since",
    "not before": "since",
    "as of": "since",
    "no older than": "since",
    "not older than": "since",
    "no newer than": "until",
    "not newer than": "until",
    "out of": "of",
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
    if (match := ends_before(_BEFORE, shadow, start)) and draft.free(match.start(), start):
        operator = re.sub(r"\s+", " ", match["op"])
        operator = _SAME.get(operator, operator)
        near = match["near"] is not None and operator in ("before", "after")
        if match["from"] and operator in ("over", "during", "in"):
            operator = "from"
        start, cued = match.start(), True
    if (match := ends_before(_VERB_BEFORE, shadow, start)) and draft.free(match.start(), start):
        used = bool(match["idle"]) or re.fullmatch(_WAS_USED, match["verb"]) is not None
        negated = bool(match["neg"]) or bool(match["idle"])
        start, cued = match.start(), True
    elif used is None and (match := ends_before(_USED_ONE, shadow, start)):
        used = True if _is_the_only_subject(draft, match.start(), start) else None
        cued = cued or used is True
    if (match := ends_before(_SAME_AS, shadow, start)) and draft.free(match.start("as"), start):
        used, start, cued = True, match.start("as"), True
    if (match := ends_before(_NEGATION, shadow, start)) and draft.free(match.start(), start):
        negated, start, cued = True, match.start(), True
        made = ends_before(_VERB_BEFORE, shadow, start)
        if made and not made["neg"] and draft.free(made.start(), start):
            start, used = made.start(), re.fullmatch(_WAS_USED, made["verb"] or "") is not None
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
