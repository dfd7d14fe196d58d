"""Edits of a prompt, and where the triggers stand once they are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from personalq.checkin.intent import Span


@dataclass(frozen=True, kw_only=True)
class Edit:
    """Replace [start, end) by `text`; `trigger` edits leave a trigger there."""

    start: int
    end: int
    text: str
    trigger: bool


def apply(prompt: str, edits: Sequence[Edit]) -> tuple[str, tuple[Span, ...]]:
    """The prompt with edits made that do not overlap, and where the triggers stand in it."""
    parts: list[str] = []
    spans: list[Span] = []
    position = length = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        kept = prompt[position : edit.start]
        parts += [kept, edit.text]
        length += len(kept)
        if edit.trigger:
            spans.append(Span(length, length + len(edit.text)))
        length += len(edit.text)
        position = edit.end
    parts.append(prompt[position:])
    return "".join(parts), tuple(spans)
