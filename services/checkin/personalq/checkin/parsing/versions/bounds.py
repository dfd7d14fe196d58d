"""Ranges, lists and bounds of versions: "v3 or later", "between 3 and 5", "the one before v4"."""

from __future__ import annotations

import re

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, OrderKey, Span
from personalq.checkin.lexicon import wordnet
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.numbers import CARDINAL
from personalq.checkin.parsing.text import ends_before
from personalq.checkin.parsing.versions.numbers import MARK, NUMBER, ONE, SAYS, WORD, number_in

_NUMBER = compile_form(NUMBER)
_LONE_NUMBER = compile_form(rf"{NUMBER}(?! ?(?!of (the|our|my|it)\b)\w)")
HIGHEST = 1000
"""Open upper bounds are spelled out up to this many versions above the lower one."""
_OR = compile_form(" ?(?P<j>, ?(or|and)|,|/|or|and|&) ?(the )?")
_OR_NEXT = compile_form(rf"{NUMBER}( ?, ?{NUMBER})*( ?,)? or {NUMBER}(?! ?(?!of\b)[\w-])")
"""What a comma leads to in a list: "version 11, | 12 or 13"."""
_TO = compile_form(r" ?(to|through|thru|until|till|up to( and including)?|-|\.\.+|…) ?")
_AND = compile_form(" ?and ?")
_TAIL = compile_form(
    rf"((v\.?\s?|{WORD} ?({MARK} ?)?))?(?P<n>{NUMBER})(?! ?(day|week|month|year)s?\b)"
)
REFUSED = compile_form(
    r"(\b(not|nor|neither|except( for)?|excluding|without|but( not)?|other than|anything but|"
    r"apart from|aside from) (the |for )?|"
    r"(?<!don't )(?<!not )(?<!never )(?<!\w)(leave (out|aside)|skip|avoid|exclude|rule out|"
    r"forget( about)?) (the )?|(?<!\w)(leaving (out|aside)|skipping|avoiding|excluding|minus|"
    r"barring) (the )?|"
    r"(?<!\w)(don't|do not|never|rather not) (use|take|pick|choose|want|(give|show|send) (me|us)) "
    r"(the )?)$"
)
_ANY_BEFORE = compile_form(
    r"(?<!\w)((any|every|all|each|whichever|whatever|another|different|most|latest|newest|oldest|"
    r"(any|every)(thing|one|body)?)(?!\w)[^,.;:!?]{0,40}|\w{3,}s( of (mine|ours))?) $"
)
"""Of which "but" takes one out: "any lamp | but v6", "my lamps | but v6"."""
_OTHERWISE = compile_form(
    r"(?<!\w)(not|neither) ((?=[^.;!?]*\d)|(the|my|our) (very )?(newest|latest|oldest|first|last|"
    r"most recent)(?!\w))[^.;!?]{0,40}?,? but (the )?$"
)
"""What is wanted instead: "not v36 but | v14", "not the newest but | v50"."""
_LEAD = compile_form(r"(\b(between|from) )$")

