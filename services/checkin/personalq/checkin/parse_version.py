"""Version numbers in every spelling: "v2", "ver. 7", "mark II", "the 47th", "v3 or later"."""

from __future__ import annotations

import re
from dataclasses import replace

from personalq.checkin import lexicon
from personalq.checkin.draft import Draft
from personalq.checkin.intent import Attribute, Constraint, OrderKey, Span
from personalq.checkin.numbers import CARDINAL, CARDINALS, ORDINAL, ROMAN, number
from personalq.checkin.text import ends_before

HIGHEST = 1000
"""Open upper bounds are spelled out up to this many versions above the lower one."""

_WORD = (
    r"(?:versions?|vers?\.?|revisions?|rev\.?|iterations?|releases?|builds?|checkpoints?|"
    r"ckpts?|models?|editions?|variants?|marks?|mk\.?)"
)
_MARK = r"(?:numbered|numbers?|num\.?|no\.?|nr\.?|\#|№)"
_DIGITS = r"(?:\d{1,4}(?:\.0)?(?![.\d]*\d))"
_NUMBER = rf"(?:{_DIGITS}(?!\w)|{CARDINAL})"
_V = rf"(?:v\.?\s?[-_]?\s?{_DIGITS})"
_NUMBERED = (
    rf"(?:(?:whose\s+)?{_WORD}\s*(?:[:=]|is\s)?\s*(?:{_MARK}\s*(?:is\s+|:\s*)?)?-?\s*"
    rf"(?:{_NUMBER}|{ROMAN}))"
)
_ONE = re.compile(
    rf"(?<![\w.])(?:{_V}|{_NUMBERED}|(?P<plain>(?!no\s+[a-z]){_MARK}\s?{_NUMBER})|r\d{{1,3}}|"
    rf"take\s+{_NUMBER}(?=\s*(?:$|[^\w\s]|of\b)))(?!\w)"
)
_ORDINAL_VERSION = re.compile(
    rf"(?<!\w)(?:(?P<n>{ORDINAL})[\s-]+(?:version|ver\.?|revision|iteration|build|release|"
    rf"edition|checkpoint|model|variant|take|one)|version\s+the\s+(?P<m>{ORDINAL}))(?!\w)"
)
_BARE_ORDINAL = re.compile(rf"(?:(?<!\w)(?:the|my|our)\s+|^[\s\"“]*)(?P<n>{ORDINAL})(?!\w)")
_OR = re.compile(r"\s*(?P<j>,\s*(?:or|and)|,|/|or|and|&)\s*(?:the\s+)?")
_TO = re.compile(r"\s*(?:to|through|thru|until|till|up\s+to|-)\s*")
_AND = re.compile(r"\s*and\s*")
_TAIL = re.compile(
    rf"(?:(?:v\.?\s?|{_WORD}\s*(?:{_MARK}\s*)?))?(?P<n>{_NUMBER})(?!\s*(?:day|week|month|year)s?\b)"
)
_BASE = re.compile(r"(?:stable[\s-]?diffusion|sd|sdxl|flux|dall-?e|midjourney)[\s-]*$")
_NOT = re.compile(
    r"(?:\b(?:not|except(?:\s+for)?|excluding|without|but(?:\s+not)?|other\s+than|"
    r"anything\s+but|apart\s+from|aside\s+from)\s+(?:the\s+|for\s+)?)$"
)
_LEAD = re.compile(r"(?:\b(?:between|from)\s+)$")
_UNIT = re.compile(
    r"\s*(?:st|nd|rd|th)?\s*(?:days?|weeks?|months?|years?|quarters?|half|century|"
    r"floor|street|avenue|birthday|anniversary|of)\b"
)
_FROM_END = re.compile(
    r"[\s-]*(?:(?:ever|most|newest|latest|oldest|earliest|youngest|highest|lowest|to|last|before|least)\b|"
    r"(?:\w+\s+){0,2}from\s+(?:the\s+)?(?:last|end|left|right|top|bottom|front|back)\b)"
)
_EVER_MADE = re.compile(
    r"(?:\s+(?!in\b|on\b|at\b|with\b)\w+){0,2}?\s+(?:(?:that\s+)?(?:i|we)(?:'ve|\s+have)?\s+"
    r"(?:ever\s+)?(?:trained|made|built|created|did|finished)|ever\s+(?:trained|made|built)|"
    r"(?:that\s+was\s+)?(?:trained|made|built|created))(?!\w)"
)

