"""Version numbers in every spelling: "v2", "ver. 7", "version twelve", "the 47th"."""

from __future__ import annotations

import re
from dataclasses import replace

from personalq.checkin import lexicon
from personalq.checkin.draft import Draft
from personalq.checkin.intent import Attribute, Constraint, OrderKey, Span
from personalq.checkin.numbers import CARDINAL, ORDINAL, number
from personalq.checkin.text import ends_before

_WORD = (
    r"(?:versions?|vers?\.?|revisions?|rev\.?|iterations?|releases?|builds?|checkpoints?|"
    r"models?|editions?|variants?)"
)
_MARK = r"(?:number|num\.?|no\.?|nr\.?|\#)"
_V = r"(?:v\.?\s?-?\s?\d{1,4}(?![\w.]*\d))"
_NUMBERED = rf"(?:{_WORD}\s*(?:{_MARK}\s*)?-?\s*(?:{CARDINAL}))"
_ONE = re.compile(rf"(?<![\w.])(?:{_V}|{_NUMBERED}|(?:number|no\.|\#)\s?{CARDINAL})(?!\w)")
_ORDINAL_VERSION = re.compile(
    rf"(?<!\w)(?P<n>{ORDINAL})[\s-]+(?:version|ver\.?|revision|iteration|build|release|"
    rf"edition|checkpoint|model|variant|one)(?!\w)"
)
_BARE_ORDINAL = re.compile(rf"(?<!\w)(?:the|my|our)\s+(?P<n>{ORDINAL})(?!\w)")
_DIGITS = re.compile(CARDINAL)
_OR = re.compile(r"\s*(?:,|/|or|and|,\s*or)\s*(?:the\s+)?")
_TO = re.compile(r"\s*(?:to|through|thru|until|-|up to)\s*")
_TAIL = re.compile(rf"(?:v\.?\s?)?(?P<n>{CARDINAL})(?!\s*(?:day|week|month|year)s?\b)")
_UPPER = re.compile(r"(?:(?:before|below|under|older than|earlier than|prior to|less than)\s+)$")
_LOWER = re.compile(r"(?:(?:after|above|newer than|later than|greater than|more than)\s+)$")
_MIN = re.compile(r"(?:(?:since|from|at least|starting (?:at|with|from))\s+)$")
_MAX = re.compile(r"(?:(?:up to|until|at most|through)\s+)$")
_BASE = re.compile(r"(?:stable[\s-]?diffusion|sd|sdxl|flux|dall-?e|midjourney)[\s-]*$")
_NOT = re.compile(r"(?:\b(?:not|except|without|but not|other than|anything but)\s+(?:the\s+)?)$")
_LEAD = re.compile(r"(?:\b(?:between|from)\s+)$")
_HIGHEST = 1000
"""Open upper bounds are spelled out up to this many versions above the lower one."""
_UNIT = re.compile(
    r"\s*(?:st|nd|rd|th)?\s*(?:days?|weeks?|months?|years?|quarters?|half|century|"
    r"floor|street|avenue|of)\b"
)


def parse_version(draft: Draft) -> None:
    """Claim version numbers; two different ones without "or" are a contradiction."""
    shadow = draft.page.shadow
    found: list[Constraint] = []
    position = 0
    while match := _ONE.search(shadow, position):
        position = match.end()
        if not draft.free(match.start(), match.end()) or ends_before(_BASE, shadow, match.start()):
            continue
        value = _value(match[0])
        if value is None:
            continue
        constraint = _extend(draft, match.start(), match.end(), value)
        position = max(position, constraint.span.end if constraint.span else position)
        draft.add(constraint, selecting=True)
        found.append(constraint)
    _ordinals(draft, found)
    _after_noun(draft, found)
    wanted = [c for c in found if not c.excluded]
    if len({c.values for c in wanted}) > 1:
        said = " and ".join(c.text for c in wanted)
        draft.problems.append(f"{said} contradict each other")
        draft.contradiction = Attribute.VERSION
        values = tuple(dict.fromkeys(value for c in wanted for value in c.values))
        kept = [c for c in draft.constraints if c.attribute is not Attribute.VERSION or c.excluded]
        draft.constraints[:] = kept
        first = wanted[0]
        draft.constraints.append(
            Constraint(
                attribute=Attribute.VERSION,
                values=values,
                span=first.span,
                text=first.text,
                label="version " + " or ".join(values),
            )
        )


def _value(text: str) -> int | None:
    digits = _DIGITS.search(re.sub(r"^[a-z.#\s-]*?(?=\d)", "", text))
    if digits:
        return number(digits[0])
    tail = re.search(rf"({CARDINAL})$", text)
    return number(tail[0]) if tail else None


