"""What the things on a card are, to compare by meaning what was described without its name.

"A tiny spotted beetle" is a ladybug, "string instrument on his back" a lute: a dictionary
says so of the things and kinds that a card names, and people say it of kinds (`lexicon.thesaurus`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from personalq.checkin.cards import Card
from personalq.checkin.labels import LONGEST_WORDING, MOST_WORDINGS, Label
from personalq.checkin.lexicon import canonical, colours, thesaurus, wordnet, words
from personalq.checkin.reasoning.profiles.profile import pieces_of

_WORD = re.compile(r"[^\W_]+")
_LONGEST_NAME = 3
"""Words of the longest name: "mother of pearl"."""
_SENSES = 2
"""Of a word, the likeliest."""
_TELLS = 0.5
"""Share of the cards that may have a thing that tells some from the others."""


def things_on(card: Card) -> tuple[Label, ...]:
    """The things that a card names besides its subject, each tagged with its name."""
    return _things(pieces_of(card), card.subjects)


def telling(cards: Sequence[Sequence[Label]]) -> tuple[Label, ...]:
    """The things of some cards that tell them apart, the rarest first, as many as are compared."""
    counts = Counter(label for card in cards for label in card)
    found: list[Label] = []
    room = MOST_WORDINGS
    for label, count in sorted(counts.items(), key=lambda each: (each[1], sorted(each[0].tags))):
        room -= len(label.wordings)
        if count > _TELLS * len(cards) or room < 0:
            break
        found.append(label)
    return tuple(found)


@lru_cache(maxsize=16384)
def _things(pieces: Sequence[str], subjects: Sequence[str]) -> tuple[Label, ...]:
    own = {canonical(subject) for subject in subjects}
    found: dict[str, tuple[str, ...]] = {}
    for piece in pieces:
        for kind, run in thesaurus.kinds_in(piece):
            if told := _saying(kind):
                found[f"{' '.join(run)}, {kind.sort}"] = (told,)
        for name, said in thesaurus.sayings_in(piece):
            found[f"{name}, as told"] = said
        for name in _names(piece):
            if not own & {name, name.split()[-1]} and (defined := _definitions(name)):
                found[name] = defined
    return tuple(Label(tags=frozenset({name}), wordings=said) for name, said in found.items())


def _saying(kind: thesaurus.Kind) -> str:
    """What is said of a kind, as much as may be compared, with what it is a kind of."""
    said = ""
    for each in kind.told:
        more = f"{said}, {each}" if said else each
        if len(more) + 1 + len(kind.sort) > LONGEST_WORDING:
            break
        said = more
    return f"{said} {kind.sort}" if said else ""


def _names(piece: str) -> Iterator[str]:
    """The nouns of a text that are things, the longest first: "steak knife", not "steak"."""
    said = [canonical(word) for word in _WORD.findall(piece)]
    index = 0
    while index < len(said):
        for length in range(min(_LONGEST_NAME, len(said) - index), 0, -1):
            name = wordnet.base(" ".join(said[index : index + length]))
            if wordnet.senses(name) and not (length == 1 and _says_nothing(name)):
                yield name
                index += length
                break
        else:
            index += 1


def _says_nothing(word: str) -> bool:
    return len(word) < 3 or word in colours() or word in words("prepositions")


@lru_cache(maxsize=16384)
def _definitions(name: str) -> tuple[str, ...]:
    likely = wordnet.senses(name, said=False)[:_SENSES]
    told = (_shortened(wordnet.definition(number)) for number in likely)
    return tuple(dict.fromkeys(each for each in told if each))


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_WORDING else text[:LONGEST_WORDING].rpartition(" ")[0]


def chunks(labels: Iterable[Label], wordings: int) -> Iterator[tuple[Label, ...]]:
    """The labels in parts of about as many wordings."""
    part: list[Label] = []
    for label in labels:
        part.append(label)
        if sum(len(each.wordings) for each in part) >= wordings:
            yield tuple(part)
            part = []
    if part:
        yield tuple(part)
