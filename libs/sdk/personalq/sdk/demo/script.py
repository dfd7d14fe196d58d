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
    Line(prompt="a photo of my dog on the beach", answer="the grey one with the blue cap"),
    Line(prompt="a photo of my horse in the snow"),
    Line(prompt="a watercolor of my cat on the beach"),
    Line(prompt="a photo of the April-trained version of bear in the garden"),
    Line(prompt="a cartoon of version 2 of my bear in the city"),
    Line(prompt="a photo of my newest dog in the room"),
    Line(prompt="the December watercolor of my cat"),
)
