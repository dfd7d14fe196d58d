"""Places joined to one another: "in a forest and on a beach", "the beach one, also the forest"."""

from __future__ import annotations

import re
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Span
from personalq.checkin.lexicon.wordnet import Nature, nature, singulars
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.environments.claim import claim_place, claim_told
from personalq.checkin.parsing.environments.leads import AND_IN, AND_WHERE, TRAINING
from personalq.checkin.parsing.environments.places import MATERIAL, noun_phrase, place_in
from personalq.checkin.parsing.text import Word, ends_before
from personalq.checkin.vocabulary import TagEntry

_THERE = compile_form(
    r"( and [\w-]+)? (in|at|on|inside|(?P<of>of)) (an?|the|our|my|some) | and ((the|some|an?) )?"
)
LIES = compile_form(
    r" ((by|of|near|along) the (sea|seaside|ocean|coast|shore)|in town)"
    r"(?= ?($|[,.;:!?)])| (and|please|thanks|made|from)\b)"
)
"""Where a place of training lies: "on the sand | by the sea", "on a street | in town"."""
_END = compile_form(r" (alike|too|as well|both)\b| ?($|[,.:;!?])")
_JOINED = compile_form(" (and|plus|[+&]) $")
_OR = compile_form("-? or (the )?$")
_OR_THERE = compile_form(
    "( (one|training))?,? or ((else|maybe|possibly) )?((from|in|on|at|by|near) )?"
    r"((the|an?|my|our) )?(?=\w)"
)
"""Before another place that will do."""
MORE = compile_form(
    " (and|of|with|among|amongst|amid|amidst|between|full of|for|where there are) "
    r"((the|an?|some|all|its|their|both|old|lots of|plenty of|rows of|piles of|stacks of) )*(?=\w)"
)
"""Goes on with what is at a place."""


def longer_place(draft: Draft, last: Word) -> tuple[TagEntry, Span] | None:
    """A place that cards have of several words and ends in one: "the toy | shop | -trained one"."""
    for first in range(max(0, last.index - 2), last.index):
        found = draft.lexicon.environments.match_at(draft.page.words, first)
        if found is not None and found[1].known and first + found[0] == last.index + 1:
            return found[1], draft.span_of(first, last.index + 1)
    return None


def names_place(draft: Draft, start: int, end: int) -> bool:
    """Whether a place that cards have is named there."""
    words = draft.page.words
    found = (
        draft.lexicon.environments.match_at(words, w.index) for w in draft.page.run(start, end)
    )
    return any(match is not None and match[1].known for match in found)


def known_behind(draft: Draft, end: int, *, of: bool) -> tuple[TagEntry, Span] | None:
    """The place behind things that are in it: "trained among pots and pans | in the kitchen".

    Args:
        of: only behind "of": "the dunes | of a beach".
    """
    last = draft.page.word_before(end)
    several = last is not None and next(singulars(last.norm), None) is not None
    lead = _THERE.match(draft.page.shadow, end) if several else None
    word = draft.page.word_at(lead.end()) if lead and (lead["of"] or not of) else None
    match = draft.lexicon.environments.match_at(draft.page.words, word.index) if word else None
    if word is None or match is None or not match[1].known:
        return None
    span = draft.span_of(word.index, word.index + match[0])
    behind = draft.page.word_at(span.end)
    things = (Nature.THING, Nature.PERSON, Nature.PLACE)
    if behind is not None and behind.joined and nature(behind.norm) in things:
        stays = MATERIAL.match(draft.page.shadow, span.end) or nature(behind.norm) is Nature.MATTER
        return (match[1], span) if stays else None  # "wolves and forest | animals"
    return match[1], span


def and_also(draft: Draft, start: int, end: int) -> None:
    """Claim a second place to be had: "trained both in a barn and in the snow"."""
    shadow = draft.page.shadow
    both = re.search(r"\bboth\b", shadow[start:end]) is not None
    if both and (told := AND_WHERE.match(shadow, end)):
        claim_told(draft, Span(told.start("and"), told.end()), told["where"])
        return
    match = AND_IN.match(shadow, end)
    phrase = noun_phrase(draft, match.end()) if match else []
    found = place_in(draft, phrase, surely=both) if phrase else None
    if match is None or found is None:
        return
    entry, span = found
    ends = span.end
    if entry.known and (lies := LIES.match(shadow, ends)):
        ends = lies.end()
    training = MATERIAL.match(shadow, ends) or TRAINING.match(shadow, ends)
    both = both or match["also"] is not None or _END.match(shadow, ends) is not None
    following = draft.page.word_at(ends)
    called = match["also"] and following is not None and following.joined and not training
    if called and following is not None and lexicon.names_thing(following.norm):
        return  # "plus a garden gnome"
    if (training or both) and draft.free(match.start(), ends):
        whole = Span(match.start("and"), training.end() if training else ends)
        claim_place(draft, entry, span, whole)


