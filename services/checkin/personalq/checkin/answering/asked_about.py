"""How an answer may be read of the cards it was asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.lexicon import canonical
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.text import shadow


def among_those_asked_about(before: Intent, after: Intent, *, details: bool) -> tuple[Intent, ...]:
    """How an answer may be read of the cards it was asked about, likeliest first.

    Args:
        details: also as details of the subject, where the words are places or looks elsewhere.

    A noun in an answer may be another subject ("the cat") or a detail of this one ("flags"). What
    comes after a refusal ("neither, the oil painting") may still mean an option: its label did not
    say everything.
    """
    readings = _readings(before, after)
    if details:
        readings = tuple(other for reading in readings for other in reading.readings())
    elif after.not_alone() is not after:
        readings = (*readings, *(reading.not_alone() for reading in readings))
    refused = [c for c in after.constraints if c.refusal]
    if not refused or not _adds(before, after):
        return readings
    return *readings, *(reading.without(*refused) for reading in readings)


def _adds(before: Intent, after: Intent) -> bool:
    """Whether an answer says more than what it refuses."""
    known = before.constraints
    return any(not c.refusal and all(c is not k for k in known) for c in after.constraints)


def _readings(before: Intent, after: Intent) -> tuple[Intent, ...]:
    subjects = before.all(Attribute.SUBJECT)
    named = [c for c in after.all(Attribute.SUBJECT) if all(c is not s for s in subjects)]
    if not named or not subjects or any(c.excluded for c in named):
        return (after,)
    told = {c.text for c in named}
    kept = tuple(
        replace(c, coarse=c.coarse and c.text not in told)
        for c in after.constraints
        if all(c is not n for n in named)
    )
    details = tuple(
        Constraint(
            attribute=Attribute.DESCRIPTION,
            values=tuple(shadow(c.text).split()),
            text=c.text,
            hard=False,
            label=c.text,
        )
        for c in named
        if all(c.text != k.text for k in kept) and not _is_what_it_is(c, subjects)
    )
    if not details and all(any(c is k for k in before.constraints) for c in kept):
        return (after,)
    return after, replace(after, constraints=(*subjects, *kept, *details))


def _is_what_it_is(named: Constraint, subjects: Sequence[Constraint]) -> bool:
    """Whether a noun only says what the subject is anyway: "the white bird" of a parrot."""
    general = canonical(named.text)
    return any(
        is_kind_of(canonical(c.text), general) and not is_kind_of(general, canonical(c.text))
        for c in subjects
    )
