"""The kind of a subject, where every card tells its own and none has that one.

"A corgi" may be any dog of a catalog that only says "dog". Where every card says which kind it is
and that is another, none is meant: a grizzly is no panda, a rag doll no princess doll.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from zoneinfo import ZoneInfo

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.cards import Card, Hit
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.lexicon import canonical, thesaurus, wordnet
from personalq.checkin.lexicon.stems import stem
from personalq.checkin.lexicon.stuffs import stuffs_in
from personalq.checkin.nouns import is_kind_of, meant
from personalq.checkin.parsing.text import ends_before
from personalq.checkin.reasoning.check import satisfying
from personalq.checkin.reasoning.kinds import names
from personalq.checkin.reasoning.meaning import likest
from personalq.checkin.reasoning.own import FEWEST, NO_KINDS, insisting_on, is_named
from personalq.checkin.reasoning.profiles.concepts import concepts
from personalq.checkin.reasoning.profiles.profile import pieces_of, profile
from personalq.checkin.reasoning.profiles.traits import trait

_LONGEST = 2
"""Words of the longest kind looked for: "sun bear"."""
_ALIKE = 0.5
"""Likeness from which on a card may be of a kind that no word of it names."""
_THE_ONE = compile_form(
    r"(?<!\w)(the|my|our|your|that|this|newest|latest|oldest|earliest|first|last|"
    r"most recent)( [\w-]+){0,3} $",
    flags=re.IGNORECASE,
)
"""Before a kind that is known to be there; "a princess doll" may be one to draw."""


def are_others(cards: Sequence[Card], subject: Constraint) -> bool:
    """Whether every card says that it is of another kind than the one asked for.

    Of people nothing is said: a man may be a nurse.

    Args:
        subject: in a word narrower than the catalog's subjects.
    """
    people = any(wordnet.synset(n)[0] == "p" for n in meant(canonical(subject.text), said=False))
    return bool(cards) and not people and all(_is_of(card, subject) is False for card in cards)


def of_other_kinds(intent: Intent, hits: Sequence[Hit], zone: ZoneInfo) -> Intent | None:
    """The intent that says so where every card is of another kind than its subject."""
    subject = intent.first(Attribute.SUBJECT)
    cards = [hit.card for hit in satisfying(intent, hits, zone)]
    if subject is None or not subject.narrower or not are_others(cards, subject):
        return None
    told = [c for c in intent.all(Attribute.DESCRIPTION) if c.span == subject.span]
    others = tuple(c for c in intent.constraints if c is not subject and c not in told)
    kind = tuple(replace(c, hard=True) for c in told)
    general = replace(subject, narrower=False, text=subject.values[0], label=subject.values[0])
    return replace(intent, constraints=(*kind, general, *others))


def is_meant_by(name: str, card: Card) -> bool:
    """Whether a card's kind is what a noun is another word for: "trainer" of a sneaker."""
    told = _kinds(pieces_of(card)[:1], tuple(map(canonical, card.subjects)))
    return any(_means(canonical(name), kind) for kind in told)


def without_its_kind(
    intent: Intent, hits: Sequence[Hit], *, prompt: str, besides: Sequence[Hit] = ()
) -> Intent | None:
    """The intent that says what nothing fits; None where some card may be of the kind.

    Args:
        hits: all that satisfy it.
        besides: other cards of the subject; where one of them is of the kind, the few found need
            not tell what else there is.
    """
    subject = intent.first(Attribute.SUBJECT)
    wanted = _beside(intent, subject)
    if subject is None or wanted is None:
        return None
    general = tuple(map(canonical, subject.values))
    named = f"{wanted.text} {subject.text}" if wanted.leads else wanted.text
    known = any(names(hit.card, named) for hit in besides)
    if wanted.leads and not _is_a_kind(canonical(wanted.text), general):
        there = _may_name_kind(wanted) and _is_there(wanted, prompt)
        none = there and _is_none(wanted, hits, besides, general)
        return insisting_on(intent, wanted) if none else None
    if not known and (len(hits) < FEWEST or not _is_there(wanted, prompt)):
        return None
    alike = math.inf if known else _ALIKE
    if not hits or any(_may_be(hit, wanted, general, alike=alike) for hit in hits):
        return None
    return insisting_on(intent, wanted)


