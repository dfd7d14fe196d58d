"""Cards in everyday words, and how well a description answers to what was said."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache

from personalq.checkin import lexicon
from personalq.checkin.cards import Card
from personalq.checkin.lexicon import canonical

_CLAUSE = re.compile(r"[.;:\n]|,\s+(?!and\b)")
_CUT = re.compile(
    r"\b(?:rendered|trained|shown|drawn|painted|captured|photographed|depicted|"
    r"in\s+an?\s+\w+(?:[\s-]\w+)?\s+(?:style|look)|in\s+\w+\s+style|best\s+for|"
    r"optimi[sz]ed|against|standing|sitting|version\s+\d+|v\d+)\b.*$",
    re.IGNORECASE,
)
_PICTURED = re.compile(
    r"^(?:(?:an?|the)\s+)?(?:picture|photo|image|portrait|rendering|depiction|drawing|"
    r"painting|sketch|illustration)s?\s+of\s+",
    re.IGNORECASE,
)
_UNSAFE = re.compile(r"[<>\x00-\x1f\x7f`{}\[\]]")
_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"\w+")
_LABEL_LENGTH = 64


@lru_cache(maxsize=16384)
def _kind(description: str, checkpoint_id: str, triggers: tuple[str, ...]) -> str:
    text = description.strip()
    for name in (checkpoint_id, *triggers):
        text = re.sub(re.escape(name), "", text, flags=re.IGNORECASE) if name else text
    text = _SPACES.sub(" ", _UNSAFE.sub("", text)).strip()
    clause = next((part for part in _CLAUSE.split(text) if part and part.strip()), "")
    clause = _CUT.sub("", _PICTURED.sub("", clause)).strip(" ,-")
    if len(clause) > _LABEL_LENGTH:
        clause = clause[:_LABEL_LENGTH].rsplit(" ", 1)[0]
    return _uncapitalised(clause)


def _uncapitalised(clause: str) -> str:
    """The clause in lower case at its start, unless that is a name ("Siamese cats")."""
    first = canonical(clause.split(" ", 1)[0])
    ordinary = (
        first in ("a", "an", "the")
        or first in lexicon.description_groups()
        or any(first in group.words for group in lexicon.style_groups().values())
        or lexicon.is_adjective_like(first)
    )
    return clause[:1].lower() + clause[1:] if ordinary else clause


def kind_of(card: Card) -> str:
    """The card's first clause, fit for a question: "a tan teddy bear with a cream snout"."""
    return _kind(card.description, card.checkpoint_id, card.triggers)


def stem(word: str) -> str:
    """A crude stem that makes "stripes", "striped" and "stripe" alike."""
    for ending in ("ies", "es", "s", "ed", "ing", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            base = word[: -len(ending)]
            if ending == "ies":
                return f"{base}"
            if len(base) > 3 and base[-1] == base[-2] and ending in ("ed", "ing", "y"):
                base = base[:-1]
            return base
    return word.removesuffix("e") if len(word) > 4 else word


def concepts(text: str) -> tuple[str, ...]:
    """A text as concept names in order: synonyms of the description file fall together."""
    return tuple(concept for concept, _ in worded_concepts(text))


@lru_cache(maxsize=4096)
def worded_concepts(text: str) -> tuple[tuple[str, str], ...]:
    """Concepts, each with the words that said it."""
    groups = lexicon.description_groups()
    words = [canonical(word) for word in _WORD.findall(text.casefold())]
    found = []
    index = 0
    while index < len(words):
        for length in (3, 2, 1):
            phrase = " ".join(words[index : index + length])
            if index + length <= len(words) and phrase in groups:
                found.append((f"={groups[phrase]}", phrase))
                index += length
                break
        else:
            found.append((_concept(words[index]), words[index]))
            index += 1
    return tuple(found)


def _concept(word: str) -> str:
    """The stem of a word, or of the first word for the one thing it names: "auto" is a "car"."""
    name = lexicon.common_name(word)
    group = lexicon.description_groups().get(name)
    return f"={group}" if group else stem(name)


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A card's concepts: of its whole text, of what it is, and neighbouring pairs."""

    everything: frozenset[str]
    kind: frozenset[str]
    pairs: frozenset[tuple[str, str]]


@lru_cache(maxsize=16384)
def _profile(text: str, kind: str) -> Profile:
    order = concepts(text)
    head = re.split(r"\b(?:with|wearing|and|in|on|that|holding|carrying|of)\b", kind)[0]
    return Profile(
        everything=frozenset(order),
        kind=frozenset(concepts(head)),
        pairs=frozenset(itertools.pairwise(order)),
    )


def profile(card: Card) -> Profile:
    """The profile of a card's description, subjects and name."""
    name = card.name if card.name != card.checkpoint_id else ""
    text = f"{card.description} ; {name} ; {' ; '.join(card.subjects)}"
    return _profile(text, kind_of(card))
