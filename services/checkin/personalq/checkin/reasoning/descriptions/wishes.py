"""What the person described, one wish each: a noun with its modifiers, or an adjective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.lexicon import wordnet
from personalq.checkin.reasoning.meaning import Place
from personalq.checkin.reasoning.profiles.concepts import worded_concepts
from personalq.checkin.reasoning.profiles.traits import Trait, things_of, trait

MAX_PHRASES = 8
"""Phrases a catalog compares in one search."""
LONGEST_PHRASE = 200
"""Characters of the longest of them."""


@dataclass(frozen=True, kw_only=True)
class Wish:
    """One thing the person described."""

    trait: Trait
    text: str
    phrase: bool
    """A noun with its modifiers; else an adjective of the subject."""
    vague: bool = False
    """It may as well be the scene."""
    answer: bool = False
    """It answers a question."""
    said: tuple[str, ...] = ()
    """As what it is compared by meaning; the likest counts."""
    part: float = 1.0
    """Its share of what is said there: two adjectives mean something together, once."""
    action: bool = False
    """Only its meaning tells."""
    scene: bool = False
    """It was left for the picture."""
    before: bool = False
    """It stands right before the subject."""
    placed: bool = False
    """It stands where a scene may be told, or tells a look: "in birthday headgear", "under an
    umbrella", "drawn with a nib".
    """


def wishes(intent: Intent) -> tuple[Wish, ...]:
    """What was described, each once."""
    found: dict[tuple[str, ...], Wish] = {}
    for constraint in intent.all(Attribute.DESCRIPTION):
        if constraint.hard:
            continue
        look = any(_are_same_words(constraint, other) for other in intent.all(Attribute.STYLE))
        for wish in _wishes(constraint):
            told = replace(wish, before=constraint.leads, placed=wish.placed or look)
            found.setdefault(wish.trait.concepts, told)
    return tuple(found.values())


def _are_same_words(one: Constraint, other: Constraint) -> bool:
    return one.span is not None and other.span is not None and one.span.meets(other.span)


def _wishes(constraint: Constraint) -> list[Wish]:
    whole = trait(" ".join(constraint.values))
    if whole is None:
        return []
    if constraint.phrase and not _is_adjective(constraint):
        said = trait(constraint.text) or whole
        return [
            Wish(
                trait=said,
                text=constraint.text,
                phrase=True,
                vague=constraint.coarse,
                answer=constraint.span is None,
                said=constraint.said or (constraint.text,),
                placed=not constraint.said,
                action=constraint.action,
                scene=constraint.scene,
            )
        ]
    singles = []
    # With its numbers, "three-legged", and with the subject, "computer chair".
    things = {**things_of(constraint.text), **things_of(" ".join(constraint.values))}
    worded = _telling(worded_concepts(" ".join(constraint.values)))
    for concept, text in worded:
        single = Trait(
            words=tuple(text.split()),
            concepts=(concept,),
            head=concept,
            noun=text,
            things={thing: of for thing, of in things.items() if concept in of},
        )
        singles.append(
            Wish(
                trait=single,
                text=text,
                phrase=False,
                vague=constraint.coarse,
                answer=constraint.span is None,
                said=constraint.said,
                part=1 / len(worded),
            )
        )
    return singles


def _is_adjective(constraint: Constraint) -> bool:
    """Whether it is no noun after all: "the timid, cartoon robot"."""
    word = constraint.values[0]
    plain = len(constraint.values) == 1 and constraint.text.casefold() == word
    no_noun = wordnet.nature(word) is wordnet.Nature.NO_NOUN and not lexicon.is_wearable(word)
    return plain and no_noun  # "in the waterproof" it is one


def _telling(worded: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """Those that tell something by themselves: not "rich" of "rich red", nor "egg-shaped"'s end."""
    colours = lexicon.words("colors")
    ends, empty = lexicon.words("compound_ends"), lexicon.words("intensities")
    following = [concept.removeprefix("=") for concept, _ in worded[1:]] + [""]
    return [
        (concept, text)
        for place, (concept, text) in enumerate(worded)
        if not (place and text in ends) and not (text in empty and following[place] in colours)
    ]


def spoken(intent: Intent) -> tuple[str, ...]:
    """What a catalog is asked to compare with the phrases of its cards."""
    told = [said for wish in wishes(intent) if not wish.vague for said in wish.said]
    return tuple(said for said in dict.fromkeys(told) if len(said) <= LONGEST_PHRASE)[:MAX_PHRASES]


def is_bare(wish: Wish) -> bool:
    """Whether it is one or two words behind the subject."""
    return wish.phrase and not wish.before and max(len(s.split()) for s in wish.said) < 3


def place_of(wish: Wish, intent: Intent) -> Place:
    """Where it stands."""
    if wish.answer and intent.answered:
        return Place.ANSWER
    if wish.action:
        return Place.DOES
    behind = (wish.phrase and not wish.before) or wish.answer
    return Place.BEHIND if behind else Place.BEFORE


def says_more(wish: Wish) -> bool:
    """Whether a clause says more than its one word: "that is eating | a cookie"."""
    told = [found for each in wish.said if (found := trait(each)) is not None]
    clause = not (wish.phrase or wish.before)
    return clause and any(len(each.concepts) > len(wish.trait.concepts) for each in told)
