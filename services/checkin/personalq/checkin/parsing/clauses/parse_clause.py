"""What a person says of the subject in a clause, to be compared by its meaning.

`parse_description` reads noun phrases and adjectives, which are compared word by word. People also
say "that somebody has shot", "in the form of a wading bird". Here the clause behind a subject
becomes one description, or is what the phrase in it is compared as. A place or an action behind the
subject is most likely the scene and left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.parsing.apposition import renamed, sorts
from personalq.checkin.parsing.clauses.besides import is_aside
from personalq.checkin.parsing.clauses.openings import behind_likening, is_action, is_telling
from personalq.checkin.parsing.clauses.participles import is_all_it_does, is_done_or_doing
from personalq.checkin.parsing.clauses.reach import (
    RELATIVES,
    clause_from,
    content_of,
    is_being,
    is_done_so,
    is_followed_by_another,
    is_where,
    leads_on,
)
from personalq.checkin.parsing.clauses.stuff import in_a_stuff, read_stuff
from personalq.checkin.parsing.clauses.which_one import tells_apart
from personalq.checkin.parsing.descriptions.parse_description import chosen_from, is_told_of
from personalq.checkin.parsing.descriptions.phrase import read_predicate
from personalq.checkin.parsing.descriptions.tail import read_tail
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.styles.reached import DRAWN
from personalq.checkin.parsing.text import Word
from personalq.checkin.parsing.word_roles import PARTICIPLES, is_ing_verb, past_asides

_HAVING = frozenset(["with", "has", "have", "having", "had", "got"])
_SURROUNDINGS = frozenset(["surrounded", "flanked", "engulfed", "bathed", "silhouetted", "backlit"])
"""What they begin is the picture's: "surrounded by falling leaves"."""
_FILLERS = frozenset(["was", "is", "it", "there", "one", "ones", "again", "please", "i", "mean"])
"""May stand between a subject and its clause: "which boat was it that …"."""


def parse_clauses(draft: Draft) -> None:
    """Add clauses that nothing has read, and to descriptions the clause they stand in."""
    subject = next((c for c in draft.constraints if c.attribute is Attribute.SUBJECT), None)
    if subject is None or subject.span is None:
        return
    words = draft.page.words
    heads = [n for n in draft.nouns if draft.span_of(n.first, n.last) == subject.span]
    for noun in (*heads, *renamed(draft, heads)):
        _behind(draft, noun.last)
    for index in sorts(words) if heads else ():
        _behind(draft, index + 1)
    for index in chosen_from(draft) if heads else ():
        _behind(draft, index + 1)
    for word in words:
        if heads and is_aside(draft, word):
            _read_clause(draft, word.index)
        if word.norm in lexicon.words("selectors") and not draft.nouns_cover(word.index):
            _behind(draft, word.index + 1)
        if heads and is_told_of(words, word.index):
            _behind(draft, word.index + 1)


_NO_MORE = frozenset(
    ["the", "a", "an", "as", "in", "like", "that", "which", "was", "is", "way", "manner"]
)
_SAYING_NO_MORE = _NO_MORE | lexicon.words("selectors") | lexicon.words("openers")
"""Beside "painted" they say nothing more."""
_DRAWN = DRAWN | {"painted"}


def _is_drawn(run: Sequence[Word]) -> bool:
    """Whether a clause only leads to a look: "using the one painted | in oils"."""
    told = {word.norm for word in run} - _SAYING_NO_MORE
    return bool(told) and told <= _DRAWN


def _behind(draft: Draft, index: int) -> None:
    """Read the clause that begins at or behind word `index`."""
    at = _opening(draft, index)
    if at is not None:
        _read_clause(draft, at)


