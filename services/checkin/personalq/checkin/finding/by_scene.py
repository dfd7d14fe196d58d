"""What nothing read as a wish, where nothing else tells the cards apart.

"Painted with a wet brush and lots of water", "had the heart that shines on its chest": to the
grammar all of it is the picture's. Before a question is asked, it is compared with the cards by
meaning; only what is strikingly like one of them tells anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from personalq.checkin import lexicon
from personalq.checkin.cards import Hit
from personalq.checkin.intent import Attribute, Constraint, Intent, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.reasoning.described import LONGEST_PHRASE, is_explained, wishes

_LEAST = 2
"""Words that say something, of what is compared."""
_MOST = 4
"""Parts of a prompt that are."""


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
    left = (span for span in intent.content if not any(span.meets(each) for each in told))
    found = tuple(filter(None, (_described(span, prompt) for span in left)))
    if not found:
        return None
    known = (c for c in intent.constraints if not _is_read_again(c, found))
    return replace(intent, constraints=(*known, *found[:_MOST]))


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
    text = span.of(prompt).strip(" ,.;:!?-")
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