def and_before(draft: Draft, span: Span, whole: Span) -> None:
    """Claim the first of two places that the same words make one: "attic + | harbour training"."""
    joint = ends_before(_JOINED, draft.page.shadow, span.start)
    last = draft.page.word_before(joint.start() + 1) if joint else None
    if whole.start != span.start or whole.end == span.end or joint is None or last is None:
        return
    for first in range(max(0, last.index - 2), last.index + 1):
        found = draft.lexicon.environments.match_at(draft.page.words, first)
        if found is not None and found[1].known and first + found[0] == last.index + 1:
            place = draft.span_of(first, first + found[0])
            lead = [
                w.norm for w in draft.page.words[max(0, first - 2) : first] if w.joined or first
            ]
            scene = not lexicon.words("prepositions").isdisjoint(lead[-2:])
            if draft.free(place.start, place.end) and not scene:
                claim_place(
                    draft,
                    found[1],
                    place,
                    Span(place.start, joint.start() + len(joint[0].rstrip())),
                )
            return


def is_pictured(draft: Draft, index: int, end: int) -> bool:
    """Whether the place is what is pictured: "the latest mountain model", "the house one"."""
    covering = (n for n in draft.nouns if n.first <= index and end <= n.last)  # no "toy shop"
    noun = next(covering, None)
    if noun is None or not noun.entry.subjects:
        return False
    if any(other.entry.subjects and other.last <= index for other in draft.nouns):
        return False  # "the cat, the mountain one"
    before = draft.page.words[index - 1] if index else None
    if before is not None and before.norm in ("the", "a", "an") and index > 1:
        before = draft.page.words[index - 2]
    return before is None or before.norm not in lexicon.words("prepositions")


def _place_before_or(draft: Draft, span: Span) -> tuple[TagEntry, Span] | None:
    """The place before one: "forest- or | mountain-trained"."""
    joint = ends_before(_OR, draft.page.shadow, span.start)
    last = draft.page.word_before(joint.start() + 1) if joint else None
    first = draft.page.word_at(span.start)
    named = first and draft.lexicon.environments.match_at(draft.page.words, first.index)
    if joint is None or last is None or not named or not draft.is_free(last):
        return None  # "on a beach or trained in a forest"
    match = draft.lexicon.environments.match_at(draft.page.words, last.index)
    return (match[1], last.span) if match and match[1].known and match[0] == 1 else None


def or_there(draft: Draft) -> None:
    """Take in the place that will do as well: "trained in a museum | or from a studio"."""
    shadow = draft.page.shadow
    for place in [c for c in draft.constraints if c.attribute is Attribute.ENVIRONMENT]:
        if place.span and (first := _place_before_or(draft, place.span)):
            span = Span(first[1].start, place.span.end)
            values = tuple(dict.fromkeys((*first[0].values, *place.values)))
            index = draft.constraints.index(place)
            place = replace(place, values=values, span=span, text=span.of(draft.page.text))
            draft.constraints[index] = place
            draft.mark(span, selecting=True)
        joint = _OR_THERE.match(shadow, place.span.end) if place.span else None
        if place.span is None or joint is None or place.alone:
            continue
        same = (c for c in draft.constraints if c.attribute is place.attribute and c.span)
        other = next((c for c in same if c.span and c.span.start == joint.end()), None)
        if other is not None and other.excluded == place.excluded:
            draft.constraints.remove(other)
            values, end = other.values, other.span.end if other.span else joint.end()
        else:
            word = draft.page.word_at(joint.end())
            found = word and draft.lexicon.environments.match_at(draft.page.words, word.index)
            if word is None or not found or not found[1].known or not draft.is_free(word):
                continue
            values, end = found[1].values, draft.span_of(word.index, word.index + found[0]).end
        span = Span(place.span.start, end)
        index = draft.constraints.index(place)
        draft.constraints[index] = replace(
            place,
            values=tuple(dict.fromkeys((*place.values, *values))),
            span=span,
            text=span.of(draft.page.text),
            label=f"{place.label} or {shadow[joint.end() : end]}",
            fallback=None,
        )
        draft.mark(Span(place.span.end, end), selecting=True)
