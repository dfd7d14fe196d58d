"""What a language model is told of a card, and which words of a request it may lean on.

Cards are written by strangers, so a card's text never reaches the model as text: tags and
descriptions become short terms ("tan teddy bear", "cream snout") without markup, in alphabetical
order, and a text ends where it speaks to its reader instead of about a picture. Ids, names
and triggers are no traits.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from zoneinfo import ZoneInfo

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.cards import Card
from personalq.checkin.intent import Attribute, Intent, Span
from personalq.checkin.parsing.text import Word, read

TRAITS = {
    "subject": Attribute.SUBJECT,
    "style": Attribute.STYLE,
    "environment": Attribute.ENVIRONMENT,
    "created": Attribute.CREATED_AT,
    "description": Attribute.DESCRIPTION,
}
"""The traits an opinion may rest on, by the name the model knows."""
_TERM_WORDS = 5
_TERM_LENGTH = 48
_TERMS = 12
_WORDING_LENGTH = 500
_LONGEST = 2000
"""Characters of a description that are read."""
_TAG = re.compile(r"<[^<>]{0,64}>")
_SENTENCE = re.compile(r"[.!?\n\r;|]+")
_PIECE = compile_form(
    r"[,/()\"“”]|\b(and|or|with|wearing|in|on|at|of|for|from|against|under|over|near|by|to|that|"
    r"which|is|are|has|have|while|as|shown|rendered|trained|drawn|painted)\b",
    flags=re.IGNORECASE,
)
_ARTICLE = compile_form("^(an?|the|its|their|his|her|some) ", flags=re.IGNORECASE)
_LETTERS = re.compile(r"[^\w\s'-]|_")
_MARKUP = re.compile(r"[^\w\s,()'\"“”/&-]|_")
_ADDRESSED = re.compile(
    r"\b(?:ignor\w*|disregard\w*|forget\w*|instruct\w*|instead|overrid\w*|obey\w*|comply|task|"
    r"choos\w*|chosen|select\w*|pick(?:ed|s)?|prefer\w*|rank\w*|answer\w*|repl(?:y|ies)|respond\w*|"
    r"output\w*|return\w*|must|always|never|should|please|you|your|me|system|assistant|user|"
    r"prompt\w*|developer|candidates?|labels?|json|schema|probabilit\w*|percent\w*|scor(?:e|es|ing)|"
    r"verdict|evidence|correct|previous|attention|this (?:one|card|checkpoint)|c\d{1,3})\b",
    re.IGNORECASE,
)
"""Words of someone who speaks to a reader; a sentence with one describes no picture."""


def sentences(text: str) -> tuple[str, ...]:
    """A stranger's text as plain sentences up to the first that speaks to its reader."""
    plain = _TAG.sub(" ", unicodedata.normalize("NFKC", text[:_LONGEST]))
    plain = "".join(c for c in plain if unicodedata.category(c) not in ("Cc", "Cf") or c in "\n\r")
    cleaned = (" ".join(_MARKUP.sub(" ", part).split()) for part in _SENTENCE.split(plain))
    honest = itertools.takewhile(lambda part: not _ADDRESSED.search(part), cleaned)
    return tuple(part for part in honest if part)


def terms(text: str) -> tuple[str, ...]:
    """A stranger's text as at most 12 short terms, sorted."""
    return _terms(text[:_LONGEST])


@lru_cache(maxsize=2048)
def _terms(text: str) -> tuple[str, ...]:
    found: set[str] = set()
    for sentence in sentences(text):
        for piece in _PIECE.split(sentence):
            words = _ARTICLE.sub("", " ".join(_LETTERS.sub(" ", piece).split())).split()
            if words:
                found.add(" ".join(words[:_TERM_WORDS])[:_TERM_LENGTH].casefold())
    return tuple(sorted(found)[:_TERMS])


def wording(card: Card) -> str:
    """A card as one short text, for a reranker."""
    tags = _of((*card.styles, *card.subjects))
    told = ". ".join((", ".join(tags), *sentences(_described(card))))
    return told[:_WORDING_LENGTH]


