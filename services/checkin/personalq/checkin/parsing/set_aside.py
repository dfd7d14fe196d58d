"""Set aside before all else: titles (a novel "The Last House in April") and labelled scenes; and
last of all what may be the scene's.
"""

from __future__ import annotations

import re
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import ends_before

_QUOTED = re.compile(r"\"[^\"]+\"|“[^”]+”")
_LABELLED = compile_form(
    "(^|(?<=[.;!?,(|/-]) ?)(the )?(setting|scene|scenery|scenario|background|backdrop|location|"
    "surroundings|lighting|mood|composition|weather)((?P<colon> ?:)|"
    r" (is|will be|should be)\b)((?!\s(but|so|and (it's|the|use|i|take)|use|using|trained|made|"
    r"version)\b)[^,.;!?|/()])+"
)
"""What a label says is to be seen: "Setting: a workbench"."""
_HEDGE = compile_form(
    r"(?<=\w) (if (i('m| am) not mistaken|(i (remember|recall)|memory serves( me)?)"
    r"( (it )?(right|rightly|correctly|well))?)|i (think|believe|guess|reckon))(?= ?($|[,.;!?]))"
)
"""How sure somebody is of what they say: "dark gray | if I remember right"."""
_FORGOTTEN = compile_form(
    "(^|(?<=[.;!?,] ))(sorry,? )?(i|we)('ve| have)? ((always|just|completely) )?(forgot|"
    "forgotten|lost|"
    "(don't|do not|can't|cannot|can not|no longer) (remember|recall|know)) (the|its|which|what) "
    "(exact )?(number|version|name|id|trigger|date)( (it was|number|name))?(( ?,)? (but|only|just)"
    r"(?!\w))?(?! ?\d)"
)
"""What somebody does not know: "I forgot the number, but | it was the white teapot"."""
_HEADING = compile_form(
    r"(^|(?<=[.;!?] ))((the|my|our|an?|next|new|first|second|another|picture|image|photo|poster|"
    r"postcard|illustration|sticker|cover|print|art|painting|drawing) ){0,2}(request|idea|brief|"
    "wish|need|job|task|prompt|concept|theme) ?:"
)
"""What only says that a wish follows: "Poster idea: my clock"."""
_WITH = compile_form(r"(?<=\w) ?, ?(and )?with ((an?|the|its|some|lots of|two|three|several) )?$")
"""Behind a comma it may as well lead to the picture: "the latest tower, with | a rainbow"."""
_WRITTEN = compile_form(r"(?<!\w)(saying|says|reads|reading|sign|banner|poster|spelling|spells) $")
"""Before what is to be read in the picture: "a sign saying | "Latest arrivals""."""
_THERE = compile_form(" (written|printed|painted|embroidered|stitched|carved|engraved)(?!\\w)")
"""The same behind it: ""Version 2.0" | written on it"."""
_SHORTEST = 3
"""Words; fewer may name what is asked for: the "oil painting" one."""


def set_titles_aside(draft: Draft) -> None:
    """Keep words in quotation marks as content, where they are not all that is said."""
    for match in _QUOTED.finditer(draft.page.text):
        around = draft.page.text[: match.start()] + draft.page.text[match.end() :]
        shadow = draft.page.shadow
        written = _WRITTEN.search(shadow, 0, match.start()) or _THERE.match(shadow, match.end())
        if (len(match[0].split()) >= _SHORTEST or written) and any(c.isalpha() for c in around):
            span = Span(*match.span())
            if draft.free(span.start, span.end):
                draft.mark(span)
                draft.bystanders.append(span)


def set_scenes_aside(draft: Draft) -> None:
    """Keep what is labelled as the scene as content, where a subject is named besides."""
    for hedge in _HEDGE.finditer(draft.page.shadow):
        if draft.free(*hedge.span()):
            draft.mark(Span(*hedge.span()), selecting=True)
    asides = [(match, False) for match in _HEADING.finditer(draft.page.shadow)]
    asides += [(match, True) for match in _FORGOTTEN.finditer(draft.page.shadow)]
    for match, selecting in asides:
        span = Span(*match.span())
        if draft.free(span.start, span.end):
            draft.mark(span, selecting=selecting)
            draft.bystanders.append(span)
    named = [draft.page.words[noun.first] for noun in draft.nouns if noun.entry.subjects]
    for match in _LABELLED.finditer(draft.page.shadow):
        span = Span(*match.span())
        besides = [word for word in named if not span.meets(word.span)]
        if match["colon"] and besides and besides[0] is not named[0]:
            continue  # "scene: my dog on a beach; a chair near it"
        if besides and draft.free(span.start, span.end):
            draft.mark(span)
            draft.bystanders.append(span)


def leave_to_the_scene(draft: Draft) -> None:
    """Where an order or a use chooses, the first thing that comes with it behind a comma may be the
    scene: only the words of a card say otherwise.
    """
    chosen = {c.attribute for c in draft.constraints if c.hard and not c.excluded}
    if chosen.isdisjoint((Attribute.ORDER, Attribute.LAST_USED_AT)):
        return
    draft.constraints[:] = [
        replace(c, scene=True) if _may_be_the_scenes(draft, c) else c for c in draft.constraints
    ]


def _may_be_the_scenes(draft: Draft, constraint: Constraint) -> bool:
    if constraint.attribute is not Attribute.DESCRIPTION or constraint.span is None:
        return False
    surely = constraint.hard or constraint.excluded or not constraint.phrase
    start = constraint.span.start
    return not surely and ends_before(_WITH, draft.page.shadow, start) is not None