def _is_none(
    wanted: Constraint, hits: Sequence[Hit], besides: Sequence[Hit], general: tuple[str, ...]
) -> bool:
    """Whether cards say what they are right before their subject, and each of some another than
    was asked for: no "Russian tortoise" is the Greek one, where others are Greek.
    """
    said = _last(wanted)
    told = {word for hit in besides for word in _before_it(hit.card, general)}
    if said not in told or not hits:
        return False
    for hit in hits:
        words = {stem(word) for word in re.findall(r"[\w']+", canonical(hit.card.description))}
        if said in words or not _before_it(hit.card, general):
            return False
    return True


def _may_name_kind(wanted: Constraint) -> bool:
    """Whether the word before the subject may be a kind's: "Greek", "cargo", not "small"."""
    word = wanted.text.split()[-1]
    name = canonical(word).split()[-1]
    proper = word[:1].isupper() and (wanted.span is None or wanted.span.start > 0)
    return proper or _names_kind(name)


def _last(wanted: Constraint) -> str:
    """The word right before the subject."""
    return stem(canonical(wanted.text).split()[-1])


def _before_it(card: Card, general: tuple[str, ...]) -> set[str]:
    """The names and nouns right before a card's subject, other than colours and stuffs."""
    found = set()
    for piece in pieces_of(card):
        said = piece.replace("-", " ").split()
        words = [canonical(word) for word in said]
        for noun in general:
            for index in range(1, len(words)):
                if _stems(words[index:], noun) != _stems(noun.split(), noun):
                    continue
                name = index > 1 and said[index - 1][:1].isupper()
                if name or _names_kind(words[index - 1]):
                    found.add(stem(words[index - 1]))
    return found


def _names_kind(word: str) -> bool:
    """Whether a noun before a subject may say of what kind it is."""
    plain = word in lexicon.colours() or stuffs_in(word) or lexicon.is_adjective_like(word)
    return not plain and lexicon.names_thing(word)


def kind_in_question(intent: Intent, hits: Sequence[Hit]) -> bool:
    """Whether a word before the subject may name a kind that only others of the subject are of."""
    subject = intent.first(Attribute.SUBJECT)
    wanted = _beside(intent, subject)
    if subject is None or wanted is None:
        return False
    general = tuple(map(canonical, subject.values))
    if wanted.leads and not _is_a_kind(canonical(wanted.text), general):
        told = any(_last(wanted) in _before_it(hit.card, general) for hit in hits)
        return bool(hits) and _may_name_kind(wanted) and not told
    return bool(hits) and not any(_may_be(hit, wanted, general, alike=math.inf) for hit in hits)


def _beside(intent: Intent, subject: Constraint | None) -> Constraint | None:
    """The word for the kind of the subject: "the clown doll", "a parrot that's a budgie"."""
    if subject is None or subject.span is None or subject.excluded or subject.narrower:
        return None
    if is_named(intent):
        return None
    general = tuple(map(canonical, subject.values))
    for constraint in intent.described:
        span = constraint.span
        told = canonical(constraint.text)
        soft = not (constraint.excluded or constraint.hard or constraint.coarse)
        if soft and not constraint.leads and _is_kind(told, general):
            return constraint
        if not constraint.leads or not soft:
            continue
        if span is None or span.end + 1 != subject.span.start:
            continue
        plain = told.split()[-1] in lexicon.colours() or stuffs_in(told)
        return None if plain or told in NO_KINDS else constraint
    return None


def _is_a_kind(word: str, general: tuple[str, ...]) -> bool:
    """Whether a word before a subject is known to make a kind of it: "a snare drum"."""
    if " " in word or word in NO_KINDS or word in lexicon.words("selectors"):
        return False
    toy = any(is_kind_of(noun, each) for noun in general[:1] for each in ("doll", "toy", "figure"))
    if wordnet.nature(word) is wordnet.Nature.PERSON and not toy:
        return False  # "the pirate bear" may be one to draw
    return any(_is_known_kind(word, noun) for noun in general)


def _is_there(wanted: Constraint, prompt: str) -> bool:
    """Whether somebody speaks of a kind as of one that is there."""
    start = wanted.span.start if wanted.span is not None else 0
    return ends_before(_THE_ONE, prompt, start) is not None


def _may_be(hit: Hit, wanted: Constraint, general: tuple[str, ...], *, alike: float) -> bool:
    """Whether a card may be of a kind: it says so, or nothing else, or is like what was said."""
    said = canonical(wanted.text)
    shown = profile(hit.card)
    if set(concepts(said)) & (shown.everything | shown.told):
        return True
    if any(names(hit.card, f"{said} {noun}") for noun in general):
        return True
    told = _kinds(pieces_of(hit.card)[:1], general)
    named = (said, *(f"{said} {noun}" for noun in general))
    if not told or any(_is_related(said, k) or any(_means(n, k) for n in named) for k in told):
        return True
    return likest(wanted.said, hit) >= alike


