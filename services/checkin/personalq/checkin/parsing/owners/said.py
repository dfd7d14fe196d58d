"""Whose a checkpoint is, told beside the sentence: "Owner: the print desk", ", the north lab,"."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from personalq.chassis.forms import compile_form
from personalq.checkin.intent import Span
from personalq.checkin.parsing.corrected import Change

_SHOULD_OWN = compile_form(
    r"(^|(?<=[.;:!?] ))(?P<here>((the|our) )?(?P<who>[\w-]+( [\w-]+){0,2}) (should|must|"
    r"ought to|has to|needs to|is meant to|would) be (the|its|their) (owner|maker|author|creator))"
    r"(?= ?($|[.,;:!?]))"
)
"""Whose it is to be, after it was named: "a bear at sea. | Studio A should be the owner"."""
_OWNED_BY = compile_form(
    r"((?<=[.,;:(] )|^)(?P<here>(the |its |whose )?(owner|author|maker|creator)"
    r"( of (it|the (checkpoint|model|version|card)))?(:| is|'s)? (the )?)"
    r"(?P<who>[\w-]+( [\w-]+){0,2})(?= ?($|[,.;:!?)]))"
)
"""The same said shortly: "a bear at sea. | Owner: the design guild"."""
_OWNER_ALONE = compile_form(
    r"(?<=[\w)], )(?P<here>)(?P<who>(the )?[\w]+[ -][\w-]+( [\w-]+)?)(?= ?($|[,.;]))"
)
"""Only named: "a cottage by a creek, red, | the north lab, November 2026"."""
_TRAINED_THERE = compile_form(
    r"(?<![\w-])(?P<who>[\w-]{1,40}( [\w-]{1,40})?) trained (an?|one|our|their) [\w-]+( [\w-]+)? "
    r"(?P<here>)"
    r"(?=(out |down |up |over )?(in|at|on|by|near|under|beside|inside|outside|among) "
    r"(the|an?) [\w-]+( [\w-]+)? ?[.,;!?])"
)
"""Before where somebody trained one: "the print team trained a horse | at the beach"."""


def owned(lowered: str, is_owner: Callable[[str], bool]) -> Iterator[Change]:
    """What makes it "made by" somebody.

    Args:
        lowered: a request's shadow.
        is_owner: whether a lower-case name is an owner's.
    """
    for match in _SHOULD_OWN.finditer(lowered):
        if is_owner(match["who"]):
            yield Span(*match.span("here")), f"the one made by {match['who']}"
    for match in _OWNED_BY.finditer(lowered):
        if is_owner(match["who"]):
            yield Span(*match.span("here")), "made by "
    for match in _OWNER_ALONE.finditer(lowered):
        if is_owner(match["who"].removeprefix("the ")):
            yield Span(*match.span("here")), "made by "
    for match in _TRAINED_THERE.finditer(lowered):
        if is_owner(match["who"]) or is_owner(match["who"].rpartition(" ")[2]):
            yield Span(*match.span("here")), "trained "
