"""Version numbers in every spelling: "v2", "ver. 7", "mark II", "the 47th", "v3 or later"."""

from __future__ import annotations

from personalq.checkin.intent import Attribute, Constraint
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.versions.bare import read_after_noun, read_counting, read_ordinals
from personalq.checkin.parsing.versions.bounds import extend, read_compared, read_first_few
from personalq.checkin.parsing.versions.numbers import ONE, is_a_person, is_version, number_in
from personalq.checkin.parsing.versions.ranges import read_ranges


def parse_version(draft: Draft) -> None:
    """Claim version numbers; two different ones without "or" are a contradiction."""
    found: list[Constraint] = []
    read_counting(draft)
    read_ranges(draft, found)
    read_compared(draft, found)
    read_first_few(draft, found)
    shadow = draft.page.shadow
    position = 0
    while match := ONE.search(shadow, position):
        position = match.end()
        if not draft.free(match.start(), match.end()) or not is_version(draft, match):
            continue
        value = number_in(match[0])
        if value is None or is_a_person(draft, match):
            continue
        constraint = extend(draft, match.start(), match.end(), value)
        position = max(position, constraint.span.end if constraint.span else position)
        draft.add(constraint, selecting=True)
        found.append(constraint)
    read_ordinals(draft, found)
    read_after_noun(draft, found)
    _contradictions(draft, found)


def _contradictions(draft: Draft, found: list[Constraint]) -> None:
    wanted = [c for c in found if not c.excluded]
    common = set(wanted[0].values).intersection(*(c.values for c in wanted)) if wanted else set()
    if len(wanted) < 2 or common:
        return
    said = " and ".join(c.text for c in wanted)
    draft.problems.append(f"{said} contradict each other")
    draft.contradiction = Attribute.VERSION
    values = tuple(dict.fromkeys(value for c in wanted for value in c.values))
    kept = [c for c in draft.constraints if c.attribute is not Attribute.VERSION or c.excluded]
    draft.constraints[:] = kept
    draft.constraints.append(
        Constraint(
            attribute=Attribute.VERSION,
            values=values,
            span=wanted[0].span,
            text=wanted[0].text,
            label="version " + " or ".join(values),
        )
    )
