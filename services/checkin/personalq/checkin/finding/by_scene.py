"""What nothing read as a wish, where nothing else tells the cards apart.

"Painted with a wet brush and lots of water", "had the heart that shines on its chest": to the
grammar all of it is the picture's. Before a question is asked, it is compared with the cards by
meaning; only what is strikingly like some of them tells anything, but for what stands right behind
the subject where the scene is told before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.cards import Hit
from personalq.checkin.intent import Attribute, Constraint, Intent, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.reasoning.descriptions.fits import is_explained
from personalq.checkin.reasoning.descriptions.wishes import LONGEST_PHRASE, wishes

_LEAST = 2
"""Words that say something, of what is compared."""
_MOST = 4
"""Parts of a prompt that are."""
_OPENS_SCENE = compile_form(
    r"\W*(in|on|at|by|under|beside|next to|near|inside|during|with)\s", flags=re.IGNORECASE
)
"""Before the subject it says that the scene has been told."""
_TELLING = {"in", "on", "off", "like", "as", "surrounded", "without", "for", "than", "up", "down"}
_PLACING = "|".join(sorted(lexicon.words("prepositions") - _TELLING))
_WISHED = compile_form(
    "^(i|we) (wish|want|would (like|love)) (to (see|have|get|show) )?((it|him|her|them) )?(?=\\w)",
    flags=re.IGNORECASE,
)
"""Who speaks, and no part of the picture: "I wish to see it | under a rainbow"."""
_OPENS_PLACE = compile_form(rf"\W*({_PLACING})\s", flags=re.IGNORECASE)
"""Behind the subject it says where or when it is, and nothing of itself."""


def with_scene(intent: Intent, prompt: str, hits: Sequence[Hit]) -> Intent | None:
    """The intent with what it left for the picture as descriptions; None where that is nothing.

    Args:
        hits: what a card of these says in words needs no second reading.
    """
    told = [
        constraint.span
        for constraint in intent.all(Attribute.DESCRIPTION)
        if constraint.span is not None and _is_explained(constraint, intent, hits)
    ]
    left = [span for span in intent.content if not any(span.meets(each) for each in told)]
    found = tuple(filter(None, (_described(span, prompt) for span in left)))
    if not found:
        return None
    found = _attached(intent, found, left, prompt)
    known = (c for c in intent.constraints if not _is_read_again(c, found))
    return replace(intent, constraints=(*known, *found[:_MOST]))


def _attached(
    intent: Intent, found: tuple[Constraint, ...], left: Sequence[Span], prompt: str
) -> tuple[Constraint, ...]:
    """What stands right behind the subject tells of it, where the scene is told before: "beside a
    river: the castle | surrounded by water".
    """
    subject = intent.first(Attribute.SUBJECT)
    if subject is None or subject.span is None:
        return found
    of_it = [span for span in left if _stands_behind(subject.span, span, prompt)]
    others = (span.of(prompt) for span in left if span.end <= subject.span.start)
    if not any(_OPENS_SCENE.match(text) for text in others):
        return found
    return tuple(replace(c, scene=False) if c.span in of_it else c for c in found)


def _stands_behind(subject: Span, span: Span, prompt: str) -> bool:
    """Whether nothing is between the subject and what was left, and that is no mere place."""
    direct = span.start >= subject.end and not prompt[subject.end : span.start].strip()
    return direct and _OPENS_PLACE.match(span.of(prompt)) is None


def _is_read_again(constraint: Constraint, found: Sequence[Constraint]) -> bool:
    """Whether it may as well be the scene, which is compared as a whole now."""
    vague = constraint.attribute is Attribute.DESCRIPTION and constraint.coarse
    if not vague or constraint.span is None:
        return False
    return any(each.span is not None and each.span.meets(constraint.span) for each in found)


def _is_explained(constraint: Constraint, intent: Intent, hits: Sequence[Hit]) -> bool:
    alone = replace(intent, constraints=(constraint,))
    return any(is_explained(wish, hits) for wish in wishes(alone))


def _described(span: Span, prompt: str) -> Constraint | None:
    text = _WISHED.sub("", span.of(prompt).strip(" ,.;:!?-"))
    words = tuple(canonical(word) for word in text.split())
    told = tuple(word for word in words if word and not lexicon.is_no_noun(word))
    if len(told) < _LEAST or len(text) > LONGEST_PHRASE:
        return None
    return Constraint(
        attribute=Attribute.DESCRIPTION,
        values=told,
        hard=False,
        phrase=True,
        said=(text,),
        action=True,
        scene=True,
        span=span,
        text=text,
        label=text,
    )
