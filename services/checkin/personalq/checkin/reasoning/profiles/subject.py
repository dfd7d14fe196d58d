"""Which pieces of a description tell of the subject, and what they say of it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.lexicon import canonical, thesaurus, wordnet
from personalq.checkin.lexicon.stems import stem
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.reasoning.profiles.own_colours import without_flavours
from personalq.checkin.reasoning.profiles.traits import DOING, Trait, trait

_WORN = frozenset((
    "cloak", "suit", "apron", "tunic", "gown", "dress", "coat", "overalls", "jumpsuit", "costume",
    "cassock", "toga", "kimono", "habit", "outfit", "garb", "jerkin", "doublet", "dungarees",
))  # fmt: skip
"""By its colour somebody is called: "the burgundy knight", in a burgundy cloak."""
_HELD = compile_form("(holding|carrying|selling|folding|ironing) ", flags=re.IGNORECASE)
_ONE = compile_form(r"(an?|one|our|my|the|this) (?P<colour>[\w-]+)", flags=re.IGNORECASE)
_IS_OF = compile_form(
    r"^(?!(the|its|his|her|this|our|my|their) ).*(?<!that)(?<!which)(?<!who) is "
    r"(?P<colour>[\w-]+)$|"
    r"^the [\w -]*(?<!that)(?<!which)(?<!who) (is|are) (?P<own>[\w-]+)$",
    flags=re.IGNORECASE,
)
"""Of what is COLOUR; what begins with "the" must name the subject."""
_ON_THE = compile_form(r"(?<!-)\b(on|around|over|under|behind|across|along) an?\s")


def of_subject(piece: str, found: Trait, nouns: set[str]) -> frozenset[str]:
    """The concepts that are of the subject: "navy internet" of "wicker chairs on a navy internet
    cafe".
    """
    stems = set(map(stem, nouns))
    behind = stem(found.noun) not in stems and not stems.isdisjoint(found.where)
    behind = behind and _ON_THE.search(piece) is not None
    if behind:
        return frozenset(found.where)
    held = found.where[1:] if DOING.search(piece) else ()  # "a gnome | pushing | a barrow"
    return frozenset(without_flavours(found)) - set(held)


def names_one(nouns: set[str], words: Sequence[str]) -> bool:
    """Whether words name a subject, or a kind of it ("sundress", "parasol")."""
    if nouns & set(words):
        return True
    return any(
        (len(noun) > 3 and word.endswith(noun)) or _is_below(word, noun)
        for word in words
        for noun in nouns
    )


@lru_cache(maxsize=16384)
def _is_below(word: str, noun: str) -> bool:
    """Whether WordNet has the first among the kinds of the second."""
    kinds, things = wordnet.senses(word), set(wordnet.senses(noun))
    return any(things & set(wordnet.above(sense)[:3]) for sense in kinds)


def is_material(piece: str, found: Trait, nouns: set[str]) -> bool:
    """Whether a bare word may as well say what a thing is made of: "a blue yurt, canvas"."""
    return " " not in piece and found.head.startswith("=") and nouns.isdisjoint(found.words)


def told_alone(pieces: Sequence[str], main: Trait | None) -> Iterator[Trait]:
    """What the subject is like where no phrase names it: "a child seat, a cream beach cruiser".

    A bare word or two that open the description do: "kind: folding / feel: ash wood".
    """
    if main is not None:
        yield main
    opens = trait(pieces[0]) if pieces and may_tell_alone(canonical(pieces[0]).split()) else None
    if opens is not None:
        yield opens


def may_tell_alone(words: Sequence[str]) -> bool:
    """Whether words may be what the subject is like: "folding", but neither "a bow" nor "studs"."""
    if not 0 < len(words) < 3 or words[0] in lexicon.words("determiners"):
        return False
    return next(wordnet.singulars(words[-1]), None) is None


def standing_alone(pieces: Sequence[str], nouns: set[str]) -> Sequence[str]:
    """What may be the subject's colour and stands alone: "a robot, pumpkin, …", "a teapot, glass,
    coral", "the kitty (peach, muddy)", "a chocolate, fluffy dog", "the dog | with a tilted head is
    rust"; or begins a list before it: "Rose, princess, munching a biscuit: a doll", but no name:
    "Rose, a cat".
    """
    naming = [at for at, piece in enumerate(pieces) if names_one(nouns, canonical(piece).split())]
    found = list(pieces[1:2])
    for at in naming:
        found += itertools.takewhile(lambda piece: " " not in piece, pieces[at + 1 : at + 3])
        before = None if not at or _is_told_whole(pieces[at]) else _ONE.fullmatch(pieces[at - 1])
        found += [before["colour"]] if before is not None else []
        told, behind = _IS_OF.match(pieces[at]), _IS_OF.match("".join(pieces[at + 1 : at + 2]))
        found += [told["own"] or told["colour"]] if told is not None else []
        found += [behind["colour"]] if behind is not None and behind["colour"] else []
    if naming and naming[0] > 1 and not _is_told_whole(pieces[1]):
        found.append(pieces[0].lower())
    return found


def _is_told_whole(piece: str) -> bool:
    """Whether a piece begins with an article: "a cat", but not "fluffy dog" of "a brown, …"."""
    return canonical(piece.split()[0]) in lexicon.words("determiners")


def is_all_of_it(piece: str, found: Trait, nouns: set[str]) -> bool:
    """Whether a piece tells of what all of the subject is covered by: its frame, or its cloak."""
    words = itertools.dropwhile(lexicon.words("prepositions").__contains__, piece.split())
    told = itertools.takewhile(lambda w: w not in lexicon.words("prepositions"), words)
    if not lexicon.words("bodies").isdisjoint(map(canonical, told)):
        return True
    worn = found.noun in _WORN and not found.where and _HELD.match(piece) is None
    return worn and any(nature(noun) is Nature.PERSON for noun in nouns)


def told_kinds(
    piece: str, found: Trait, nouns: set[str], *, names_it: bool
) -> Iterator[tuple[Trait, bool]]:
    """What people say of the kinds that a piece names, each as a trait of the sort of thing, and
    whether the kind is the subject's.

    Only of what the piece is about: a "lime green car" is no fruit.
    """
    for kind, name in thesaurus.kinds_in(piece):
        if " ".join(name) in map(stem, nouns):
            continue  # that a rat is "long-tailed" tells none from the others
        sort = kind.sort.split()[-1]
        own = next((noun for noun in nouns if _is_sort(noun, sort)), "")
        if stem(found.noun) in (name[-1], stem(sort)) or (names_it and own):
            for said in kind.told:
                if (told := trait(_put(said, own or sort))) is not None:
                    yield told, bool(own)


def _put(said: str, noun: str) -> str:
    """What is said with the noun it stands beside, if it stands before it."""
    first, _, rest = said.partition(" ")
    return rest if first in ("with", "has", "having") else f"{said} {noun}"


def _is_sort(noun: str, sort: str) -> bool:
    """Whether a subject is of a sort, or the other way round: "sailboat", "boat"."""
    return noun == sort or noun.endswith(sort) or _is_below(noun, sort) or _is_below(sort, noun)
