"""The card of a checkpoint: the context tuple c = (T, S, style, D, M) of the paper, section III-A.

Cards are values. `checked` is the only gate from what a caller sent to a card that may be stored.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from personalq.catalog.places import told_places
from personalq.chassis.errors import InvalidInput
from personalq.chassis.phrases import phrases_of

if TYPE_CHECKING:
    from personalq.catalog.names import Name


class State(StrEnum):
    """Where a checkpoint stands on its way from file to servable artifact."""

    REGISTERED = "registered"
    SERVABLE = "servable"
    FAILED = "failed"
    ARCHIVED = "archived"


#: What can be selected; also what a filter without states means.
SELECTABLE = (State.REGISTERED, State.SERVABLE)


class Format(StrEnum):
    """How the weights of a checkpoint are stored."""

    UNKNOWN = ""
    LORA = "lora"
    FULL = "full"
    TEXTUAL_INVERSION = "textual_inversion"


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """Where the bytes of a checkpoint are, and what they must be."""

    uri: str
    #: Lower-case hexadecimal; "" when not known yet.
    sha256: str = ""
    #: 0 when not known yet.
    size_bytes: int = 0
    format: Format = Format.UNKNOWN


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """A checkpoint as the catalog knows it; one that was never stored has revision 0."""

    checkpoint_id: str
    name: str = ""
    #: What people call the thing pictured, for example "Biscuit".
    aliases: tuple[str, ...] = ()
    #: The first one is canonical. Several cards may share one; a third of all cards have none.
    triggers: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    description: str = ""
    base_model: str = ""
    version: int | None = None
    #: When it was trained; None only before it is stored.
    created_at: datetime | None = None
    last_used_at: datetime | None = None
    use_count: int = 0
    environments: tuple[str, ...] = ()
    owner: str = ""
    source: Origin
    lora_rank: int | None = None
    cross_attention_width: int | None = None
    state: State = State.REGISTERED
    state_reason: str = ""
    registered_at: datetime | None = None
    updated_at: datetime | None = None
    #: The tenant's revision at the last change.
    revision: int = 0
    #: Hash of what was asked to be registered.
    registration_hash: str = ""
    #: Artifacts made from the present source, by profile.
    artifacts: tuple[Artifact, ...] = field(default=(), compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Artifact:
    """One checkpoint, quantized once for one serving profile. Immutable."""

    checkpoint_id: str
    profile: str
    #: SHA-256 of the canonical manifest: the name of the manifest blob.
    digest: str
    size_bytes: int
    base_digest: str
    base_size_bytes: int
    base_model: str
    recipe_version: int
    triggers: tuple[str, ...]
    source_sha256: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """A half-open interval [start, end) of time; None is open."""

    start: datetime | None = None
    end: datetime | None = None


ALWAYS = Interval()


@dataclass(frozen=True, kw_only=True, slots=True)
class Filter:
    """Hard constraints: a card that misses one is not returned. Empty fields constrain nothing."""

    subjects: tuple[str, ...] = ()
    excluded_subjects: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    excluded_styles: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    excluded_environments: tuple[str, ...] = ()
    created: Interval = ALWAYS
    last_used: Interval = ALWAYS
    versions: tuple[int, ...] = ()
    owners: tuple[str, ...] = ()
    checkpoint_ids: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    #: Aliases and display names.
    names: tuple[str, ...] = ()
    #: SELECTABLE when empty, except in a watch.
    states: tuple[State, ...] = ()


NO_CONSTRAINTS = Filter()


@dataclass(frozen=True, kw_only=True, slots=True)
class Vocabulary:
    """The words and names of a tenant's selectable cards."""

    revision: str
    #: False when the caller's revision is current; the lists are empty then.
    modified: bool
    subjects: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    names: tuple[Name, ...] = ()
    #: Whether these are all names; there are none when they would be too many.
    names_complete: bool = False
    #: How many cards there are, also when not modified.
    cards: int = 0


MAX_TRIGGER = 64
MAX_LABEL = 64
MAX_LABELS = 32
MAX_NAME = 128
MAX_DESCRIPTION = 4000
MAX_URI = 2048
#: Phrases of a description that are embedded, and the characters of each.
MAX_PHRASES = 16
MAX_PHRASE = 200
#: Words of these phrases that have a vector each.
MAX_WORDS = 64
#: Raised when phrases, or what is kept of them, come out otherwise: those of all cards are then
#: embedded anew, in the background.
PHRASES_VERSION = 22
#: Times outside are mistakes, such as milliseconds taken for seconds. One that merely lies ahead of
#: our clock is not: clocks of training machines are wrong by hours, ours may be wrong by years.
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
LATEST = datetime(2100, 1, 1, tzinfo=UTC)

_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def checked_id(checkpoint_id: str) -> str:
    """Return a well-formed checkpoint id; raise InvalidInput for any other."""
    problem = _id_problem(checkpoint_id)
    if problem:
        raise InvalidInput(f"checkpoint_id: {problem}", field="checkpoint_id")
    return checkpoint_id