# Comparisons; "the version just before v4" is the neighbour, "before v4" is all of them.
_BELOW = (
    "(pre|before|below|under|beneath|older than|earlier than|prior to|preced(ing|ed|es)|"
    "(less|lower|smaller|fewer) than|<(?!=))"
)
_ABOVE = (
    "(post|after|above|over|past|beyond|follow(ing|ed|s)|succeed(ing|ed|s)|newer than|later than|"
    "more recent than|"
    "(greater|more|higher|larger|bigger) than|>(?!=))"
)
_IS_BELOW = compile_form(_BELOW)
_AT_LEAST = (
    "(since|at least|(no|not) ((older|earlier|lower|less) than|below|under)|from|starting (at|"
    "with|from)|"
    "beginning with|minimum|>=|≥)"
)
_AT_MOST = (
    "(up to( and including)?|until|till|at most|through|(no|not) ((newer|later|higher|more) than|"
    "above|over|past|beyond|after)|not exceeding|maximum|<=|≤)"
)
_BOUNDS = (
    (_AT_LEAST, 0, HIGHEST),
    (_AT_MOST, None, 0),
    (_BELOW, None, -1),
    (_ABOVE, 1, HIGHEST),
)
_BEFORE_ONE = tuple(
    (compile_form(rf"(?<![\w-])(?P<op>{op})[ -](the )?$"), low, high) for op, low, high in _BOUNDS
)
_COMPARED = tuple(
    (
        compile_form(
            rf"(?<!\w)({WORD} ({MARK} )?((that )?{SAYS} |that's |"
            rf"of )?|v ?(?=[<>])|numbered |(the|its|whose) number (is|"
            rf"was) )(?P<op>{op}) ?({MARK} ?)?(v\.?\s?)?(?P<n>{NUMBER})(?!\w){tail}"
        ),
        low,
        high,
    )
    for op, tail, low, high in (
        ("from", r"\s+(?:and\s+)?up(?:wards?)?(?!\w)", 0, HIGHEST),
        (r"(at\s+least|>=|≥)", "", 0, HIGHEST),
        *((op, "", low, high) for op, low, high in _BOUNDS[1:]),
    )
)
_OR_MORE = compile_form(
    r" ?(\+|(or|and) (later|newer|higher|above|up|upwards?|greater|more recent|more|beyond|after|"
    r"over)(?!\w)|upwards?(?= ?($|[^\w\s]|for\b))|at (the very |the )?least(?= ?($|[^\w\s]))|at "
    r"a minimum(?!\w)|on(wards?)?(?= ?($|"
    r"[^\w\s]|of\b|"
    r"in\b|on\b))| (minimum|min)(?= ?($|[^\w\s])))"
)
_OR_LESS = compile_form(
    r" ?((or|and) (earlier|older|lower|below|before|less|under|down(wards?)?)(?!\w)|"
    r"(at most|tops|maximum|max|(is|as) the (maximum|limit))(?= ?($|[^\w\s])))"
)
_REFUSED_BEHIND = compile_form(
    r" ?((is|are) (out(?= ?($|[.,;!?)]))|excluded|not (wanted|it|allowed)|off limits)|aside|"
    r"(doesn't|does not|won't|will not) (count|do)|excepted)(?= ?($|[.,;:!?)]))"
)
"""Behind a version that is not wanted: "v9 | is out", "leave version 17 | aside"."""
_NEIGHBOUR = compile_form(
    f"(((the|one) )({WORD} |one )?(that (came|comes) )?(just |right |straight |immediately |"
    "directly )?|((that|which) (came|comes|was made) )?(just|right|straight|immediately|directly|"
    "next) |(that|which) )$"
)
_NEXT_THING = compile_form(r"(?<!\w)(?P<lead>((the|my|our) )?next) (?!to\b)([\w-]+ ){1,3}$")
"""Before "after": "the next | backpack | after v44"."""
_NEXT = compile_form(r"\b(just|right|straight|immediately|directly|next)\b")
_WANTED = compile_form(r"(\b(i'm|im|we're|am|are|is|going|looking|go) (also |just )?)$")
"""Before an "after" that asks: "I'm after iteration 18"."""
_BOUND = compile_form("([a-z]+ )+than|above|over|past|beyond|below|under|beneath")
"""Of all of them, where nothing says that the next is meant: "the red one newer than v25"."""
_ANY_OF = compile_form(r"(\b(any|all|every|some) (\w+ )?)$")
_FIRST_FEW = compile_form(
    r"((?<!\w)(one )?(of|from|among) )?(?<!\w)(the|my|"
    rf"our) (very )?first (?P<n>{CARDINAL}) versions(?!\w)"
)
"""The first few of all: "one of my first five versions"."""
_BARE_NEIGHBOUR = compile_form(
    r"(?<!\w)version of ([\w-]+ ){1,4}?(that (came|comes) )?(?P<lead>(just|right|straight|"
    rf"immediately|directly) )(?P<op>{_BELOW}|{_ABOVE}) ({MARK} ?)?(?P<n>{NUMBER})(?!\w|:\d|"
    r" ?([ap]\.?m|o'clock)| in the\s)"
)
"""A number beside which the version lies: "the version of the hamster just before 36"."""


def _spelled(low: int | None, high: int, value: int) -> list[int]:
    """The versions of a bound around a value; [0], which none has, when there is none."""
    first = 1 if low is None else value + low
    return list(range(first, value + high + 1)) or [0]