# Comparisons; "the version just before v4" is the neighbour, "before v4" is all of them.
_BELOW = (
    r"(?:before|below|under|beneath|older\s+than|earlier\s+than|prior\s+to|preceding|"
    r"(?:less|lower|smaller|fewer)\s+than)"
)
_ABOVE = (
    r"(?:after|above|over|past|beyond|following|newer\s+than|later\s+than|"
    r"more\s+recent\s+than|(?:greater|more|higher|larger|bigger)\s+than)"
)
_AT_LEAST = (
    r"(?:since|at\s+least|(?:no|not)\s+(?:older|earlier|lower|less)\s+than|from|"
    r"starting\s+(?:at|with|from)|beginning\s+with|minimum)"
)
_AT_MOST = (
    r"(?:up\s+to|until|till|at\s+most|through|(?:no|not)\s+(?:(?:newer|later|higher|more)\s+than|"
    r"above|over|past|beyond|after)|"
    r"maximum)"
)
_BOUNDS = (
    (_AT_LEAST, 0, HIGHEST),
    (_AT_MOST, None, 0),
    (_BELOW, None, -1),
    (_ABOVE, 1, HIGHEST),
)
_BEFORE_ONE = tuple(
    (re.compile(rf"(?<![\w-])(?P<op>{op})\s+(?:the\s+)?$"), low, high) for op, low, high in _BOUNDS
)
_COMPARED = tuple(
    (
        re.compile(
            rf"(?<!\w){_WORD}\s+(?:{_MARK}\s+)?(?:(?:that\s+)?(?:is|are|was)\s+|that's\s+|of\s+)?"
            rf"(?P<op>{op})\s+(?:{_MARK}\s*)?(?:v\.?\s?)?(?P<n>{_NUMBER})(?!\w)"
        ),
        low,
        high,
    )
    for op, low, high in (
        (r"(?:at\s+least|from(?=\s+(?:v\.?\s?)?\w+\s+up))", 0, HIGHEST),
        *_BOUNDS[1:],
    )
)
_OR_MORE = re.compile(
    r"\s*(?:\+|(?:or|and)\s+(?:later|newer|higher|above|up|upwards?|greater|more\s+recent|more|"
    r"beyond|after|over)(?!\w)|on(?:wards?)?(?=\s*(?:$|[^\w\s]|of\b|in\b|on\b)))"
)
_OR_LESS = re.compile(
    r"\s*(?:or|and)\s+(?:earlier|older|lower|below|before|less|under|down(?:wards?)?)(?!\w)"
)
_NEIGHBOUR = re.compile(
    rf"(?:(?:(?:the|one)\s+)(?:{_WORD}\s+|one\s+)?(?:that\s+(?:came|comes)\s+)?"
    rf"(?:just\s+|right\s+|straight\s+|immediately\s+|directly\s+)?|"
    rf"(?:(?:that|which)\s+(?:came|comes|was\s+made)\s+)?"
    rf"(?:just|right|straight|immediately|directly|next)\s+)$"
)
_WANTED = re.compile(r"(?:\b(?:i'm|im|we're|am|are|is|going|looking|go)\s+(?:also\s+|just\s+)?)$")
"""Before an "after" that asks: "I'm after iteration 18"."""
_ANY_OF = re.compile(r"(?:\b(?:any|all|every|some)\s+(?:\w+\s+)?)$")
_WORN = re.compile(
    r"(?:^|\s)(?P<before>\w+\s+)?(?:with|wearing|in|at|on|has|having|holding|sporting|bearing|"
    r"showing|reading|saying)\s+(?:(?:a|the|its|his|her|their)\s+)?(?:\w+\s+)?$"
)
_ON_A_SHIRT = re.compile(r"\s*(?:painted\s+|printed\s+|written\s+)?on\s+(?:its|his|her|their)\b")
_THINKING = ("believe", "guess", "reckon", "suppose", "assume", "mean", "liked", "love", "loved")
"""What somebody does who says "the third version I …", beside the verbs of scenes."""
_FIRST_FEW = re.compile(
    rf"(?:(?<!\w)(?:one\s+)?(?:of|from|among)\s+)?(?<!\w)(?:the|my|our)\s+(?:very\s+)?first\s+"
    rf"(?P<n>{CARDINAL})\s+versions(?!\w)"
)
"""The first few of all: "one of my first five versions"."""
_BARE_NEIGHBOUR = re.compile(
    rf"(?<!\w)version\s+of\s+(?:[\w-]+\s+){{1,4}}?(?:that\s+(?:came|comes)\s+)?"
    rf"(?P<lead>(?:just|right|straight|immediately|directly)\s+)(?P<op>{_BELOW}|{_ABOVE})\s+"
    rf"(?:{_MARK}\s*)?(?P<n>{_NUMBER})(?!\w|:\d|\s*(?:[ap]\.?m|o'clock)|\s+in\s+the\s)"
)
"""A number beside which the version lies: "the version of the hamster just before 36"."""
_MAKERS = re.compile(r"(?:builds?|releases?|models?|marks?|take)\b")


