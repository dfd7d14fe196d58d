"""Answers to questions: replies in free text, merged into the intent."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from personalq.chassis.forms import compile_form
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

_ANY = compile_form(
    "((oh|ok|okay|well|um|hm+|just|really|honestly|sorry|i|it|they|that|they're|it's|that's|all|"
    r"to|me|for|please|then|is|are|so|do|would|be)[\s,]+)*(any( of (them|these|those))?( (one|"
    "will do|is fine|works|would do|would work))?|any(thing|one)|"
    "either( (one|of them|is fine|works|way))?|whatever|whichever( one)?|"
    r"(does\s?n'?t|don'?t|do not|does not) (really )?(matter|care|mind)|"
    "no (real |strong )?(preference|idea)|not (sure|fussy|picky)|"
    "(you |u |just )(choose|pick|decide)( (one|any|for me))?|(your|dealer's) (choice|pick|call)|"
    "surprise me|all the same|same to me|both( (are )?(fine|ok|okay))?|up to you|no matter|"
    r"all( of them)?|idk|don'?t know|(i )?guess any)([\s,.!]+(please|thanks|really|one|is fine|"
    "will do|works|fine|you like|you want|you prefer|to me|is good|then|for me|"
    r"works for me))*[\s.!,]*"
)
_NEITHER = compile_form(
    " ?(no(ne)?( of (them|these|those|the above|the others?|the rest))?|"
    r"neither( (one|of them|of these))?|nope|nah)(?!\w)( ?[,.;:!-]+| but| ?$) ?"
)
_CHATTER = compile_form(
    "^ ?((um+|uh|oh|ah|er|hm+|well|ok|okay|yes|yeah|yep|sure|sorry|actually|please|"
    "i (think|guess|meant?|want(ed)?|would like|prefer|was thinking of)|"
    "i'd (like|prefer|say|go (for|with))|make (it|that)|go (for|with)|let's (go with|take)|take|"
    "use|give me|probably|maybe|(without (a )?|no )doubt|it's|it is|that would be|"
    r"definitely)([\s,:!.-]+|$))+"
)
_CORRECTED = compile_form(
    r"^.*?\b(no,? (wait|sorry)|wait,? no|(no, )?sorry,? (no|i mean(t)?|should have said)|"
    r"no, i mean|but no(?=[,:])|i mean rather|or rather|scratch that)[\s,:]+(?=\w)"
)
"""What is taken back: "the puffer... no wait, | the windbreaker"."""
_CLOSING = compile_form(
    r"([\s,]+(please|thanks|thank you|i (think|guess|suppose|mean|believe)|of course|instead|"
    "suits? (it|them|me|us)( better)?|if (possible|you (can|have it))|then|for sure|definitely|"
    r"obviously|probably|maybe|actually|really))+[\s.!,]*$"
)
_AS_LONG_AS = compile_form(
    r"^ ?(whichever (one )?(is|was|has|had) (?=\w)|"
    r"(any(thing|one)?( (one|of (them|these|those)))?|whichever|either)[\s,]+(as long as|"
    r"so long as|provided( that)?|if|but(?= (it|they|that)\b)|"
    "(one )?that) ((it|they|that)('s|'re| is| are| has| have)? )?(is |has )?)"
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
    return _merged(answered, said, asked, text, context)


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


def _as_offered(constraint: Constraint, asked: Asked) -> Constraint:
    """What an option says in the same words is no time: "the Christmas elf" of two elves."""
    words = shadow(constraint.text).split()
    offered = (shadow(option.label).split() for option in asked.options)
    said = any(set(words).issubset(label) for label in offered)
    if constraint.attribute is not Attribute.CREATED_AT or not (
        said and asked.attribute is Attribute.DESCRIPTION
    ):
        return constraint
    return Constraint(
        attribute=Attribute.DESCRIPTION,
        values=tuple(words),
        hard=False,
        text=constraint.text,
        label=constraint.text,
    )


def _merged(intent: Intent, said: Intent, asked: Asked, text: str, context: Context) -> Intent:
    """What the answer names replaces what the prompt said of the same attribute."""
    new = [_as_offered(replace(c, span=None), asked) for c in said.constraints]
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
