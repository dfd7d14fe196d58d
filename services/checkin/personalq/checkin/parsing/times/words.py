"""Words of the time grammar as patterns: month names, units, counts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from personalq.checkin import lexicon
from personalq.checkin.parsing.numbers import CARDINALS, number


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


MONTHS = _any(lexicon.calendar("months"))
SEASONS = _any(lexicon.calendar("seasons"))
HOLIDAYS = _any(lexicon.calendar("holidays"))
WEEKDAYS = "|".join(lexicon.weekdays())
YEAR = r"((19|20)\d\d)"
DAY = r"(\d{1,2}(st|nd|rd|th)?)"
UNITS = "(day|week|fortnight|month|quarter|year|weekend)"
NTHS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
COUNT = (
    r"(?:\d{1,3}|a\s+couple\s+of|couple\s+of|a\s+few|few|several|an?|one\s+and\s+a\s+half|"
    + _any(word for word in CARDINALS if " " not in word)
    + ")"
)


def year_of(group: str) -> str:
    """The year that may follow a name: ", 2026", "of 2026", "'26", "(2026)"."""
    lead, second = r"(?:,?\s*|\s+of\s+|\s+in\s+)", rf"(?:{YEAR}/(?=\d\d\b))?"  # "2025/26"
    year = rf"{second}(?P<{group}>{YEAR}|'\d\d|(?<=/)\d\d)(?![\d-])"
    return rf"(?:{lead}(?:\((?={YEAR}\)))?{year}(?:(?<=\({YEAR})\))?)?"


def counted(text: str) -> int:
    """The value of a count: "a couple of" is 2, "a few" is 3, "several" is 5."""
    if text in ("a", "an"):
        return 1
    if "couple" in text:
        return 2
    if "few" in text:
        return 3
    return 5 if text == "several" else number(text) or 1


def is_vague(text: str) -> bool:
    """Whether a count is only about right."""
    return text.endswith("few") or text == "several" or "couple" in text
