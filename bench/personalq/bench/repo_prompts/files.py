"""Repo-Prompts files: cards and queries, one JSON object per line.

A field that a file does not have is absent or null; unknown fields are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from personalq.chassis.errors import InvalidInput

#: The repository's own files; only a checkout has them.
OWN = Path(__file__).parents[3] / "repo_prompts"


def _in_utc(moment: datetime) -> datetime:
    """A time without a zone is meant in UTC."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Moment = Annotated[datetime, AfterValidator(_in_utc)]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: each for key, each in value.items() if each is not None}
        return value


class Card(_Line):
    """A checkpoint card."""

    checkpoint_id: Annotated[str, Field(min_length=1)]
    name: str = ""
    triggers: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    description: str = ""
    base_model: str = ""
    version: int | None = None
    created_at: Moment | None = None
    last_used_at: Moment | None = None
    use_count: int = 0
    environments: tuple[str, ...] = ()
    owner: str = ""

    @property
    def trigger(self) -> str:
        """The canonical trigger, "" when the card has none."""
        return self.triggers[0] if self.triggers else ""


class GroundTruth(_Line):
    """What the person meant."""

    checkpoint_id: str | None = None
    requires_clarification: bool = False
    no_match: bool = False
    #: What the words of an ambiguous query leave open.
    acceptable_ids: tuple[str, ...] = ()


class Query(_Line):
    """A request, when and by whom it was made, and what was meant."""

    instance_id: Annotated[str, Field(min_length=1)]
    query: str
    now: Moment | None = None
    candidate_pool: tuple[str, ...] = ()
    ground_truth: GroundTruth
    #: What the person replies when asked.
    answer: str | None = None
    group: str = ""
    owner: str = ""
    time_zone: str = ""

    @property
    def kind(self) -> str:
        """Single, ambiguous or no_match."""
        if self.ground_truth.no_match:
            return "no_match"
        return "ambiguous" if self.ground_truth.requires_clarification else "single"


L = TypeVar("L", bound=_Line)


def read_cards(path: Path) -> Sequence[Card]:
    """The cards of a file; raises InvalidInput naming file and line."""
    cards = _read(path, Card)
    _check_unique(path, [card.checkpoint_id for card in cards], "checkpoint_id")
    return cards


def read_queries(path: Path, cards: Sequence[Card]) -> Sequence[Query]:
    """The queries of a file; raises InvalidInput naming file and line.

    Args:
        cards: what the queries choose from; what a query means must be among them. A pool may
            name others, which cannot be chosen.
    """
    queries = _read(path, Query)
    _check_unique(path, [query.instance_id for query in queries], "instance_id")
    known = {card.checkpoint_id for card in cards}
    for query in queries:
        truth = query.ground_truth
        named = set(truth.acceptable_ids)
        if not truth.no_match:
            named.add(truth.checkpoint_id or "")
        if missing := sorted(named - known):
            raise InvalidInput(
                f"{path}: {query.instance_id} names {missing[0]!r}, which is none of the cards",
                field="queries",
            )
    return queries


def sample(queries: Sequence[Query], n: int) -> Sequence[Query]:
    """About `n` of the queries, as many of each kind as its share of all; the same every time."""
    step = max(1, len(queries) // n)
    kept: set[str] = set()
    for kind in {query.kind for query in queries}:
        kept |= {query.instance_id for query in [q for q in queries if q.kind == kind][::step]}
    return [query for query in queries if query.instance_id in kept]


def _read(path: Path, kind: type[L]) -> list[L]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from error
    # Not `splitlines`: a string may hold the other separators that it splits at.
    lines = [
        _parsed(kind, line, f"{path}:{number}")
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    ]
    if not lines:
        raise InvalidInput(f"{path} is empty: one JSON object per line is expected")
    return lines


def _parsed(kind: type[L], line: str, where: str) -> L:
    try:
        return kind.model_validate(json.loads(line))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"{where}: {name or 'the line'}: {first['msg']}") from error
    except ValueError as error:
        raise InvalidInput(f"{where}: no JSON object: {error}") from error


def _check_unique(path: Path, ids: Sequence[str], name: str) -> None:
    seen: set[str] = set()
    for each in ids:
        if each in seen:
            raise InvalidInput(f"{path}: {name} {each!r} is there twice")
        seen.add(each)