def _constraint(
    draft: Draft, start: int, end: int, values: list[int], *, excluded: bool = False
) -> Constraint:
    text = draft.page.text[start:end]
    shown = [str(value) for value in values]
    label = f"version {shown[0]}" if len(shown) == 1 else f"version {shown[0]} to {shown[-1]}"
    if len(shown) == 2:
        label = f"version {shown[0]} or {shown[1]}"
    return Constraint(
        attribute=Attribute.VERSION,
        values=tuple(shown),
        span=Span(start, end),
        text=text,
        label=label,
        excluded=excluded,
    )


def _extend(draft: Draft, start: int, end: int, value: int) -> Constraint:
    """Take in ranges, lists and comparisons around one version number."""
    shadow = draft.page.shadow
    for pattern, low, high in (
        (_UPPER, 1, value - 1),
        (_LOWER, value + 1, value + _HIGHEST),
        (_MAX, 1, value),
    ):
        if lead := ends_before(pattern, shadow, start):
            return _constraint(draft, lead.start(), end, list(range(low, high + 1)) or [0])
    lead = ends_before(_LEAD, shadow, start)
    joint = _TO.match(shadow, end) or (_OR.match(shadow, end) if lead else None)
    if joint and (tail := _TAIL.match(shadow, joint.end())):
        last = number(tail["n"])
        if last is not None and value < last <= value + _HIGHEST:
            first = lead.start() if lead else start
            return _constraint(draft, first, tail.end(), list(range(value, last + 1)))
    if lead := ends_before(_MIN, shadow, start):
        rest = shadow[end:]
        if "from" not in lead[0] or re.match(r"\s*(?:on|onwards?|up|or later)\b", rest):
            more = re.match(r"\s*(?:onwards?|on|up|or later)\b", rest)
            stop = end + more.end() if more else end
            return _constraint(draft, lead.start(), stop, list(range(value, value + _HIGHEST)))
    values = [value]
    while (joint := _OR.match(shadow, end)) and (again := _ONE.match(shadow, joint.end())):
        other = _value(again[0])
        if other is None or ("or" not in joint[0] and "/" not in joint[0] and "," not in joint[0]):
            break
        values.append(other)
        end = again.end()
    if (joint := re.compile(r"\s*or\s*").match(shadow, end)) and (
        tail := re.compile(rf"(?P<n>{CARDINAL})(?!\s*\w)").match(shadow, joint.end())
    ):
        other = number(tail["n"])
        if other is not None:
            values.append(other)
            end = tail.end()
    if negated := ends_before(_NOT, shadow, start):
        return _constraint(draft, negated.start(), end, values, excluded=True)
    return _constraint(draft, start, end, values)


def _ordinals(draft: Draft, found: list[Constraint]) -> None:
    """Read "the 47th" as a version, else as a place counted from the oldest."""
    shadow = draft.page.shadow
    for pattern in (_ORDINAL_VERSION, _BARE_ORDINAL):
        for match in pattern.finditer(shadow):
            value = number(match["n"])
            if value is None or value < 2 or not draft.free(match.start(), match.end()):
                continue
            end = match.end()
            if re.match(
                r"[\s-]*(?:ever|most|newest|latest|oldest|earliest|to|last)\b", shadow[end:]
            ):
                continue
            bare = pattern is _BARE_ORDINAL
            if bare and (_UNIT.match(shadow, end) or not _stands_for_version(draft, end)):
                continue
            start = match.start("n")
            oldest = Constraint(
                attribute=Attribute.ORDER,
                order=OrderKey.OLDEST,
                rank=value,
                span=Span(start, end),
                text=draft.page.text[start:end],
                label=f"number {value} from the oldest",
            )
            constraint = _constraint(draft, start, end, [value])
            word = match["n"]
            if not word[0].isdigit():
                constraint = replace(constraint, fallback=oldest)
            draft.add(constraint, selecting=True)
            found.append(constraint)


def _after_noun(draft: Draft, found: list[Constraint]) -> None:
    """A bare number right after the subject: "bear 4", "bear-4"."""
    words = draft.page.words
    for noun in draft.nouns:
        if noun.last >= len(words) or found:
            return
        word = words[noun.last]
        following = words[noun.last + 1 : noun.last + 2]
        if not (
            word.joined and word.norm.isdigit() and len(word.norm) <= 3 and draft.is_free(word)
        ):
            continue
        value = number(word.norm)
        if value is None or (
            following and following[0].joined and not _stands_alone(following[0].norm)
        ):
            continue
        constraint = _constraint(draft, word.start, word.end, [value])
        draft.add(constraint, selecting=True)
        draft.selecting.append(Span(words[noun.last - 1].full_end, word.start))
        found.append(constraint)


def _stands_alone(word: str) -> bool:
    return word in lexicon.words("prepositions") or word.endswith("ing")


def _stands_for_version(draft: Draft, end: int) -> bool:
    """After "the 47th": the end, punctuation, or the subject itself."""
    following = draft.page.word_at(end)
    if following is None or not following.joined:
        return True
    if following.norm in ("in", "on", "at", "with", "from", "please", "by"):
        return True
    return draft.leads_to_head(following.index, reach=3)