def checked(card: Card) -> Card:
    """Return the card with its texts tidied; raise InvalidInput naming everything that is wrong."""
    card = _tidied(card)
    problems: dict[str, str] = {}

    def require(where: str, problem: str) -> None:
        if problem:
            problems[f"checkpoint.{where}"] = problem

    require("checkpoint_id", _id_problem(card.checkpoint_id))
    require("name", _text_problem(card.name, MAX_NAME))
    if not card.subjects and not card.styles:
        require("subjects", "say what it pictures, for example bear, or give a style")
    for where, labels, longest in (
        ("aliases", card.aliases, MAX_LABEL),
        ("triggers", card.triggers, MAX_TRIGGER),
        ("subjects", card.subjects, MAX_LABEL),
        ("styles", card.styles, MAX_LABEL),
        ("environments", card.environments, MAX_LABEL),
    ):
        if len(labels) > MAX_LABELS:
            require(where, f"has {len(labels)} entries, at most {MAX_LABELS} are allowed")
        for index, label in enumerate(labels):
            require(f"{where}[{index}]", _text_problem(label, longest, empty=False))
    require("description", _text_problem(card.description, MAX_DESCRIPTION, lines=True))
    require("base_model", _text_problem(card.base_model, MAX_NAME))
    require("owner", _text_problem(card.owner, MAX_NAME))
    if card.version is not None and card.version < 0:
        require("version", f"is {card.version}; versions count from 0 or 1")
    if card.use_count < 0:
        require("use_count", f"is {card.use_count}; it cannot be negative")
    require("created_at", _time_problem(card.created_at))
    require("last_used_at", _time_problem(card.last_used_at))
    require("source.uri", _uri_problem(card.source.uri))
    if card.source.sha256 and not _SHA256.fullmatch(card.source.sha256):
        require("source.sha256", "must be 64 lower-case hexadecimal digits")
    if card.source.size_bytes < 0:
        require("source.size_bytes", "cannot be negative")
    if problems:
        summary = "; ".join(f"{where}: {problem}" for where, problem in problems.items())
        raise InvalidInput(summary, violations=problems)
    return card


def registration_hash(card: Card) -> str:
    """Identify what was asked to be registered; usage and the catalog's own fields do not count."""
    return _hash(
        [
            card.checkpoint_id,
            card.name,
            card.triggers,
            card.subjects,
            card.styles,
            card.description,
            card.base_model,
            card.version,
            card.created_at and card.created_at.isoformat(),
            card.environments,
            card.owner,
            card.source.uri,
            card.source.sha256,
            # Not for cards without, so that those stored before there were aliases stay the same.
            *([card.aliases] if card.aliases else []),
        ]
    )


def content_hash(card: Card) -> str:
    """Identify what quantization depends on; the same content again is the same event."""
    return _hash(
        [
            card.checkpoint_id,
            card.triggers,
            card.base_model,
            card.source.uri,
            card.source.sha256,
        ]
    )


def embedding_text(card: Card) -> str:
    """The text whose vector stands for the card: subject, style, trigger, description."""
    parts = [
        ", ".join(card.subjects),
        f"Called {', '.join(card.aliases)}" if card.aliases else "",
        ", ".join(card.styles),
        ", ".join(card.triggers),
        card.description,
        f"Trained on: {', '.join(card.environments)}" if card.environments else "",
    ]
    return ". ".join(part.rstrip(".") for part in parts if part)


def text_hash(card: Card) -> str:
    """Identify the embedded text: a vector of another text is out of date."""
    return hashlib.sha256(embedding_text(card).encode()).hexdigest()[:32]


def embedding_phrases(card: Card) -> tuple[str, ...]:
    """The phrases of the description that get a vector each; whatever they are made of is part of
    the embedded text too, so they are out of date when that is.
    """
    names, tags = (card.checkpoint_id, *card.triggers), (*card.styles, *card.environments)
    phrases = (phrase[:MAX_PHRASE] for phrase in phrases_of(card.description, names, tags))
    return tuple({phrase.casefold(): phrase for phrase in phrases}.values())[:MAX_PHRASES]


def phrases_hash(of_text: str) -> str:
    """Identify the embedded phrases by the hash of the text they belong to."""
    return f"{PHRASES_VERSION}:{of_text}"


def printable(text: str, longest: int) -> str:
    """Text of unknown origin as one short line without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:longest]


def _tidied(card: Card) -> Card:
    """Trim texts, drop repeated labels; a card without places has those its description tells."""
    return replace(
        card,
        name=card.name.strip() or card.checkpoint_id,
        aliases=_distinct(card.aliases),
        triggers=_distinct(card.triggers),
        subjects=_distinct(card.subjects),
        styles=_distinct(card.styles),
        environments=_distinct(card.environments) or told_places(card.description),
        description=card.description.strip(),
        base_model=card.base_model.strip(),
        owner=card.owner.strip(),
    )


def _distinct(labels: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label.strip() for label in labels))


def _id_problem(checkpoint_id: str) -> str:
    if _ID.fullmatch(checkpoint_id) and checkpoint_id.strip("."):
        return ""
    return f"{_shown(checkpoint_id)} is not 1-128 letters, digits, '.', '_' or '-'"


def _text_problem(text: str, longest: int, *, empty: bool = True, lines: bool = False) -> str:
    if not text:
        return "" if empty else "is empty"
    if len(text) > longest:
        return f"has {len(text)} characters, at most {longest} are allowed"
    allowed = "\n\t\r" if lines else ""
    if any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") and c not in allowed for c in text):
        return "contains control characters"
    return ""


def _time_problem(moment: datetime | None) -> str:
    if moment is None or EARLIEST <= moment < LATEST:
        return ""
    if moment < EARLIEST:
        return f"is {moment.date()}, before there were such checkpoints"
    return f"is {moment.date()}; are these milliseconds where seconds belong?"


def _uri_problem(uri: str) -> str:
    # Which schemes there are is the business of whoever reads them.
    if not uri:
        return "say where the file is: file://, s3://, gs://, https:// or hf://"
    return _text_problem(uri, MAX_URI)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}...")


def _hash(parts: list[object]) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()
