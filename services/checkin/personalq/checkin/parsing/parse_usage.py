"""How often it was used: "never used", "used only once", "used more than ten times"."""

from __future__ import annotations

import re

from personalq.chassis.forms import compile_form, form
from personalq.chassis.screening import Screened
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.numbers import CARDINAL, number
from personalq.checkin.parsing.text import ends_before
from personalq.checkin.parsing.versions.numbers import SAYS

_WHO = (
    "((that|which|i|we|you|she|he|they|nobody|no one|noone|was|were|is|has|have|had|been|we've|"
    "i've) ){0,5}"
)
_USED = (
    r"(used|employed|touched|rendered( with)?(?! (as|in|like)\b)|run|ran|tried|opened|picked|"
    "worked with|"
    "generated with|put to (use|work)|got(ten)? (a?round )?to (using|trying|use|try))"
)
_SINCE = (
    r"(?! (at all (this|last|in|since|during|for)\b|since(?! ((i|we|you) (trained|made|built|"
    r"tuned)|it was (trained|made|built)))|after|"
    r"before(?! ?($|[,.;:!?()-]|(on|under|beside|near|behind|with)\b))|in|during|"
    r"on(?! (an?|the) (?!\d|weekend|\w+day)\w)|last|this|for|yesterday|today|(the )?longest|"
    r"lately|recently)\b)"
)
_ENDS = r"( (so far|before|yet|at all|any\s?more))?(?= ?($|[,.;!?)]))"
_NOT_YET = (
    "(never( (been|was|were|got|gets|once|actually|yet|even|ever))*|"
    "(haven't|hasn't|have not|has not|had not|wasn't|was not|not)( (been|ever|yet|once|actually))*)"
)
_AT_ANY_TIME = (
    "( (to this day|to date|so far|before|yet|at all|once|even once|by anyone|by anybody))?"
)
_NO_USES = form(
    f"{_WHO}{_NOT_YET}~{_USED}{_AT_ANY_TIME}{_SINCE}",
    "(that |which )?(nobody|no one|no-one)('s| has| have)? (ever )?"
    f"({_USED}( yet)?{_SINCE}|uses{_ENDS})",
    r"((still )?unused|un-?touched|untried|not yet used|never[\s-]used|yet to be used|"
    r"(i|we)('ve| have) yet to (use|try|open)( even once)?|zero[\s-]use(?=\s)|"
    f"(is )?(still )?waiting for (its|the|a) first use){_SINCE}",
    rf"(?<=,\s)(zero|no) (uses?|renders){_ENDS}",
    r"(?<!longest\s)without( any| a single)? (uses?|renders?)\b(?! of\b)",
    r"(zero|no) (uses|renders) so far",
    rf"(i|we|nobody) (have )?never {_USED}{_ENDS}",
    "(i|we)('ve| have) yet to (use|try|run) for the first time",
    "(but )?not once did (i|we) (ever )?(use|run|try) it",
    r"(with|((that|which) )?(has|had|shows)) (no|zero) (uses?|renders?)\b",
    "(with )?(an? |its )?(use|usage) count (of|is|at) (zero|0)",
)
_NEVER = compile_form(rf"(?<![\w-])(?<!longest\s){_NO_USES}(?!\w)")
_AT_ALL = compile_form(
    rf"(?<![\w-])((of )?(those|the ones|all) )(i|we)('ve| have) (ever )?{_USED}( at all)?(?!\w)|"
    r"(?<![\w-])(that|which) (has|have|had|was|were|got) (actually |even )*("
    rf"(ever been|been ever) {_USED}(?! (in|as|for|on|with)\b)|"
    rf"(ever )?(been )?{_USED} (at all|(at least|even) once))(?!\w)"
)
_COUNT = rf"({CARDINAL}|(a )?dozen(?! more\b))"
_TIMES = f"((?P<once>once|twice|thrice)|(?P<n>{_COUNT}) (single )?times?)"
_OR_MORE_BEHIND = (
    r"(?P<plus>(\+| (or|and) (more|higher|above|over|beyond|upwards?)| at least| minimum| at "
    r"minimum)(?!\w))"
)
_OR_LESS_BEHIND = (
    r"(?P<max>( (or|and) (less|fewer|lower|below|under)| at (the )?most| tops| maximum| at "
    r"maximum)(?!\w))"
)
_BEHIND = f"({_OR_MORE_BEHIND}|{_OR_LESS_BEHIND})?"
_BOUND = (
    "((?P<least>at least|(no|not) (less|fewer) than|a minimum of|>=|≥)|"
    "(?P<most>at most|up to|(no|not) more than|a maximum of|<=|≤)|"
    "(?P<more>more( often)? than|over|above|in excess of|beyond|>)|"
    "(?P<fewer>(less|fewer) than|under|below|<)|"
    "(only|just|exactly|precisely|but|a (total|sum) of)?) ?"
)
_COUNTED = compile_form(
    rf"(?<![\w-]){_WHO}(only |just )?(ever )?(been )?{_USED} (it )?{_BOUND}"
    rf"{_TIMES}{_BEHIND}( (so far|in total|ever))?(?P<some>,? but not never)?(?!\w)"
)
_USES = r"(recorded |total )?(uses?|renders)(?! of (?!(the|my|our|it)\b))"
_HAS_USES = compile_form(
    rf"(?<![\w-])(with|((that|which) )?(has|had|shows|counts)|having) {_BOUND}"
    rf"(?P<n>{_COUNT}) (recorded |total )?(uses?|renders|runs(?= (behind it|so far|on record|to "
    rf"its name))){_BEHIND}( (so far|in total|in all|to date|on record|behind it|to its "
    r"name))?(?!\w)"
)
"""As a thing it has: "with exactly 140 uses so far"."""
_AT_LEAST = compile_form(
    rf"(?<![\w-])(?=(at|no|more|over|above|less|fewer|under|below|up)\b){_BOUND}"
    rf"(?P<n>{_COUNT}) {_USES}(?!\w)"
)
_OR_MORE = compile_form(
    rf"(?<![\w-])((with|has|having) )?(?P<n>{CARDINAL}) ?(?P<plus>(or more|\+|plus)) {_USES}(?!\w)"
)
"""The same with nothing before it: "at least 250 uses", "300 or more uses"."""
_TIMES_USED = compile_form(
    rf"(?<![\w-])(?=(at|no|not|more|over|above|less|fewer|under|below|up|in)\b){_BOUND}{_TIMES} "
    r"(used|employed)(?!\w)"
)
"""The other way around: "more than fifty times used"."""
_BARE_USES = compile_form(
    rf"(?<![\w-])(?P<n>{_COUNT}|(a )?single) (recorded |total )?(uses?|renders)(?! of\b)"
    rf"({_OR_MORE_BEHIND}|{_OR_LESS_BEHIND}| (on record|so far|in total))(?!\w)"
)
"""With its bound behind it: "fifty uses or more", "a single use on record"."""
_OFTEN = compile_form(
    rf"(?<![\w-])((?P<more>more)|(?P<fewer>less)) often than (?P<n>{CARDINAL}) times(?!\w)"
)
"""With the subject in between: "I've used the goat | more often than 45 times"."""
_IS_USED = compile_form(r"(?<!\w)(used|ran|run|rendered)(?!\w)")
_USES_ARE = compile_form(
    rf"(?<![\w-])(with (an? |the )?|its |the )?((use|usage)~count|(number|count) of uses) "
    rf"?({SAYS} |of |: ?|= ?|stands at )?{_BOUND}"
    rf"(?P<n>{_COUNT}){_BEHIND}(?!\w)(?! (to|and|or|-) ?\d)"
)
"""As a form has it: "use count 9"."""
_LIMIT_IS = compile_form(
    r"(?<![\w-])((?P<least>minimum)|(?P<most>maximum)) ((number|count) of )?"
    rf"(uses|usage|use count) ?({SAYS} |of |: ?|= ?)?(?P<n>{_COUNT})(?!\w)"
)
"""Its bound so: "minimum number of uses: 300"."""
_BETWEEN = Screened(
    compile_form(
        rf"(?<![\w-]){_WHO}(been )?({_USED} )?(it )?(at least|no (fewer|less) than) "
        rf"((?P<low_once>once|twice)|(?P<low>{CARDINAL})( times)?)( (but|and|yet))? "
        rf"((?P<below>fewer|less) than|at most|no more than) (?P<high>{CARDINAL}) times(?!\w)"
    )
)
"""Bounded from both sides: "used at least once but fewer than 80 times"."""
_RANGE = Screened(
    compile_form(
        r"(?<![\w-])((with|has|having|had|somewhere|anywhere) )*(between|from)? ?"
        rf"(?P<low>{CARDINAL}) (and|to|through|-) (?P<high>{CARDINAL}) {_USES}(?!\w)",
        r"(?<![\w-])((the|its) )?(use|usage)~count (is )?((somewhere|anywhere) )?(between|from) "
        rf"(?P<from>{CARDINAL}) (and|to|-) (?P<to>{CARDINAL})(?!\w)",
        rf"(?<![\w-]){_WHO}(been )?(used|employed) (it )?((somewhere|anywhere) )?((between|from) )?"
        rf"(?P<least>{CARDINAL}) (and|to|-) (?P<most>{CARDINAL}) times(?!\w)",
    )
)
_ONCE = {"once": 1, "twice": 2, "thrice": 3}
_LEFT_OUT = compile_form(
    r"(?<!\w)(leaving (aside|out)|ignoring|excluding|except( for)?|(apart|aside) from|"
    "not counting|other than|besides|minus|bar(ring)?|(forget|skip)(ping|ting)?|"
    r"disregard(ing)?) ((all|the|those|any|ones?|models?|versions?|checkpoints?) )*([\w-]+ )?$"
)
"""Before what was never used, where it is not wanted: "leaving aside the cakes | never used"."""

