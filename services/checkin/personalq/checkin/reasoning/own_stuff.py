"""What a subject is made of, where every card tells its own and none is of that.

As with colours (`own_colour`): cards that say nothing of it may be of anything. Where all say
another, "the bamboo house" is none of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from personalq.checkin.cards import Hit
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.lexicon import canonical, wordnet
from personalq.checkin.lexicon.stuffs import may_be, stuffs_in
from personalq.checkin.reasoning.own import FEWEST, insisting_on, is_named
from personalq.checkin.reasoning.profiles.concepts import concepts
from personalq.checkin.reasoning.profiles.profile import profile


def without_its_stuff(intent: Intent, hits: Sequence[Hit]) -> Intent | None:
    """The intent that says what nothing fits; None where some card may be of the stuff.

    Args:
        hits: all that satisfy it.
    """
    asked = _asked(intent)
    if asked is None:
        return None
    wanted = stuffs_in(asked.text)
    shown = [profile(hit.card) for hit in hits]
    if len(shown) < FEWEST or not all(each.stuffs for each in shown):
        return None
    said = set(concepts(" ".join(sorted(wanted))))
    for each in shown:
        told = any(may_be(stuff, other) for stuff in each.stuffs for other in wanted)
        if told or said & each.everything:
            return None
    return insisting_on(intent, asked)


def _asked(intent: Intent) -> Constraint | None:
    """What says of what the subject is made: right before it, or "in copper" behind it."""
    subject = intent.first(Attribute.SUBJECT)
    if subject is None or subject.span is None or is_named(intent):
        return None
    for constraint in intent.described:
        span = constraint.span
        if span is None or constraint.excluded or constraint.hard or constraint.coarse:
            continue
        before = constraint.leads and span.end + 1 == subject.span.start
        behind = span.start == subject.span.end + 1 and not constraint.phrase
        behind = behind and not constraint.label.startswith("in ")  # it may be to be seen so
        stuff = stuffs_in(constraint.text)
        compound = f"{canonical(constraint.text)} {canonical(subject.text)}"
        if stuff and (before or behind) and wordnet.look_up(compound) is None:
            return constraint
    return None