def _is_of(card: Card, subject: Constraint) -> bool | None:
    """Whether a card says that it is of a kind, or of another one; None when it says neither."""
    wanted = canonical(subject.text)
    if not meant(wanted, said=False) or _is_age(wanted) or wanted in lexicon.words("of_any_kind"):
        return None
    general = tuple(map(canonical, subject.values))
    kinds = _kinds((*pieces_of(card)[:1], *card.subjects), general)
    if not kinds:
        return None
    return names(card, wanted) or any(_is_related(wanted, kind) for kind in kinds)


@lru_cache(maxsize=65536)
def _is_related(wanted: str, kind: str) -> bool:
    """Whether a kind is another word for what was asked for, or says more of it or less."""
    told = (stem(word) for of, _ in thesaurus.kinds_in(kind) for t in of.told for word in t.split())
    related = is_kind_of(kind, wanted) or is_kind_of(wanted, kind) or stem(wanted) in set(told)
    return related or _means(wanted, kind)


@lru_cache(maxsize=65536)
def _means(name: str, kind: str) -> bool:
    """Whether a noun is another word for a kind: "rocker" for "rocking chair"."""
    said, told = thesaurus.things_in(name), thesaurus.things_in(kind)
    words = frozenset(map(stem, name.split()))
    for thing in said.keys() & told.keys():
        if said[thing] == words or said[thing].isdisjoint(told[thing]):
            return True  # a "clown doll" and a "rag doll" are dolls, and no more than that
    groups = lexicon.subject_tables()["same"].values()
    if any(name in group and kind in group for group in groups):
        return True
    of_name = {of for of, run in thesaurus.kinds_in(name) if len(run) == len(name.split())}
    return any(of in of_name for of, _ in thesaurus.kinds_in(kind))


@lru_cache(maxsize=16384)
def _kinds(texts: tuple[str, ...], general: tuple[str, ...]) -> tuple[str, ...]:
    """What texts call a general noun more exactly: "grizzly bear", "rag doll", "djembe" of a drum.

    A kind by a word before the noun counts with and without the noun.
    """
    return tuple(dict.fromkeys(kind for text in texts for kind in _kinds_in(text, general)))


def _kinds_in(text: str, general: tuple[str, ...]) -> Iterator[str]:
    words = canonical(text).replace("-", " ").split()
    for start in range(len(words)):
        for length in range(_LONGEST, 0, -1):
            phrase = " ".join(words[start : start + length])
            if len(phrase.split()) == length and _is_kind(phrase, general):
                yield phrase
                break
    heads = {stem(noun.split()[-1]) for noun in general}
    for index in range(1, len(words)):
        noun = next((n for n in general if _stems(words[index:], n) == _stems(n.split(), n)), "")
        if noun and _makes_kind(words[index - 1], noun):
            yield words[index - 1]
            yield f"{words[index - 1]} {noun}"
    found = trait(text)
    if found is not None and stem(found.noun) not in heads and lexicon.names_thing(found.noun):
        yield found.noun


def _stems(words: Sequence[str], noun: str) -> list[str]:
    """The stems of as many words as a noun has."""
    return [stem(word) for word in words[: len(noun.split())]]


def _is_kind(phrase: str, general: tuple[str, ...]) -> bool:
    return phrase not in general and any(
        is_kind_of(phrase, noun) and not is_kind_of(noun, phrase) for noun in general
    )


def _makes_kind(before: str, noun: str) -> bool:
    """Whether a word before a noun makes a kind of it: "rag doll", "dining chair"."""
    if before in lexicon.colours() or stuffs_in(before) or lexicon.words("sides") & {before}:
        return False
    return _is_known_kind(before, noun) or (
        lexicon.names_thing(before) and not lexicon.is_no_noun(before)
    )


def _is_known_kind(before: str, noun: str) -> bool:
    """Whether a compound is a word, or in the thesaurus: "highchair", "rag doll"."""
    if before in lexicon.colours() or stuffs_in(before):
        return False
    compound = f"{before} {noun}"
    named = any(run[0] == stem(before) and len(run) > 1 for _, run in thesaurus.kinds_in(compound))
    return named or bool(wordnet.look_up(compound) or wordnet.look_up(before + noun))


def _is_age(noun: str) -> bool:
    """Whether a noun says how old it is rather than of what kind: a puppy may be a corgi."""
    young = set(wordnet.senses("young", said=False))
    return any(young & set(wordnet.above(number)) for number in meant(noun, said=False))
