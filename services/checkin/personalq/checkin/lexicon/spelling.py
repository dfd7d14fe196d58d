"""British and American spellings of a word fall together wherever words are compared."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files

_ISE = re.compile(r"(?P<stem>\w+?)is(?P<ending>es?|ed|ing|er|ers|ations?|able)$")
_ENDINGS = frozenset(
    [
        "", "s", "ed", "ing", "er", "ers", "y", "ful", "fully", "less", "ist", "ists", "able",
        "ite", "ites", "hood", "hoods", "side", "ish", "ous", "front", "fronts", "en", "scale",
    ]
)  # fmt: skip
"""What may follow a stem: "harbourside", "neighbourhoods", "greyscale"."""


@lru_cache(maxsize=65536)
def american(word: str) -> str:
    """The American spelling of a lower-case word; any other word as it is."""
    whole = _words().get(word)
    if whole is not None:
        return whole
    if ise := _ISE.fullmatch(word):
        if ise["stem"] in _ise_stems():
            return f"{american(ise['stem'])}iz{ise['ending']}"
        return word
    for british, plain in _stems().get(word[:3], ()):
        if word.startswith(british) and word[len(british) :] in _ENDINGS:
            return plain + word[len(british) :]
    return word


def as_meant(word: str) -> str:
    """What a lower-case word typed in haste stands for, in American spelling: "thru"."""
    return american(_informal().get(word, word))


@cache
def _informal() -> dict[str, str]:
    return _file()["informal"]


@cache
def _file() -> dict[str, dict[str, str]]:
    text = (files(__package__) / "spelling.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _words() -> dict[str, str]:
    return {british: plain for plain, british in _file()["words"].items()}


@cache
def _ise_stems() -> frozenset[str]:
    return frozenset(_file()["ize"]["stems"])


@cache
def _stems() -> dict[str, tuple[tuple[str, str], ...]]:
    """(British, American) stems by their first three letters."""
    table: dict[str, tuple[tuple[str, str], ...]] = {}
    for plain, british in _file()["stems"].items():
        table[british[:3]] = (*table.get(british[:3], ()), (british, plain))
    return table
