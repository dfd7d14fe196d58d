"""The parsed request: constraints that choose a checkpoint, and the content they leave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum


class Attribute(Enum):
    """What a constraint or a question is about."""

    SUBJECT = "subject"
    STYLE = "style"
    CREATED_AT = "created_at"
    LAST_USED_AT = "last_used_at"
    VERSION = "version"
    ENVIRONMENT = "environment"
    OWNER = "owner"
    ORDER = "order"
    DESCRIPTION = "description"
    IDENTITY = "identity"
    USE_COUNT = "use_count"


class OrderKey(Enum):
    """What an order constraint sorts by."""

    NEWEST = "newest"
    OLDEST = "oldest"
    LAST_USED = "last_used"
    MOST_USED = "most_used"
    LEAST_USED = "least_used"
    LEAST_RECENTLY_USED = "least_recently_used"
    HIGHEST_VERSION = "highest_version"
    LOWEST_VERSION = "lowest_version"


@dataclass(frozen=True, order=True)
class Span:
    """A half-open range [start, end) of code points in the prompt."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The words at this place of `text`."""
        return text[self.start : self.end]

    def meets(self, other: Span) -> bool:
        """Whether both share a character."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A half-open interval [start, end) of time; a bound that is None is open."""

    start: datetime | None = None
    end: datetime | None = None

    def holds(self, moment: datetime | None) -> bool:
        """Whether `moment` lies inside; no moment lies in no interval."""
        if moment is None:
            return False
        after_start = self.start is None or moment >= self.start
        return after_start and (self.end is None or moment < self.end)


@dataclass(frozen=True, kw_only=True)
class Constraint:
    """One thing the person asked for, and the words that said so."""

    attribute: Attribute
    values: tuple[str, ...] = ()
    """Accepted values; any one of them satisfies the constraint."""
    excluded: bool = False
    intervals: tuple[Interval, ...] = ()
    """For time: the moment lies in one of them."""
    months: frozenset[int] = frozenset()
    """For time: months of any year, 1-12; used when no year was said and the latest is empty."""
    uses: tuple[int, int | None] = (0, None)
    """For a use count: the fewest and the most, None when there is no most."""
    order: OrderKey | None = None
    rank: int = 0
    among: int = 0
    """For an order: it is one of this many from that end on, any of them; 0 when it is one."""
    span: Span | None = None
    """Where the prompt says so; None for an answer."""
    text: str = ""
    hard: bool = True
    """False when a card that misses it may still be chosen."""
    alone: bool = False
    """For a style or a place: a card that satisfies it has no other."""
    coarse: bool = False
    """A season, a year, a range: the person left the month open. A described thing: it may as well
    be the scene. A look that was told: it may as well be what the subject is like."""
    phrase: bool = False
    """For a description: the words are one noun with its modifiers, not adjectives each."""
    said: tuple[str, ...] = ()
    """For a description: the clause it stands in, to be compared by meaning."""
    action: bool = False
    """For a description: what the subject does. It may as well be the scene: only its meaning as a
    whole tells."""
    scene: bool = False
    """For a description: it was left for the picture, and tells only cards that are strikingly like
    it; or, if it is coarse as well, it is seen beside the subject, and tells nothing beside
    an order."""
    hour: bool = False
    """A time is of some hours; the day is what it falls back to."""
    label: str = ""
    """What it means, for a person: "trained in April 2026"."""
    typed: str = ""
    """Its words as they were typed, where they were read as others: "finetuned in May"."""
    leads: bool = False
    """For a description: it stands before the subject: "purple" of "the purple (April) owl"."""
    by_trigger: bool = False
    """For identity: the values are triggers, which several cards may share."""
    by_name: bool = False
    """For identity: the values are aliases or display names, which several cards may share."""
    prefers: bool = False
    """For soft constraints: cards that satisfy it push out those that do not."""
    narrower: bool = False
    """For a subject: the words say more than the catalog's name for it, "corgi" for "dog"."""
    broader: tuple[str, ...] = ()
    """For a subject that is a kind: subjects whose cards satisfy it when they are described so."""
    refusal: bool = False
    """An answer refuses an option that it was offered."""
    fallback: Constraint | None = None
    """Another reading of the same words, tried when nothing fits this one."""

    def whole_day(self) -> Constraint:
        """Itself, or the day of its hours."""
        return self.fallback.whole_day() if self.hour and self.fallback is not None else self

    @property
    def identifies(self) -> bool:
        """Whether it names single cards: by their ids."""
        return self.attribute is Attribute.IDENTITY and not (self.by_trigger or self.by_name)

    @property
    def quoted(self) -> str:
        """Its words as a person knows them."""
        return self.typed or self.text

    @property
    def interval(self) -> Interval | None:
        """The hull of the intervals; None when there is none."""
        if not self.intervals:
            return None
        starts = [interval.start for interval in self.intervals]
        ends = [interval.end for interval in self.intervals]
        start = None if None in starts else min(s for s in starts if s is not None)
        end = None if None in ends else max(e for e in ends if e is not None)
        return Interval(start=start, end=end)


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A place where the prompt names a subject."""

    span: Span
    """The noun without its possessive ending."""
    subjects: tuple[str, ...]
    """The catalog's subjects it may mean."""
    weight: int
    """How strongly the sentence is about it: 0 scene, 1 object, 2 head, 3 chosen explicitly."""


