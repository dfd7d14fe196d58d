"""The scene in the very words of cards: "the clock flanked by cherubs, at an airport gate".

To the grammar what stands around the subject may be the picture's. Where it opens with two words or
more, and the relation they stand in, that some cards say of themselves, it is those that are meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Intent, Span
from personalq.checkin.lexicon import canonical, is_no_noun
from personalq.checkin.lexicon.stems import stem
from personalq.checkin.outcome import Candidate
from personalq.checkin.reasoning.profiles.profile import pieces_of

_Words = tuple[tuple[str, str], ...]
"""Stems of words that say something, each with the preposition before it, or ""."""
_LEAST = 2
"""Words that say something, side by side, in what is repeated."""
_UNWANTED = compile_form(
    r"(?<!\w)(not|never|no|without|except|excluding|skip|avoid|than|but|\w+n't|\w+n’t)(?!\w)"
    r"[^,.;:!?]*$"
)
"""Before what is not wanted, up to a comma."""
_PUT = compile_form(r"(?<!\w)(put|place|set|stand|hang|lay|sit|show|draw|paint)(?!\w)[^,.;:!?]*$")
"""Before where the picture is to have it: "put the clock | on a shelf"."""


def said_alike(
    intent: Intent, prompt: str, candidates: Sequence[Candidate]
) -> tuple[Candidate, ...]:
    """The candidates that repeat most of what the prompt says besides; () where that tells nobody.

    At most half of the candidates: what most of them have is no reason to choose any.
    """
    subject = _subject(intent)
    said = [told for span in intent.content for told in _said(span, intent, prompt, subject)]
    if not said:
        return ()
    repeated = [max(_repeated(each, told, subject) for told in said) for each in candidates]
    most = max(repeated, default=0)
    found = tuple(c for c, count in zip(candidates, repeated, strict=True) if count == most)
    least = 1 if intent.answered else _LEAST  # the scene is all that is left to tell by
    return found if most >= least and 2 * len(found) <= len(candidates) else ()


def _subject(intent: Intent) -> frozenset[str]:
    """The stems of the words for the subject, which all candidates have."""
    named = (value for each in intent.all(Attribute.SUBJECT) for value in each.values)
    return frozenset(stem(word) for value in named for word in canonical(value).split())


def _said(span: Span, intent: Intent, prompt: str, subject: frozenset[str]) -> Iterator[_Words]:
    """What some words for the picture open with, where that is no description and is wanted."""
    start = span.start
    described = (c.span for c in intent.all(Attribute.DESCRIPTION) if c.span is not None)
    told = sorted((each for each in described if each.meets(span)), key=lambda each: each.start)
    for end, following in (*((each.start, each.end) for each in told), (span.end, span.end)):
        before, text = prompt[:start], prompt[start : max(start, end)]
        start = max(start, following)
        words = _telling(text, subject)
        put = words and words[0][1] and _PUT.search(before.casefold())
        if words and not put and not _UNWANTED.search(before.casefold()):
            yield words


@lru_cache(maxsize=16384)
def _telling(text: str, subject: frozenset[str]) -> _Words:
    """The words that say something, in order, up to one that turns them round."""
    found: list[tuple[str, str]] = []
    lead = ""
    for each in text.split():
        for word in canonical(each.strip(".,;:!?()\"'")).split():
            if word in lexicon.words("prepositions"):
                lead = "" if word == "with" else word  # which no piece of a card opens with
            elif word in ("not", "never", "without", "except", "but"):
                return tuple(found)
            elif not is_no_noun(word) and stem(word) not in subject:
                found.append((stem(word), lead))
                lead = ""
    return tuple(found)


def _repeated(candidate: Candidate, said: _Words, subject: frozenset[str]) -> int:
    """How many words, from the first on, a card repeats, each behind the same preposition."""
    pieces = (_telling(piece, subject) for piece in pieces_of(candidate.card))
    return max((_together(said, piece) for piece in pieces), default=0)


def _together(said: _Words, piece: _Words) -> int:
    """How many words, from the first on, stand in a row anywhere in a piece."""
    best = 0
    for at in range(len(piece)):
        count = 0
        for (word, lead), (other, its) in zip(said, piece[at:], strict=False):
            if word != other or lead != its:
                break
            count += 1
        best = max(best, count)
    return best
