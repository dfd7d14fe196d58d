"""What the subject is made of, said behind it: "in cast iron", "made of felt"."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.lexicon.stuffs import stuffs_in
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.draft import Draft, Noun
from personalq.checkin.parsing.text import Word
from personalq.checkin.parsing.word_roles import is_adjective

_STUFF = 4
"""Words of "in cast iron", and one more."""
_STUFF_ENDS = frozenset(
    ["that", "which", "we", "i", "from", "please", "with", "made", "built", "on", "in", "at"]
)
"""What may follow a stuff; "in paper clothes" does not say what a doll is made of."""


def read_stuff(draft: Draft, run: Sequence[Word]) -> None:
    """Read a material as before the subject: "the doll made of felt" is a felt doll."""
    span = Span(run[0].start, run[-1].full_end)
    if any(
        c.attribute is Attribute.DESCRIPTION and c.span and c.span.meets(span)
        for c in draft.constraints
    ):
        return
    stuff = run[1:] if run[0].norm in ("in", "of") else run[-1:]
    text = Span(stuff[0].start, stuff[-1].full_end).of(draft.page.text)
    draft.constraints.append(
        Constraint(
            attribute=Attribute.DESCRIPTION,
            values=tuple(word.norm for word in stuff),
            hard=False,
            said=(text,),
            span=span,
            text=text,
            label=span.of(draft.page.text),
        )
    )


def in_a_stuff(draft: Draft, at: int) -> Sequence[Word]:
    """The words of "in metal" where they say what a subject is made of, and nothing goes on."""
    words = draft.page.words[at : at + _STUFF]
    if len(words) < 2 or words[0].norm not in ("in", "of") or not words[1].joined:
        return ()
    worn = any(n.last <= at and _is_dressed(draft, n) for n in draft.nouns[:1])
    if worn and words[0].norm == "in":
        return ()
    run = [words[0], *itertools.takewhile(lambda w: w.joined and draft.is_free(w), words[1:])]
    for length in range(len(run), 1, -1):
        following = draft.page.words[at + length : at + length + 1]
        ends = not following or not following[0].joined or following[0].norm in _STUFF_ENDS
        for first in range(1, length if ends else 1):
            name = " ".join(word.norm for word in run[first:length])
            if name in stuffs_in(name):
                return run[:length]
            if not _is_fine(run[first]):
                break
    return ()


def _is_fine(word: Word) -> bool:
    """Whether an adjective may stand before a stuff: "in delicate china", "in faceted glass"."""
    adjective = is_adjective(word.norm) or (word.norm.endswith("ed") and len(word.norm) > 4)
    return adjective and word.norm not in lexicon.colours()


def _is_dressed(draft: Draft, noun: Noun) -> bool:
    """Whether a subject may wear what it is "in": a doll in silk, an owl in felt."""
    name = canonical(draft.span_of(noun.first, noun.last).of(draft.page.text))
    return any(is_kind_of(name, each) for each in ("person", "animal", "doll", "toy", "figure"))
