"""A text as it was meant, and where each of its words was typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from personalq.checkin.intent import Intent, Span

Change = tuple[Span, str]
"""A place in the text as it was typed, and what is meant there."""


@dataclass(frozen=True)
class Corrected:
    """A text in which words are spelled as they were meant, and where they stood before."""

    text: str
    changes: tuple[Change, ...]
    """Places in the text as it was typed, in order, and what stands there now."""

    def as_typed(self, intent: Intent) -> Intent:
        """The intent of the corrected text, with places in the typed one."""
        moved: Intent = _moved(intent, self._place) if self.changes else intent
        return moved

    def _place(self, span: Span) -> Span:
        return Span(self._position(span.start, end=False), self._position(span.end, end=True))

    def _position(self, position: int, *, end: bool) -> int:
        grown = 0
        for typed, word in self.changes:
            start = typed.start + grown
            if position < start or (position == start and (end or word)):
                break
            if position < start + len(word):
                return typed.end if end else typed.start
            grown += len(word) - (typed.end - typed.start)
        return position - grown


def with_changes(text: str, changes: Iterable[Change]) -> Corrected:
    """The text with all changes made, but for those that overlap an earlier one."""
    made: list[Change] = []
    parts, position = [], 0
    for span, meant in sorted(changes):
        if span.start >= position:
            made.append((span, meant))
            parts += [text[position : span.start], meant]
            position = span.end
    return Corrected("".join([*parts, text[position:]]), tuple(made))


def _moved(value: Any, place: Callable[[Span], Span]) -> Any:
    """A copy of what an intent is made of, with other places."""
    if isinstance(value, Span):
        return place(value)
    if isinstance(value, tuple):
        return tuple(_moved(each, place) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        changed = {name: _moved(part, place) for name, part in parts.items()}
        return replace(value, **{n: p for n, p in changed.items() if p is not parts[n]})
    return value
