"""What the demo asks for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

#: The day the demo plays on, so that "recently" means the same on every machine.
TODAY = datetime(2026, 11, 20, 12, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Line:
    """A request in plain words, and the answer to the question it may raise."""

    prompt: str
    answer: str = ""
    seed: int = 7


LINES = (
    Line(prompt="my most realistic, recently created bear on forest grass"),
    Line(prompt="my dog on the beach", answer="the pencil sketch"),
    Line(prompt="a photo of my horse in the snow"),
    Line(prompt="the watercolor cat by a house"),
    Line(prompt="the April-trained version of bear at sunset"),
    Line(prompt="version 2 of my bear in the city"),
    Line(prompt="my newest dog in the garden"),
    Line(prompt="the December watercolor of my cat"),
)
