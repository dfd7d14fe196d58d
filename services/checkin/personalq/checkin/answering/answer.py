"""Answers to questions: replies in free text, merged into the intent."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from personalq.checkin.answering.options import named_option, option_constraint
from personalq.checkin.answering.question_ids import Asked
from personalq.checkin.answering.refusals import turned_down
from personalq.checkin.answering.same_time import read_by
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.outcome import Option
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.parsing.plain import opening
from personalq.checkin.parsing.text import shadow
from personalq.checkin.vocabulary import Lexicon

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
    r"instead|suits?\s+(?:it|them|me|us)(?:\s+better)?|if\s+(?:possible|you\s+(?:can|have\s+it))|then|for\s+sure|definitely|obviously|"
    r"probably|maybe|actually|really))+[\s.!,]*$"
)
_AS_LONG_AS = re.compile(
    r"^\s*(?:whichever\s+(?:one\s+)?(?:is|was|has|had)\s+(?=\w)|(?:any(?:thing|one)?(?:\s+(?:one|of\s+(?:them|these|those)))?|whichever|either)[\s,]+(?:as\s+"
    r"long\s+as|so\s+long\s+as|provided(?:\s+that)?|if|but(?=\s+(?:it|they|that)\b)|(?:one\s+)?that)\s+(?:(?:it|they|that)"
    r"(?:'s|'re|\s+is|\s+are|\s+has|\s+have)?\s+)?(?:is\s+|has\s+)?)"
)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer of the request: which question, and what the person said."""

    question_id: str
    text: str


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
    option = named_option(plain, asked)
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
    option = None if refused else named_option(shadow(remainder).strip(), asked)
    if option is not None and option.value:
        return _fixed(answered, option, text, context)
    remainder, turned = turned_down(remainder, intent, lexicon, context)
    answered = replace(answered, constraints=(*answered.constraints, *turned))
    if not remainder:
        return answered
    said = parse(remainder, lexicon, context, answering=True)
    return _merged(answered, said, text, context)


def _fixed(intent: Intent, option: Option, text: str, context: Context) -> Intent:
    chosen = option_constraint(option, text, context, excluded=False)
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
        every = tuple(map(_alone, every)) if len(every) == 1 else every
        return replace(intent, constraints=(*kept, *every))
    return replace(intent, constraints=(*kept, chosen))


def _alone(constraint: Constraint) -> Constraint:
    """Of cards that have a look, who names it means the one that has no other, if there is one."""
    return replace(constraint, alone=True) if _is_look(constraint) else constraint


def _is_look(constraint: Constraint) -> bool:
    return constraint.attribute is Attribute.STYLE and constraint.hard and not constraint.excluded


def _refuse(intent: Intent, asked: Asked, text: str, context: Context) -> Intent:
    options = (option_constraint(o, text, context, excluded=True) for o in asked.options if o.value)
    refused = tuple(replace(option, refusal=True) for option in options)
    return replace(intent, constraints=(*intent.constraints, *refused))


def _merged(intent: Intent, said: Intent, text: str, context: Context) -> Intent:
    """What the answer names replaces what the prompt said of the same attribute."""
    new = [replace(c, span=None) for c in said.constraints]
    new = [read_by(intent, c, context) for c in new]
    if sum(_is_look(c) for c in new) == 1:
        new = [_alone(c) for c in new]
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