def read_compared(draft: Draft, found: list[Constraint]) -> None:
    """Claim "any version above 20", "a version number below 5"."""
    for pattern, low, high in _COMPARED:
        for match in pattern.finditer(draft.page.shadow):
            value = number_in(match["n"])
            if value is None or not draft.free(match.start(), match.end()):
                continue
            operator = match.start("op")
            _neighbour(draft, operator, low, high)
            start = match.start() if draft.free(match.start(), operator) else operator
            constraint = of_versions(draft, start, match.end(), _spelled(low, high, value))
            draft.add(constraint, selecting=True)
            found.append(constraint)


def read_first_few(draft: Draft, found: list[Constraint]) -> None:
    """Claim "my first five versions" and "the version of the bear just before 36"."""
    shadow = draft.page.shadow
    for match in _FIRST_FEW.finditer(shadow):
        value = number_in(match["n"])
        if value and value > 1 and draft.free(match.start(), match.end()):
            constraint = of_versions(draft, match.start(), match.end(), _spelled(None, 0, value))
            draft.add(constraint, selecting=True)
            found.append(constraint)
    for match in _BARE_NEIGHBOUR.finditer(shadow):
        value = number_in(match["n"])
        if value is None or not draft.free(match.start("lead"), match.end()):
            continue
        low, high = (None, -1) if _IS_BELOW.fullmatch(match["op"]) else (1, HIGHEST)
        start = _neighbour(draft, match.start("op"), low, high)
        constraint = of_versions(draft, start, match.end(), _spelled(low, high, value))
        draft.add(constraint, selecting=True)
        found.append(constraint)


def of_versions(
    draft: Draft, start: int, end: int, values: list[int], *, excluded: bool = False
) -> Constraint:
    """The constraint to any of some versions, said in [start, end)."""
    text = draft.page.text[start:end]
    shown = [str(value) for value in values]
    label = f"version {shown[0]}" if len(shown) == 1 else f"version {shown[0]} to {shown[-1]}"
    if len(shown) > HIGHEST - 1:
        label = f"version {shown[0]} or later"
    if len(shown) == 2:
        label = f"version {shown[0]} or {shown[1]}"
    return Constraint(
        attribute=Attribute.VERSION,
        values=tuple(shown),
        span=Span(start, end),
        text=text,
        label=("not " if excluded else "") + label,
        excluded=excluded,
    )


def extend(draft: Draft, start: int, end: int, value: int) -> Constraint:
    """Take in ranges, lists and comparisons around one version number."""
    shadow = draft.page.shadow
    if ranged := _range(draft, start, end, value):
        return ranged
    for pattern, low, high in _BEFORE_ONE:
        lead = ends_before(pattern, shadow, start)
        if lead is None or (lead["op"] == "from" and not _OR_MORE.match(shadow, end)):
            continue
        if lead["op"] == "after" and ends_before(_WANTED, shadow, lead.start()):
            continue
        more = _OR_MORE.match(shadow, end)
        stop = more.end() if more and low == 0 else end
        first = _neighbour(draft, lead.start(), low, high)
        return of_versions(draft, first, stop, _spelled(low, high, value))
    for pattern, low, high in ((_OR_MORE, 0, HIGHEST), (_OR_LESS, None, 0)):
        if tail := pattern.match(shadow, end):
            return of_versions(draft, start, tail.end(), _spelled(low, high, value))
    values, end = _listed(draft, start, end, value)
    negated = ends_before(REFUSED, shadow, start)
    butted = negated is not None and negated[0].strip() in ("but", "but the")
    if negated and butted and not ends_before(_ANY_BEFORE, shadow, negated.start()):
        negated = None  # "nothing but v35", "not sure of the rest, but v20 it must be"
    if negated and not _OTHERWISE.search(shadow, 0, negated.end()):
        return of_versions(draft, negated.start(), end, values, excluded=True)
    if behind := _REFUSED_BEHIND.match(shadow, end):
        return of_versions(draft, start, behind.end(), values, excluded=True)
    return of_versions(draft, start, end, values)


