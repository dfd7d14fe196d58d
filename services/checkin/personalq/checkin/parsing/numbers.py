"""Numbers as people write them: "12", "twelve", "a hundred and four", "47th", "forty-seventh"."""

from __future__ import annotations

import re

_UNITS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINAL_UNITS = [
    "zeroth",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
]
_ORDINAL_TENS = [
    "twentieth",
    "thirtieth",
    "fortieth",
    "fiftieth",
    "sixtieth",
    "seventieth",
    "eightieth",
    "ninetieth",
]

CARDINALS: dict[str, int] = {word: value for value, word in enumerate(_UNITS)}
"""Cardinal words, "one" to "ninety-nine" (with a space or a hyphen)."""
ORDINALS: dict[str, int] = {word: value for value, word in enumerate(_ORDINAL_UNITS) if value}
"""Ordinal words, "first" to "ninety-ninth"."""

ORDINALS["hundredth"] = 100
for _index, _ten in enumerate(_TENS):
    _value = 20 + 10 * _index
    CARDINALS[_ten] = _value
    ORDINALS[_ORDINAL_TENS[_index]] = _value
    for _unit in range(1, 10):
        for _joint in ("-", " ", ""):
            CARDINALS[f"{_ten}{_joint}{_UNITS[_unit]}"] = _value + _unit
            ORDINALS[f"{_ten}{_joint}{_ORDINAL_UNITS[_unit]}"] = _value + _unit


def _alternation(words: dict[str, int]) -> str:
    ordered = sorted(words, key=len, reverse=True)
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in ordered)


_HUNDREDS = (
    rf"(a|{'|'.join(_UNITS[1:10])})[\s-]+hundred([\s-]+(and[\s-]+)?({_alternation(CARDINALS)}))?"
)
CARDINAL = rf"(\d{{1,4}}|{_HUNDREDS}|({_alternation(CARDINALS)}))(?![\w])"
"""Form of a cardinal in lower-cased text."""
ROMAN = r"((?=[ivxl])(?!x?l(?!\w))(xl|l?x{0,3})(ix|iv|v?i{0,3}))(?![\w])"
"""Form of a Roman numeral up to 89 in lower-cased text; L and XL are sizes."""
ORDINAL = rf"(\d{{1,4}}\s?(st|nd|rd|th)|({_alternation(ORDINALS)}))(?![\w])"
"""Form of an ordinal in lower-cased text."""


def number(text: str) -> int | None:
    """The value of a cardinal, an ordinal or a Roman numeral; None when it is none of them."""
    word = re.sub(r"\s+", " ", text.strip())
    if word in CARDINALS:
        return CARDINALS[word]
    if word in ORDINALS:
        return ORDINALS[word]
    if re.fullmatch(_HUNDREDS, word):
        count, _, rest = re.sub(r"[\s-]+(and[\s-]+)?", " ", word).partition(" hundred")
        return 100 * CARDINALS.get(count, 1) + CARDINALS.get(rest.strip() or "zero", 0)
    digits = re.fullmatch(r"(\d{1,9})\s?(?:st|nd|rd|th)?", word, re.ASCII)
    if digits:
        return int(digits[1])
    return _roman(word) if word and re.fullmatch(ROMAN, word) else None


def _roman(text: str) -> int:
    values = [{"i": 1, "v": 5, "x": 10, "l": 50}[letter] for letter in text]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < following else value for value, following in pairs)
