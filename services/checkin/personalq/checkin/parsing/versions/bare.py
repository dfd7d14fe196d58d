"""Versions without the word: "the 47th", "bear 4"."""

from __future__ import annotations

import re
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, OrderKey, Span
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.numbers import CARDINAL, CARDINALS, ORDINAL, ROMAN, number
from personalq.checkin.parsing.text import ends_before
from personalq.checkin.parsing.versions.bounds import HIGHEST, REFUSED, of_versions
from personalq.checkin.parsing.versions.numbers import ON_A_SHIRT

_ORDINAL_VERSION = compile_form(
    rf"(?<!\w)((?P<n>{ORDINAL})( or (the )?(?P<o>{ORDINAL}))?~(version|ver\.?|revision|iteration|"
    rf"build|release|edition|"
    rf"checkpoint|model|variant|take|one)|version the (?P<m>{ORDINAL})|"
    rf"(?P<s>{ORDINAL}) (one )?in (the|our|my|its) series|"
    rf"(?P<w>{CARDINAL})(?= is the ([\w-]+ ){{1,3}}(version|build|release|model|checkpoint) "
    r"(that )?(i|we) (want|need|mean|have in mind))|"
    rf"(?<![^.;:!?] )(?P<c1>{CARDINAL})(?= is the version of (the|my|our) )|"
    rf"(?P<c2>{CARDINAL}) by version( number)?|"
    rf"(?P<c>{CARDINAL}) (is the (version|build|release) (that )?(i|we) "
    r"(want|need|mean|have in mind)|(being|as|for) (the|its) version( number)?))(?!\w)"
)
_BARE_ORDINAL = compile_form(
    rf"((?<!\w)(the|my|our) |^[\s\"“]*)(?P<n>{ORDINAL})"
    rf"( or (the )?(?P<o>{ORDINAL}))?(?!\w)"
)
_UNIT = compile_form(
    " ?(st|nd|rd|th)? ?(days?|weeks?|months?|years?|quarters?|half|century|floor|street|avenue|"
    r"birthday|anniversary|of)\b"
)
_FOR_THIS = compile_form(" for (this|it|that)( (one|picture|scene|image))? ?[:,;]")
"""Behind what a picture is to be made with: "use the 12th for this: a toy"."""
_FROM_END = compile_form(
    r"~?((ever|most|newest|latest|oldest|earliest|youngest|highest|lowest|to|last|before|least)\b|"
    r"(\w+ ){0,2}from (the )?(last|latest|newest|oldest|earliest|most recent|end|left|right|top|"
    r"bottom|front|back)\b)"
)
_EVER_MADE = compile_form(
    r"( (?!in\b|on\b|at\b|with\b)\w+){0,3}? ((that )?(i|we)('ve| have)? (ever )?(trained|made|"
    "built|created|did|finished)|ever (trained|made|built)|"
    r"(that was )?(trained|made|built|created))(?!\w)|"
    r"( [\w'-]+){4,8}? ever (trained|made|built)(?!\w)"
)


_ONWARD = compile_form(r" (on(wards?)?|and (up|later|onwards?))(?= ?($|[,.;:!?]))")
_COUNTING = compile_form(
    "((if you )?count(ing|ed)?|reckoning|numbered) ((back|up|down|backwards?) )?"
    "from the (very )?((?P<new>newest|latest|last|"
    "end|"
    r"most recent)|oldest|first|earliest|start|beginning)( one)?(?!\w)"
)
_COUNT = compile_form(
    rf"(?<![\w-])((?P<n>{ORDINAL})(?![\w-])( in (line|the line|the row|order))?|"
    rf"(#|(number|no\.?) )(?P<m>{CARDINAL}))"
)