def parse_version(draft: Draft) -> None:
    """Claim version numbers; two different ones without "or" are a contradiction."""
    found: list[Constraint] = []
    _compared(draft, found)
    _first_few(draft, found)
    shadow = draft.page.shadow
    position = 0
    while match := _ONE.search(shadow, position):
        position = match.end()
        if not draft.free(match.start(), match.end()) or not _is_version(draft, match):
            continue
        value = _value(match[0])
        if value is None or _is_me(draft, match):
            continue
        constraint = _extend(draft, match.start(), match.end(), value)
        position = max(position, constraint.span.end if constraint.span else position)
        draft.add(constraint, selecting=True)
        found.append(constraint)
    _ordinals(draft, found)
    _after_noun(draft, found)
    _contradictions(draft, found)


def _contradictions(draft: Draft, found: list[Constraint]) -> None:
    wanted = [c for c in found if not c.excluded]
    common = set(wanted[0].values).intersection(*(c.values for c in wanted)) if wanted else set()
    if len(wanted) < 2 or common:
        return
    said = " and ".join(c.text for c in wanted)
    draft.problems.append(f"{said} contradict each other")
    draft.contradiction = Attribute.VERSION
    values = tuple(dict.fromkeys(value for c in wanted for value in c.values))
    kept = [c for c in draft.constraints if c.attribute is not Attribute.VERSION or c.excluded]
    draft.constraints[:] = kept
    draft.constraints.append(
        Constraint(
            attribute=Attribute.VERSION,
            values=values,
            span=wanted[0].span,
            text=wanted[0].text,
            label="version " + " or ".join(values),
        )
    )


def _is_version(draft: Draft, match: re.Match[str]) -> bool:
    """Not a base model, not a number on a shirt, not things that are built or taken."""
    shadow = draft.page.shadow
    if ends_before(_BASE, shadow, match.start()):
        return False
    if match["plain"]:
        if _ON_A_SHIRT.match(shadow, match.end()):
            return False
        worn = ends_before(_WORN, shadow, match.start())
        selector = worn and (worn["before"] or "").strip() in lexicon.words("selectors")
        return not worn or bool(selector) or _numbers_subject(draft, match.start())
    if _MAKERS.match(match[0]):
        after = draft.page.word_at(match.end())
        if after is None or not after.joined or after.hyphen:
            return True
        links = after.norm in lexicon.words("prepositions") or after.norm in lexicon.words("links")
        return links or draft.noun_at(after.index) is not None
    return True


def _is_me(draft: Draft, match: re.Match[str]) -> bool:
    """Whether the number is a person: "the vase model I had open", but not "mark I, in a tent"."""
    following = draft.page.word_at(match.end())
    said = match[0].split()[-1] if match[0].split() else ""
    return (
        said == "i"
        and following is not None
        and following.joined
        and (
            following.norm in (*_THINKING, *lexicon.words("links"))
            or following.norm in lexicon.verb_forms()
        )
    )


def _numbers_subject(draft: Draft, start: int) -> bool:
    """Whether a number stands behind the only subject named so far: "a hall with backpack #13"."""
    before = draft.page.word_before(start)
    told = [noun for noun in draft.nouns if noun.entry.subjects]
    return before is not None and bool(told) and told[0].last == before.index + 1


def _value(text: str) -> int | None:
    digits = re.search(r"\d{1,4}", text)
    if digits:
        return number(digits[0])
    for pattern in (CARDINAL, ROMAN):
        if tail := re.search(rf"(?<!\w)({pattern})$", text):
            return number(tail[0])
    return None


def _spelled(low: int | None, high: int, value: int) -> list[int]:
    """The versions of a bound around a value; [0], which none has, when there is none."""
    first = 1 if low is None else value + low
    return list(range(first, value + high + 1)) or [0]


def _compared(draft: Draft, found: list[Constraint]) -> None:
    """Claim "any version above 20", "a version number below 5"."""
    for pattern, low, high in _COMPARED:
        for match in pattern.finditer(draft.page.shadow):
            value = _value(match["n"])
            if value is None or not draft.free(match.start(), match.end()):
                continue
            operator = match.start("op")
            _neighbour(draft, operator, low, high)
            start = match.start() if draft.free(match.start(), operator) else operator
            constraint = _constraint(draft, start, match.end(), _spelled(low, high, value))
            draft.add(constraint, selecting=True)
            found.append(constraint)


