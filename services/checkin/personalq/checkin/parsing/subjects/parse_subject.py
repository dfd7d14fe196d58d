"""What is pictured: the noun the request is about, told from scene words by its role."""

from __future__ import annotations

from itertools import takewhile

from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Mention, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.compound_head import compound_head
from personalq.checkin.parsing.draft import Draft, Noun
from personalq.checkin.parsing.heads.choices import is_modal, tells
from personalq.checkin.parsing.heads.unknown_head import (
    chosen_thing,
    leads_to_another,
    missing_subject,
    ordered_thing,
    unknown_head,
)
from personalq.checkin.parsing.subjects.role import Role, role_of
from personalq.checkin.parsing.subjects.weighed import (
    acted_on,
    behind_headings,
    definite,
    demote_frames,
    heaviest,
    is_added,
    is_for,
    is_theirs,
    told_apart,
    without_actors,
)
from personalq.checkin.parsing.text import Word

_LIKE = frozenset(["like", "themed", "style", "shaped", "inspired", "faced", "sized"])
"""Behind a noun and a hyphen: "pirate-like"."""


def parse_subject(draft: Draft) -> None:
    """Weigh every mention by its role; the heaviest is what the request is about."""
    mentions: list[tuple[Noun, Mention, Role]] = []
    for noun in draft.nouns:
        span = draft.span_of(noun.first, noun.last)
        last = draft.page.words[noun.last - 1]
        whose = last.possessive and not noun.entry.subjects  # "the children's | book"
        if whose or not draft.free(span.start, span.end) or tells(draft, last):
            continue
        if _is_colour_of_one(draft, noun) or _is_no_subject(draft, noun, last):
            continue
        role = role_of(draft, noun, mentions)
        mention = Mention(span=span, subjects=noun.entry.subjects, weight=role.weight)
        mentions.append((noun, mention, role))
    mentions = behind_headings(draft, demote_frames(draft, mentions))
    draft.mentions += [mention for _, mention, _ in mentions if mention.subjects]
    chosen = heaviest(draft, without_actors(draft, mentions))
    best = max((mention.weight for _, mention, _ in chosen), default=-1)
    unknown = ordered_thing(draft) if best < 2 and not draft.answering else None
    ordered = unknown is not None
    unknown = compound_head(draft) or unknown
    unknown = unknown or unknown_head(draft, [noun for noun, _, _ in mentions])
    told = told_apart(draft, mentions) if best < 2 else []
    if not told and unknown is not None and best < 2 and not ordered:
        told = definite(draft, mentions, unknown) or acted_on(draft, mentions, unknown)
    if told:
        _claim(draft, told)
        return
    if unknown is not None and best == 1 and is_for(draft, unknown):
        unknown = None
    if unknown is not None and best == 1 and is_theirs(draft, unknown, chosen[0][0]):
        unknown = None
    added = unknown is not None and best >= 2 and is_added(draft, unknown, chosen[0][0])
    if unknown is not None and (best < 2 or added):
        draft.unknown_subject = unknown
        return
    if best < 1 and not draft.answering and _names_a_selector(draft, mentions):
        draft.unknown_subject = chosen_thing(draft)
        return
    if draft.answering and best < 1 and chosen and _is_of_one(draft, chosen[0][0]):
        return
    known = [(noun, mention) for noun, mention, _ in chosen if mention.subjects]
    if not known:
        if chosen and (best >= 2 or not draft.constraints):
            missing = missing_subject(draft, chosen[0][1].span)
            if told := definite(draft, mentions, missing) or acted_on(draft, mentions, missing):
                _claim(draft, told)
            else:
                draft.unknown_subject = missing
        else:
            draft.unknown_subject = chosen_thing(draft)
        return
    _claim(draft, known)
    if unknown is not None and unknown.span is not None and _says_more(unknown, known):
        draft.constraints.append(_described(draft, unknown.span, excluded=False))


def _is_no_subject(draft: Draft, noun: Noun, last: Word) -> bool:
    """Whether it only leads to another, or is a verb: "the hero is | the owl", "can | an owl"."""
    if noun.entry.subjects:
        return False
    behind = draft.page.words[last.index + 1 : last.index + 2]
    likened = any(word.hyphen and word.norm in _LIKE for word in behind)  # "pirate-like"
    return likened or is_modal(draft.page.words, last.index) or leads_to_another(draft, last)


