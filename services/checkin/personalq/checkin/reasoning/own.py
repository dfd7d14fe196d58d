"""What is asked for of a subject itself, where every card tells its own: shared by `own_colour`,
`own_stuff`, `own_kind`, `own_thing` and `together`.
"""

from __future__ import annotations

from dataclasses import replace

from personalq.checkin.intent import Attribute, Constraint, Intent

FEWEST = 5
"""Cards that must tell their own: the only house may well be wanted in blue, or in bamboo."""

NO_KINDS = frozenset(["pet", "toy", "baby", "mini", "mascot", "cartoon", "hero"])
"""Words that say how a subject is meant, of whatever kind it is."""


def is_named(intent: Intent) -> bool:
    """Whether a number or a name says which card is meant, whatever else is said of it.

    Not a range of numbers: "versions 30 to 38".
    """
    numbered = any(len(c.values) == 1 and not c.excluded for c in intent.all(Attribute.VERSION))
    return numbered or intent.first(Attribute.IDENTITY) is not None


def insisting_on(intent: Intent, wanted: Constraint) -> Intent:
    """The intent with one of its wishes as what must hold."""
    return replace(
        intent,
        constraints=tuple(replace(c, hard=True) if c is wanted else c for c in intent.constraints),
    )
