"""Answers to questions: stateless question ids, and replies in free text merged into the intent."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from personalq.chassis.errors import InvalidInput
from personalq.checkin import calendar
from personalq.checkin.intent import Attribute, Constraint, Intent, Interval
from personalq.checkin.lexicon import canonical
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.outcome import Option
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.numbers import number
from personalq.checkin.parsing.parse import parse
from personalq.checkin.parsing.plain import opening
from personalq.checkin.parsing.text import shadow
from personalq.checkin.parsing.times.point import day_interval
from personalq.checkin.refusals import turned_down
from personalq.checkin.vocabulary import Lexicon

_VERSION = "q1"
_MAX_TOKEN = 16384
_ANY = re.compile(
    r"(?:(?:oh|ok|okay|well|um|hm+|just|really|honestly|sorry|i|it|they|that|they're|"
    r"it's|that's|all|to|me|for|please|then|is|are|so|do|would|be)[\s,]+)*"
    r"(?:any(?:\s+of\s+(?:them|these|those))?(?:\s+(?:one|will\s+do|is\s+fine|works|"
    r"would\s+do|would\s+work))?|any(?:thing|one)|either(?:\s+(?:one|of\s+them|"
    r"is\s+fine|works|way))?|whatever|whichever(?:\s+one)?|"
    r"(?:does\s?n'?t|don'?t|do\s+not|does\s+not)\s+(?:really\s+)?(?:matter|care|mind)|"
    r"no\s+(?:real\s+|strong\s+)?(?:preference|idea)|not\s+(?:sure|fussy|picky)|"
    r"(?:you\s+|u\s+|just\s+)(?:choose|pick|decide)(?:\s+(?:one|any|for\s+me))?|(?:your|"
    r"dealer's)\s+(?:choice|pick|call)|"
    r"surprise\s+me|all\s+the\s+same|same\s+to\s+me|both(?:\s+(?:are\s+)?(?:fine|ok|"
    r"okay))?|up\s+to\s+you|no\s+matter|all(?:\s+of\s+them)?|idk|don'?t\s+know|"
    r"(?:i\s+)?guess\s+any)"
    r"(?:[\s,.!]+(?:please|thanks|really|one|is\s+fine|will\s+do|works|fine|"
    r"you\s+like|you\s+want|you\s+prefer|to\s+me|is\s+good|then|for\s+me|"
    r"works\s+for\s+me))*[\s.!,]*"
)
_NEITHER = re.compile(
    r"\s*(?:no(?:ne)?(?:\s+of\s+(?:them|these|those|the\s+above|the\s+others?|the\s+rest))?|"
    r"neither(?:\s+(?:one|of\s+them|of\s+these))?|nope|nah)(?!\w)(?:\s*[,.;:!-]+|"
    r"\s+but|\s*$)\s*"
)
_CHATTER = re.compile(
    r"^\s*(?:(?:um+|uh|oh|ah|er|hm+|well|ok|okay|yes|yeah|yep|sure|sorry|actually|"
    r"please|i\s+(?:think|guess|meant?|want(?:ed)?|would\s+like|prefer|"
    r"was\s+thinking\s+of)|i'd\s+(?:like|prefer|say|go\s+(?:for|with))|make\s+(?:it|"
    r"that)|go\s+(?:for|with)|let's\s+(?:go\s+with|take)|take|use|give\s+me|probably|"
    r"maybe|(?:without\s+(?:a\s+)?|no\s+)doubt|it's|it\s+is|that\s+would\s+be|definitely)(?:[\s,:!.-]+|$))+"
)
_CORRECTED = re.compile(
    r"^.*?\b(?:no,?\s+(?:wait|sorry)|wait,?\s+no|(?:no,\s+)?sorry,?\s+(?:no|i\s+mean(?:t)?|should\s+have\s+said)|"
    r"no,\s+i\s+mean|i\s+mean\s+rather|or\s+rather|scratch\s+that)[\s,:]+(?=\w)"
)
"""What is taken back: "the puffer... no wait, | the windbreaker"."""
_CLOSING = re.compile(
    r"(?:[\s,]+(?:please|thanks|thank\s+you|i\s+(?:think|guess|suppose|mean|believe)|of\s+course|"
    r"instead|if\s+(?:possible|you\s+(?:can|have\s+it))|then|for\s+sure|definitely|obviously|"
    r"probably|maybe|actually|really))+[\s.!,]*$"
)
_AS_LONG_AS = re.compile(
    r"^\s*(?:any(?:thing|one)?(?:\s+(?:one|of\s+(?:them|these|those)))?|whichever|either)[\s,]+(?:as\s+"
    r"long\s+as|so\s+long\s+as|provided(?:\s+that)?|if|but(?=\s+(?:it|they|that)\b)|(?:one\s+)?that)\s+(?:(?:it|they|that)"
    r"(?:'s|'re|\s+is|\s+are|\s+has|\s+have)?\s+)?(?:is\s+|has\s+)?"
)
_INDEX = re.compile(
    r"(?:the\s+)?(?:(?:option|choice|number|no\.?|\#)\s*(?P<a>\d|one|two|three|four)|"
    r"(?:option|choice|answer)\s+(?P<letter>[a-d])|(?P<middle>middle|one\s+in\s+the\s+middle)"
    r"(?:\s+(?:one|option))?|"
    r"(?P<b>first|second|third|fourth|1st|2nd|3rd|4th)(?:\s+(?:one|option|choice))?|"
    r"(?P<c>\d)\.?|(?P<d>former|latter|last\s+option))(?:\s+please)?"
)

_DAY_ALONE = re.compile(r"(?:^|\s)the\s+(?:\d{1,2}(?:st|nd|rd|th)|[a-z-]+(?:st|nd|rd|th))$")


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer of the request: which question, and what the person said."""

    question_id: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a question id says was asked."""

    attribute: Attribute
    options: tuple[Option, ...]


def question_id(
    asked: Attribute, options: Sequence[Option], *, scope: Sequence[str], key: str
) -> str:
    """A token that says what was asked, bound to the request it was asked about.

    `scope` is the tenant, the prompt, the pool and the earlier answers: an id from elsewhere does
    not verify. The token is readable and holds no checkpoint id.
    """
    payload = json.dumps(
        [asked.value, [[option.label, option.value] for option in options if option.value]],
        ensure_ascii=False,
        separators=(",", ":"),
    ).encode()
    body = base64.urlsafe_b64encode(payload).decode().rstrip("=")
    return f"{_VERSION}.{body}.{_mac(payload, scope, key)}"


def read_question_id(token: str, *, scope: Sequence[str], key: str) -> Asked:
    """What was asked.

    Raises:
        InvalidInput: the id is not one of this request's questions.
    """
    wrong = InvalidInput(
        "this question was not asked about this prompt: send the question_id of the clarification "
        "unchanged, with the same prompt, candidate_ids and earlier answers",
        field="answers.question_id",
    )
    parts = token.split(".")
    if len(parts) != 3 or parts[0] != _VERSION or len(token) > _MAX_TOKEN:
        raise wrong
    try:
        payload = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
    except (binascii.Error, ValueError):
        raise wrong from None
    if not hmac.compare_digest(_mac(payload, scope, key).encode(), parts[2].encode()):
        raise wrong
    try:
        attribute, options = json.loads(payload)
        asked = Attribute(attribute)
        return Asked(
            attribute=asked,
            options=tuple(Option(label=str(a), attribute=asked, value=str(b)) for a, b in options),
        )
    except (ValueError, TypeError):
        raise wrong from None


def _mac(payload: bytes, scope: Sequence[str], key: str) -> str:
    digest = hashlib.blake2b(key=key.encode()[:64], digest_size=12)
    for part in (payload, *(item.encode("utf-8", "surrogatepass") for item in scope)):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def merge_answer(
    intent: Intent, asked: Asked, text: str, lexicon: Lexicon, context: Context
) -> Intent:
    """The intent after an answer. Pure.

    An option fixes the attribute asked about; free text is parsed like a prompt, and what it names
    replaces what the prompt said of the same attribute.
    """
    answered = replace(intent, answered=True, contradiction=None)
    text = text[opening(text, lambda _: False, lambda _: True).end :] or text
    if taken_back := _CORRECTED.match(shadow(text)):
        text = text[taken_back.end() :]
    plain = shadow(text).strip()
    if _ANY.fullmatch(plain):
        return replace(answered, settled=True)
    option = _option(plain, asked)
    if option is not None:
        if not option.value:
            return replace(answered, settled=True)
        return _fixed(answered, option, text, context)
    rest = _AS_LONG_AS.sub("", _CHATTER.sub("", plain))
    offset = len(shadow(text)) - len(shadow(text).lstrip()) + len(plain) - len(rest)
    refused = _NEITHER.match(rest)
    if refused:
        answered = _refuse(answered, asked, text, context)
        offset += refused.end()
    closing = _CLOSING.search(shadow(text), offset)
    remainder = text[offset : closing.start() if closing else len(text)]
    if not remainder.strip(" .,!?"):
        return answered
    if _ANY.fullmatch(shadow(remainder).strip()) and not refused:
        return replace(answered, settled=True)
    option = None if refused else _option(shadow(remainder).strip(), asked)
    if option is not None and option.value:
        return _fixed(answered, option, text, context)
    remainder, turned = turned_down(remainder, intent, lexicon, context)
    answered = replace(answered, constraints=(*answered.constraints, *turned))
    if not remainder:
        return answered
    said = parse(remainder, lexicon, context, answering=True)
    return _merged(answered, said, text, context)


def _option(plain: str, asked: Asked) -> Option | None:
    """The option an answer names by label, by value or by its place."""
    stripped = re.sub(r"^(?:the|a|an)\s+|\s+(?:one|version|please|thanks)$|[\s.!?,]+$", "", plain)
    stripped = re.sub(r"\s+(?:one|version|please)$", "", stripped).strip(" .!?,")
    for option in asked.options:
        names = {shadow(option.label), shadow(option.value)}
        names |= {re.sub(r"^(?:the|a|an)\s+", "", name) for name in names}
        if plain in names or stripped in names:
            return option
    if stripped == "any of them" or plain == "any of them":
        return Option(label="any of them", attribute=asked.attribute, value="")
    match = _INDEX.fullmatch(plain.rstrip(" .!"))
    if match is None:
        return None
    if match["d"]:
        index = 1 if match["d"] == "former" else len(asked.options)
    elif match["letter"]:
        index = "abcd".index(match["letter"]) + 1
    elif match["middle"]:
        index = (len(asked.options) + 1) // 2 if len(asked.options) % 2 else 0
    else:
        index = number(match["a"] or match["b"] or match["c"]) or 0
    if asked.attribute is Attribute.VERSION and not match["a"]:
        return None
    return asked.options[index - 1] if 1 <= index <= len(asked.options) else None


def _constraint(option: Option, text: str, context: Context, *, excluded: bool) -> Constraint:
    """The hard constraint an option stands for."""
    base = Constraint(
        attribute=option.attribute,
        values=(option.value,),
        excluded=excluded,
        text=text,
        label=("not " if excluded else "") + option.label,
    )
    if option.attribute is Attribute.CREATED_AT:
        interval = _month(option.value, context)
        return replace(base, values=(), intervals=(interval,), label=f"trained in {option.label}")
    if option.attribute in (Attribute.STYLE, Attribute.ENVIRONMENT):
        tags = tuple(re.split(r", |\|", option.value))
        return replace(base, values=tags)
    return base


def _month(value: str, context: Context) -> Interval:
    try:
        year, month = (int(part) for part in value.split("-"))
        return calendar.month(year, month, context.zone)
    except ValueError:
        return Interval()


def _fixed(intent: Intent, option: Option, text: str, context: Context) -> Intent:
    chosen = _constraint(option, text, context, excluded=False)
    kept = tuple(
        c
        for c in intent.constraints
        if c.attribute is not option.attribute
        or c.excluded
        or (c.attribute is Attribute.DESCRIPTION and not c.hard)
    )
    if option.attribute is Attribute.STYLE:
        # a card with several styles has them all: one constraint each
        looks = (tuple(look.split("|")) for look in option.value.split(", "))
        every = tuple(replace(chosen, values=tags) for tags in looks)
        return replace(intent, constraints=(*kept, *every))
    return replace(intent, constraints=(*kept, chosen))


def _refuse(intent: Intent, asked: Asked, text: str, context: Context) -> Intent:
    options = (_constraint(o, text, context, excluded=True) for o in asked.options if o.value)
    refused = tuple(replace(option, refusal=True) for option in options)
    return replace(intent, constraints=(*intent.constraints, *refused))


def _merged(intent: Intent, said: Intent, text: str, context: Context) -> Intent:
    """What the answer names replaces what the prompt said of the same attribute."""
    new = [replace(c, span=None) for c in said.constraints]
    new = [_same_month(_same_year(c, intent, context), intent, context) for c in new]
    named = {c.attribute for c in new if c.hard and not c.excluded}
    wanted = {(c.attribute, value) for c in new if not c.excluded for value in c.values}
    if any(c.attribute is Attribute.ORDER for c in new):
        named.add(Attribute.ORDER)
    kept = tuple(
        c
        for c in intent.constraints
        if c.attribute not in named
        or (c.excluded and not any((c.attribute, value) in wanted for value in c.values))
        or (c.attribute is Attribute.DESCRIPTION and not c.hard)
    )
    if not new and (digits := re.search(r"\d{1,4}", text)):
        new = [
            Constraint(
                attribute=Attribute.VERSION,
                values=(digits[0],),
                text=text,
                label=f"version {digits[0]}",
            )
        ]
    unknown = None if Attribute.SUBJECT in named else intent.unknown_subject
    return replace(
        intent,
        constraints=(*kept, *new),
        unknown_subject=unknown,
        problems=(*intent.problems, *said.problems),
    )


def among_those_asked_about(before: Intent, after: Intent, *, details: bool) -> tuple[Intent, ...]:
    """How an answer may be read of the cards it was asked about, likeliest first.

    Args:
        details: also as details of the subject, where the words are places or looks elsewhere.

    A noun in an answer may be another subject ("the cat") or a detail of this one ("flags"). What
    comes after a refusal ("neither, the oil painting") may still mean an option: its label did not
    say everything.
    """
    readings = _readings(before, after)
    if details:
        readings = tuple(other for reading in readings for other in reading.readings())
    refused = [c for c in after.constraints if c.refusal]
    if not refused or not _adds(before, after):
        return readings
    return *readings, *(reading.without(*refused) for reading in readings)


def _adds(before: Intent, after: Intent) -> bool:
    """Whether an answer says more than what it refuses."""
    known = before.constraints
    return any(not c.refusal and all(c is not k for k in known) for c in after.constraints)


def _readings(before: Intent, after: Intent) -> tuple[Intent, ...]:
    subjects = before.all(Attribute.SUBJECT)
    named = [c for c in after.all(Attribute.SUBJECT) if all(c is not s for s in subjects)]
    if not named or not subjects or any(c.excluded for c in named):
        return (after,)
    told = {c.text for c in named}
    kept = tuple(
        replace(c, coarse=c.coarse and c.text not in told)
        for c in after.constraints
        if all(c is not n for n in named)
    )
    details = tuple(
        Constraint(
            attribute=Attribute.DESCRIPTION,
            values=tuple(shadow(c.text).split()),
            text=c.text,
            hard=False,
            label=c.text,
        )
        for c in named
        if all(c.text != k.text for k in kept) and not _is_what_it_is(c, subjects)
    )
    if not details and all(any(c is k for k in before.constraints) for c in kept):
        return (after,)
    return after, replace(after, constraints=(*subjects, *kept, *details))


def _is_what_it_is(named: Constraint, subjects: Sequence[Constraint]) -> bool:
    """Whether a noun only says what the subject is anyway: "the white bird" of a parrot."""
    general = canonical(named.text)
    return any(
        is_kind_of(canonical(c.text), general) and not is_kind_of(general, canonical(c.text))
        for c in subjects
    )


def _same_year(constraint: Constraint, intent: Intent, context: Context) -> Constraint:
    """Read "the May one" after "from 2025" as May 2025, else as May of any year.

    The options are versions of several years: what was said before tells which of them is meant.
    """
    if (
        constraint.attribute is not Attribute.CREATED_AT
        or constraint.fallback is None
        or not constraint.fallback.months
    ):
        return constraint
    earlier = intent.first(Attribute.CREATED_AT)
    if earlier is None or earlier.interval is None or earlier.excluded:
        months = constraint.fallback.months
        label = constraint.fallback.label.removesuffix(" of an earlier year")
        return replace(constraint, intervals=(Interval(),), months=months, label=label)
    hull = earlier.interval
    begin = constraint.intervals[0].start
    if begin is None:
        return constraint
    local = begin.astimezone(context.zone)
    for year in range(local.year, local.year - 10, -1):
        interval = calendar.month(year, local.month, context.zone)
        starts_inside = hull.start is None or interval.end is None or interval.end > hull.start
        ends_inside = hull.end is None or interval.start is None or interval.start < hull.end
        if starts_inside and ends_inside:
            label = f"trained {calendar.describe(interval, context.zone)}"
            return replace(constraint, intervals=(interval,), label=label)
    return constraint


def _same_month(constraint: Constraint, intent: Intent, context: Context) -> Constraint:
    """Read "the one from the 24th" after "the May dragon" as 24 May."""
    earlier = intent.first(Attribute.CREATED_AT)
    day = constraint.interval
    if constraint.attribute is not Attribute.CREATED_AT or constraint.fallback or not day:
        return constraint
    if earlier is None or earlier.excluded or earlier.interval is None:
        return constraint
    hull = earlier.interval
    if not (day.start and day.end and hull.start and hull.end) or hull.holds(day.start):
        return constraint
    if _DAY_ALONE.search(constraint.text.casefold()) is None:
        return constraint
    said, first = day.start.astimezone(context.zone).day, hull.start.astimezone(context.zone)
    found = []
    for later in range(12):
        month = calendar.add_months(first.date().replace(day=1), later)
        interval = day_interval(month.year, month.month, said, context.zone)
        if interval is not None and hull.holds(interval.start):
            found.append(interval)
    if not found:
        return constraint
    label = "trained " + " or ".join(calendar.describe(i, context.zone) for i in found)
    return replace(constraint, intervals=tuple(found), label=label)