def read_counting(draft: Draft) -> None:
    """Claim "the eighth of our hats, counting from the oldest"."""
    shadow = draft.page.shadow
    counting = _COUNTING.search(shadow)
    if counting is None:
        return
    before = [*_COUNT.finditer(shadow, 0, counting.start())][-1:]
    count = before[0] if before else _COUNT.search(shadow, counting.end())
    if count is None or (count["m"] and not before):
        return
    value = number(count["n"] or count["m"])
    if value and draft.free(*counting.span()) and draft.free(*count.span()):
        draft.mark(Span(*counting.span()), selecting=True)
        key = OrderKey.NEWEST if counting["new"] else OrderKey.OLDEST
        draft.add(_place(draft, Span(*count.span()), value, key), selecting=True)


def _place(draft: Draft, span: Span, value: int, key: OrderKey) -> Constraint:
    """What is at some place, counted from an end."""
    return Constraint(
        attribute=Attribute.ORDER,
        order=key,
        rank=value,
        span=span,
        text=span.of(draft.page.text),
        label=f"number {value} from the {key.value}",
    )


def read_ordinals(draft: Draft, found: list[Constraint]) -> None:
    """Read "the 47th" as a version, else as a place counted from the oldest."""
    shadow = draft.page.shadow
    for pattern in (_ORDINAL_VERSION, _BARE_ORDINAL):
        for match in pattern.finditer(shadow):
            name = next(
                group
                for group in ("n", "m", "s", "w", "c", "c1", "c2")
                if match.groupdict().get(group)
            )
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
            oldest = _place(draft, Span(start, end), value, OrderKey.OLDEST)
            if _EVER_MADE.match(shadow, end):
                draft.add(oldest, selecting=True)
                continue
            other = number(match["o"]) if match["o"] else None
            values = [value, *([other] if other else [])]
            if onward := _ONWARD.match(shadow, end):
                values, end = list(range(value, value + HIGHEST)), onward.end()
            refused = ends_before(REFUSED, shadow, start)
            start = refused.start() if refused else start
            constraint = of_versions(draft, start, end, values, excluded=refused is not None)
            if not match[name][0].isdigit() and other is None and onward is None and not refused:
                constraint = replace(constraint, fallback=oldest)
            draft.add(constraint, selecting=True)
            found.append(constraint)


_COUNTED_FROM = ("before", "after", "from", "to", "or", "by", "past")
_BEING = frozenset(["adrift", "afloat", "asleep", "alone", "aboard", "ablaze", "astride", "aloft"])
_GOING_ON = ("with", "that", "which", "while", "please")
_O_CLOCK = compile_form(
    r" ?(am|pm|a\.m|p\.m|o'clock|:\d|at night|in the (morning|afternoon|evening|night))"
)
_LONGEST_FIRST = sorted(map(re.escape, CARDINALS), key=len, reverse=True)
_SPELLED = compile_form(rf"(?!(zero|one)(?![\w-]))({'|'.join(_LONGEST_FIRST)})(?![\w-])")
"""A number in words; "the bear one" is no first version."""
_COUNTS = compile_form(rf"(?<![\w-])({'|'.join(w for w in CARDINALS if w.isalpha())})(?!\w)(?!-)")


def read_after_noun(draft: Draft, found: list[Constraint]) -> None:
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
        if ON_A_SHIRT.match(draft.page.shadow, end) or _O_CLOCK.match(draft.page.shadow, end):
            continue
        if spelled and len(_COUNTS.findall(draft.page.shadow)) > 1:
            continue  # "robot one and robot two"
        if re.match(r"\.[1-9]|:\d", draft.page.shadow[end:]):
            continue
        constraint = of_versions(draft, word.start, end, [value])
        draft.add(constraint, selecting=True)
        draft.selecting.append(Span(words[noun.last - 1].full_end, word.start))
        found.append(constraint)


def _stands_alone(word: str) -> bool:
    return (
        word in lexicon.words("prepositions")
        or word in _GOING_ON
        or word.endswith("ing")
        or word in _BEING
    )


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
    if _FOR_THIS.match(draft.page.shadow, end):
        return True
    return draft.leads_to_head(following.index, reach=3)
