"""The parse in progress: which characters are claimed, by which constraint."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Mention, Span
from personalq.checkin.names import Names
from personalq.checkin.nouns import SubjectEntry
from personalq.checkin.parsing.text import Page, Word
from personalq.checkin.vocabulary import Lexicon, TagEntry


@dataclass(frozen=True, kw_only=True)
class Context:
    """What a request is read against."""

    now: datetime
    """Reference time, aware."""
    zone: ZoneInfo
    """Time zone of the person: whose "yesterday" it is."""
    southern: bool = False
    """Seasons of the southern hemisphere."""
    week_start: int = 0
    """First day of the week, 0 is Monday."""
    owner: str = ""
    """Who asks, for "my"; the catalog knows this owner, or it is ""."""

    names: Names = field(default_factory=dict)
    """What runs of words of the request name in the catalog."""

    @property
    def local(self) -> datetime:
        """Now, in the person's time zone."""
        return self.now.astimezone(self.zone)


@dataclass(frozen=True, kw_only=True)
class Noun:
    """A subject phrase found in the prompt, before its role is known."""

    first: int
    last: int
    """One past its last word."""
    entry: SubjectEntry


@dataclass(frozen=True, kw_only=True)
class Tag:
    """A style phrase found in the prompt."""

    first: int
    last: int
    entry: TagEntry


@dataclass(kw_only=True)
class Draft:
    """A page, what is known about its words, and what has been claimed so far."""

    page: Page
    lexicon: Lexicon
    context: Context
    answering: bool = False
    """The text answers a question: every word may constrain."""
    nouns: tuple[Noun, ...] = ()
    styles: tuple[Tag, ...] = ()
    constraints: list[Constraint] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    contradiction: Attribute | None = None
    mentions: list[Mention] = field(default_factory=list)
    selecting: list[Span] = field(default_factory=list)
    triggers: list[Span] = field(default_factory=list)
    bystanders: list[Span] = field(default_factory=list)
    """Names of other checkpoints: content of the picture, which no constraint may claim."""
    unknown_subject: Constraint | None = None
    nearest: Constraint | None = None
    """An order by nearness to a time, where nothing else orders: "made just after Easter"."""
    between: tuple[Constraint, Constraint] | None = None
    """The version between two, and it with both ends, which are meant where something orders."""
    claimed: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self.claimed = bytearray(len(self.page.text))
        self._first = {noun.first: noun for noun in reversed(self.nouns)}
        self._covered = {i for noun in self.nouns for i in range(noun.first, noun.last)}
        self._style = {tag.first: tag for tag in reversed(self.styles)}

    def free(self, start: int, end: int) -> bool:
        """Whether no constraint has claimed a character of [start, end)."""
        return not any(self.claimed[start:end])

    def is_free(self, word: Word) -> bool:
        """Whether a word is unclaimed."""
        return self.free(word.start, word.end)

    def mark(self, span: Span, *, selecting: bool = False) -> None:
        """Claim characters; `selecting` words only chose and are not rendered."""
        self.claimed[span.start : span.end] = b"\x01" * (span.end - span.start)
        if selecting:
            self.selecting.append(span)

    def release(self, span: Span) -> None:
        """Leave characters as content after all."""
        self.claimed[span.start : span.end] = bytes(span.end - span.start)

    def add(self, constraint: Constraint, *, selecting: bool = False) -> None:
        """Add a constraint and claim its span."""
        if constraint.span is not None:
            self.mark(constraint.span, selecting=selecting)
        self.constraints.append(constraint)

    def span_of(self, first: int, last: int) -> Span:
        """The span of words [first, last), possessive endings left out."""
        return Span(self.page.words[first].start, self.page.words[last - 1].end)

    def noun_at(self, index: int) -> Noun | None:
        """The subject phrase that starts at word `index`."""
        return self._first.get(index)

    def ends_subject(self, word: Word) -> bool:
        """Whether it is the last word of a subject that cards have."""
        return any(n.entry.subjects and n.last == word.index + 1 for n in self.nouns)

    def nouns_cover(self, index: int) -> bool:
        """Whether word `index` is part of a subject phrase."""
        return index in self._covered

    def is_owner(self, word: Word) -> bool:
        """Whether a word says whose the subject is: "kenji's"."""
        return any(
            c.attribute is Attribute.OWNER and c.span is not None and c.span.meets(word.span)
            for c in self.constraints
        )

    def style_at(self, index: int) -> Tag | None:
        """The style phrase that starts at word `index`."""
        return self._style.get(index)

    def leads_to_head(self, index: int, reach: int = 4) -> bool:
        """Whether the words from `index` on are modifiers of a subject, a style or a "model"."""
        words = self.page.words
        for position in range(index, min(len(words), index + reach)):
            word = words[position]
            if position >= index and not word.joined:
                return False
            if word.norm in lexicon.words("selectors") or self.noun_at(position):
                return True
            if self.style_at(position) is not None:
                return True
            closed = _closed(word.norm) and not word.hyphen  # "bandana-wearing"
            compound = words[position + 1 : position + 2]  # "jungle-trained"
            scene = word.norm in lexicon.words("scenes") and not (compound and compound[0].hyphen)
            if closed or scene:
                return False
        return False

    def leads_to_selector(self, index: int, reach: int = 4) -> bool:
        """Whether the noun phrase from `index` on ends in "model", "version" or "one"."""
        words = self.page.words
        for position in range(index, min(len(words), index + reach)):
            word = words[position]
            if not word.joined or (_closed(word.norm) and not word.hyphen):
                return False
            if word.norm in lexicon.words("selectors"):
                return True
        return False


def _closed(word: str) -> bool:
    return (
        word in lexicon.words("prepositions")
        or (word in lexicon.words("links"))
        or (word in lexicon.words("determiners") and word != "one")
    )
