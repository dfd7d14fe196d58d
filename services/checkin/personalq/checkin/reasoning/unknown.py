"""A head noun that is no subject: it may still be what some card says it is ("siamese")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from personalq.checkin import lexicon
from personalq.checkin.cards import Card, Hit
from personalq.checkin.intent import Attribute, Constraint, Intent, Mention, Span
from personalq.checkin.lexicon import canonical, wordnet
from personalq.checkin.lexicon.stems import stem
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.reasoning.descriptions.described import answers
from personalq.checkin.reasoning.kinds import name_of, names
from personalq.checkin.reasoning.profiles.concepts import concepts
from personalq.checkin.reasoning.profiles.profile import pieces_of, profile
from personalq.checkin.reasoning.profiles.traits import trait

_STYLE = frozenset(["style", "art style", "look"])
"""Subjects of a card that stand for no thing."""
_THE = re.compile(r"(?<!\w)(?<!with )(the|my|our) ([\w-]+ )?$", re.IGNORECASE)


def by_description(intent: Intent, hits: Sequence[Hit]) -> tuple[Intent, tuple[Hit, ...]]:
    """Cards whose kind ("Siamese cats with blue eyes") names the noun, and the intent for them."""
    unknown = intent.unknown_subject
    if unknown is None:
        return intent, tuple(hits)
    found = described_as(unknown, hits)
    return _named(intent, unknown, found) if found else _by_style(intent, hits)


def search_for_things(intent: Intent) -> Intent:
    """What to search by for the cards that one of the intent's things may be.

    The intent itself, where it describes by them: what it is searched by is made once.
    """
    told = {word for c in intent.described if not c.excluded for word in canonical(c.text).split()}
    if all(told.issuperset(canonical(noun.text).split()) for noun in intent.things):
        return intent
    hard = (c for c in intent.constraints if c.hard)
    said = (replace(noun, attribute=Attribute.DESCRIPTION, hard=False) for noun in intent.things)
    return Intent(constraints=(*hard, *said))


def without_thing(intent: Intent, prompt: str) -> Intent:
    """The intent with the likeliest of its things as a subject that no card has, where it is spoken
    of as there: "we need the olive skateboard".
    """
    thing = intent.things[0]
    said = any(intent.all(each) for each in (Attribute.SUBJECT, Attribute.IDENTITY))
    said = said or any(thing.span and thing.span.meets(m.span) for m in intent.mentions)
    there = thing.span is not None and _THE.search(prompt[: thing.span.start]) is not None
    behind = prompt[thing.span.end :].split(maxsplit=1) if thing.span is not None else []
    there = there and not (behind and canonical(behind[0]) in lexicon.words("selectors"))
    if said or not there or wordnet.nature(canonical(thing.text)) is not wordnet.Nature.THING:
        return intent
    return replace(intent, unknown_subject=thing)


def kind_as_thing(intent: Intent, hits: Sequence[Hit]) -> Intent | None:
    """The intent with a kind of its subject as a noun nobody lists; None where some card has it.

    "The cruiser" is a kind of boat, but among sailboats and motorcycles a motorcycle.

    Args:
        hits: the cards of the subject.
    """
    subject = intent.first(Attribute.SUBJECT)
    if subject is None or subject.excluded or not subject.narrower:
        return None
    wanted = set(concepts(subject.text))
    if any(wanted <= profile(hit.card).everything for hit in hits):
        return None
    told = (c for c in intent.all(Attribute.DESCRIPTION) if c.span == subject.span)
    noun = replace(subject, values=(canonical(subject.text),), narrower=False)
    return replace(intent.without(subject, *told), unknown_subject=noun)


def is_called(card: Card, noun: Constraint, *, outright: bool = False) -> bool:
    """Whether a card's own words call its subject by a noun: "a gold hydra", "a slip-on sneaker".

    Args:
        outright: whether "a slip-on sneaker" is not enough; nor is "a mountain bike" ever.
    """
    said = canonical(noun.text)
    if not names(card, said) or not _may_be(card, noun):
        return False
    heads = (found.noun for piece in pieces_of(card) if (found := trait(piece)) is not None)
    if any(stem(head) == stem(said.rpartition(" ")[2]) for head in heads):
        return True
    known = wordnet.nature(said) in (wordnet.Nature.THING, wordnet.Nature.PERSON)
    if outright or (known and " " not in said):
        return False
    return any(names(card, f"{said} {subject}") for subject in card.subjects)


def called_outright(
    intent: Intent, hits: Sequence[Hit], *, besides: Sequence[Hit]
) -> tuple[Intent, tuple[Hit, ...]]:
    """The cards called outright by the unknown subject, and the intent for them.

    Args:
        besides: cards that may be meant instead; when one of these answers the rest of the
            description better, there are none.
    """
    noun = intent.unknown_subject
    found = [hit for hit in hits if noun is not None and is_called(hit.card, noun, outright=True)]
    said = answers(intent, (*found, *besides))
    best = max((card.weight for card in said[: len(found)]), default=0.0)
    if not found or best < max(card.weight for card in said):
        return intent, ()
    return by_description(intent, found)


def described_as(noun: Constraint, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The cards among whose kinds a noun is, by what it means."""
    return tuple(hit for hit in hits if _may_be(hit.card, noun))


