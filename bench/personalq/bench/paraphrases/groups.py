"""Look-alike cards and what people say to mean one of them: `bench/paraphrases/*.jsonl`."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from personalq.catalog.cards import Card, Origin
from personalq.chassis.errors import InvalidInput

#: The repository's own; only a checkout has them.
OWN = Path(__file__).parents[3] / "paraphrases"

# What cards say besides: it must not matter.
_STYLES = (
    "photorealistic", "watercolor", "sketch", "oil painting", "anime", "pixel art", "low poly",
    "cartoon", "claymation", "line art", "pop art", "vintage film", "", "",
)  # fmt: skip
_PLACES = (
    "forest", "beach", "desert", "kitchen", "studio", "snow", "city street", "garden", "mountain",
    "", "",
)  # fmt: skip
_LINKS = ("with", "wearing", "in", "holding", "carrying", "having", "has")


class Said(BaseModel):
    """What a person says, in other words than the cards'."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    where: Literal["before", "behind", "does"]
    """Before the subject, behind it, or as what it does."""
    fits: tuple[int, ...]
    """The cards it is true of; one in most cases."""


class Group(BaseModel):
    """Cards of one subject, and what is said of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    subject: str
    cards: tuple[str, ...]
    """Their descriptions."""
    said: tuple[Said, ...]

    @model_validator(mode="after")
    def _fits_are_cards(self) -> Group:
        for said in self.said:
            if not said.fits or not all(0 <= place < len(self.cards) for place in said.fits):
                raise ValueError(f"{said.text!r} fits {said.fits} of {len(self.cards)} cards")
        return self


def read_groups(folder: Path = OWN) -> list[Group]:
    """Every group of a folder's files, in order.

    Raises:
        InvalidInput: a line is no group; names file and line.
    """
    groups = []
    for file in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                groups.append(Group.model_validate_json(line))
            except ValidationError as error:
                problem = error.errors()[0]
                raise InvalidInput(f"{file}:{number}: {problem['loc']} {problem['msg']}") from error
    if not groups:
        raise InvalidInput(f"there is no *.jsonl with groups in {folder}")
    return groups


def cards_of(group: Group, chance: random.Random) -> list[Card]:
    """The cards as a catalog has them: with a look and a place of training, told or not."""
    noun = group.subject.split()[-1]
    cards = []
    for number, told in enumerate(group.cards, start=1):
        style, place = chance.choice(_STYLES), chance.choice(_PLACES)
        description = told.rstrip(".")
        if place and chance.random() < 0.3:
            description += f". Trained on {place} scenes"
        if style and chance.random() < 0.3:
            description += f", in a {style} style"
        cards.append(
            Card(
                checkpoint_id=f"{noun}-v{number}",
                triggers=(f"<{noun}-v{number}>",),
                subjects=(group.subject,),
                styles=(style,) if style else (),
                description=f"{description}.",
                environments=(place,) if place else (),
                source=Origin(uri="file:///none"),
            )
        )
    return cards


def worded(said: Said, subject: str, chance: random.Random) -> str:
    """What is compared: as it stands, with the subject, or without the word that leads to it."""
    if chance.random() < 0.25:
        before = said.where == "before"
        return f"{said.text} {subject}" if before else f"{subject} {said.text}"
    lead, _, rest = said.text.partition(" ")
    if rest and lead in _LINKS and chance.random() < 0.5:
        return rest
    return said.text