def _described(card: Card) -> str:
    """The description without the card's names."""
    description = card.description
    subjects = {subject.casefold() for subject in card.subjects}
    for name in sorted((card.checkpoint_id, card.name, *card.triggers), key=len, reverse=True):
        if len(name) > 2 and name.casefold() not in subjects:
            description = re.sub(re.escape(name), " ", description, flags=re.IGNORECASE)
    return description


def _of(tags: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term for tag in tags for term in terms(tag)))[:_TERMS]


def values(card: Card, zone: ZoneInfo) -> dict[str, tuple[str, ...]]:
    """A card's traits by the name the model knows."""
    created = (f"{card.created_at.astimezone(zone):%Y-%m-%d}",) if card.created_at else ()
    return {
        "subject": _of(card.subjects),
        "style": _of(card.styles),
        "environment": _of(card.environments),
        "created": created,
        "description": terms(_described(card)),
    }


@dataclass(frozen=True, kw_only=True)
class Quotable:
    """The words that may speak of the checkpoint: not what is settled, not the scene."""

    phrases: tuple[tuple[str, ...], ...] = ()
    """Runs of words in lower case."""

    def __bool__(self) -> bool:
        return bool(self.phrases)

    def find(self, said: str) -> str:
        """The words of `said` as the request has them; "" when they are not in it or are empty."""
        words = tuple(word.norm for word in read(said).words)
        if not any(_telling(word) for word in words):
            return ""
        found = any(
            phrase[start : start + len(words)] == words
            for phrase in self.phrases
            for start in range(len(phrase) - len(words) + 1)
        )
        return " ".join(words) if found else ""


def quotable(prompt: str, answers: Sequence[str], intent: Intent) -> Quotable:
    """The words of a request that an opinion may rest on."""
    settled = [c.span for c in intent.constraints if c.hard and c.span is not None]
    settled += [mention.span for mention in intent.mentions]
    described = [
        c.span for c in intent.constraints if not c.hard and not c.action and c.span is not None
    ]
    runs = _runs(prompt, settled, described)
    for answer in answers:
        runs += _runs(answer, (), ())
    return Quotable(phrases=tuple(run for run in runs if any(_telling(word) for word in run)))


def _runs(text: str, settled: Sequence[Span], described: Sequence[Span]) -> list[tuple[str, ...]]:
    """Runs of words outside of what is settled and of the scene.

    A scene opens with a preposition or, behind the subject, a verb; punctuation closes it.
    """
    runs: list[list[str]] = [[]]
    scene = named = False
    page = read(text)
    for word in page.words:
        if not word.joined:
            scene = False
            runs.append([])
        scene = scene or _opens_scene(word, page.words, named=named)
        of_settled = any(span.meets(word.span) for span in settled)
        named = named or of_settled
        if of_settled or (scene and not any(span.meets(word.span) for span in described)):
            runs.append([])
        else:
            runs[-1].append(word.norm)
    return [tuple(run) for run in runs]


def _opens_scene(word: Word, words: Sequence[Word], *, named: bool) -> bool:
    if word.hyphen:  # "hand-made"
        return False
    if word.norm in lexicon.words("prepositions"):
        return not _of_a_look(word, words)
    return named and word.norm in lexicon.verb_forms() and word.norm not in _LOOKS


def _of_a_look(preposition: Word, words: Sequence[Word]) -> bool:
    """Whether "in" opens "in a wintry style" instead of a place."""
    following = words[preposition.index + 1 : preposition.index + 6]
    return preposition.norm == "in" and any(word.norm in _MANNERS for word in following)


def _telling(word: str) -> bool:
    """Whether a word by itself can describe something."""
    return (
        len(word) > 2
        and not any(word in lexicon.words(kind) for kind in _EMPTY)
        and (word not in lexicon.verb_forms())
    )


_LOOKS = frozenset({"look", "looks", "looking", "wear", "wears", "wearing"})
_MANNERS = frozenset({"look", "style", "kind", "way", "manner", "mood", "fashion", "version"})
_EMPTY = (
    "determiners",
    "prepositions",
    "links",
    "openers",
    "selectors",
    "frames",
    "verb_marks",
    "empty_adjectives",
)
