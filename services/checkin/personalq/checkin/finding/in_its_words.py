"""The scene in the very words of cards: "the clock flanked by cherubs, at an airport gate".

To the grammar what stands around the subject may be the picture's. Where it repeats two words or
more of what some cards say of themselves, it is those cards that are meant.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from personalq.checkin.intent import Attribute, Intent, Span
from personalq.checkin.lexicon import canonical, is_no_noun
from personalq.checkin.lexicon.stems import stem
from personalq.checkin.outcome import Candidate
from personalq.checkin.reasoning.profiles.profile import pieces_of

_LEAST = 2
"""Words that say something, side by side, in what is repeated."""
_Words = tuple[str, ...]


def said_alike(
    intent: Intent, prompt: str, candidates: Sequence[Candidate]
) -> tuple[Candidate, ...]:
    """The candidates that repeat most of what the prompt says besides; () where that tells nobody.

    At most half of the candidates: what most of them have is no reason to choose any.
    """
    subject = _subject(intent)
    left = (text for span in intent.content for text in _unread(span, intent, prompt))
    runs = {run for text in left for run in _runs(_telling(text, subject))}
    if not runs:
        return ()
    repeated = [
        max((len(run) for run in runs if _repeats(each, run, subject)), default=0)
        for each in candidates
    ]
    most = max(repeated, default=0)
    found = tuple(c for c, count in zip(candidates, repeated, strict=True) if count == most)
    return found if most >= _LEAST and 2 * len(found) <= len(candidates) else ()


def _unread(span: Span, intent: Intent, prompt: str) -> Iterator[str]:
    """What of some words for the picture is no description."""
    start = span.start
    described = (c.span for c in intent.all(Attribute.DESCRIPTION) if c.span is not None)
    for told in sorted((each for each in described if each.meets(span)), key=lambda s: s.start):
        yield prompt[start : max(start, told.start)]
        start = max(start, told.end)
    yield prompt[start : max(start, span.end)]


def _subject(intent: Intent) -> frozenset[str]:
    """The words for the subject, which all candidates have."""
    named = (value for each in intent.all(Attribute.SUBJECT) for value in each.values)
    return frozenset(stem(word) for value in named for word in canonical(value).split())


def _telling(text: str, subject: frozenset[str]) -> _Words:
    """The stems of the words that say something, in order."""
    words = (word.strip(".,;:!?()\"'") for word in text.split())
    told = (word for each in words for word in canonical(each).split() if not is_no_noun(word))
    return tuple(found for word in told if (found := stem(word)) not in subject)


def _runs(words: _Words) -> Iterator[_Words]:
    for start, end in itertools.combinations(range(len(words) + 1), 2):
        if end - start >= _LEAST:
            yield words[start:end]


def _repeats(candidate: Candidate, run: _Words, subject: frozenset[str]) -> bool:
    pieces = (_telling(piece, subject) for piece in pieces_of(candidate.card))
    return any(
        piece[at : at + len(run)] == run
        for piece in pieces
        for at in range(len(piece) - len(run) + 1)
    )