def _first_few(draft: Draft, found: list[Constraint]) -> None:
    """Claim "my first five versions" and "the version of the bear just before 36"."""
    shadow = draft.page.shadow
    for match in _FIRST_FEW.finditer(shadow):
        value = _value(match["n"])
        if value and value > 1 and draft.free(match.start(), match.end()):
            constraint = _constraint(draft, match.start(), match.end(), _spelled(None, 0, value))
            draft.add(constraint, selecting=True)
            found.append(constraint)
    for match in _BARE_NEIGHBOUR.finditer(shadow):
        value = _value(match["n"])
        if value is None or not draft.free(match.start("lead"), match.end()):
            continue
        low, high = (None, -1) if re.fullmatch(_BELOW, match["op"]) else (1, HIGHEST)
        start = _neighbour(draft, match.start("op"), low, high)
        constraint = _constraint(draft, start, match.end(), _spelled(low, high, value))
        draft.add(constraint, selecting=True)
        found.append(constraint)


def _constraint(
    draft: Draft, start: int, end: int, values: list[int], *, excluded: bool = False
) -> Constraint:
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


def _extend(draft: Draft, start: int, end: int, value: int) -> Constraint:
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
        return _constraint(draft, first, stop, _spelled(low, high, value))
    for pattern, low, high in ((_OR_MORE, 0, HIGHEST), (_OR_LESS, None, 0)):
        if tail := pattern.match(shadow, end):
            return _constraint(draft, start, tail.end(), _spelled(low, high, value))
    values, end = _listed(draft, start, end, value)
    if negated := ends_before(_NOT, shadow, start):
        return _constraint(draft, negated.start(), end, values, excluded=True)
    return _constraint(draft, start, end, values)


def _range(draft: Draft, start: int, end: int, value: int) -> Constraint | None:
    """Read "v3 to v5", "between versions 3 and 5"."""
    shadow = draft.page.shadow
    lead = ends_before(_LEAD, shadow, start)
    joint = _TO.match(shadow, end) or (_AND.match(shadow, end) if lead else None)
    tail = _TAIL.match(shadow, joint.end()) if joint else None
    last = _value(tail["n"]) if tail else None
    if tail is None or last is None or not value < last <= value + HIGHEST:
        return None
    first = lead.start() if lead else start
    return _constraint(draft, first, tail.end(), list(range(value, last + 1)))


def _neighbour(draft: Draft, start: int, low: int | None, high: int) -> int:
    """Add an order for "the one just before v4", and return where its words begin."""
    lead = ends_before(_NEIGHBOUR, draft.page.shadow, start)
    below, above = high == -1, low == 1
    if lead is None or not (below or above) or not draft.free(lead.start(), start):
        return start
    if ends_before(_ANY_OF, draft.page.shadow, lead.start()):
        return start
    key = OrderKey.HIGHEST_VERSION if below else OrderKey.LOWEST_VERSION
    span = Span(lead.start(), start)
    nearest = Constraint(
        attribute=Attribute.ORDER,
        order=key,
        rank=1,
        span=span,
        text=span.of(draft.page.text),
        label="the highest" if below else "the lowest",
    )
    draft.add(nearest, selecting=True)
    return start


def _listed(draft: Draft, start: int, end: int, value: int) -> tuple[list[int], int]:
    """The versions of "v3, v4 or v5" and where the list ends; "and" joins only a plural."""
    shadow = draft.page.shadow
    plural = re.match(r"\w+s\b", shadow[start:end]) is not None
    negated = ends_before(_NOT, shadow, start) is not None  # "any but v1 and v15"
    values, joined, position = [value], False, end
    while joint := _OR.match(shadow, position):
        tail = _ONE.match(shadow, joint.end())
        said = joint["j"]
        bare = plural or "or" in said
        if tail is None and bare:
            tail = re.compile(rf"{_NUMBER}(?!\s*\w)" if not plural else _NUMBER).match(
                shadow, joint.end()
            )
        other = _value(tail[0]) if tail else None
        ends = said in ("and", "&", ", and") and not (plural or negated)
        if tail is None or other is None or ends or (negated and "the" in joint[0]):
            break
        values.append(other)
        position = tail.end()
        joined = joined or said != "," or plural
    return (values, position) if joined else ([value], end)


