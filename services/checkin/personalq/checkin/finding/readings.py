"""Readings of an intent, likeliest first, and whether what was found answers to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.outcome import Candidate
from personalq.checkin.reasoning.descriptions.described import answers


def readings_of(intent: Intent) -> Sequence[Intent]:
    """The readings of the intent; a trigger spelled out holds when the rest does not fit it."""
    readings = list(intent.readings())
    identity = intent.first(Attribute.IDENTITY)
    if identity is not None:
        if identity.identifies:
            return [replace(intent, constraints=(identity,))]
        readings.append(replace(intent, constraints=(identity,)))
    for attribute in (Attribute.STYLE, Attribute.ENVIRONMENT):
        wanted = [c for c in intent.all(attribute) if c.hard and not c.excluded]
        if len(wanted) > 1:
            readings.append(_either(intent.whole_days(), wanted))
    if intent.answered:  # the person may have changed their mind about what the prompt said
        said = [c for c in intent.constraints if c.hard and c.span is not None]
        changeable = [c for c in said if c.attribute is not Attribute.SUBJECT]
        readings += [intent.without(c) for c in changeable]
    return readings


def _either(intent: Intent, wanted: Sequence[Constraint]) -> Intent:
    """Let either look, or place, do when no card has both: "a watercolor sketch"."""
    merged = replace(
        wanted[0],
        alone=False,
        values=tuple(dict.fromkeys(value for c in wanted for value in c.values)),
        label=" or ".join(c.label for c in wanted),
    )
    return replace(intent, constraints=(*intent.without(*wanted).constraints, merged))


def asks_for_something(intent: Intent) -> bool:
    """Whether the prompt names anything a card could answer to."""
    if intent.unknown_subject is not None:
        return True
    return any(
        c.hard or c.attribute in (Attribute.DESCRIPTION, Attribute.ORDER, Attribute.ENVIRONMENT)
        for c in intent.constraints
    )


def only_described(intent: Intent, candidates: Sequence[Candidate]) -> bool:
    """With nothing but description words, a card must answer to one of them."""
    if any(c.hard and not c.excluded for c in intent.constraints) or intent.settled:
        return False
    if not intent.all(Attribute.DESCRIPTION):
        return False
    return candidates[0].score < 1.0


def fits(
    before: Intent, intent: Intent, candidates: Sequence[Candidate], *, least: float = 0.0
) -> bool:
    """Whether some card answers to the description that was added, if one was.

    Args:
        least: how well, where words say it; a likeness of meaning is less.
    """
    known = before.all(Attribute.DESCRIPTION)
    added = [c for c in intent.all(Attribute.DESCRIPTION) if all(c is not k for k in known)]
    added = [c for c in added if not c.hard]
    if not added:
        return True
    said = answers(replace(intent, constraints=tuple(added)), [c.hit for c in candidates])
    return any(card.weight > 0 and card.weight >= least for card in said)
