"""The colour of what a subject wears or has, where every card tells it and none has that one.

As with the subject's own colour (`own_colour`): where all wizards are told by their robes and no
robes are white, "the one in white robes" is none of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from personalq.checkin.cards import Hit
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.reasoning.colours import NAMED, called_alike
from personalq.checkin.reasoning.own import FEWEST, insisting_on, is_named
from personalq.checkin.reasoning.profiles.profile import profile
from personalq.checkin.reasoning.profiles.traits import Trait, trait


def without_that_colour_of_it(intent: Intent, hits: Sequence[Hit]) -> Intent | None:
    """The intent that says what nothing fits; None where some card may have the thing so.

    Args:
        hits: all that satisfy it.
    """
    if is_named(intent) or len(hits) < FEWEST or intent.first(Attribute.SUBJECT) is None:
        return None
    return next((insisting_on(intent, c) for c in intent.described if _is_of_none(c, hits)), None)


def _is_of_none(constraint: Constraint, hits: Sequence[Hit]) -> bool:
    if not constraint.phrase or constraint.excluded or constraint.hard or constraint.coarse:
        return False
    wanted = trait(constraint.text)
    if wanted is None or wanted.lacks:
        return False
    asked = called_alike(_colours_of(wanted, wanted))
    if not asked:
        return False
    traits = (profile(hit.card).traits for hit in hits)
    told = (set().union(*(_colours_of(wanted, said) for said in card)) for card in traits)
    return all(has and asked.isdisjoint(has) for has in told)


def _colours_of(wanted: Trait, said: Trait) -> set[str]:
    """The colour right before such a thing where a phrase is of it, or ends in it: "in red robes";
    not that of "a red bird house" for a bird.
    """
    whole = said.concepts
    if said.lacks or wanted.head not in whole[1:]:
        return set()
    place = whole.index(wanted.head, 1)
    told = said.head == wanted.head or place == len(whole) - 1
    return {whole[place - 1]} & NAMED if told else set()