_NONE_BUT = compile_form(
    r"(^|[,.;:!?] ?|\b(want|need|like) )(i (don't|do not) want|no|none of|nothing|"
    r"ignore)( (any|the|my|our|an?|all|everything))*( [\w-]+){0,2},? ?$"
)
"""Before it, where nothing else is wanted: "no owl | except the never used one"."""
_BUT = ("except", "other", "apart", "aside", "besides")


_BOUNDED = tuple(
    (pattern, Screened(pattern))
    for pattern in (
        _LIMIT_IS,
        _COUNTED,
        _TIMES_USED,
        _BARE_USES,
        _OFTEN,
        _HAS_USES,
        _USES_ARE,
        _OR_MORE,
        _AT_LEAST,
    )
)


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
    for match in _BETWEEN.finditer(shadow):
        low = _ONCE.get(match["low_once"] or "") or number(match["low"] or "") or 0
        high = (number(match["high"]) or 0) - (match["below"] is not None)
        if low <= high and draft.free(match.start(), match.end()):
            _claim(draft, match, low, high, f"used {low} to {high} times")
    for match in _RANGE.finditer(shadow):
        low = number(match["low"] or match["from"] or match["least"]) or 0
        high = number(match["high"] or match["to"] or match["most"]) or 0
        if low < high and draft.free(match.start(), match.end()):
            _claim(draft, match, low, high, f"used {low} to {high} times")
    for pattern, said in _BOUNDED:
        for match in said.finditer(shadow):
            if pattern is _OFTEN and not _IS_USED.search(shadow, 0, match.start()):
                continue
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
    said = match.groupdict()
    written = said["n"] or ""
    count = _ONCE.get(said.get("once") or "") or number(written) or 12 * ("dozen" in written)
    count = count or int("single" in written)
    times = f"{count} time" if count == 1 else f"{count} times"
    if said.get("least") or said.get("plus"):
        return count, None, f"used {times} or more"
    if said.get("more"):
        return count + 1, None, f"used more than {times}"
    if said.get("most") or said.get("max"):
        return 0, count, f"used at most {times}"
    if said.get("fewer"):
        return int(said.get("some") is not None), max(count - 1, 0), f"used fewer than {times}"
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
