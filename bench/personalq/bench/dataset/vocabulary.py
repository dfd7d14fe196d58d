"""The words of the benchmark, read from `vocabulary.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

PACKAGE = "personalq.bench.dataset"


@dataclass(frozen=True, kw_only=True)
class Word:
    """One value: its plain name, the words cards use for it, and those people ask with."""

    name: str
    on_card: tuple[str, ...]
    asked: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Style:
    """A look: its spellings on cards, and its forms before and behind a noun in a request."""

    name: str
    spelled: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Environment:
    """A place of training: its tags on cards, its forms behind "trained" and before a noun."""

    name: str
    tags: tuple[str, ...]
    asked: tuple[str, ...]
    before: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Category:
    """One subject with everything its fifty cards may differ in."""

    name: str
    group: str
    aliases: tuple[str, ...]
    colour_form: str
    kinds: tuple[Word, ...]
    colours: tuple[str, ...]
    accessories: tuple[Word, ...]
    materials: tuple[Word, ...]
    styles: tuple[str, ...]

    @property
    def nouns(self) -> tuple[str, ...]:
        """Every name that each card of the category carries."""
        return (self.name, *self.aliases)


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Everything cards and requests are made of."""

    categories: Mapping[str, Category]
    styles: Mapping[str, Style]
    environments: Mapping[str, Environment]
    colours: Mapping[str, Word]
    owners: Mapping[str, Word]
    details: Mapping[str, tuple[str, ...]]


def _word(text: str) -> Word:
    on_card, _, others = text.partition("||")
    words = tuple(on_card.split("|"))
    asked = (*words, *others.split("|")) if others else words
    return Word(name=words[0], on_card=words, asked=asked)


def _words(texts: Sequence[str]) -> tuple[Word, ...]:
    return tuple(_word(text) for text in texts)


def _category(name: str, entry: Mapping[str, Any], styles: Sequence[str]) -> Category:
    lacks = entry.get("lacks", ())
    return Category(
        name=name,
        group=entry["group"],
        aliases=tuple(entry.get("aliases", ())),
        colour_form=entry.get("colour_form", "{colour} {kind}"),
        kinds=_words(entry["kinds"]),
        colours=tuple(entry["colours"]),
        accessories=_words(entry["accessories"]),
        materials=_words(entry.get("materials", ())),
        styles=tuple(entry.get("styles", [style for style in styles if style not in lacks])),
    )


@cache
def read_vocabulary() -> Vocabulary:
    """The vocabulary of the file beside this module."""
    text = resources.files(PACKAGE).joinpath("vocabulary.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    styles = {
        name: Style(name=name, **{form: tuple(words) for form, words in entry.items()})
        for name, entry in table["styles"].items()
    }
    return Vocabulary(
        categories={
            name: _category(name, entry, list(styles))
            for name, entry in table["categories"].items()
        },
        styles=styles,
        environments={
            name: Environment(name=name, **{form: tuple(words) for form, words in entry.items()})
            for name, entry in table["environments"].items()
        },
        colours={
            name: Word(name=name, **{form: tuple(words) for form, words in entry.items()})
            for name, entry in table["colours"].items()
        },
        owners={word.name: word for word in _words(table["owners"])},
        details={group: tuple(phrases) for group, phrases in table["details"].items()},
    )
