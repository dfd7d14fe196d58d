"""How often it was used: "never used", "used only once", "used more than ten times"."""

from __future__ import annotations

import re

from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.numbers import CARDINAL, number
from personalq.checkin.parsing.text import ends_before

_WHO = (
    r"(?:(?:that|which|i|we|you|she|he|they|nobody|no\s+one|noone|was|were|is|has|have|had|been|"
    r"we've|i've)\s+){0,5}"
)
_USED = (
    r"(?:used|employed|touched|rendered(?:\s+with)?|run|ran|tried|opened|picked|worked\s+with|"
    r"generated\s+with|put\s+to\s+use|got(?:ten)?\s+(?:a?round\s+)?to\s+(?:using|trying|use|try))"
)
_SINCE = (
    r"(?!\s+(?:since(?!\s+(?:(?:i|we|you)\s+(?:trained|made|built|tuned)|it\s+was\s+(?:trained|made|built)))|after|before(?!\s*(?:$|[,.;:!?()-]|(?:on|under|beside|near|behind|with)\b))|in|during|on(?!\s+(?:an?|the)\s+(?!\d|weekend|\w+day)\w)|last|this|for|yesterday|today|(?:the\s+)?longest|"
    r"lately|recently)\b)"
)
_ENDS = r"(?:\s+(?:so\s+far|before|yet|at\s+all|any\s?more))?(?=\s*(?:$|[,.;!?)]))"
_NEVER = re.compile(
    rf"(?<![\w-])(?:{_WHO}(?:never(?:\s+(?:been|was|were|got|gets|once|actually|yet|even|ever))*|"
    rf"(?:haven't|hasn't|have\s+not|has\s+not|had\s+not|wasn't|was\s+not|not)(?:\s+(?:been|ever|"
    rf"yet|once|actually))*)[\s-]+{_USED}(?:\s+(?:so\s+far|before|yet|at\s+all|once|even\s+once|by\s+anyone|"
    rf"by\s+anybody))?{_SINCE}|"
    rf"(?:that\s+|which\s+)?(?:nobody|no\s+one|no-one)(?:'s|\s+has|\s+have)?\s+(?:ever\s+)?(?:{_USED}(?:\s+yet)?{_SINCE}|uses{_ENDS})|"
    rf"(?:(?:still\s+)?unused|un-?touched|untried|not\s+yet\s+used|never[\s-]used|"
    rf"yet\s+to\s+be\s+used|(?:i|we)(?:'ve|\s+have)\s+yet\s+to\s+(?:use|try|open)(?:\s+even\s+once)?|zero[\s-]use(?=\s)|(?:is\s+)?(?:still\s+)?waiting\s+for\s+(?:its|the|a)\s+first\s+use){_SINCE}|"
    rf"(?<=,\s)(?:zero|no)\s+(?:uses?|renders){_ENDS}|"
    r"(?:(?<!longest\s)without(?:\s+any)?|(?:with|(?:(?:that|which)\s+)?(?:has|had|shows))\s+(?:no|zero))\s+(?:uses?|renders?)\b|"
    r"(?:with\s+)?(?:an?\s+|its\s+)?(?:use|usage)\s+count\s+(?:of|is|at)\s+(?:zero|0))(?!\w)"
)
_AT_ALL = re.compile(
    r"(?<![\w-])(?:that|which)\s+(?:has|have|had|was|were|got)\s+(?:actually\s+|even\s+)*(?:"
    rf"(?:ever\s+been|been\s+ever)\s+{_USED}(?!\s+(?:in|as|for|on|with)\b)|(?:ever\s+)?(?:been\s+)?{_USED}\s+(?:at\s+all|(?:at\s+least|even)\s+once))(?!\w)"
)
_TIMES = rf"(?:(?P<once>once|twice|thrice)|(?P<n>{CARDINAL})\s+(?:single\s+)?times?)"
_COUNTED = re.compile(
    rf"(?<![\w-]){_WHO}(?:only\s+|just\s+)?(?:ever\s+)?(?:been\s+)?{_USED}\s+(?:it\s+)?"
    rf"(?:(?P<least>at\s+least|no\s+(?:less|fewer)\s+than)|(?P<most>at\s+most|up\s+to|no\s+more\s+than)|"
    rf"(?P<more>more\s+than|over|above)|(?P<fewer>(?:less|fewer)\s+than|under|below)|"
    rf"(?:only|just|exactly|precisely|but|a\s+(?:total|sum)\s+of)?)\s*{_TIMES}"
    r"(?P<plus>\s+or\s+more)?(?:\s+(?:so\s+far|in\s+total|ever))?(?!\w)"
)
_ONCE = {"once": 1, "twice": 2, "thrice": 3}