@dataclass(frozen=True, kw_only=True)
class Intent:
    """What was asked, where it was said, and what is content."""

    constraints: tuple[Constraint, ...] = ()
    content: tuple[Span, ...] = ()
    problems: tuple[str, ...] = ()
    contradiction: Attribute | None = None
    """The attribute of which two values were asked for at once."""
    mentions: tuple[Mention, ...] = ()
    selecting: tuple[Span, ...] = ()
    """Words that only select: they are dropped from what is rendered."""
    triggers: tuple[Span, ...] = ()
    """Where a trigger or a checkpoint id is spelled out."""
    unknown_subject: Constraint | None = None
    """A head noun of which the catalog has no checkpoint."""
    things: tuple[Constraint, ...] = ()
    """Other nouns it may be about, where no subject is asked for; descriptions may tell of them."""
    settled: bool = False
    """The person said any of them will do."""
    answered: bool = False

    @property
    def described(self) -> tuple[Constraint, ...]:
        """What the subject is said to be like; not what it does, which may as well be the scene."""
        return tuple(c for c in self.all(Attribute.DESCRIPTION) if not c.action)

    def all(self, attribute: Attribute) -> tuple[Constraint, ...]:
        """The constraints on one attribute."""
        return tuple(c for c in self.constraints if c.attribute is attribute)

    def first(self, attribute: Attribute) -> Constraint | None:
        """The first constraint on an attribute, or None."""
        return next((c for c in self.constraints if c.attribute is attribute), None)

    @property
    def order(self) -> Constraint | None:
        """The hard order constraint, or None."""
        return next((c for c in self.all(Attribute.ORDER) if c.hard and not c.among), None)

    @property
    def window(self) -> Constraint | None:
        """The constraint to one of so many at an end, or None."""
        return next((c for c in self.all(Attribute.ORDER) if c.hard and c.among), None)

    def without(self, *dropped: Constraint) -> Intent:
        """The same intent without some constraints."""
        kept = tuple(c for c in self.constraints if all(c is not d for d in dropped))
        return replace(self, constraints=kept)

    def readings(self) -> Iterator[Intent]:
        """This intent, then the other readings of single constraints, likeliest first.

        Of hours first the wider ones, then all as whole days, with what that can be read as.
        """
        yield self
        days = self.whole_days()
        if days is not self:
            for index, constraint in enumerate(self.constraints):
                other = constraint.fallback
                while constraint.hour and other is not None and other.hour:
                    yield self.changed(index, other)
                    other = other.fallback
            yield from days.readings()
            return
        plain = self.not_alone()
        if plain is not self:
            yield plain
        for index, constraint in enumerate(plain.constraints):
            other = constraint.fallback
            while other is not None:
                yield plain.changed(index, other)
                other = other.fallback

    def changed(self, index: int, constraint: Constraint) -> Intent:
        """The same with another constraint at a place."""
        kept = (*self.constraints[:index], constraint, *self.constraints[index + 1 :])
        return replace(self, constraints=kept)

    def whole_days(self) -> Intent:
        """The same with the days for their hours."""
        if not any(c.hour and c.fallback is not None for c in self.constraints):
            return self
        return replace(self, constraints=tuple(c.whole_day() for c in self.constraints))

    def not_alone(self) -> Intent:
        """The same where a card may have other looks and places as well."""
        if not any(c.alone for c in self.constraints):
            return self
        plain = (replace(c, alone=False) if c.alone else c for c in self.constraints)
        return replace(self, constraints=tuple(plain))
