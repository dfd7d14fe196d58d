"""Places and looks named right before the subject: "the harbor lighthouse", "a noir one".

Nothing there is the scene, but a word may as well describe. So these are preferences: they decide
among cards of which some have the tag, and mean nothing where none has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import wordnet
from personalq.checkin.lexicon.vectors import likeness
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.environments.claim import REFUSAL
from personalq.checkin.parsing.styles.frames import tags_of_look
from personalq.checkin.parsing.text import Word, ends_before

_REACH = 3
"""Words of the longest tag."""
_FARTHEST = 6
"""Words before a head that are looked at."""
_LIKE = 0.62
"""Likeness from which on a word for a place means the likest tag: a "tub", a "bathtub"."""


def parse_modifiers(draft: Draft) -> None:
    """Prefer the tags that words before the subject name."""
    for run in _runs(draft):
        text = " ".join(word.norm for word in run)
        span = Span(run[0].start, run[-1].end)
        places, looks = _places(draft, run, text), _looks(draft, text)
        attribute = Attribute.ENVIRONMENT if places else Attribute.STYLE
        if refusal := ends_before(REFUSAL, draft.page.shadow, span.start):
            refused = Span(refusal.start(), span.end)
            _refuse(draft, attribute, places or looks, refused, text)
        else:
            hard = bool(places) and _is_spelled_out(draft, run)
            _prefer(draft, attribute, places or looks, span, hard=hard)


def _runs(draft: Draft) -> Iterator[list[Word]]:
    """The longest runs of modifiers that a tag may be in, those next to the subject first."""
    for first in _heads(draft):
        before = _before(draft, first)
        while before:
            whole = (r for r in _tails(before) if not r[0].hyphen)  # not the road of "off-road"
            run = next((r for r in whole if _names_tag(draft, r)), None)
            if run is not None:
                yield run
            before = before[: -len(run or before[-1:])]


def _heads(draft: Draft) -> Iterator[int]:
    """First words of what is asked for: the subject, and "one" or "model"."""
    subject = next((c for c in draft.constraints if c.attribute is Attribute.SUBJECT), None)
    for noun in draft.nouns:
        if subject is not None and draft.span_of(noun.first, noun.last) == subject.span:
            yield noun.first
    for word in draft.page.words:
        if word.norm in lexicon.words("selectors") and not draft.nouns_cover(word.index):
            yield word.index


def _before(draft: Draft, first: int) -> list[Word]:
    """The unclaimed words right before a head, back to its article."""
    words = draft.page.words
    index = first
    farthest = max(first - _FARTHEST, 0)
    while index > farthest and words[index].joined:
        if not _may_modify(draft, words[index - 1]) and not _opens_place(draft, index - 1):
            break
        index -= 1
    return list(words[index:first])


def _may_modify(draft: Draft, word: Word) -> bool:
    return draft.is_free(word) and not word.possessive and not lexicon.is_no_noun(word.norm)


def _opens_place(draft: Draft, index: int) -> bool:
    """Whether a place with a hyphen begins at a word: "front-yard"."""
    following = draft.page.words[index + 1]
    match = draft.lexicon.environments.match_at(draft.page.words, index)
    whole = following.hyphen and match is not None and match[0] > 1 and match[1].known
    return whole and draft.is_free(draft.page.words[index])


def _tails(before: list[Word]) -> Iterator[list[Word]]:
    for count in range(min(_REACH, len(before)), 0, -1):
        yield before[-count:]


def _names_tag(draft: Draft, run: list[Word]) -> bool:
    text = " ".join(word.norm for word in run)
    return bool(_places(draft, run, text) or _looks(draft, text))


def _places(draft: Draft, run: list[Word], text: str) -> tuple[str, ...]:
    places = draft.lexicon.places
    if text in lexicon.description_groups() and text not in places:
        return ()  # "the wood kettle"
    match = draft.lexicon.environments.match_at(draft.page.words, run[0].index)
    behind = draft.page.words[run[-1].index + 1 : run[-1].index + 2]
    if len(run) == 1 and behind and behind[0].hyphen:
        return ()  # "the flat-faced cat"
    if match is not None and match[0] == len(run):
        return match[1].values if match[1].known else ()
    if any(word.norm in lexicon.description_groups() for word in run):
        return ()
    found = draft.lexicon.place_tags.related(text) or _likest(text, places)
    return _spelled({tag for tag in found if not _only_describes(text, tag)}, places)


def _is_spelled_out(draft: Draft, run: list[Word]) -> bool:
    """Whether hyphens join the words of a tag: "the night-market pizza"."""
    match = draft.lexicon.environments.match_at(draft.page.words, run[0].index)
    whole = match is not None and match[1].known and match[0] == len(run)
    return whole and len(run) > 1 and all(word.hyphen for word in run[1:])


def _only_describes(text: str, tag: str) -> bool:
    """Whether words are in a tag but do not end it: "open" of "open sea"."""
    forms = {text, *wordnet.singulars(text), lexicon.plural(text)}
    return not any(f"{tag} ".endswith(f"{form} ") for form in forms) and any(
        f" {form} " in f" {tag}" for form in forms
    )


def _spelled(tags: set[str], spellings: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(value for tag in sorted(tags) for value in spellings[tag])


def _likest(text: str, places: Mapping[str, tuple[str, ...]]) -> set[str]:
    words = tuple(text.split())
    found = {tag: likeness(words, tuple(tag.split())) for tag in places}
    best = max(found.values(), default=0.0)
    return {tag for tag, like in found.items() if like >= max(best, _LIKE)}


def _looks(draft: Draft, text: str) -> tuple[str, ...]:
    """Tags of looks that end with the words: "noir" of "film noir"."""
    if text in lexicon.looks():
        return tags_of_look(draft, text)  # "the painted bulldog"
    if text in lexicon.description_groups():
        return ()
    found = [
        value
        for tag in sorted(draft.lexicon.style_names)
        if tag.endswith(f" {text}")
        if (entry := draft.lexicon.styles.get(tag)) is not None
        for value in entry.exact
    ]
    return tuple(dict.fromkeys(found))


def _prefer(
    draft: Draft,
    attribute: Attribute,
    values: tuple[str, ...],
    span: Span,
    *,
    hard: bool = False,
) -> None:
    text = span.of(draft.page.text)
    # a card may be called so: a "road bike", where others were trained on a road
    draft.constraints = [
        replace(c, coarse=True) if _describes(c, span) else c for c in draft.constraints
    ]
    place = f"{'trained with ' if hard else ''}{text} pictures"
    preferred = Constraint(
        attribute=attribute,
        values=values,
        hard=False,
        prefers=True,
        span=span,
        text=text,
        label=place if attribute is Attribute.ENVIRONMENT else text,
    )
    if hard:
        draft.add(replace(preferred, hard=True, prefers=False, fallback=preferred), selecting=True)
    else:
        draft.constraints.append(preferred)


def _refuse(
    draft: Draft, attribute: Attribute, values: tuple[str, ...], span: Span, name: str
) -> None:
    """Rule out a place or a look, and whatever its words were read as: "rather not use the library
    | bear".
    """
    place = attribute is Attribute.ENVIRONMENT
    draft.constraints = [
        c
        for c in draft.constraints
        if c.attribute is not Attribute.DESCRIPTION or c.span is None or not c.span.meets(span)
    ]
    draft.add(
        Constraint(
            attribute=attribute,
            values=values,
            excluded=True,
            span=span,
            text=span.of(draft.page.text),
            label=f"not trained with {name} pictures" if place else f"not {name}",
        ),
        selecting=True,
    )


def _describes(constraint: Constraint, span: Span) -> bool:
    """Whether a wish is for nothing but the words that name a tag."""
    if constraint.attribute is not Attribute.DESCRIPTION or constraint.hard:
        return False
    own = constraint.span
    return own is not None and span.start <= own.start and own.end <= span.end