def _range(draft: Draft, start: int, end: int, value: int) -> Constraint | None:
    """Read "v3 to v5", "between versions 3 and 5"."""
    shadow = draft.page.shadow
    lead = ends_before(_LEAD, shadow, start)
    joint = _TO.match(shadow, end) or (_AND.match(shadow, end) if lead else None)
    tail = _TAIL.match(shadow, joint.end()) if joint else None
    last = number_in(tail["n"]) if tail else None
    if tail is None or last is None or not value < last <= value + HIGHEST:
        return None
    first = lead.start() if lead else start
    versions = list(range(value, last + 1))
    whole = of_versions(draft, first, tail.end(), versions)
    between = lead is not None and lead[0].startswith("between") and len(versions) == 3
    if not between or not _is_of_one(draft, first, tail.end()):
        return whole
    middle = of_versions(draft, first, tail.end(), versions[1:2])  # "the kettle between v1 and v3"
    draft.between = (middle, whole)
    return middle


_OF_SEVERAL = compile_form(
    r"(?<!\w)(any|every|each|best) ((?!(the|a|an|my|our|your|this|that)\b)[\w'-]+ ){0,4}$"
)
"""Before "between v1 and v3": both ends may be meant."""
_OR_BOTH_ENDS = compile_form(
    r" ?,? ?[(]?(inclusive|inclusively|included|whichever|any|(the )?best)(?!\w)"
)
"""The same behind it: "… | , any will do"."""


def _is_of_one(draft: Draft, start: int, end: int) -> bool:
    """Whether a single thing is named right before, and nothing says that the ends may be meant."""
    shadow = draft.page.shadow
    if ends_before(_OF_SEVERAL, shadow, start) or _OR_BOTH_ENDS.match(shadow, end):
        return False
    before = draft.page.word_before(start)
    named = before is not None and (
        draft.nouns_cover(before.index) or before.norm in lexicon.words("selectors")
    )
    return named and before is not None and next(wordnet.singulars(before.norm), None) is None


def _neighbour(draft: Draft, start: int, low: int | None, high: int) -> int:
    """Add an order for "the one just before v4", and return where its words begin."""
    below, above = high == -1, low == 1
    thing = ends_before(_NEXT_THING, draft.page.shadow, start) if above else None
    last = draft.page.word_before(start) if thing else None
    if thing and last and draft.nouns_cover(last.index) and draft.free(*thing.span("lead")):
        _add_nearest(draft, Span(*thing.span("lead")), OrderKey.LOWEST_VERSION)
        return start
    lead = ends_before(_NEIGHBOUR, draft.page.shadow, start)
    if lead and _BOUND.match(draft.page.shadow, start) and not _NEXT.search(lead[0]):
        return start
    if lead is None or not (below or above) or not draft.free(lead.start(), start):
        return start
    if ends_before(_ANY_OF, draft.page.shadow, lead.start()):
        return start
    key = OrderKey.HIGHEST_VERSION if below else OrderKey.LOWEST_VERSION
    _add_nearest(draft, Span(lead.start(), start), key)
    return start


def _add_nearest(draft: Draft, span: Span, key: OrderKey) -> None:
    nearest = Constraint(
        attribute=Attribute.ORDER,
        order=key,
        rank=1,
        span=span,
        text=span.of(draft.page.text).strip(),
        label="the highest" if key is OrderKey.HIGHEST_VERSION else "the lowest",
    )
    draft.add(nearest, selecting=True)


def _listed(draft: Draft, start: int, end: int, value: int) -> tuple[list[int], int]:
    """The versions of "v3, v4 or v5" and where the list ends; "and" joins only a plural."""
    shadow = draft.page.shadow
    plural = re.match(r"\w+s\b", shadow[start:end]) is not None
    negated = ends_before(REFUSED, shadow, start) is not None  # "any but v1 and v15"
    values, joined, position = [value], False, end
    while joint := _OR.match(shadow, position):
        tail = ONE.match(shadow, joint.end())
        said = joint["j"]
        goes_on = plural or _OR_NEXT.match(shadow, joint.end()) is not None
        if tail is None and (goes_on or "or" in said):
            tail = (_NUMBER if goes_on else _LONE_NUMBER).match(shadow, joint.end())
        other = number_in(tail[0]) if tail else None
        ends = said in ("and", "&", ", and") and not (plural or negated)
        if tail is None or other is None or ends or (negated and "the" in joint[0]):
            break
        values.append(other)
        position = tail.end()
        joined = joined or said != "," or plural
    return (values, position) if joined else ([value], end)