def _ordinals(draft: Draft, found: list[Constraint]) -> None:
    """Read "the 47th" as a version, else as a place counted from the oldest."""
    shadow = draft.page.shadow
    for pattern in (_ORDINAL_VERSION, _BARE_ORDINAL):
        for match in pattern.finditer(shadow):
            name = "n" if match["n"] else "m"
            value = number(match[name])
            if value is None or value < 2 or not draft.free(match.start(), match.end()):
                continue
            end = match.end()
            if _FROM_END.match(shadow, end):
                continue
            bare = pattern is _BARE_ORDINAL
            if bare and (_UNIT.match(shadow, end) or not _stands_for_version(draft, end)):
                continue
            if bare and not shadow[: match.start(name)].strip() and not _before_head(draft, end):
                continue
            start = match.start(name) if bare or name == "n" else match.start()
            oldest = Constraint(
                attribute=Attribute.ORDER,
                order=OrderKey.OLDEST,
                rank=value,
                span=Span(start, end),
                text=draft.page.text[start:end],
                label=f"number {value} from the oldest",
            )
            if _EVER_MADE.match(shadow, end):
                draft.add(oldest, selecting=True)
                continue
            constraint = _constraint(draft, start, end, [value])
            if not match[name][0].isdigit():
                constraint = replace(constraint, fallback=oldest)
            draft.add(constraint, selecting=True)
            found.append(constraint)


_COUNTED_FROM = ("before", "after", "from", "to", "or", "by", "past")
_GOING_ON = ("with", "that", "which", "while", "please")
_O_CLOCK = re.compile(
    r"\s*(?:am|pm|a\.m|p\.m|o'clock|:\d|at\s+night|in\s+the\s+(?:morning|afternoon|evening|night))"
)
_SPELLED = re.compile(
    r"(?!(?:zero|one)(?![\w-]))"
    rf"(?:{'|'.join(sorted(map(re.escape, CARDINALS), key=len, reverse=True))})(?![\w-])"
)
"""A number in words; "the bear one" is no first version."""
_COUNTS = re.compile(rf"(?<![\w-])(?:{'|'.join(w for w in CARDINALS if w.isalpha())})(?!\w)(?!-)")


def _after_noun(draft: Draft, found: list[Constraint]) -> None:
    """A bare number right after the subject: "bear 4", "bear-4", "bear IV"."""
    words = draft.page.words
    for noun in draft.nouns:
        if noun.last >= len(words) or found:
            return
        word = words[noun.last]
        spelled = _SPELLED.match(draft.page.shadow, word.start)
        end = spelled.end() if spelled else word.end
        following = [w for w in words[noun.last + 1 : noun.last + 3] if w.start >= end][:1]
        digits = (word.norm.isdigit() and len(word.norm) <= 3) or spelled
        said = draft.page.text[word.start : end]
        roman = said.isupper() and len(said) > 1 and re.fullmatch(ROMAN, word.norm)
        if not (word.joined and (digits or roman) and draft.is_free(word)):
            continue
        value = number(said.lower())
        if value is None or (
            following and following[0].joined and not _stands_alone(following[0].norm)
        ):
            continue
        if following and following[0].norm in _COUNTED_FROM:
            continue  # "the lamp two before the last"
        if _ON_A_SHIRT.match(draft.page.shadow, end) or _O_CLOCK.match(draft.page.shadow, end):
            continue
        if spelled and len(_COUNTS.findall(draft.page.shadow)) > 1:
            continue  # "robot one and robot two"
        if re.match(r"\.[1-9]|:\d", draft.page.shadow[end:]):
            continue
        constraint = _constraint(draft, word.start, end, [value])
        draft.add(constraint, selecting=True)
        draft.selecting.append(Span(words[noun.last - 1].full_end, word.start))
        found.append(constraint)


def _stands_alone(word: str) -> bool:
    return word in lexicon.words("prepositions") or word in _GOING_ON or word.endswith("ing")


def _before_head(draft: Draft, end: int) -> bool:
    """Whether nothing stands between a count that begins the prompt and what it counts."""
    following = draft.page.word_at(end)
    if following is None or draft.answering:
        return True
    head = following.norm in lexicon.words("selectors") or draft.noun_at(following.index)
    return bool(head) and draft.page.shadow[end : following.start].isspace()


def _stands_for_version(draft: Draft, end: int) -> bool:
    """After "the 47th": the end, punctuation, or the subject itself."""
    following = draft.page.word_at(end)
    if following is None or not following.joined:
        return True
    if following.norm in ("in", "on", "at", "with", "from", "please", "by"):
        return True
    return draft.leads_to_head(following.index, reach=3)
