"""How many everyday words for what cards say are known, of pairs that nobody looked at before.

`everyday_words.tsv` was written by somebody who had seen no list of ours: a sort (quality, kind or
accessory), a subject, what its card says, and what a person says instead.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from support.checkin_cards import card

from personalq.checkin.intent import Attribute, Constraint, Intent, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.reasoning.descriptions.fits import fit
from personalq.checkin.reasoning.descriptions.same_trait import KIN
from personalq.checkin.reasoning.descriptions.wishes import wishes
from personalq.checkin.reasoning.profiles.profile import profile

_FORMS = {
    "quality": "A {said} {subject}.",
    "kind": "A {said} with a ribbon.",
    "accessory": "A {subject} with a {said}.",
}
_LITTLE = ("a", "an", "the", "with", "of", "in")


@cache
def _pairs() -> tuple[tuple[str, ...], ...]:
    text = (Path(__file__).parent / "everyday_words.tsv").read_text(encoding="utf-8")
    return tuple(tuple(line.split("\t")) for line in text.splitlines())


def _wish(text: str, *, phrase: bool) -> Intent:
    words = (canonical(word) for word in re.findall(r"\w+", text))
    wanted = Constraint(
        attribute=Attribute.DESCRIPTION,
        values=tuple(word for word in words if word not in _LITTLE),
        text=text,
        span=Span(0, len(text)),
        hard=False,
        phrase=phrase,
        leads=not phrase,
        said=(text,),
    )
    return Intent(constraints=(wanted,))


def _is_known(sort: str, subject: str, said: str, instead: str) -> bool:
    """Whether a card is told by words alone, without any likeness."""
    description = _FORMS[sort].format(said=said, subject=subject)
    subjects = f"{subject}, {said}" if sort == "kind" else subject
    shown = profile(card("x-v1", subjects, "anime", "2026-01-01", description))
    ways = (True,) if sort == "accessory" else (False, True)
    told = [wishes(_wish(instead, phrase=phrase)) for phrase in ways]
    return any(each and min(fit(wish, shown) for wish in each) >= KIN for each in told)


@pytest.mark.parametrize(("sort", "share"), [("quality", 0.7), ("kind", 0.7), ("accessory", 0.6)])
def test_everyday_words_are_known(sort: str, share: float) -> None:
    """Most are; what is left is told by meaning, or not at all."""
    known = [_is_known(*pair) for pair in _pairs() if pair[0] == sort]
    assert sum(known) >= share * len(known), f"{sum(known)} of {len(known)}"
