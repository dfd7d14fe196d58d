"""The description D of a card that came without one, from what else is known."""

from __future__ import annotations

from collections.abc import Iterable

from personalq.catalog.cards import MAX_DESCRIPTION, Card, printable
from personalq.catalog.ports import Examined

#: What trainers write into a file for people to read (modelspec.org, then looser habits).
_METADATA_TEXTS = ("modelspec.description", "description", "modelspec.title")
_MAX_METADATA = 500


async def describe_plainly(card: Card, examined: Examined) -> str:
    """Say in plain words what the attributes say; the trainer's own words come last."""
    sentences = [f"{_subject(card)}{_look(card)}."]
    if card.environments:
        sentences.append(f"Trained on {_listed(card.environments)} scenes.")
    for name in _METADATA_TEXTS:
        text = printable(examined.inspection.metadata.get(name, ""), _MAX_METADATA)
        if text:
            sentences.append(text if text.endswith((".", "!", "?")) else f"{text}.")
            break
    return " ".join(sentences)[:MAX_DESCRIPTION]


def _subject(card: Card) -> str:
    if not card.subjects:
        return "Anything"
    subject, *others = card.subjects
    also = f" ({_listed(others)})" if others else ""
    return f"{_article(subject)} {subject}{also}"


def _look(card: Card) -> str:
    return f" in {_listed(card.styles)} style" if card.styles else ""


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _article(noun: str) -> str:
    return "An" if noun[:1].lower() in "aeiou" else "A"