def _is_colour_of_one(draft: Draft, noun: Noun) -> bool:
    """Whether a flower that no card is of is a colour: "the | lavender | one", "my |
    lavender | stained-glass donut".
    """
    words = draft.page.words
    chosen = noun.last < len(words) and words[noun.last].joined
    if not chosen or noun.entry.subjects or words[noun.first].norm not in lexicon.colours():
        return False
    following = list(takewhile(lambda word: word.joined, words[noun.last : noun.last + 4]))
    if any(word.norm in lexicon.words("prepositions") for word in following):
        return False
    known = (draft.noun_at(word.index) for word in following)
    chooses = words[noun.last].norm in lexicon.words("selectors")
    return chooses or any(other is not None and other.entry.subjects for other in known)


def _says_more(unknown: Constraint, known: list[tuple[Noun, Mention]]) -> bool:
    """Whether another thing is a kind of what is asked for: "the ruby bongo, our drum"."""
    subjects = [subject for _, mention in known for subject in mention.subjects]
    return any(is_kind_of(unknown.values[0], subject) for subject in subjects)


def _claim(draft: Draft, known: list[tuple[Noun, Mention]]) -> None:
    values = tuple(dict.fromkeys(s for _, mention in known for s in mention.subjects))
    first = known[0][1]
    said = [canonical(mention.span.of(draft.page.text)) for _, mention in known]
    excluded = _excluded(draft, known[0][0])
    if excluded and known[0][0].entry.narrower:
        draft.constraints.append(_described(draft, first.span, excluded=True))
        return  # "not the beagle": another dog
    draft.add(
        Constraint(
            attribute=Attribute.SUBJECT,
            values=values,
            excluded=excluded,
            span=first.span,
            text=first.span.of(draft.page.text),
            coarse=known[0][0].entry.kind or len(known) > 1,
            narrower=known[0][0].entry.narrower,
            label=("not " if excluded else "") + " or ".join(dict.fromkeys(said)),
        )
    )
    for noun, mention in known:
        if noun.entry.narrower:
            draft.constraints.append(_described(draft, mention.span, excluded=False))


def _described(draft: Draft, span: Span, *, excluded: bool) -> Constraint:
    """A noun that says more than the subject: "beagle", "corgi"."""
    text = span.of(draft.page.text)
    return Constraint(
        attribute=Attribute.DESCRIPTION,
        values=(_usual_name(canonical(text)),),
        excluded=excluded,
        hard=excluded,
        coarse=True,
        span=span,
        text=text,
        label=("not " if excluded else "") + canonical(text),
    )


def _usual_name(noun: str) -> str:
    """What a kind is called on cards: a "sausage dog" is a dachshund."""
    same = lexicon.subject_tables()["same"]
    return next((name for name, words in same.items() if " " in noun and noun in words), noun)


def _excluded(draft: Draft, noun: Noun) -> bool:
    words = draft.page.words
    index = noun.first - 1
    while index >= 0 and words[index].norm in ("the", "a", "an", "any"):
        index -= 1
    return index >= 0 and words[index].norm in ("not", "except") and draft.answering


def _is_of_one(draft: Draft, noun: Noun) -> bool:
    """Whether it is said of the one that an answer means: "the one that turns into a vehicle"."""
    before = draft.page.words[: noun.first]
    return any(word.norm in lexicon.words("selectors") for word in before)


def _names_a_selector(draft: Draft, mentions: list[tuple[Noun, Mention, Role]]) -> bool:
    """Whether the prompt speaks of a model as such ("the latest one", "April build"), and not of
    one that was named before ("I like one rocket: draw that most-used one").
    """
    words = draft.page.words
    named = min(
        (noun.last for noun, mention, _ in mentions if mention.subjects), default=len(words)
    )
    for word in words[named:]:
        before = [w.norm for w in words[max(0, word.index - 3) : word.index]]
        if word.norm in lexicon.words("selectors") and {"that", "this"} & set(before):
            return False
    return any(word.norm in lexicon.words("selectors") for word in draft.page.words) and any(
        c.attribute is not Attribute.SUBJECT for c in draft.constraints
    )