def _read_clause(draft: Draft, at: int) -> None:
    """Read the clause that begins at word `at`."""
    upholstered = draft.page.words[at].norm.endswith("ed")  # "in leather"
    if stuff := in_a_stuff(draft, at + 1 if upholstered else at):
        read_stuff(draft, stuff)
        read_tail(draft, stuff[-1].index + 1)
        return
    likened = behind_likening(draft, at)
    telling = likened > at or is_telling(draft, at)
    if not telling and not is_action(draft, at):
        return
    run = clause_from(draft, likened)
    alone = len(run) == 1 and is_all_it_does(draft, run[0])
    if (len(run) < 2 and not alone) or is_where(run) or _is_drawn(run):
        return
    apart = tells_apart(draft, at)
    if run[0].norm in _SURROUNDINGS and not apart:
        return
    if apart and leads_on(draft, run):
        return
    goes_on = is_followed_by_another(draft, run[-1].index + 1)
    if goes_on:
        _read_next(draft, run[-1].index + 2)
    elif run[0].norm in PARTICIPLES or run[0].norm == "for" or is_done_so(run):
        read_tail(draft, run[-1].index + 1)
    made = run[-3:]
    if len(made) == 3 and made[0].norm in ("made", "built") and made[1].norm in ("of", "from"):
        read_stuff(draft, made)
        return
    span = Span(run[0].start, run[-1].full_end)
    said = _without_lead(run).of(draft.page.text)
    inside = [
        (place, constraint)
        for place, constraint in enumerate(draft.constraints)
        if constraint.attribute is Attribute.DESCRIPTION
        and not constraint.hard
        and constraint.span is not None
        and constraint.span.meets(span)
    ]
    if not telling:
        if not inside:
            _add(draft, span, content_of(run), action=True)
    elif len(inside) == 1:
        place, constraint = inside[0]
        if not constraint.said and constraint.text in said:
            draft.constraints[place] = replace(constraint, said=(said,))
    elif len(inside) == 2 and all(len(c.values) == 1 for _, c in inside):
        both = _both(draft, [c.span for _, c in inside if c.span is not None])
        for place, constraint in inside:
            draft.constraints[place] = replace(constraint, said=(constraint.text, both))
    elif not inside:
        doing = is_being(run[:-1]) and is_ing_verb(run[-1].norm)
        _add(draft, span, content_of(run), action=likened > at or doing)


def _read_next(draft: Draft, at: int) -> None:
    """Read what "and" adds: "is struck by lightning", "turquoise", "looking worried"."""
    word = draft.page.words[at]
    being = word.norm == "is" and at + 1 < len(draft.page.words)
    if being and not is_done_or_doing(draft, at + 1):
        read_predicate(draft, at + 1)
    elif being or is_done_or_doing(draft, at):
        _read_clause(draft, at + being)
    elif word.norm in RELATIVES or word.norm == "for":
        _read_clause(draft, at)
    elif word.norm in lexicon.colours():
        read_predicate(draft, at)
    else:
        read_tail(draft, at)


def _behind_colour(draft: Draft, index: int) -> int:
    """The place of a relative behind a colour that has been read, 0 without: "in dark red | that
    can bore holes".
    """
    words = draft.page.words[index:]
    told = [c.span for c in draft.constraints if c.attribute is Attribute.DESCRIPTION and c.span]
    for span in told:
        run = [word for word in words[:3] if span.start <= word.start < span.end]
        behind = words[len(run) : len(run) + 2]
        colours = lexicon.colours().union(lexicon.colors_of_things())
        coloured = bool(run) and run[0] is words[0] and run[-1].norm in colours
        if coloured and len(behind) == 2 and behind[0].norm in RELATIVES:
            return behind[0].index if behind[1].norm != "looks" else 0
    return 0


def _without_lead(run: Sequence[Word]) -> Span:
    """The clause without "with" or "has", which likens it to anything that has something."""
    first = run[1] if run[0].norm in _HAVING else run[0]
    return Span(first.start, run[-1].full_end)


def _add(draft: Draft, span: Span, content: tuple[str, ...], *, action: bool = False) -> None:
    if content:
        said = span.of(draft.page.text)
        draft.constraints.append(
            Constraint(
                attribute=Attribute.DESCRIPTION,
                values=content,
                hard=False,
                phrase=True,
                said=(said,),
                action=action,
                span=span,
                text=said,
                label=said,
            )
        )


def _both(draft: Draft, spans: list[Span]) -> str:
    """Two bare nouns as the one thing they may be: "skull and crossbones"."""
    return Span(min(spans).start, max(spans).end).of(draft.page.text)


def _opening(draft: Draft, index: int) -> int | None:
    """The first word of the clause: behind what other constraints claim and what says nothing."""
    words = draft.page.words
    aside = past_asides(words, index)
    if index < aside < len(words):
        return aside  # "the goat, you know, with the bell"
    while index < len(words) and words[index].joined:
        word = words[index]
        if word.norm == "in" and (coloured := _behind_colour(draft, index + 1)):
            index = coloured
            continue
        if draft.is_free(word) and word.norm not in _FILLERS:
            return index
        index += 1
    return None
