"""Claiming a place: required, refused, alone, or only preferred."""

from __future__ import annotations

from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import ends_before
from personalq.checkin.vocabulary import TagEntry

_SELECTORS = "|".join(sorted(lexicon.words("selectors")))
REFUSAL = compile_form(
    r"(?<!\w)(not|instead of|rather than|except( for)?|other than|anything but|without|never|"
    r"wasn't|isn't|no|minus|"
    "none( of)?|nothing|neither|nor|avoid|skip|leave (out|aside)|leaving (out|aside)|exclude|"
    "excluding|rule out|unless( it)?( (was|is|were))?|"
    "(any|every|all|any one|whichever)(one)? (except|other than|but)|(don't|do not|"
    "rather not) (use|take|pick|choose|want|(give|show|send|bring|hand) (me|us))|"
    "(steer clear|stay away) (of|from)) ((anything|everything|those|any|all|whatever|the|a|an|"
    "ones?|that|was|is|one|with|has|having|from|of|"
    rf"built|based|made|trained|on|i|we|which|{_SELECTORS}) )*$|"
    r"(?<!\w)(any|every)( (place|spot|location|setting|environment)|where|thing)? (but|"
    r"except( for)?|other than) ((the|from|in) )*$"
)
_NOT_ONE = compile_form(
    r"(?<!\w)((don't|do not|never|rather not) (please )?(use|take|pick|choose|want|"
    r"have|see|get|(give|show|send|bring|hand) (me|us))|leave (out|aside)|(?<!don't )(?<!not )"
    r"(skip|exclude|avoid|rule out|ignore|forget|drop)|all except|all but) (an?|any|the|that|my|"
    r"our) ((of the|"
    r"of my|of our) )?"
    r"[\w-]+( [\w-]+){0,2} ((that|which) (was|were|is) )?$|"
    r"(?<!\w)any [\w-]+ (but|except( for)?|other than) ((the|from|in) )*$|"
    r"(^|(?<=[.;:!?,] ))not (the|my|our|an?)"
    r"( (?!(but|or|nor)\b)[\w-]+){1,3} "
    r"((that|which) (was|were|is) )?$"
)
"""Before how one was trained that is not wanted: "don't pick a cat | trained in the kitchen"."""
_REFUSED_BEHIND = compile_form(
    ",? (that |those )?((ones?|models?|versions?) )?((i|we) (can|could) (do|live) without|"
    r"(is|are) (out|off limits|excluded|not wanted))(?= ?($|[,.;!?)]))"
)
"""Behind a place that is not wanted: "those trained at the market | I can do without"."""
_ALONE = compile_form(r"(?<!\w)(only|solely|exclusively|purely|entirely)(?!\w)")
_ALONE_BEHIND = compile_form(
    "( ?,)? (and )?(nowhere else|no (second|other) (place|location|spot|setting)|only|"
    "alone)(?= ?($|[,.;!?]))"
)
_BUT = compile_form(
    r"(any|every)(where| training \w+) (but|except( for)?|besides|other than)\s|^without\s|"
    r"^((that|which) )?(had|has|having|with) no\s"
)


def claim_place(
    draft: Draft,
    entry: TagEntry,
    span: Span,
    whole: Span,
    *,
    said: tuple[str, ...] = (),
    hard: bool = True,
    refused: bool = False,
) -> None:
    """Claim a place; negated when "not" leads to it, or it is known to be `refused`."""
    shadow = draft.page.shadow
    blank = len(whole.of(shadow)) - len(whole.of(shadow).lstrip())
    whole = Span(whole.start + blank, whole.end)
    negation = ends_before(REFUSAL, shadow, whole.start)
    excluded = negation is not None and draft.free(negation.start(), whole.start)
    if negation is not None and excluded:
        whole = Span(negation.start(), whole.end)
    excluded = excluded or refused or _BUT.search(whole.of(shadow)) is not None
    excluded = excluded or ends_before(_NOT_ONE, shadow, whole.start) is not None
    if shadow[: whole.start].endswith("non-"):
        excluded, whole = True, Span(whole.start - 4, whole.end)
    excluded = excluded or whole.of(shadow).startswith("non-")
    if not draft.free(whole.start, whole.end):
        return
    if behind := _REFUSED_BEHIND.match(shadow, whole.end):
        excluded, whole = True, Span(whole.start, behind.end())
    alone = not excluded and _ALONE.search(whole.of(shadow)) is not None
    if not excluded and (behind := _ALONE_BEHIND.match(shadow, whole.end)):
        alone, whole = True, Span(whole.start, behind.end())
    word = canonical(span.of(draft.page.text))
    place = Constraint(
        attribute=Attribute.ENVIRONMENT,
        values=entry.values,
        excluded=excluded,
        hard=hard or entry.known,
        said=said,
        span=whole,
        text=whole.of(draft.page.text),
        label=f"{'not ' if excluded else ''}trained with {word} pictures",
        fallback=None if excluded or whole != span else _as_detail(draft, span),
    )
    if entry.wider and not excluded:
        place = replace(place, fallback=replace(place, values=(*entry.values, *entry.wider)))
    if alone:
        only = f"trained with {word} pictures only"
        place = replace(place, alone=True, label=only)
    draft.add(place, selecting=True)


def _as_detail(draft: Draft, span: Span) -> Constraint | None:
    """The same words of an answer as what the subject has: "snow chains", "ice cream"."""
    if not draft.answering:
        return None
    return Constraint(
        attribute=Attribute.DESCRIPTION,
        values=tuple(word.norm for word in draft.page.run(span.start, span.end)),
        hard=False,
        span=span,
        text=span.of(draft.page.text),
        label=span.of(draft.page.text),
    )


def claim_told(draft: Draft, span: Span, where: str) -> None:
    """Claim what is told of a place."""
    negation = ends_before(REFUSAL, draft.page.shadow, span.start)
    excluded = negation is not None and draft.free(negation.start(), span.start)
    if negation is not None and excluded:
        span = Span(negation.start(), span.end)
    if draft.free(span.start, span.end):
        place = Constraint(
            attribute=Attribute.ENVIRONMENT,
            values=(where,),
            excluded=excluded,
            hard=False,
            span=span,
            text=span.of(draft.page.text),
            label=f"{'not ' if excluded else ''}trained {where}",
        )
        draft.add(place, selecting=True)


def preferred_place(draft: Draft, entry: TagEntry, span: Span) -> Constraint:
    """A place that cards of it are put before others for."""
    return Constraint(
        attribute=Attribute.ENVIRONMENT,
        values=entry.values,
        hard=False,
        prefers=True,
        span=span,
        text=span.of(draft.page.text),
        label=f"{span.of(draft.page.text)} pictures",
    )