_LEFT_OUT = re.compile(
    r"(?<!\w)(?:leaving\s+(?:aside|out)|ignoring|excluding|except(?:\s+for)?|(?:apart|aside)\s+from|"
    r"not\s+counting|other\s+than|besides|(?:forget|skip)(?:ping|ting)?|disregard(?:ing)?)\s+"
    r"(?:(?:all|the|those|any|ones?|models?|versions?|checkpoints?)\s+)*(?:[\w-]+\s+)?$"
)
"""Before what was never used, where it is not wanted: "leaving aside the cakes | never used"."""

_NONE_BUT = re.compile(
    r"(?:^|[,.;:!?]\s*|\b(?:want|need|like)\s+)(?:i\s+(?:don't|do\s+not)\s+want|no|none\s+of|nothing|"
    r"ignore)(?:\s+(?:any|the|my|our|an?|all|everything))*(?:\s+[\w-]+){0,2},?\s*$"
)
"""Before it, where nothing else is wanted: "no owl | except the never used one"."""
_BUT = ("except", "other", "apart", "aside", "besides")


def parse_usage(draft: Draft) -> None:
    """Claim statements of how often a checkpoint was used."""
    shadow = draft.page.shadow
    for match in _NEVER.finditer(shadow):
        if draft.free(match.start(), match.end()) and _stands(draft, match):
            if _is_left_out(shadow, match.start()):
                _claim(draft, match, 1, None, "used at least once")
            else:
                _claim(draft, match, 0, 0, "never used")
    for match in _AT_ALL.finditer(shadow):
        if draft.free(match.start(), match.end()):
            _claim(draft, match, 1, None, "used at least once")
    for match in _COUNTED.finditer(shadow):
        if draft.free(match.start(), match.end()):
            _claim(draft, match, *_bounds(match))


def _is_left_out(shadow: str, start: int) -> bool:
    """Whether what was never used is not wanted: "any owl except the | never used ones"."""
    left_out = ends_before(_LEFT_OUT, shadow, start)
    if left_out is None:
        return False
    but = left_out[0].startswith(_BUT)
    return not (but and _NONE_BUT.search(shadow[: left_out.start()]))


def _stands(draft: Draft, match: re.Match[str]) -> bool:
    """A lone "unused" describes a thing of the scene unless it modifies what is chosen."""
    if " " in match[0].strip() or match[0].startswith("never") or draft.answering:
        return True
    following = draft.page.word_at(match.end())
    return following is None or not following.joined or draft.leads_to_head(following.index)


def _bounds(match: re.Match[str]) -> tuple[int, int | None, str]:
    """(fewest, most, in words) of a counted use."""
    count = _ONCE.get(match["once"] or "") or number(match["n"] or "") or 0
    times = f"{count} time" if count == 1 else f"{count} times"
    if match["least"] or match["plus"]:
        return count, None, f"used {times} or more"
    if match["more"]:
        return count + 1, None, f"used more than {times}"
    if match["most"]:
        return 0, count, f"used at most {times}"
    if match["fewer"]:
        return 0, max(count - 1, 0), f"used fewer than {times}"
    return count, count, f"used {times}"


def _claim(draft: Draft, match: re.Match[str], fewest: int, most: int | None, label: str) -> None:
    span = Span(match.start(), match.end())
    draft.add(
        Constraint(
            attribute=Attribute.USE_COUNT,
            uses=(fewest, most),
            span=span,
            text=span.of(draft.page.text),
            label=label,
        ),
        selecting=True,
    )