def _may_be(card: Card, noun: Constraint) -> bool:
    words = " ".join(noun.values).split()
    said = " ".join(word for word in words if word not in lexicon.words("prepositions"))
    return _is_kind(said, card) and _calls(card, noun.text)


def _is_kind(said: str, card: Card) -> bool:
    """Whether a card's kind is what was said: a can "of paint" is a paint can."""
    shown = profile(card)
    if said in lexicon.colours():  # a camel is no camel-coloured chair
        return any(stem(noun) == stem(said) for noun in shown.nouns)
    own = set(concepts(said)) - {concept for noun in shown.nouns for concept in concepts(noun)}
    if not own:  # "parasol", which is a word for "umbrella"
        return names(card, said)
    return own <= shown.kind


def _calls(card: Card, said: str) -> bool:
    """Whether the noun said stands in a card as a word of its own, if it does: no "horse-drawn
    tram" is a horse, and no horse a rocking horse.
    """
    phrase, text = canonical(said), card.description.casefold()
    noun = said.rpartition(" ")[2]
    if "-" in noun:  # "slip-on"
        return canonical(noun) in canonical(text)
    if " " in phrase and wordnet.senses(phrase, said=False):
        return phrase in canonical(text)
    word = re.escape(phrase.rpartition(" ")[2])
    return (
        re.search(rf"\b{word}-\w", text) is None or re.search(rf"\b{word}\b(?!-)", text) is not None
    )


def told_subject(intent: Intent, hits: Sequence[Hit]) -> tuple[Intent, tuple[Hit, ...]]:
    """Cards that a description calls by the subject asked for, where no subject of theirs does.

    "The grizzly" is also a bear "shown as a grizzly", when no card with the subject fits.

    Args:
        hits: what fits the intent without its subject.
    """
    subject = intent.first(Attribute.SUBJECT)
    if subject is None or subject.excluded:
        return intent, ()
    name = canonical(name_of(subject))
    wanted = set(concepts(name))
    found = tuple(
        hit
        for hit in hits
        if wanted and wanted <= profile(hit.card).kind and _is_one(hit.card, name)
    )
    return _named(intent.without(subject), subject, found)


def _is_one(card: Card, name: str) -> bool:
    """Whether a card's words call its subject so: a "grizzly bear" is a grizzly, but a "log cabin
    quilt" is no cabin.
    """
    before = [subject for subject in card.subjects if names(card, f"{name} {subject}")]
    known = bool(wordnet.senses(name, said=False))
    other = known and before and not any(is_kind_of(name, subject) for subject in before)
    return names(card, name) and not other


def _named(
    intent: Intent, unknown: Constraint, found: tuple[Hit, ...]
) -> tuple[Intent, tuple[Hit, ...]]:
    """The intent with the noun as a description of the cards found."""
    described = Constraint(
        attribute=Attribute.DESCRIPTION,
        values=unknown.values,
        hard=False,
        span=unknown.span,
        text=unknown.text,
        label=unknown.label,
    )
    named = Mention(
        span=unknown.span or Span(0, 0),
        subjects=tuple(dict.fromkeys(s for hit in found for s in hit.card.subjects)),
        weight=2,
    )
    changed = replace(
        intent,
        constraints=(*intent.constraints, described),
        mentions=(*intent.mentions, *((named,) if unknown.span else ())),
        unknown_subject=None,
    )
    return changed, found


def _by_style(intent: Intent, hits: Sequence[Hit]) -> tuple[Intent, tuple[Hit, ...]]:
    """A checkpoint of a style alone draws anything in it: "a heron, stained glass"."""
    styled = any(c.hard and not c.excluded for c in intent.all(Attribute.STYLE))
    found = tuple(hit for hit in hits if styled and _STYLE.issuperset(hit.card.subjects))
    return (replace(intent, unknown_subject=None), found) if found else (intent, ())
