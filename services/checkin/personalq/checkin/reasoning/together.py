"""What cards of a subject have one by one, and no card has together.

"The beige poodle", where poodles are black and the beige dog is a corgi; "the wicker chair trained
in the lounge", where wicker chairs were trained elsewhere. A wish that some card of the subject
says of itself is this catalog's own word, and no scene, unless the request speaks of it as of one
("holding a bell", "make it red"); a card that says so much of itself without it does not have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.cards import Hit
from personalq.checkin.intent import Attribute, Constraint, Intent, Span
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.parsing.text import ends_before
from personalq.checkin.reasoning.colours import NAMED
from personalq.checkin.reasoning.descriptions.fits import fit, says, surely_fits
from personalq.checkin.reasoning.descriptions.wishes import Wish, wishes
from personalq.checkin.reasoning.meaning import likest
from personalq.checkin.reasoning.own import FEWEST, NO_KINDS, is_named
from personalq.checkin.reasoning.profiles.profile import pieces_of, profile

_ALIKE = 0.5
"""Likeness from which on a card may have what no word of it says."""
_CLAUSE = compile_form(r"(that|which|who) (?P<does>\w+) ")
_EDITED = compile_form(
    r"(?<!\w)(make|makes|paint|turn|dye|recolou?r|colou?r|tint) ((the|my|our|this|that) )?"
    r"([\w-]+ ){0,3}$",
    flags=re.IGNORECASE,
)
"""Before a subject that is to be pictured otherwise: "make the | chair | red"."""
_SHOWN = compile_form(
    r"(?<!\w)(holding|carrying|like|clutching|eating|watching) ((an?|the|its|his|her|some) )?"
    r"([\w-]+ )?$",
    flags=re.IGNORECASE,
)
"""Before what is seen with the subject: "holding | a cushion", "like | a throne"."""
_WHOSE = compile_form(r"(?<!\w)whose $", flags=re.IGNORECASE)
_DONE_TO_IT = compile_form(
    r" (is|are) (made|[\w-]+(ed|en|wn)) (all )?(with|of|in|from|like)(?!\w)", flags=re.IGNORECASE
)
"""Behind a part of which more is told: "whose neck | is covered with shells"."""
_ON_ITS = compile_form(r"(?<!\w)on (its|his|her|their) $", flags=re.IGNORECASE)
_POSES = frozenset((
    "back", "side", "belly", "tummy", "stomach", "head", "legs", "hind legs", "knees", "tiptoes",
    "toes", "feet", "haunches",
))  # fmt: skip
"""Behind "on its" they say how it lies or stands, and are nothing that it has."""


def is_in_question(intent: Intent, hits: Sequence[Hit], prompt: str) -> bool:
    """Whether what was described may be had by other cards of the subject alone.

    Args:
        hits: all that satisfy it.
    """
    asked = [wish for _, told in _told(intent, prompt) for wish in told]
    if not asked or not hits:
        return False
    if any(not any(_may_have(wish, hit) for hit in hits) for wish in asked):
        return True
    few = len(hits) < FEWEST
    return few and not any(all(_may_have(wish, hit) for wish in asked) for hit in hits)


def of_no_one_card(
    intent: Intent, hits: Sequence[Hit], prompt: str, *, besides: Sequence[Hit] = ()
) -> Intent | None:
    """The intent that says what nothing fits; None where some card may have everything.

    Args:
        hits: all that satisfy it.
        besides: other cards of the subject.
    """
    every = {hit.card.checkpoint_id: hit for hit in (*hits, *besides)}.values()
    if not hits or len(every) < FEWEST or not all(pieces_of(hit.card) for hit in hits):
        return None
    left: Sequence[Hit] = hits
    asked: list[Constraint] = []
    for constraint, told in _told(intent, prompt):
        own = [w for w in told if any(surely_fits(w, profile(hit.card)) for hit in every)]
        if "-" in constraint.text and not any(says(constraint, profile(h.card)) for h in every):
            continue  # "dust-covered" is not what "covered in moss" says
        if not own:
            continue
        asked.insert(0, constraint)
        left = [hit for hit in left if all(_may_have(wish, hit) for wish in own)]
        if not left:
            others = (c for c in intent.constraints if all(c is not a for a in asked))
            wanted = (replace(constraint, hard=True) for constraint in asked)
            return replace(intent, constraints=(*wanted, *others))
    return None


def _told(intent: Intent, prompt: str) -> Iterator[tuple[Constraint, tuple[Wish, ...]]]:
    """What was described, and may be looked for on every card; nothing of an answer, which may
    name something else.
    """
    subject = intent.first(Attribute.SUBJECT)
    if intent.answered or subject is None or is_named(intent):
        return
    for constraint in intent.described:
        if constraint.hard or constraint.excluded or constraint.coarse or constraint.scene:
            continue
        if constraint.span is not None and _is_told_of(constraint.span, prompt):
            continue  # "whose neck | is covered with shells": having a neck is not what is wished
        if constraint.leads and constraint.text.casefold() in NO_KINDS:
            continue  # "the pet skink"
        if (clause := _CLAUSE.match(constraint.text)) and clause["does"] in lexicon.verb_forms():
            continue  # "that shows up", where cards say what they show
        told = wishes(Intent(constraints=(constraint,)))
        if told and all(map(_is_asked, told)) and not _is_pictured(constraint, subject, prompt):
            yield constraint, told


def _is_told_of(span: Span, prompt: str) -> bool:
    """Whether it is a part that leads to what is wished of it."""
    done = _DONE_TO_IT.match(prompt, span.end) is not None
    return done and ends_before(_WHOSE, prompt, span.start) is not None


def _is_pictured(constraint: Constraint, subject: Constraint, prompt: str) -> bool:
    """Whether the picture is to have it, whatever the card has."""
    span, named = constraint.span, subject.span
    if span is None or named is None or span.start < named.start:
        return False
    posed = constraint.text.casefold() in _POSES and ends_before(_ON_ITS, prompt, span.start)
    if posed or ends_before(_SHOWN, prompt, span.start):
        return True
    edited = ends_before(_EDITED, prompt, named.start) is not None
    return edited and prompt[named.end : span.start].strip() in ("", "in", "to be")


def _is_asked(wish: Wish) -> bool:
    """Whether it can be looked for: not what is missing, nor "seen" of "that's seen use"."""
    noun = wish.trait.noun
    done = wish.phrase and nature(noun) is Nature.UNKNOWN and noun in lexicon.verb_forms()
    return not done and not wish.trait.lacks


def _may_have(wish: Wish, hit: Hit) -> bool:
    """Whether a card has it in any words, or in a colour that people call so."""
    card = profile(hit.card)
    if fit(wish, card) > 0:
        return True
    asked = NAMED.intersection(wish.trait.concepts)
    if asked and not wish.phrase:
        untold = NAMED.isdisjoint(card.everything | card.kind)
        return untold or not asked.isdisjoint(card.called)
    if not (hit.word_likeness or hit.thing_likeness):  # the catalog cannot tell
        return not card.everything.isdisjoint(wish.trait.concepts)
    return likest(wish.said, hit) >= _ALIKE
