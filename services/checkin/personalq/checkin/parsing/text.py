"""A prompt as words with places: every later span slices back to the same text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from personalq.chassis.forms import compile_form
from personalq.checkin.intent import Span
from personalq.checkin.lexicon.spelling import as_meant

_WORD = compile_form(
    r"<[^<>\s]{1,64}>|"
    r"(?<!\w)(b/w(?!\w)(?! (two|three|four|the|an?|these|those|some|my|our|its)\b)|"
    r"w/(o(ut)?(?!\w))?)|\w+('\w+|&\w+)*|&"
)
_APOSTROPHES = "’‘ʼ`´"
_DASHES = "‐‑‒–—−"
_BLANKS = {place: " " for place in range(128) if chr(place).isspace()}

_REACH = 80

V = TypeVar("V")


def shadow(text: str) -> str:
    """`text` in lower case with plain quotes, dashes and spaces, character for character.

    The length never changes, so a place in the shadow is the same place in the text.
    """
    if text.isascii():
        return text.translate(_BLANKS).lower()
    out = []
    for char in text:
        if char.isascii():
            out.append(" " if char.isspace() else char.lower())
        elif char in _APOSTROPHES:
            out.append("'")
        elif char in _DASHES:
            out.append("-")
        elif char.isspace():
            out.append(" ")
        else:
            plain = unicodedata.normalize("NFKC", char).lower()
            out.append(plain if len(plain) == 1 else char)
    return "".join(out)


@dataclass(frozen=True, kw_only=True)
class Word:
    """One word of the prompt; `norm` is lower case, American, without a possessive ending."""

    index: int
    norm: str
    start: int
    end: int
    """End without the possessive ending."""
    full_end: int
    """End with it."""
    possessive: bool
    joined: bool
    """Only spaces or a hyphen, but no dash, stand between this word and the one before it."""
    hyphen: bool
    """A hyphen joins it to the word before it."""
    capital: bool

    @property
    def span(self) -> Span:
        """Its place without the possessive ending."""
        return Span(self.start, self.end)


@dataclass(frozen=True, kw_only=True)
class Page:
    """A prompt, its shadow and its words."""

    text: str
    shadow: str
    words: tuple[Word, ...]

    def word_at(self, position: int) -> Word | None:
        """The first word that ends after `position`."""
        return next((word for word in self.words if word.full_end > position), None)

    def word_before(self, position: int) -> Word | None:
        """The last word that ends at or before `position`."""
        found = None
        for word in self.words:
            if word.full_end > position:
                break
            found = word
        return found

    def run(self, start: int, end: int) -> Iterator[Word]:
        """The words inside [start, end)."""
        return (word for word in self.words if word.start >= start and word.end <= end)


_ROUND_THE = compile_form(
    "round (the|an?|its|his|her|their|my|our|your|this|that|these|those|some|somebody's|someone's|"
    r"each|every)(?!\w)"
)
"""The preposition, no shape: "round the neck", but "the round lamp"."""


_IS_WITH = compile_form(
    r"w (?!(on|in|at|of|to|for|and|or|is|was|by|as|under|near|from|over|with|painted|written)\b)\w"
)
"""A "w" that stands for "with", and what follows it."""
_BEFORE_A_LETTER = frozenset(["a", "an", "the", "this", "that", "letter", "letters", "capital"])


def read(text: str) -> Page:
    """The page of a prompt."""
    lowered = shadow(text)
    words: list[Word] = []
    previous_end = 0
    for match in _WORD.finditer(lowered):
        token = match[0]
        possessive = token.endswith("'s") and len(token) > 2
        written = norm = token[:-2] if possessive else token
        gap = lowered[previous_end : match.start()]
        after_a_letter = not words or words[-1].norm in _BEFORE_A_LETTER
        if not after_a_letter and _IS_WITH.match(lowered, match.start()):
            norm = "with"
        bare = gap.strip("' \t") if words else gap
        words.append(
            Word(
                index=len(words),
                norm="around" if _ROUND_THE.match(lowered, match.start()) else as_meant(norm),
                start=match.start(),
                end=match.start() + len(written),
                full_end=match.end(),
                possessive=possessive or lowered[match.end() : match.end() + 2] in ("' ", "'"),
                joined=bool(words) and bare in ("", "-") and gap.strip("'\t") != " - ",
                hyphen=bare == "-" and gap == "-",
                capital=text[match.start()].isupper(),
            )
        )
        previous_end = match.end()
    return Page(text=text, shadow=lowered, words=tuple(words))


@dataclass
class PhraseTable(Generic[V]):
    """Phrases of one or more words, found longest first, left to right."""

    _by_first: dict[str, dict[tuple[str, ...], V]] = field(default_factory=dict)

    def add(self, phrase: str, value: V, *, replace: bool = False) -> None:
        """Add a canonical phrase; the first entry wins unless `replace`."""
        parts = tuple(phrase.split())
        if not parts:
            return
        entries = self._by_first.setdefault(parts[0], {})
        if replace or parts not in entries:
            entries[parts] = value

    def get(self, phrase: str) -> V | None:
        """The value of exactly this canonical phrase."""
        parts = tuple(phrase.split())
        return self._by_first.get(parts[0], {}).get(parts) if parts else None

    def opens_with(self, word: str) -> bool:
        """Whether a phrase of several words begins with this one."""
        return any(len(parts) > 1 for parts in self._by_first.get(word, ()))

    def update(self, phrases: Mapping[str, V]) -> None:
        """Add many."""
        for phrase, value in phrases.items():
            self.add(phrase, value)

    def match_at(self, words: tuple[Word, ...], index: int) -> tuple[int, V] | None:
        """(words used, value) of the longest phrase at `index`, or None."""
        entries = self._by_first.get(words[index].norm)
        if not entries:
            return None
        best: tuple[int, V] | None = None
        for parts, value in entries.items():
            end = index + len(parts)
            if end > len(words) or (best and len(parts) <= best[0]):
                continue
            run = words[index:end]
            if all(w.norm == p for w, p in zip(run, parts, strict=True)) and all(
                w.joined for w in run[1:]
            ):
                best = (len(parts), value)
        return best

    def find(self, words: tuple[Word, ...]) -> list[tuple[int, int, V]]:
        """(first word, one past the last word, value) of every phrase."""
        found = []
        index = 0
        while index < len(words):
            match = self.match_at(words, index)
            if match is None:
                index += 1
                continue
            found.append((index, index + match[0], match[1]))
            index += match[0]
        return found


def ends_before(pattern: re.Pattern[str], text: str, position: int) -> re.Match[str] | None:
    """The match of a pattern (anchored with `$`) that ends at `position` and begins nearby."""
    return pattern.search(text, max(0, position - _REACH), position)


def merge(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans in order, those that touch or overlap joined."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return tuple(merged)
