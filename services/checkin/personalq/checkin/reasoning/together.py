"""What cards of a subject have one by one, and no card has together.

"The beige poodle", where poodles are black and the beige dog is a corgi; "the wicker chair trained
in the lounge", where wicker chairs were trained elsewhere. Each wish is a card's own word for
itself, so it is no scene, and a card that says so much of itself without it does not have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from personalq.checkin import lexicon
from personalq.checkin.cards import Hit
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.reasoning.colours import NAMED, called_alike
from personalq.checkin.reasoning.describe import pieces_of, profile
from personalq.checkin.reasoning.described import KIN, Wish, fit, says, wishes
from personalq.checkin.reasoning.own import FEWEST, is_named

_ALIKE = 0.5
"""Likeness from which on a card may have what no word of it says."""


def is_untold(intent: Intent, hits: Sequence[Hit]) -> bool:
    """Whether something that was described is on none of the cards."""
    return any(
        not any(_may_have(wish, hit) for hit in hits) for _, told in _told(intent) for wish in told
    )


def of_no_one_card(
    intent: Intent, hits: Sequence[Hit], *, besides: Sequence[Hit] = ()
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
    for constraint, told in _told(intent):
        own = [w for w in told if any(fit(w, profile(hit.card)) >= KIN for hit in every)]
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


def _told(intent: Intent) -> Iterator[tuple[Constraint, tuple[Wish, ...]]]:
    """What was described, and may be looked for on every card."""
    if is_named(intent) or intent.first(Attribute.SUBJECT) is None:
        return
    for constraint in intent.described:
        if constraint.hard or constraint.excluded or constraint.coarse or constraint.scene:
            continue
        told = wishes(Intent(constraints=(constraint,)))
        if told and all(map(_is_asked, told)):
            yield constraint, told


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
        untold = NAMED.isdisjoint(card.everything)
        return untold or not called_alike(asked).isdisjoint(card.kind)
    return any(
        like.get(text, 0.0) >= _ALIKE
        for like in (hit.word_likeness, hit.thing_likeness)
        for text in wish.said
    )
