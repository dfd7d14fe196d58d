"""Which candidates may still be meant."""

from __future__ import annotations

from collections.abc import Sequence

from personalq.checkin.outcome import Candidate

PLAUSIBLE = 0.3
"""A candidate is plausible when it is at least this likely compared with the likeliest."""
PLAUSIBLE_ANSWERED = 0.5
"""The same after an answer: the person has said what matters, a clear lead is enough."""


def plausible(candidates: Sequence[Candidate], *, answered: bool = False) -> tuple[Candidate, ...]:
    """The plausible ones among candidates, in their order. Pure."""
    likeliest = max((c.probability for c in candidates), default=0.0)
    least = (PLAUSIBLE_ANSWERED if answered else PLAUSIBLE) * likeliest
    return tuple(c for c in candidates if c.probability >= least)
